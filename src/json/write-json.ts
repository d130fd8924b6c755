/** Writes JSON that others read: servers, clients, models. */
import { isDeeperThan } from './nesting.js';
import { JSON_LIMITS } from './parse-json.js';
import { digitGroups } from '../text/digit-groups.js';

/**
 * The value as JSON, which nests no deeper than JSON that is read. The depth is counted: how deep a value `JSON.stringify`
 * can write depends on the runtime, and newer ones have no limit.
 *
 * Undefined for a value that JSON has no text for, such as a function.
 *
 * @throws `TypeError` if it nests deeper or contains itself. What `JSON.stringify` throws for other values that are not JSON.
 */
export function writeJson(value: unknown): string {
  if (isDeeperThan(JSON_LIMITS.depth, value)) {
    throw new TypeError(`it nests deeper than ${digitGroups(JSON_LIMITS.depth)} levels, or contains itself`);
  }
  return JSON.stringify(value);
}

/** The differences between two values of JSON, field by field. */
import { isJsonObject } from '../../../src/json/json-object.js';

export interface Difference {
  /** Names of fields, joined by dots. */
  readonly path: string;
  /** Undefined if it did not exist. */
  readonly before: unknown;
  readonly after: unknown;
}

/** Below this depth, values are compared whole. */
const DEEPEST = 6;

export function differences(before: unknown, after: unknown, path = '', depth = 0): Difference[] {
  if (Object.is(before, after)) return [];
  if (depth < DEEPEST && isJsonObject(before) && isJsonObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      differences(before[name], after[name], path === '' ? name : `${path}.${name}`, depth + 1),
    );
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

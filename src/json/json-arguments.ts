import { isJsonObject, type JsonObject } from './json-object.js';
import { parseJson } from './parse-json.js';

/**
 * The arguments of a call as a model or a client gave them: `null` or an empty text means no arguments, and other text
 * is parsed as JSON. Undefined if the result is not an object.
 */
export function argumentsIn(given: unknown): JsonObject | undefined {
  const read = typeof given === 'string' ? parseJson(given.trim() === '' ? '{}' : given) : (given ?? {});
  return isJsonObject(read) ? read : undefined;
}

/**
 * Half a character is no text, and a provider refuses a whole request for one, again with every later turn. Servers make
 * such halves where they cut a text.
 */
import { isJsonObject } from '../catalog/json-object.js';

/** The same JSON with U+FFFD for each half of a character. It is of bounded depth. */
export function wellFormed<T>(value: T): T {
  return toWellFormed(value) as T;
}

function toWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => [name.toWellFormed(), toWellFormed(each)]);
  return Object.fromEntries(entries) as object;
}

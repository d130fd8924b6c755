/**
 * Replaces lone surrogates. A server that cuts a text may leave one, and a provider refuses a whole request for it, at
 * every later turn too.
 */
import { isJsonObject } from '../json/json-object.js';

/** The same JSON with U+FFFD for each lone surrogate. The JSON must be of bounded depth. */
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

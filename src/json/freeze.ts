/** Protects plain JSON that several observers share. */
import { isSameJson } from './json-object.js';

/**
 * Freezes a value, so that an observer that changes it gets a `TypeError` instead of changing what the next observer sees.
 * In production (`NODE_ENV`) it does nothing, at no cost.
 */
export const freezeInDevelopment: <T>(value: T) => T =
  process.env['NODE_ENV'] === 'production' ? (value) => value : freezeJson;

/** Freezes a value and everything in it. */
function freezeJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const key in value) freezeJson(value[key]);
  return Object.freeze(value);
}

/** The former object if it is the same JSON as the new one, else the new one. */
export function sameUntilChanged<T extends object>(before: T | undefined, now: T): T {
  return before !== undefined && isSameJson(before, now) ? before : freezeInDevelopment(now);
}

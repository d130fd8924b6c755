/** Shortens a text that is too long to its beginning, a notice and its end. */
import { splitsSurrogatePair } from '../text/cut-text.js';
import { digitGroups } from '../text/digit-groups.js';

export const DEFAULT_LIMIT = 50_000;
const MIN_LIMIT = 1_000;
const MAX_LIMIT = 1_000_000;

/** The share of the shown characters that is taken from the beginning. */
const HEAD_SHARE = 0.7;

/** Throws a `TypeError` if it is not a limit of characters; undefined stands for the default. */
export function checkLimit(limit: unknown = DEFAULT_LIMIT): void {
  if (typeof limit === 'number' && limit >= MIN_LIMIT && limit <= MAX_LIMIT) return;
  const [least, most] = [MIN_LIMIT, MAX_LIMIT].map(digitGroups);
  throw new TypeError(`'maxCharacters' must be a number of characters from ${least} to ${most}.`);
}

/**
 * At most `limit` characters. `notice` says how many are left out; it is never cut, and stands alone if it needs all
 * the room. No surrogate pair is split.
 */
export function limitText(text: string, limit: number, notice: (leftOut: number) => string): string {
  if (text.length <= limit) return text;
  const room = Math.max(0, limit - notice(text.length).length);
  const head = backToWhole(text, Math.ceil(room * HEAD_SHARE));
  const tail = onToWhole(text, text.length - (room - Math.ceil(room * HEAD_SHARE)));
  return text.slice(0, head) + notice(tail - head) + text.slice(tail);
}

function backToWhole(text: string, at: number): number {
  return splitsSurrogatePair(text, at) ? at - 1 : at;
}

function onToWhole(text: string, at: number): number {
  return splitsSurrogatePair(text, at) ? at + 1 : at;
}

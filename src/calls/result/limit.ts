/** A text that is too long, as its beginning, a notice and its end. */
import { partsAPair } from './surrogates.js';

export const DEFAULT_LIMIT = 50_000;
const LEAST_LIMIT = 1_000;
const MOST_LIMIT = 1_000_000;

/** Of what is shown, how much is taken from the beginning. */
const HEAD_SHARE = 0.7;

/** Throws a `TypeError` for what is no limit of a rendering; undefined stands for the default. */
export function checkLimit(limit: unknown = DEFAULT_LIMIT): void {
  if (typeof limit === 'number' && limit >= LEAST_LIMIT && limit <= MOST_LIMIT) return;
  const [least, most] = [LEAST_LIMIT, MOST_LIMIT].map((each) => each.toLocaleString('en-US'));
  throw new TypeError(`'limit' must be a number of characters from ${least} to ${most}.`);
}

/**
 * At most `limit` characters: `notice` says how many are left out, is never cut, and stands alone where it needs all the
 * room. No character is cut in half.
 */
export function limitText(text: string, limit: number, notice: (leftOut: number) => string): string {
  if (text.length <= limit) return text;
  const room = Math.max(0, limit - notice(text.length).length);
  const head = backToWhole(text, Math.ceil(room * HEAD_SHARE));
  const tail = onToWhole(text, text.length - (room - Math.ceil(room * HEAD_SHARE)));
  return text.slice(0, head) + notice(tail - head) + text.slice(tail);
}

function backToWhole(text: string, at: number): number {
  return partsAPair(text, at) ? at - 1 : at;
}

function onToWhole(text: string, at: number): number {
  return partsAPair(text, at) ? at + 1 : at;
}

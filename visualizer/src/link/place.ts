/**
 * An entry or a moment, as a link names it: `2026-05-12T08:30:00.720Z~71` is the entry 71, at that time. Either part is
 * enough. The number alone would name another entry in another recording of the same run.
 */
import type { LogBook } from '../log/log-book.js';

export interface Place {
  /** Number of the entry. */
  readonly seq?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly at?: number | undefined;
}

export function placeText({ seq, at }: Place): string {
  return [at === undefined ? [] : new Date(at).toISOString(), seq ?? []].flat().join('~');
}

/** Undefined if it is not one. */
export function readPlace(text: string): Place | undefined {
  const [first = '', ...more] = text.split('~');
  if (/^\d{1,15}$/u.test(text)) return { seq: Number(text) };
  const at = readTime(first);
  if (at === undefined || more.length > 1) return undefined;
  if (more[0] === undefined) return { at };
  return /^\d{1,15}$/u.test(more[0]) ? { at, seq: Number(more[0]) } : undefined;
}

/** A time with its zone; without one, in the zone of the reader. */
export function readTime(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\d/u.test(text) ? Date.parse(text) : NaN;
  return Number.isFinite(at) ? at : undefined;
}

/** The position of that place; -1 if the log has none. If the entry with that number has another time, the time counts. */
export function positionOf(book: LogBook, { seq, at }: Place): number {
  const position = seq === undefined ? -1 : book.positionOf(seq);
  if (at === undefined || (position !== -1 && Math.abs(book.timeOf(position) - at) < 1)) return position;
  const isWithin = at > book.timeOf(0) - 1 && at < book.timeOf(book.length - 1) + 1;
  return isWithin ? Math.max(0, book.positionAt(at)) : -1;
}

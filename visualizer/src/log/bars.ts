/** A part of a lane as it is drawn: at most one piece for each column of pixels. */
import type { Category } from './labels.js';
import type { Lane } from './lane.js';
import type { LogBook } from './log-book.js';

export interface Bar {
  /** Number of the state value. */
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

export interface Mark {
  /** Of the first of its most important entries. */
  readonly position: number;
  readonly at: number;
  /** The categories of its entries, most important first. */
  readonly categories: readonly Category[];
  /** How many it stands for, if several fall on one place. */
  readonly count: number;
}

export interface LaneView {
  readonly name: string;
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
}

export interface Window {
  readonly from: number;
  readonly to: number;
  /** Number of columns of pixels. */
  readonly columns: number;
  /** The time until which the last state lasts; undefined for the last entry. */
  readonly now?: number | undefined;
}

const MOST_IMPORTANT_FIRST: readonly Category[] = ['rejection', 'failure', 'list', 'call'];

export function laneViewOf(book: LogBook, lane: Lane, window: Window): LaneView {
  return { name: lane.name, bars: barsOf(book, lane, window), marks: marksOf(book, lane, window) };
}

function barsOf(book: LogBook, lane: Lane, { from, to, columns, now }: Window): Bar[] {
  const end = Math.min(to, now ?? book.timeOf(book.length - 1));
  const column = Math.max((to - from) / Math.max(1, columns), 1e-6);
  const bars: Bar[] = [];
  let change = Math.max(0, lane.changeAt(book.positionAt(from)));
  while (change < lane.changes.length) {
    const start = book.timeOf(lane.changes.at(change));
    if (start > end) break;
    // Within one column only the last one is drawn.
    const columnEnd = from + (Math.floor((Math.max(start, from) - from) / column) + 1) * column;
    const last = Math.max(change, lane.changeAt(book.positionAt(columnEnd)));
    const until = last + 1 < lane.changes.length ? book.timeOf(lane.changes.at(last + 1)) : end;
    const value = lane.values.at(last);
    bars.push({ value, from: Math.max(start, from), to: Math.min(Math.max(until, columnEnd), end) });
    change = last + 1;
  }
  return bars;
}

function marksOf(book: LogBook, lane: Lane, { from, to, columns }: Window): Mark[] {
  const column = Math.max((to - from) / Math.max(1, columns), 1e-6);
  const width = column * 7;
  const marks: Mark[] = [];
  let index = lane.marks.countUpTo(book.positionAt(from - column));
  while (index < lane.marks.length) {
    const position = lane.marks.at(index);
    const at = book.timeOf(position);
    if (at > to) break;
    const next = Math.max(index + 1, lane.marks.countUpTo(book.positionAt(at + width)));
    const firsts = firstsIn(book, lane, index, next);
    const categories = MOST_IMPORTANT_FIRST.filter((category) => firsts.has(category));
    const shown = firsts.get(categories[0] ?? 'other') ?? position;
    marks.push({ position: shown, at, categories, count: next - index });
    index = next;
  }
  return marks;
}

/** The first position of each category. Considers only the first thousand entries: a mark cannot show more. */
function firstsIn(book: LogBook, lane: Lane, from: number, to: number): ReadonlyMap<Category, number> {
  const found = new Map<Category, number>();
  for (let index = from; index < Math.min(to, from + 1_000); index += 1) {
    const label = book.label(lane.markLabels.at(index));
    if (label !== undefined && !found.has(label.category)) found.set(label.category, lane.marks.at(index));
  }
  return found;
}

/** Finds the entries that a person looks for. Searches a million in pieces, so that other work gets its turn. */
import type { Category } from './labels.js';
import type { LogBook } from './log-book.js';
import { Numbers } from './numbers.js';

export interface EntryQuery {
  /** Undefined for all. */
  readonly lane?: string | undefined;
  /** Undefined for all. */
  readonly categories?: readonly Category[] | undefined;
  /** Part of the line as it is written; upper and lower case are the same. */
  readonly text?: string | undefined;
}

/** Number of entries between two turns. */
const AT_ONCE = 5_000;

/** One search. It continues from its last position when the log has grown. */
export class Search {
  readonly #found = new Numbers();
  readonly #fits: (position: number) => boolean;
  readonly #book: LogBook;
  #next = 0;

  constructor(book: LogBook, query: EntryQuery) {
    this.#book = book;
    this.#fits = matcher(book, query);
  }

  /** Returns the entries up to the end; undefined if `isOver` says that the result is no longer wanted. */
  async go(turn: () => Promise<void>, isOver: () => boolean): Promise<Int32Array<ArrayBuffer> | undefined> {
    for (; this.#next < this.#book.length; this.#next += 1) {
      if (this.#next % AT_ONCE === AT_ONCE - 1) await turn();
      if (isOver()) return undefined;
      if (this.#fits(this.#next)) this.#found.add(this.#next);
    }
    return Int32Array.from({ length: this.#found.length }, (_, index) => this.#found.at(index));
  }
}

export function matcher(
  book: LogBook,
  { lane, categories, text }: EntryQuery,
): (position: number) => boolean {
  const number = lane === undefined ? undefined : book.lanes.findIndex(({ name }) => name === lane);
  const wanted = categories === undefined ? undefined : new Set(categories);
  const words = text?.trim().toLowerCase() ?? '';
  return (position) => {
    if (number !== undefined && book.laneOf(position) !== number) return false;
    if (wanted !== undefined && !wanted.has(book.labelOf(position)?.category ?? 'other')) return false;
    return words === '' || book.text(position).toLowerCase().includes(words);
  };
}

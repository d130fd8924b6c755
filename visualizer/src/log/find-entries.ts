/**
 * Finds the entries that a person looks for. Searches in pieces, so that other work gets its turn and the page shows what
 * is found so far.
 */
import { ENTRY_FIELDS, ENTRY_PARTS } from '../search/entry-fields.js';
import { EntrySubject, type RowSource } from '../search/entry-subject.js';
import { fitting, parseQuery } from '../search/query.js';
import type { Category } from './labels.js';
import type { LogBook } from './log-book.js';
import { Numbers } from './numbers.js';

export interface EntryQuery {
  /** Undefined for all. */
  readonly lane?: string | undefined;
  /** Undefined for all. */
  readonly categories?: readonly Category[] | undefined;
  /** As in `search/query.ts`. */
  readonly text?: string | undefined;
}

export interface Found {
  /** Positions, growing. */
  readonly positions: Int32Array<ArrayBuffer>;
  /** How much of the log is searched, from 0 to 1. If it is less than 1, the same question continues the search. */
  readonly share: number;
}

/** Number of entries between two turns. */
const AT_ONCE = 1_000;
/** A search answers after this time, in milliseconds, although it is not done. */
const REPORT_MS = 150;

/** One search. It continues from its last position when the log has grown. */
export class Search {
  readonly #found = new Numbers();
  readonly #fits: (position: number) => boolean;
  readonly #book: LogBook;
  #next = 0;

  constructor(book: LogBook, query: EntryQuery, rows: RowSource) {
    this.#book = book;
    this.#fits = matcher(book, query, rows);
  }

  /** Returns the entries so far; undefined if `isOver` says that the result is no longer wanted. */
  async go(turn: () => Promise<void>, isOver: () => boolean, now = Date.now): Promise<Found | undefined> {
    const end = now() + REPORT_MS;
    for (let read = 1; this.#next < this.#book.length; read += 1) {
      if (this.#fits(this.#next)) this.#found.add(this.#next);
      this.#next += 1;
      if (read % AT_ONCE !== 0) continue;
      await turn();
      if (isOver()) return undefined;
      if (now() > end) break;
    }
    return {
      positions: Int32Array.from({ length: this.#found.length }, (_, index) => this.#found.at(index)),
      share: this.#book.length === 0 ? 1 : this.#next / this.#book.length,
    };
  }
}

function matcher(
  book: LogBook,
  { lane, categories, text = '' }: EntryQuery,
  rows: RowSource,
): (position: number) => boolean {
  const number = lane === undefined ? undefined : book.lanes.findIndex(({ name }) => name === lane);
  const wanted = categories === undefined ? undefined : new Set(categories);
  const query = parseQuery(text, ENTRY_FIELDS);
  const fits = fitting(query, ENTRY_FIELDS, ENTRY_PARTS);
  const subject = new EntrySubject(book, rows);
  return (position) => {
    if (number !== undefined && book.laneOf(position) !== number) return false;
    if (wanted !== undefined && !wanted.has(book.labelOf(position)?.category ?? 'other')) return false;
    return query.terms.length === 0 || fits(subject.at(position));
  };
}

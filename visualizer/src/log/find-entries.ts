/** Positions of the entries that a person looks for. A million are gone through in pieces, so others get a turn. */
import type { Category } from './labels.js';
import type { LogBook } from './log-book.js';

export interface EntryQuery {
  /** Name of a connection, empty for the manager; undefined for all. */
  readonly lane?: string | undefined;
  /** Undefined for all. */
  readonly categories?: readonly Category[] | undefined;
  /** In the line as it is written; upper and lower case are the same. */
  readonly text?: string | undefined;
}

/** What is looked at between two turns. */
const AT_ONCE = 20_000;

/** Undefined where `isOver` says that nobody wants it any more. */
export async function findEntries(
  book: LogBook,
  query: EntryQuery,
  turn: () => Promise<void>,
  isOver: () => boolean,
): Promise<Int32Array<ArrayBuffer> | undefined> {
  const fits = matcher(book, query);
  const length = book.length;
  const found = new Int32Array(length);
  let count = 0;
  for (let position = 0; position < length; position += 1) {
    if (position % AT_ONCE === AT_ONCE - 1) {
      await turn();
      if (isOver()) return undefined;
    }
    if (fits(position)) {
      found[count] = position;
      count += 1;
    }
  }
  return found.slice(0, count);
}

export function matcher(book: LogBook, { lane, categories, text }: EntryQuery): (position: number) => boolean {
  const number = lane === undefined ? undefined : book.lanes.findIndex(({ name }) => name === lane);
  const wanted = categories === undefined ? undefined : new Set(categories);
  const words = text?.trim().toLowerCase() ?? '';
  return (position) => {
    if (number !== undefined && book.laneOf(position) !== number) return false;
    if (wanted !== undefined && !wanted.has(book.labelOf(position)?.category ?? 'other')) return false;
    return words === '' || book.text(position).toLowerCase().includes(words);
  };
}

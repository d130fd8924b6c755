/** The comparisons of one page: within its log, and with another log that the page was given. */
import { LogBook } from '../log/log-book.js';
import { piecesOf } from '../worker/file-pieces.js';
import type { MomentsView, RunChoice, RunComparison, RunsView } from './messages.js';
import { compareMoments } from './moments.js';
import { compareRuns, startsIn, type Run } from './runs.js';

export class Comparer {
  #other: LogBook | undefined;

  /** `turn` lets other work run. */
  constructor(private readonly turn: () => Promise<void>) {}

  moments(book: LogBook, from: number, to: number): MomentsView {
    return compareMoments(book, from, to);
  }

  /** Reads another log, in place of the one before. Rejects if the file cannot be read. */
  async read(file: Blob): Promise<RunsView> {
    const book = new LogBook();
    for await (const piece of piecesOf(file)) book.append(piece);
    book.end();
    this.#other = book;
    return this.runsOf(book);
  }

  runsOf(book: LogBook): RunsView {
    return {
      names: book.lanes.slice(1).map(({ name }) => name),
      starts: book.length === 0 ? 1 : startsIn(book),
      length: book.length,
      problem: book.problem?.message ?? null,
    };
  }

  runs(book: LogBook, a: RunChoice, b: RunChoice): Promise<RunComparison> {
    const runOf = ({ isOther, start }: RunChoice): Run => ({
      book: isOther ? (this.#other ?? new LogBook()) : book,
      start,
    });
    return compareRuns(runOf(a), runOf(b), this.turn);
  }
}

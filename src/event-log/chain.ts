/** The check of a log: over its header, every entry, and where the machines came to rest. */
import { Digest } from './digest.js';
import type { LogEntry, LogHeader } from './entry.js';

/** An entry that has not been checked yet. */
export type Unchecked<T extends LogEntry = LogEntry> = T extends LogEntry ? Omit<T, 'check'> : never;

export class Chain {
  #digest = new Digest();

  constructor(header: LogHeader) {
    this.add(JSON.stringify(header));
  }

  add(text: string): void {
    this.#digest.add(text);
  }

  /** The machines have come to rest as that digest says. */
  rest(digest: Digest): void {
    this.#digest.addDigest(digest);
  }

  /** The check that there would be if they had. */
  checkAfter(digest: Digest): string {
    return this.#digest.copy().addDigest(digest).hex;
  }

  /** Over everything that was added, in order. */
  get check(): string {
    return this.#digest.hex;
  }

  /** Goes on from a check that a log holds, whatever came before. */
  resume(check: string): void {
    this.#digest = Digest.from(check);
  }
}

const CHECK = ',"check":';

/** The text of an entry that the chain is over. */
export function bodyOf(entry: LogEntry): string {
  return JSON.stringify({ ...entry, check: undefined });
}

/** The same, of the line that holds the entry; made anew where somebody has written it in another order. */
export function bodyIn(line: string, entry: LogEntry): string {
  const end = `${CHECK}${JSON.stringify(entry.check)}}`;
  return line.endsWith(end) ? `${line.slice(0, -end.length)}}` : bodyOf(entry);
}

/** The line of an entry, with its line feed. */
export function toLine(body: string, check: string | null): string {
  return `${body.slice(0, -1)}${CHECK}${check === null ? 'null' : `"${check}"`}}\n`;
}

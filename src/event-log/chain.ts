/** The check of a log: over its header, every entry, and where the machines came to rest. */
import { Digest } from './digest.js';
import type { LogEntry, LogHeader } from './entry.js';

/** An entry that has not been checked yet. */
export type Unchecked<T extends LogEntry = LogEntry> = T extends LogEntry ? Omit<T, 'check'> : never;

export class Chain {
  readonly #digest = new Digest();

  constructor(header: LogHeader) {
    this.#digest.add(JSON.stringify(header));
  }

  /** The check after that entry, as it stands in the line without its check. */
  add(body: string): void {
    this.#digest.add(body);
  }

  get check(): string {
    return this.#digest.hex;
  }
}

/** The text of an entry that the chain is over. */
export function bodyOf(entry: LogEntry | Unchecked): string {
  return JSON.stringify({ ...entry, check: undefined });
}

/** The line of an entry, with its line feed. */
export function toLine(body: string, check: string | null): string {
  return `${body.slice(0, -1)},"check":${JSON.stringify(check)}}\n`;
}

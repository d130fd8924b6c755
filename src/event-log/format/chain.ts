/** The checksum of a log: over its header, every entry, and the states of the machines at rest. */
import { Digest } from './digest.js';
import type { LogEntry, LogHeader } from './entry.js';

/** An entry without its checksum. */
export type Unchecked<T extends LogEntry = LogEntry> = T extends LogEntry ? Omit<T, 'check'> : never;

export class Chain {
  #digest = new Digest();

  constructor(header: LogHeader) {
    this.add(JSON.stringify({ ...header, host: undefined }));
  }

  add(text: string): void {
    this.#digest.add(text);
  }

  /** Adds the digest of the machines at rest. */
  rest(digest: Digest): void {
    this.#digest.addDigest(digest);
  }

  /** The checksum that would follow from that digest. */
  checkAfter(digest: Digest): string {
    return this.#digest.copy().addDigest(digest).hex;
  }

  /** The checksum over everything that was added, in order. */
  get check(): string {
    return this.#digest.hex;
  }

  /** Continues from a checksum in a log, whatever came before. */
  resume(check: string): void {
    this.#digest = Digest.from(check);
  }
}

const CHECK = ',"check":';

/** The text of an entry that the checksum covers. */
export function bodyOf(entry: LogEntry): string {
  return JSON.stringify({ ...entry, check: undefined });
}

/** The same, taken from the line of the entry; rebuilt if the line has another order. */
export function bodyIn(line: string, entry: LogEntry): string {
  const end = `${CHECK}${JSON.stringify(entry.check)}}`;
  return line.endsWith(end) ? `${line.slice(0, -end.length)}}` : bodyOf(entry);
}

/** The line of an entry, with its line feed. */
export function toLine(body: string, check: string | null): string {
  return `${body.slice(0, -1)}${CHECK}${check === null ? 'null' : `"${check}"`}}\n`;
}

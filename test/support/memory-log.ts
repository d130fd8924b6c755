/** A sink that keeps what is written to it and can be slow, stuck or broken. */
import type { LogEntry, LogHeader } from '../../src/event-log/format/entry.js';
import type { LogSink } from '../../src/event-log/record/record-options.js';
import { LogParser, type LogPiece } from '../../src/event-log/format/read-log.js';

export class MemoryLog implements LogSink {
  /** The text of every part; the last one may be unfinished. */
  parts: string[] = [''];
  isClosed = false;
  /** While it is set, `write` waits for it. */
  held: Promise<void> | undefined;
  /** While it is set, `write` rejects with it. */
  broken: Error | undefined;

  constructor(readonly maxSize = Infinity) {}

  async write(lines: string): Promise<void> {
    await this.held;
    if (this.broken !== undefined) throw this.broken;
    this.parts.push(`${this.parts.pop() ?? ''}${lines}`);
  }

  rotate(): void {
    this.parts.push('');
  }

  close(): void {
    this.isClosed = true;
  }

  get text(): string {
    return this.parts.join('');
  }

  /** The last part, parsed. Throws if it is not a complete log. */
  read(part = this.parts.length - 1): { header: LogHeader; entries: LogEntry[] } {
    return readWhole(this.parts[part] ?? '');
  }
}

export function readWhole(text: string): { header: LogHeader; entries: LogEntry[] } {
  const parser = new LogParser();
  const pieces: LogPiece[] = [...parser.push(Buffer.from(text)), ...parser.end()];
  const [first] = pieces;
  for (const piece of pieces) if (piece.type === 'problem') throw new Error(piece.problem.message);
  if (first?.type !== 'header') throw new Error('The log has no header.');
  return {
    header: first.header,
    entries: pieces.flatMap((piece) => (piece.type === 'entry' ? [piece.entry] : [])),
  };
}

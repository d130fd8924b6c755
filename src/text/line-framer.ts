/**
 * Cuts a byte stream into lines.
 *
 * Owns only the bytes of the line that has not ended yet. It knows nothing of JSON.
 *
 * F1. Work and memory are linear in the length of a line, however it is split into chunks: every byte is searched once,
 *     and an unfinished line is in one buffer that grows by a factor.
 * F2. A line longer than the limit is never held: its first and last bytes are kept, the rest is counted.
 * F3. Bytes become text only when a line is whole, so a character that is split over two chunks stays intact.
 */
import { constants, isUtf8 } from 'node:buffer';

export interface OversizeLine {
  readonly bytes: number;
  /** The first bytes of the line, as text. */
  readonly head: string;
  /** The last bytes of the line, as text. */
  readonly tail: string;
}

export interface LineSink {
  /** A whole line without its line feed. Must not throw. */
  line(text: string): void;
  /** Called instead of `line` for a line that is not UTF-8. Without it, wrong bytes become U+FFFD. Must not throw. */
  garbled?(bytes: number): void;
  /** Called at the end of a line that is beyond the limit. Must not throw. */
  oversize(line: OversizeLine): void;
}

const LINE_FEED = 0x0a;
const EXCERPT_BYTES = 1024;
/** A buffer up to this size is kept for the next line. */
const KEPT_BYTES = 64 * 1024;
/** Beyond it the buffer grows faster: unwritten bytes take no memory, but copying the written ones takes time. */
const LONG_BYTES = 256 * 1024;
const EMPTY = Buffer.alloc(0);
/** Wrong bytes become this character. A line may also contain it. */
const REPLACEMENT = '\uFFFD';

export class LineFramer {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  #buffer: Buffer = EMPTY;
  #length = 0;
  #head: Buffer | undefined;
  #tail: Buffer = EMPTY;

  /** @param maxBytes Longest line that is passed on whole, without its line feed. */
  constructor(sink: LineSink, maxBytes: number) {
    this.#sink = sink;
    this.#maxBytes = Math.min(maxBytes, constants.MAX_STRING_LENGTH);
  }

  /** Number of bytes of the line that has not ended yet, including those that are only counted. */
  get unfinished(): number {
    return this.#length;
  }

  /** The first bytes of the line that has not ended, as text. */
  beginning(): string {
    const bytes = this.#head ?? this.#buffer.subarray(0, Math.min(this.#length, EXCERPT_BYTES));
    return bytes.toString('utf8');
  }

  /** The line that has not ended, as text; it must not be beyond the limit. */
  peek(): string {
    return this.#buffer.toString('utf8', 0, this.#length);
  }

  /** Forgets the line that has not ended; it must not be beyond the limit. */
  drop(): void {
    this.#length = 0;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let cut = chunk.indexOf(LINE_FEED); cut !== -1; cut = chunk.indexOf(LINE_FEED, from)) {
      if (this.#length === 0 && cut - from <= this.#maxBytes) {
        this.#emit(chunk, from, cut);
      } else {
        this.#hold(chunk.subarray(from, cut));
        this.#finish();
      }
      from = cut + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  /** The stream has ended: the rest counts as a line. */
  end(): void {
    if (this.#length > 0) this.#finish();
  }

  #hold(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#maxBytes) {
      this.#skip(piece);
    } else {
      this.#reserve(length);
      piece.copy(this.#buffer, this.#length);
    }
    this.#length = length;
  }

  #skip(piece: Buffer): void {
    if (this.#head === undefined) {
      const held = this.#buffer.subarray(0, this.#length);
      this.#head = Buffer.from(held.subarray(0, EXCERPT_BYTES));
      this.#tail = Buffer.from(held.subarray(-EXCERPT_BYTES));
      this.#buffer = EMPTY;
    }
    if (this.#head.length < EXCERPT_BYTES) {
      this.#head = Buffer.concat([this.#head, piece.subarray(0, EXCERPT_BYTES - this.#head.length)]);
    }
    this.#tail = Buffer.concat([this.#tail, piece.subarray(-EXCERPT_BYTES)]).subarray(-EXCERPT_BYTES);
  }

  #reserve(length: number): void {
    if (length <= this.#buffer.length) return;
    const wanted = (length > LONG_BYTES ? 8 : 2) * this.#buffer.length;
    const grown = Buffer.allocUnsafe(Math.max(length, Math.min(wanted, this.#maxBytes)));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }

  #finish(): void {
    const length = this.#length;
    this.#length = 0;
    if (this.#head !== undefined) {
      const line = { bytes: length, head: this.#head.toString('utf8'), tail: this.#tail.toString('utf8') };
      this.#head = undefined;
      this.#tail = EMPTY;
      this.#sink.oversize(line);
      return;
    }
    const buffer = this.#buffer;
    if (buffer.length > KEPT_BYTES) this.#buffer = EMPTY;
    this.#emit(buffer, 0, length);
  }

  #emit(buffer: Buffer, from: number, to: number): void {
    const text = buffer.toString('utf8', from, to);
    const sink = this.#sink;
    const isGarbled = sink.garbled !== undefined && text.includes(REPLACEMENT);
    if (isGarbled && !isUtf8(buffer.subarray(from, to))) sink.garbled?.(to - from);
    else sink.line(text);
  }
}

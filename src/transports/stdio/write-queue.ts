/**
 * Writes messages to the pipe of a server's stdin.
 *
 * Owns the messages that are not written yet. It does not own the stream, and does not know why a pipe broke: its owner
 * calls `fail`.
 *
 * W1. One write is in flight at a time; later messages wait here, at the pace of the pipe. No drain listener.
 * W2. Messages sent in the same tick go out in one write, up to `BATCH_CHARACTERS` (a longer one goes alone). Of many, the
 *     first `HEAD_START` go before the others have come, so that the server can begin with them.
 * W3. Every `send` settles: by the write's end, or by `fail`. A message that was part of the write in flight may
 *     have reached the server; one that still waited has not.
 * W4. The waiting messages are bounded: a server that asks forever and never reads its answers cannot fill the memory.
 * W5. A long message is written piece by piece, each when the pipe has taken the one before, so that a slow reader can be
 *     distinguished from one that does not read (`piecesTaken`).
 */
import type { Writable } from 'node:stream';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';

const BATCH_CHARACTERS = 64 * 1024;
const HEAD_START = 16;
/** About the capacity of a pipe. */
const PIECE_BYTES = 64 * 1024;
/** Most that may wait, in characters. One message may always wait, however long. */
const MAX_WAITING = 256 * 1024 * 1024;
/** The size that counts for a message at least, since it costs more than its text. */
const MIN_COUNTED = 4 * 1024;

const NOT_READ: RawFailure = {
  code: 'connection-lost',
  message: 'The server reads its messages too slowly, and too many are waiting already.',
};

const sizeOf = (text: string): number => Math.max(text.length, MIN_COUNTED);

interface PendingWrite {
  readonly text: string;
  resolve(): void;
  reject(error: TransportError): void;
}

export class WriteQueue {
  readonly #stream: Writable;
  readonly #onBroken: () => void;
  #waiting: PendingWrite[] = [];
  #waitingSize = 0;
  #inFlight: PendingWrite[] = [];
  #scheduled = false;
  #finishing = false;
  #broken = false;
  #failure: RawFailure | undefined;
  #piecesTaken = 0;

  /** @param onBroken Called once when the pipe does not take a write; `fail` is expected to follow. */
  constructor(stream: Writable, onBroken: () => void) {
    this.#stream = stream;
    this.#onBroken = onBroken;
  }

  /** Resolves when the pipe has taken all of it. Rejects with a `TransportError`. */
  send(text: string): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(new TransportError(this.#failure));
    const size = sizeOf(text);
    if (this.#waitingSize > 0 && this.#waitingSize + size > MAX_WAITING) {
      return Promise.reject(new TransportError(NOT_READ));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      this.#waitingSize += size;
      if (this.#waiting.length === HEAD_START) this.#flush();
      else this.#schedule();
    });
  }

  /** Grows as long as the pipe takes anything. */
  get piecesTaken(): number {
    return this.#piecesTaken;
  }

  /** Closes the pipe as soon as everything is written. */
  finish(): void {
    this.#finishing = true;
    this.#flush();
  }

  /** Rejects everything that is not written, and every later `send`. The first failure stays. */
  fail(failure: RawFailure): void {
    this.#failure ??= failure;
    for (const write of this.#inFlight) write.reject(new TransportError(failure, { written: true }));
    for (const write of this.#waiting) write.reject(new TransportError(failure));
    this.#inFlight = [];
    this.#waiting = [];
    this.#waitingSize = 0;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#broken || this.#inFlight.length > 0) return;
    this.#inFlight = this.#takeBatch();
    if (this.#inFlight.length > 0) {
      this.#handOver(this.#inFlight.map((write) => write.text).join(''));
    } else if (this.#finishing) {
      this.#endStream();
    }
  }

  #handOver(text: string): void {
    if (text.length <= PIECE_BYTES) this.#stream.write(text, (error) => this.#settle(error));
    else this.#handOverFrom(Buffer.from(text), 0);
  }

  /** A message that has begun when everything fails is completed: its rest is one piece. */
  #handOverFrom(bytes: Buffer, from: number): void {
    const to = this.#failure === undefined ? from + PIECE_BYTES : bytes.length;
    this.#stream.write(bytes.subarray(from, to), (error) => {
      if (error || to >= bytes.length) return this.#settle(error);
      this.#piecesTaken += 1;
      this.#handOverFrom(bytes, to);
    });
  }

  /** Ending the stream first would take one more turn of the event loop; on Windows, data in the pipe could be lost. */
  #endStream(): void {
    if (process.platform === 'win32') this.#stream.end();
    else this.#stream.destroy();
  }

  #takeBatch(): PendingWrite[] {
    let characters = 0;
    let count = 0;
    for (const { text } of this.#waiting) {
      if (count > 0 && characters + text.length > BATCH_CHARACTERS) break;
      characters += text.length;
      this.#waitingSize -= sizeOf(text);
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  #settle(error: Error | null | undefined): void {
    if (error) {
      this.#broken = true;
      this.#onBroken();
      return;
    }
    this.#piecesTaken += 1;
    const written = this.#inFlight;
    this.#inFlight = [];
    for (const write of written) write.resolve();
    this.#flush();
  }
}

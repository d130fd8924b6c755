/**
 * Hands messages to the pipe of a server's stdin.
 *
 * Owns what has not been handed over yet. It does not own the stream, and it does not know why a pipe broke: whoever
 * does calls `fail`.
 *
 * W1. One write is in flight at a time; what comes meanwhile waits here, so the pipe's pace is ours. No drain listener.
 * W2. Messages sent in the same tick go out in one write, up to `BATCH_CHARACTERS` (a longer one goes alone). Of many, the
 *     first `HEAD_START` go before the others are there, so that the server works at those meanwhile.
 * W3. Every `send` settles: by the write's end, or by `fail`. A message that was part of the write in flight may
 *     have reached the server; one that still waited has not.
 * W4. What waits is bounded: a server that asks for ever and never reads its answers cannot fill the memory.
 */
import type { Writable } from 'node:stream';
import { TransportError, type RawFailure } from '../session-transport.js';

const BATCH_CHARACTERS = 64 * 1024;
const HEAD_START = 16;
/** Most that may wait, in characters. One message may always wait, however long. */
const MAX_WAITING = 256 * 1024 * 1024;
/** What a message counts for at least, since it costs more than its text. */
const LEAST_COUNTED = 4 * 1024;

const NOT_READ: RawFailure = {
  code: 'connection-lost',
  message: 'The server does not read what it is sent; too much is waiting for it already.',
};

const sizeOf = (text: string): number => Math.max(text.length, LEAST_COUNTED);

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

  /** Closes the pipe as soon as everything has been handed over. */
  finish(): void {
    this.#finishing = true;
    this.#flush();
  }

  /** Rejects everything that has not been handed over, and every later `send`. The first failure stays. */
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
      const text = this.#inFlight.map((write) => write.text).join('');
      this.#stream.write(text, (error) => this.#settle(error));
    } else if (this.#finishing) {
      this.#endStream();
    }
  }

  /** To end the stream first takes a turn of the event loop more; on Windows what is still in the pipe could be lost. */
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
    const written = this.#inFlight;
    this.#inFlight = [];
    for (const write of written) write.resolve();
    this.#flush();
  }
}

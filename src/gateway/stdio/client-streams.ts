/** The two streams of a client on stdio, neither of which may stop the event loop or fill the memory. */
import type { Readable, Writable } from 'node:stream';
import { createWriteStream } from 'node:fs';
import { THIS_PLATFORM, type Platform } from '../../platform/platform.js';

// A client's input, read at the pace at which the client reads its output.
//
// I1. While it is paused, input is kept up to a limit, and only then is the stream paused: so the end of the input is
//     noticed even if the client does not read.
// I2. `end` follows after all kept input.

/** Maximum number of kept bytes, not counting the chunk that exceeds it. */
const MAX_KEPT = 256 * 1_024;

export interface InputListener {
  data(chunk: Buffer): void;
  /** The input has ended. At most once. */
  end(): void;
  /** The input has ended, and some of it is kept until `release()`. At most once. */
  endIsKept(): void;
}

export class BackpressuredInput {
  readonly #input: Readable;
  readonly #listener: InputListener;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #isHeld = false;
  #hasEnded = false;
  #isEndKept = false;

  constructor(input: Readable, listener: InputListener) {
    this.#input = input;
    this.#listener = listener;
  }

  /** Whether input is kept that ends the stream. */
  get isEndKept(): boolean {
    return this.#isEndKept;
  }

  start(): void {
    this.#input.on('error', this.#onend);
    this.#input.on('end', this.#onend);
    this.#input.on('close', this.#onend);
    this.#input.on('data', this.#ondata);
  }

  /** Ignores input from now on, but still handles errors of the stream until `leave()`. */
  stop(): void {
    this.#input.off('data', this.#ondata);
    this.#input.off('end', this.#onend);
    this.#input.off('close', this.#onend);
    this.#input.pause();
    this.#hasEnded = true;
    this.#isEndKept = false;
    this.#kept.length = 0;
  }

  leave(): void {
    this.#input.off('error', this.#onend);
  }

  hold(): void {
    this.#isHeld = true;
  }

  /** Delivers the kept input, until it is paused again. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    while (!this.#isHeld && this.#kept.length > 0) this.#receiveKept();
    if (this.#kept.length > 0) return;
    if (this.#isEndKept) this.#emitEnd();
    else if (!this.#isHeld && !this.#hasEnded) this.#input.resume();
  }

  readonly #ondata = (data: Buffer | string): void => {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data;
    if (!this.#isHeld) return this.#listener.data(chunk);
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    if (this.#keptBytes > MAX_KEPT) this.#input.pause();
  };

  readonly #onend = (): void => {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#isEndKept = this.#kept.length > 0;
    if (this.#isEndKept) this.#listener.endIsKept();
    else this.#listener.end();
  };

  #emitEnd(): void {
    this.#isEndKept = false;
    this.#listener.end();
  }

  #receiveKept(): void {
    const chunk = this.#kept.shift();
    if (chunk === undefined) return;
    this.#keptBytes -= chunk.length;
    this.#listener.data(chunk);
  }
}

// The output to a client, where writing to a pipe on stdout waits for its reader (Windows): a client that does not read would
// stop the event loop, and with it every connection.

/** The same output, written by another thread. Returned unchanged if that is not needed, or if there is no file descriptor. */
export function unblockedOutput(
  output: Writable & { readonly fd?: number },
  { stdoutBlocks }: Pick<Platform, 'stdoutBlocks'> = THIS_PLATFORM,
): Writable {
  if (!stdoutBlocks || output.fd === undefined) return output;
  const stream = createWriteStream('', { fd: output.fd, autoClose: false });
  // Its user listens only while it is used; a write can still fail later.
  return stream.on('error', () => {});
}

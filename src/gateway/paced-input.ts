/**
 * What a client says, heard at the pace at which it reads what it is told.
 *
 * I1. While it is held back, what comes is kept, up to a limit, and only then is the stream paused: the end of what a
 *     client had to say is noticed also where it does not read.
 * I2. `end` comes after everything that was kept is heard.
 */
import type { Readable } from 'node:stream';

/** Most bytes that are kept, but for the chunk that goes beyond. */
const MOST_KEPT = 256 * 1_024;

export interface InputListener {
  hear(chunk: Buffer): void;
  /** Nothing more comes. At most once. */
  end(): void;
  /** Nothing more comes, and some of it is kept until `release()`. At most once. */
  endIsKept(): void;
}

export class PacedInput {
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

  /** Whether something is kept after which nothing comes. */
  get isEndKept(): boolean {
    return this.#isEndKept;
  }

  start(): void {
    this.#input.on('error', this.#onend);
    this.#input.on('end', this.#onend);
    this.#input.on('close', this.#onend);
    this.#input.on('data', this.#ondata);
  }

  /** From here on nothing is heard, and an error of the stream is still caught until `leave()`. */
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

  /** Hears what was kept, until it is held back again. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    while (!this.#isHeld && this.#kept.length > 0) this.#hearKept();
    if (this.#kept.length > 0) return;
    if (this.#isEndKept) this.#tellEnd();
    else if (!this.#isHeld && !this.#hasEnded) this.#input.resume();
  }

  readonly #ondata = (data: Buffer | string): void => {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data;
    if (!this.#isHeld) return this.#listener.hear(chunk);
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    if (this.#keptBytes > MOST_KEPT) this.#input.pause();
  };

  readonly #onend = (): void => {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#isEndKept = this.#kept.length > 0;
    if (this.#isEndKept) this.#listener.endIsKept();
    else this.#listener.end();
  };

  #tellEnd(): void {
    this.#isEndKept = false;
    this.#listener.end();
  }

  #hearKept(): void {
    const chunk = this.#kept.shift();
    if (chunk === undefined) return;
    this.#keptBytes -= chunk.length;
    this.#listener.hear(chunk);
  }
}

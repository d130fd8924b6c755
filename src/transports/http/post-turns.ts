/**
 * Lets out, a few at a time, what gets no answer of its own: our notifications, and our answers to the server's
 * requests. How long each of them takes is the server's choice, and so is the number of the answers.
 *
 * P1. They go out in the order in which they came. Nothing else we send waits for them.
 * P2. What waits or is on its way is bounded; what is beyond it is refused as not sent.
 */
import { TransportError, type RawFailure } from '../session-transport.js';

/** Each takes a socket of its own. */
const MOST_AT_ONCE = 64;
/** In characters. One message may always go out, however long. */
const MOST_HELD = 64 * 1024 * 1024;
/** What a message counts for at least, since it costs more than its text. */
const LEAST_COUNTED = 4 * 1024;

const NOT_TAKEN: RawFailure = {
  code: 'connection-lost',
  message: 'The server does not take the messages sent to it; too many are waiting for it already.',
};

export class PostTurns {
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #held = 0;

  /**
   * Resolves as soon as the server has taken the message, which `post` tells by its callback. The turn lasts until `post`
   * has settled, which must have given its socket back by then.
   */
  take(text: string, post: (onTaken: () => void) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#run(text, () => post(resolve)).catch(reject);
    });
  }

  async #run(text: string, post: () => Promise<void>): Promise<void> {
    const size = Math.max(text.length, LEAST_COUNTED);
    if (this.#held > 0 && this.#held + size > MOST_HELD) throw new TransportError(NOT_TAKEN);
    this.#held += size;
    if (this.#running < MOST_AT_ONCE) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await post();
    } finally {
      this.#held -= size;
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

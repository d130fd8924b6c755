/**
 * Sends messages that get no answer, a few at a time: notifications of Troupe, and its answers to the server's requests.
 * The server decides how long each takes, and how many answers there are.
 *
 * P1. They are sent in the order in which they came. No other message waits for them.
 * P2. The messages that wait or are being sent are bounded; a message beyond the bound is refused as not sent.
 */
import pLimit from 'p-limit';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';

/** Each takes its own socket. */
const MAX_AT_ONCE = 64;
/** In characters. One message may always be sent, however long. */
const MAX_HELD = 64 * 1024 * 1024;
/** The size that counts for a message at least, since it costs more than its text. */
const MIN_COUNTED = 4 * 1024;

const NOT_TAKEN: RawFailure = {
  code: 'connection-lost',
  message: 'The server accepts messages too slowly, and too many are waiting already.',
};

export class SendQueue {
  readonly #turns = pLimit(MAX_AT_ONCE);
  #held = 0;

  /**
   * Resolves as soon as the server has accepted the message, which `post` reports by its callback. The turn lasts until
   * `post` has settled; `post` must have released its socket by then.
   */
  take(text: string, post: (onTaken: () => void) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#run(text, () => post(resolve)).catch(reject);
    });
  }

  async #run(text: string, post: () => Promise<void>): Promise<void> {
    const size = Math.max(text.length, MIN_COUNTED);
    if (this.#held > 0 && this.#held + size > MAX_HELD) throw new TransportError(NOT_TAKEN);
    this.#held += size;
    try {
      await this.#turns(post);
    } finally {
      this.#held -= size;
    }
  }
}

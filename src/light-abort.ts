/**
 * What an `AbortController` is, for what is made for every call: it costs a tenth, and makes an `AbortSignal` only for those
 * who take nothing else.
 */
import type { GiveUpListener, GiveUpSignal } from './protocol/protocol-client.js';

const NOBODY: readonly GiveUpListener[] = [];

export class LightAbort implements GiveUpSignal {
  #isAborted = false;
  #reason: unknown;
  #listeners: readonly GiveUpListener[] = NOBODY;
  #controller: AbortController | undefined;

  /** Aborts as this itself does. Made when first asked for. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#isAborted;
  }

  /** Why it is over; undefined before. */
  get reason(): unknown {
    return this.#reason;
  }

  addEventListener(_type: 'abort', listener: GiveUpListener): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: GiveUpListener): void {
    this.#listeners = this.#listeners.filter((each) => each !== listener);
  }

  /** Only the first reason counts. */
  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners) listener.handleEvent();
  }
}

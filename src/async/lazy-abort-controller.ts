/**
 * An `AbortController` that is cheap enough for every call: it costs a tenth of one, and makes an `AbortSignal` only for
 * code that needs one.
 */
import type { AbortSignalLike, AbortListener } from './caller-signal.js';

const NOBODY: readonly AbortListener[] = [];

export class LazyAbortController implements AbortSignalLike {
  #isAborted = false;
  #reason: unknown;
  #listeners: readonly AbortListener[] = NOBODY;
  #controller: AbortController | undefined;

  /** Aborts when this does. Created at the first access. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#isAborted;
  }

  /** Why it was aborted; undefined before. */
  get reason(): unknown {
    return this.#reason;
  }

  addEventListener(_type: 'abort', listener: AbortListener): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
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

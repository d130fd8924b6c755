/**
 * One request of ours, until it is answered, fails, or is given up.
 *
 * Then it drops its reference to the waiter: a `Map` with many deletions keeps deleted entries, and everything they
 * refer to, alive until the next full garbage collection.
 */
import { canRaiseQuestions, type Pending } from './inbound-requests.js';
import type { JsonObject } from '../json/json-object.js';
import type { Cause, Progress, RequestOptions, RequestOrigin } from './protocol-client.js';
import type { AbortListener } from '../async/caller-signal.js';
import { toError } from '../text/error-message.js';

/** The owner of the requests without an answer. */
export interface SentRequestOwner {
  forget(id: number): void;
  /** Called if it has failed and its server may still work on it. */
  mayGoOn(id: number, cause: Cause): void;
  /** Called if it is given up. */
  cancel(id: number): void;
}

/** The caller that waits for the answer. */
export interface Waiter {
  readonly options: RequestOptions;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

const ONCE = { once: true } as const;

export class SentRequest implements Pending, AbortListener {
  /** Whether any byte of it may have reached the server. */
  written = false;
  readonly canRaiseQuestions: boolean;
  #waiter: Waiter | undefined;

  constructor(
    readonly id: number,
    readonly method: string,
    waiter: Waiter,
    private readonly owner: SentRequestOwner,
  ) {
    this.canRaiseQuestions = canRaiseQuestions(method);
    this.#waiter = waiter;
    waiter.options.signal?.addEventListener('abort', this, ONCE);
  }

  get origin(): RequestOrigin | undefined {
    return this.#waiter?.options.origin;
  }

  get onProgress(): ((progress: Progress) => void) | undefined {
    return this.#waiter?.options.onProgress;
  }

  answer(result: JsonObject): void {
    this.#finish()?.resolve(result);
  }

  /** Returns false if it was already answered or had failed. */
  fail(error: Error): boolean {
    const waiter = this.#finish();
    if (waiter === undefined) return false;
    if (this.written && this.canRaiseQuestions) this.owner.mayGoOn(this.id, waiter.options.origin);
    waiter.reject(error);
    return true;
  }

  /** Called when its signal aborts. An `initialize` is not cancelled (MCP specification, "Cancellation"). */
  handleEvent(): void {
    const error = toError(this.#waiter?.options.signal?.reason);
    if (this.fail(error) && this.method !== 'initialize') this.owner.cancel(this.id);
  }

  #finish(): Waiter | undefined {
    const waiter = this.#waiter;
    if (waiter === undefined) return undefined;
    this.#waiter = undefined;
    waiter.options.signal?.removeEventListener('abort', this);
    this.owner.forget(this.id);
    return waiter;
  }
}

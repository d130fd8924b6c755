/**
 * One request of ours, until it is answered, fails, or is given up.
 *
 * Then it lets go of whoever waited: a `Map` out of which much was taken keeps what was in it alive, and all that hangs on
 * that, until the next full collection of garbage.
 */
import { canRaiseQuestions, type Pending } from './asked-requests.js';
import type {
  Cause,
  GiveUpListener,
  JsonObject,
  Progress,
  RequestOptions,
  RequestOrigin,
} from './protocol-client.js';
import { toError } from '../thrown.js';

/** Who keeps the requests that have no answer. */
export interface SentRequestOwner {
  forget(id: number): void;
  /** It has failed, and its server may be at it still. */
  mayGoOn(id: number, cause: Cause): void;
  /** Nobody waits for it any more. */
  cancel(id: number): void;
}

/** Who waits for the answer. */
export interface Waiter {
  readonly options: RequestOptions;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

const ONCE = { once: true } as const;

export class SentRequest implements Pending, GiveUpListener {
  /** Any byte of it may have reached the server. */
  written = false;
  readonly canRaiseQuestions: boolean;
  #waiter: Waiter | undefined;

  constructor(
    readonly id: number,
    private readonly method: string,
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

  /** Whether it had neither been answered nor failed before. */
  fail(error: Error): boolean {
    const waiter = this.#finish();
    if (waiter === undefined) return false;
    if (this.written && this.canRaiseQuestions) this.owner.mayGoOn(this.id, waiter.options.origin);
    waiter.reject(error);
    return true;
  }

  /** Its signal aborts. An `initialize` is not cancelled (MCP specification, "Cancellation"). */
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

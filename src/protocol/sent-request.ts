/** One request of ours, until it is answered, fails, or is given up. */
import { canRaiseQuestions, type Pending } from './asked-requests.js';
import type {
  GiveUpListener,
  GiveUpSignal,
  JsonObject,
  Progress,
  RequestOptions,
  RequestOrigin,
} from './protocol-client.js';

/** Who keeps the requests that have no answer. */
export interface SentRequestOwner {
  /** Whether it was there until now. */
  forget(id: number): boolean;
  /** It has failed, and its server may be at it still. */
  mayGoOn(sent: SentRequest): void;
  /** Nobody waits for it any more. */
  cancel(id: number): void;
}

const ONCE = { once: true } as const;

export class SentRequest implements Pending, GiveUpListener {
  /** Any byte of it may have reached the server. */
  written = false;
  readonly canRaiseQuestions: boolean;
  readonly origin: RequestOrigin | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly #signal: GiveUpSignal | undefined;

  constructor(
    readonly id: number,
    private readonly method: string,
    { signal, origin, onProgress }: RequestOptions,
    private readonly owner: SentRequestOwner,
    private readonly resolve: (result: JsonObject) => void,
    private readonly reject: (error: Error) => void,
  ) {
    this.canRaiseQuestions = canRaiseQuestions(method);
    this.origin = origin;
    this.onProgress = onProgress;
    this.#signal = signal;
    signal?.addEventListener('abort', this, ONCE);
  }

  answer(result: JsonObject): void {
    if (this.#finish()) this.resolve(result);
  }

  /** Whether it had neither been answered nor failed before. */
  fail(error: Error): boolean {
    if (!this.#finish()) return false;
    if (this.written && this.canRaiseQuestions) this.owner.mayGoOn(this);
    this.reject(error);
    return true;
  }

  /** Its signal aborts. An `initialize` is not cancelled (MCP specification, "Cancellation"). */
  handleEvent(): void {
    if (this.fail(toError(this.#signal?.reason)) && this.method !== 'initialize') this.owner.cancel(this.id);
  }

  #finish(): boolean {
    this.#signal?.removeEventListener('abort', this);
    return this.owner.forget(this.id);
  }
}

export function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

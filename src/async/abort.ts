/**
 * Signals that end a wait: listening to the signal of a caller, waits that it ends, and a cheap controller. A host gives the
 * same signal to many waits, and Node warns of more than ten listeners: all waits share one listener.
 */
import type { Clock } from '../ports.js';

export interface AbortListener {
  handleEvent(): void;
}

/** The part of an `AbortSignal` that internal code uses, so that a cheaper signal can stand in for one in every call. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: AbortListener, options: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

class SharedListener implements AbortListener {
  readonly waiting = new Set<AbortListener>();

  handleEvent(): void {
    for (const listener of [...this.waiting]) listener.handleEvent();
  }
}

const listening = new WeakMap<AbortSignalLike, SharedListener>();

/** Calls `listener` when the signal aborts, unless the returned function is called before. */
export function onAbort(signal: AbortSignalLike, listener: AbortListener): () => void {
  const known = listening.get(signal);
  const shared = known ?? new SharedListener();
  shared.waiting.add(listener);
  if (known === undefined) {
    listening.set(signal, shared);
    signal.addEventListener('abort', shared, { once: true });
  }
  return () => {
    shared.waiting.delete(listener);
    if (shared.waiting.size > 0) return;
    signal.removeEventListener('abort', shared);
    if (listening.get(signal) === shared) listening.delete(signal);
  };
}

// Waits that a signal can end. They leave no timer and no listener behind.

/** More would make a Node timer fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Resolves after `ms`; rejects with the reason of the signal if that comes first. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  let timer: unknown;
  try {
    await abortable(
      new Promise<void>((resolve) => {
        timer = clock.setTimeout(resolve, Math.min(ms, MAX_TIMER_MS));
      }),
      signal,
    );
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Settles as `promise` does; rejects with the reason of the signal if that comes first. The work itself goes on. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    const abort = { handleEvent: () => reject(signal.reason as Error) };
    if (signal.aborted) abort.handleEvent();
    else stop = onAbort(signal, abort);
  });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    stop();
  }
}

// An `AbortController` that is cheap enough for every call: it costs a tenth of one, and makes an `AbortSignal` only for
// code that needs one.

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

/**
 * Signals that end a wait, and how to listen to the signal of a caller: one listener for all waits, since a host gives the
 * same signal to many of them, and Node warns of more than ten listeners.
 */

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

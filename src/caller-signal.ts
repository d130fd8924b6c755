/** The signals of callers, each listened to once: a host gives the same to all that it waits for, and Node warns of more than ten. */
import type { GiveUpListener, GiveUpSignal } from './protocol/protocol-client.js';

class SharedListener implements GiveUpListener {
  readonly waiting = new Set<GiveUpListener>();

  handleEvent(): void {
    for (const listener of [...this.waiting]) listener.handleEvent();
  }
}

const listening = new WeakMap<GiveUpSignal, SharedListener>();

/** Tells `listener` when the signal aborts. Gives back how to end that. */
export function whenGivenUp(signal: GiveUpSignal, listener: GiveUpListener): () => void {
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

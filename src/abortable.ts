import { whenGivenUp } from './caller-signal.js';

/** Waits for a promise until a signal aborts; the work itself goes on. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const giveUp = { handleEvent: () => reject(signal.reason as Error) };
    if (signal.aborted) giveUp.handleEvent();
    const leave = signal.aborted ? undefined : whenGivenUp(signal, giveUp);
    promise.then(resolve, reject).finally(leave);
  });
}

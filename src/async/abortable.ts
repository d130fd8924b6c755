/** Waits that a signal can end. They leave no timer and no listener behind. */
import type { Clock } from '../ports.js';
import { onAbort } from './caller-signal.js';

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

/** Waiting that a signal can end. Neither leaves a timer or a listener behind. */
import type { Clock } from '../../ports.js';

/** More would make a Node timer fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** Resolves after `ms`; rejects with the reason of the signal if that comes first. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  let timer: unknown;
  try {
    await abortable(
      new Promise<void>((resolve) => {
        timer = clock.setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS));
      }),
      signal,
    );
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Settles as `promise` does; rejects with the reason of the signal if that comes first. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

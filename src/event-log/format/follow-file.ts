/** Waits for more of a file that grows. */
import type { Clock } from '../../ports.js';
import { FileTail, type TailRead } from './file-tail.js';

/** Time between two looks at a file without news, milliseconds. */
const LOOK_EVERY_MS = 200;

/** What is read of a file; `undefined` each time that everything so far was read, before the wait for more. */
export type Followed = TailRead | undefined;

export interface FollowParts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Follows a file until `signal` aborts or the caller leaves the loop. Then nothing is left: no timer, no open file. Throws as
 * `node:fs` does; a missing file is waited for.
 */
export async function* followFile(
  path: string,
  { clock, signal }: FollowParts,
): AsyncGenerator<Followed, void, undefined> {
  const tail = new FileTail(path);
  try {
    while (!signal.aborted) {
      const read = await tail.read();
      if (signal.aborted) return;
      yield read;
      if (read === undefined) await pause(clock, signal);
    }
  } finally {
    await tail.close();
  }
}

/** Waits until the next look, or until the signal. */
export function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimeout(end, LOOK_EVERY_MS);
    signal.addEventListener('abort', end, { once: true });
  });
}

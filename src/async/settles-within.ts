/** A wait with a limit. The work itself has none. */
import type { Clock } from '../ports.js';

/** Resolves to whether `work` settled within `ms`; the work itself goes on. */
export function settlesWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve(false), ms);
    const done = (): void => {
      clock.clearTimeout(timer);
      resolve(true);
    };
    work.then(done, done);
  });
}

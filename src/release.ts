/** How sessions end that no chart drives any more: with courtesy, then without, and nobody waits for ever. */
import type { Clock } from './ports.js';
import type { Sessions } from './sessions.js';

/** Longer than the stop ladder needs. */
const COURTESY_MS = 5_000;
const KILL_MS = 2_000;

/** Resolves to whether `work` settled within `ms`; the work itself goes on. */
export function doneWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve(false), ms);
    const done = (): void => {
      clock.clearTimeout(timer);
      resolve(true);
    };
    work.then(done, done);
  });
}

/** Ends every session of one connection. Resolves to whether they are over. */
export async function release(clock: Clock, sessions: Sessions, name: string): Promise<boolean> {
  const isClosed = await doneWithin(clock, COURTESY_MS, sessions.close(name));
  return isClosed || killed(clock, sessions.kill(name));
}

/** Ends every session there is. Resolves to whether they are over. */
export async function releaseAll(clock: Clock, sessions: Sessions): Promise<boolean> {
  const isClosed = await doneWithin(clock, COURTESY_MS, sessions.closeAll());
  return isClosed || killed(clock, sessions.killAll());
}

function killed(clock: Clock, killing: Promise<unknown>): Promise<boolean> {
  return doneWithin(clock, KILL_MS, killing);
}

/** Notices that a session is not used any more. */
import type { Clock } from '../ports.js';

export interface Watched {
  /** Time of the last use, milliseconds since the epoch. */
  readonly usedAt: () => number;
  /** Something is in work, so that it is used. */
  readonly isBusy: () => boolean;
  readonly onidle: () => void;
}

/** Calls `onidle` once nothing has been for `idleMs`; 0 = never. The returned function ends the watch. */
export function watchIdle(clock: Clock, idleMs: number, { usedAt, isBusy, onidle }: Watched): () => void {
  if (idleMs <= 0) return () => {};
  let timer: unknown;
  const arm = (delayMs: number): void => {
    timer = clock.setTimeout(() => {
      const leftMs = isBusy() ? idleMs : usedAt() + idleMs - clock.now();
      if (leftMs > 0) arm(leftMs);
      else onidle();
    }, delayMs);
  };
  arm(idleMs);
  return () => clock.clearTimeout(timer);
}

/**
 * Runs work that cannot be trusted to end, such as a pattern that a server wrote, and breaks it off when its time is
 * over. Only the platform's own watchdog can: a timer has no turn while the work goes on.
 */
import { createContext, Script } from 'node:vm';

const place: { work?: () => void } = {};
const context = createContext(place);
const script = new Script('work()');

/** A busy machine may not let the work run at all meanwhile; then it has its time anew. */
const MOST_TRIES = 5;

/** The work did not end in time. */
export class OutOfTime extends Error {}

/** Throws what the work throws, or an `OutOfTime`. The work may be begun again. Costs about 60 µs. */
export function withinTime<T>(limitMs: number, work: () => T): T {
  for (let tries = 1; ; tries += 1) {
    const before = process.cpuUsage();
    try {
      return runWithin(limitMs, work);
    } catch (error) {
      if (!isTimeout(error)) throw error;
      const { user, system } = process.cpuUsage(before);
      const hadItsTime = (user + system) / 1_000 > limitMs / 2;
      if (hadItsTime || tries === MOST_TRIES) throw new OutOfTime(`it takes longer than ${limitMs} ms`);
    }
  }
}

function runWithin<T>(limitMs: number, work: () => T): T {
  const done: T[] = [];
  place.work = () => void done.push(work());
  try {
    script.runInContext(context, { timeout: limitMs });
  } finally {
    delete place.work;
  }
  return done[0] as T;
}

/** It is an error of the other context, so no `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

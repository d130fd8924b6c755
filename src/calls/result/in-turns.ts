import { setImmediate as turn } from 'node:timers/promises';

/** Does long work in pieces: wherever it yields, the event loop gets its turn, so that no result stops the host. */
export async function inTurns<T>(work: Generator<undefined, T, undefined>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await turn();
  }
}

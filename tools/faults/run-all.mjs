/** Runs many cases side by side; the verdicts come back in the order of the cases. */
import { runCase } from './run-case.mjs';
import { longestOf } from './time-limits.mjs';

/**
 * A case that lasts long is begun early, so that none is left over at the end. The signal ends what is running and
 * begins nothing more; the verdicts are those there are by then.
 */
export async function runAll(cases, folder, { jobs, signal }) {
  const verdicts = new Map();
  const waiting = cases.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  const isWanted = () => waiting.length > 0 && !signal?.aborted;
  const work = async () => {
    while (isWanted()) {
      const kase = waiting.shift();
      verdicts.set(kase, await runCase(kase, folder, signal));
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return cases.flatMap((kase) => verdicts.get(kase) ?? []);
}

function lengthOf({ problems, ...kase }) {
  return problems.length > 0 ? 0 : longestOf(kase);
}

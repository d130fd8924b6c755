/** Runs cases in parallel; the verdicts are in the order of the cases. */
import { runCase } from './run-case.mjs';
import { longestOf } from './time-limits.mjs';

/**
 * Long cases start first, so that none of them remains at the end. The signal ends the running cases and starts no more;
 * the verdicts are those of the cases that have started.
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

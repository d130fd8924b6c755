/** Runs many cases side by side; the verdicts come back in the order of the cases. */
import { runCase } from './run-case.mjs';

export async function runAll(cases, folder, jobs) {
  const verdicts = [];
  let next = 0;
  const work = async () => {
    while (next < cases.length) {
      const index = next;
      next += 1;
      verdicts[index] = await runCase(cases[index], folder);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, work));
  return verdicts;
}

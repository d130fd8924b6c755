/**
 * Runs random sequences of events: a failure prints the smallest failing one, its seed, and the command that repeats it.
 * `MODEL_SEED` repeats a seed, `MODEL_RUNS` multiplies the number of runs.
 */
import fc from 'fast-check';
import { expect } from 'vitest';

const SEED = process.env['MODEL_SEED'];
const TIMES = Number(process.env['MODEL_RUNS'] ?? 1);

export interface Runs {
  readonly numRuns: number;
  /** A fixed seed. Default: a new seed for every run. */
  readonly seed?: number;
}

/** Checks the property for `numRuns` sequences. */
export async function checkSequences<Ts>(
  { numRuns, seed }: Runs,
  property: fc.IAsyncProperty<Ts>,
): Promise<void> {
  const chosen = SEED === undefined ? seed : Number(SEED);
  const result = await fc.check(property, {
    numRuns: Math.ceil(numRuns * TIMES),
    ...(chosen === undefined ? {} : { seed: chosen }),
  });
  if (!result.failed) return;
  throw new Error(`${await fc.asyncDefaultReportMessage(result)}\n\n${howToRepeat(result.seed)}`, {
    cause: result.errorInstance,
  });
}

function howToRepeat(seed: number): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const file = testPath.slice(testPath.lastIndexOf('/test/') + 1);
  const name = (currentTestName.split(' > ').at(-1) ?? '').replaceAll(/[^\w ,]/g, '.');
  return `To repeat it:\nMODEL_SEED=${seed} npx vitest run --config test/vitest.config.ts ${file} -t '${name}'`;
}

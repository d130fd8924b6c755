/**
 * Runs a fuzz test. A failure prints its seed and path; `FUZZ_SEED` repeats a seed, `FUZZ_RUNS` multiplies the number
 * of runs.
 */
import fc from 'fast-check';

const TIMES = Number(process.env['FUZZ_RUNS'] ?? 1);
const SEED = process.env['FUZZ_SEED'];

/** Checks the property for `runs` inputs and fails with the smallest input for which it does not hold. */
export async function fuzz<Ts>(
  runs: number,
  property: fc.IProperty<Ts> | fc.IAsyncProperty<Ts>,
): Promise<void> {
  const seed = SEED === undefined ? {} : { seed: Number(SEED) };
  await fc.assert(property as fc.IAsyncProperty<Ts>, { numRuns: Math.ceil(runs * TIMES), ...seed });
}

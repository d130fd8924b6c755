/**
 * Runs a plan in rounds with alternating contenders, then repeats the runs that other work has disturbed.
 *
 * R1. Each case is finished before the next starts, so that compared figures were measured within minutes.
 * R2. A disturbed run is replaced by a quieter one. The number of repetitions is at most the number of runs, and their
 *     total time is limited.
 * R3. A contender that fails twice in a case is not run again.
 * R4. Every run is saved immediately, so that an interrupted bench can continue.
 * R5. No run starts after the time limit.
 */
import { rotated } from './plan.mjs';

const MAX_FAILURES = 2;

/**
 * @param {object[]} plan
 * @param {object} ports `take` measures, `runs` saves (`of(key)`, `keep(key, runs)`), `tell` shows a run,
 *   `mostRetakeMs` limits the time of R2 and `isOver` decides R5, both optional
 * @returns {Promise<boolean>} whether the plan was completed
 */
export async function runPlan(plan, { mostRetakeMs = Infinity, ...ports }) {
  const { isOver = () => false } = ports;
  let leftMs = mostRetakeMs;
  for (const kase of plan) {
    if (!(await runRounds(kase, { ...ports, isOver }))) return false;
    const isEnough = () => isOver() || leftMs <= 0;
    await retake(kase, { ...ports, isEnough, spend: (ms) => (leftMs -= ms) });
  }
  return true;
}

export const keyOf = (kase, name) => `${kase.scenario.name}/${kase.name}/${name}`;

const failures = (runs) => runs.filter(({ error }) => error !== undefined).length;

async function runRounds(kase, { take, runs, tell, isOver }) {
  const rounds = Math.max(...kase.contenders.map((contender) => contender.runs));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, runs: wanted } of rotated(kase.contenders, round)) {
      const key = keyOf(kase, name);
      const had = runs.of(key);
      if (round >= wanted || had.length > round || failures(had) >= MAX_FAILURES) continue;
      if (isOver()) return false;
      const run = await take(kase, name);
      runs.keep(key, [...had, run]);
      tell(kase, name, run);
    }
  }
  return true;
}

async function retake(kase, { take, runs, tell, isEnough, spend }) {
  for (const { name, runs: wanted } of kase.contenders) {
    const key = keyOf(kase, name);
    for (let taken = 0; taken < wanted && !isEnough(); taken += 1) {
      const had = runs.of(key);
      const worst = had
        .filter(({ isNoisy }) => isNoisy)
        .reduce(
          (one, other) => (one === undefined || other.otherLoad > one.otherLoad ? other : one),
          undefined,
        );
      if (worst === undefined || worst.error !== undefined) break;
      const run = await take(kase, name);
      spend(run.tookMs);
      const isBetter = run.error === undefined && run.otherLoad < worst.otherLoad;
      const kept = isBetter ? had.map((one) => (one === worst ? run : one)) : had;
      runs.keep(
        key,
        kept.map((one) => ({ ...one })),
      );
      tell(kase, name, run, 'again');
    }
  }
}

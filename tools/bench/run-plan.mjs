/**
 * Runs a plan: round after round, contenders in turn, then once more what the machine disturbed.
 *
 * R1. Each case is finished before the next begins, so that what is compared was measured within minutes.
 * R2. A disturbed run is replaced by a quieter one; there are at most as many of these as there are runs, and none once
 *     they have taken as long as they may.
 * R3. A contender that fails twice in a case is not asked again.
 * R4. Every run is kept at once, so that an interrupted bench goes on where it was.
 * R5. Nothing is begun once the time is over.
 */
import { rotated } from './plan.mjs';

const MAX_FAILURES = 2;

/**
 * @param {object[]} plan
 * @param {object} ports `take` measures, `runs` keeps (`of(key)`, `keep(key, runs)`), `tell` shows what was measured,
 *   `mostRetakeMs` bounds R2 and `isOver` says R5 where they are given
 * @returns {Promise<boolean>} whether it came to the end
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

/** Runs the steps of a plan, each at its time, even if earlier ones are not done. */
import { setTimeout as pause } from 'node:timers/promises';
import { ACTIONS } from './actions.mjs';
import { within } from './within.mjs';

/** The longest time of a step after the chaos: a complete stop, a start with all attempts, and a busy machine. */
const STEP_LIMIT_MS = 120_000;

/**
 * Resolves when every step is done. Steps that are running when `signal` aborts end immediately. Returns the faults as
 * sentences; a command that Troupe rejects is not a fault.
 */
export async function playPlan(plan, { troupe, fleet, log, signal }) {
  const startedAt = performance.now();
  const world = { troupe, fleet, pause: (ms) => pauseUntil(signal, ms) };
  const faults = [];
  const running = new Set();
  for (const step of plan) {
    await pauseUntil(signal, step.at - (performance.now() - startedAt));
    if (signal.aborted) break;
    const work = play(step, world, log, faults).finally(() => running.delete(work));
    running.add(work);
  }
  await Promise.all(running);
  return faults;
}

async function play(step, world, log, faults) {
  log.note('step', step);
  const about = step.to === undefined ? step.does : `${step.does} of ${step.to}`;
  try {
    await within(step.forMs + STEP_LIMIT_MS, about, ACTIONS[step.does](world, step));
    log.note('done', { does: step.does, to: step.to });
  } catch (error) {
    log.note('refused', { does: step.does, to: step.to, code: error.code, message: error.message });
    if (!isTroupeError(error)) faults.push(`${about} failed: ${error.stack}`);
  }
}

/** Whether it is an error of Troupe, which has a code and a server. */
function isTroupeError(error) {
  return /^[A-Z_]+$/.test(error.code ?? '') && 'server' in error;
}

async function pauseUntil(signal, ms) {
  if (ms <= 0 || signal.aborted) return;
  await pause(ms, undefined, { signal }).catch(() => {});
}

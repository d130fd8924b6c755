/** Does the steps of a plan, each at its time whether the ones before are done or not. */
import { setTimeout as pause } from 'node:timers/promises';
import { ACTIONS } from './actions.mjs';
import { within } from './within.mjs';

/** The longest a step may take once the chaos is over: a stop ladder, a start with all its attempts, and a busy machine. */
const STEP_LIMIT_MS = 120_000;

/**
 * Resolves when every step is done; those that are at it when `signal` aborts come to their end at once. Gives what
 * went wrong as sentences: that Troupe refuses a command is no fault.
 */
export async function playPlan(plan, { troupe, fleet, log, signal }) {
  const startedAt = performance.now();
  const world = { troupe, fleet, pause: (ms) => pauseUntil(signal, ms) };
  const faults = [];
  const atWork = new Set();
  for (const step of plan) {
    await pauseUntil(signal, step.at - (performance.now() - startedAt));
    if (signal.aborted) break;
    const work = play(step, world, log, faults).finally(() => atWork.delete(work));
    atWork.add(work);
  }
  await Promise.all(atWork);
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
    if (!isTold(error)) faults.push(`${about} failed: ${error.stack}`);
  }
}

/** An error of Troupe: it names its kind, and the server. */
function isTold(error) {
  return /^[A-Z_]+$/.test(error.code ?? '') && 'server' in error;
}

async function pauseUntil(signal, ms) {
  if (ms <= 0 || signal.aborted) return;
  await pause(ms, undefined, { signal }).catch(() => {});
}

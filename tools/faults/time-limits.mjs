/** Time limits of a step of a case and of all steps together, in milliseconds. */

/** Limit of a step without its own limit. */
const STEP_LIMIT_MS = 30_000;
/** Limit for a configuration, which may have servers that never settle. */
const LOAD_LIMIT_MS = 10_000;
/** Troupe's limit of a call, which progress extends. */
export const CALL_LIMIT_MS = 60_000;
/** A call that exceeds its limit by this much has no outcome. */
const PATIENCE_MS = 30_000;
const SPARE_MS = 60_000;
const PINGS = 3;
const PING_MS = 500;

export function limitOf({ do: name, timeoutMs = name === 'load' ? LOAD_LIMIT_MS : STEP_LIMIT_MS }) {
  return timeoutMs;
}

/** The limit of a call: its own or that of the client; undefined if there is none. */
export function callLimitOf(step, client = {}) {
  return step.timeoutMs ?? client.callTimeoutMs;
}

/** How long to wait for the outcome of a call. Progress may extend the limit of the call itself. */
export function patienceWith(step, client) {
  return (callLimitOf(step, client) ?? CALL_LIMIT_MS) + PATIENCE_MS;
}

/** The number and the interval of the pings of a step. */
export function pingsOf({ count = PINGS, everyMs }, client = {}) {
  return { count, everyMs: everyMs ?? client.healthCheckMs ?? PING_MS };
}

/** The total time limit of the host of a case. */
export function longestOf({ steps, client }) {
  return steps.reduce((sum, step) => sum + longestStep(step, client), SPARE_MS);
}

function longestStep(step, client) {
  if (step.do === 'call' || step.do === 'call-and-abort') {
    return patienceWith(step, client) + (step.afterMs ?? 0);
  }
  if (step.do === 'ping') {
    const { count, everyMs } = pingsOf(step, client);
    return (count + 1) * everyMs;
  }
  return step.do === 'wait' ? step.ms : limitOf(step);
}

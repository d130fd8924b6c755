/** How long a step of a case may take before it is given up, and all of them together. All values are milliseconds. */

/** For steps that do not say. */
const STEP_LIMIT_MS = 30_000;
/** A configuration may hold servers that never settle. */
const LOAD_LIMIT_MS = 10_000;
/** What Troupe gives a call, which progress extends. */
export const CALL_LIMIT_MS = 60_000;
/** A call that outlives its limit by this much has no outcome. */
const PATIENCE_MS = 30_000;
const SPARE_MS = 60_000;
const PINGS = 3;
const PING_MS = 500;

export function limitOf({ do: name, timeoutMs = name === 'load' ? LOAD_LIMIT_MS : STEP_LIMIT_MS }) {
  return timeoutMs;
}

/** The limit of a call: its own, else that of the client; undefined where neither says. */
export function callLimitOf(step, client = {}) {
  return step.timeoutMs ?? client.callTimeoutMs;
}

/** How long the outcome of a call is waited for. Progress may extend the limit of the call itself. */
export function patienceWith(step, client) {
  return (callLimitOf(step, client) ?? CALL_LIMIT_MS) + PATIENCE_MS;
}

/** How often a step pings, and at what intervals. */
export function pingsOf({ count = PINGS, everyMs }, client = {}) {
  return { count, everyMs: everyMs ?? client.healthCheckMs ?? PING_MS };
}

/** What the host of a case may take in all. */
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

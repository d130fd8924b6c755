/**
 * What the answer to a call, or the error of a client, says of it. Pure.
 *
 * - `succeeded`: it was carried out.
 * - `not-delivered`: the server has not received it.
 * - `unknown`: it may have been carried out.
 * - `gave-up`: nothing was said within the limit of the client.
 * - `unclear`: it says none of that.
 */

/** The codes of Troupe. */
const OUTCOMES = {
  NOT_READY: 'not-delivered',
  UNKNOWN_TOOL: 'not-delivered',
  LAUNCH_FAILED: 'not-delivered',
  HANDSHAKE_FAILED: 'not-delivered',
  OUTCOME_UNKNOWN: 'unknown',
  CALL_TIMEOUT: 'unknown',
};
/** Of requests that the SDKs gave up. */
const GAVE_UP = new Set([-32001, 'REQUEST_TIMEOUT']);
/** Statuses that say that nothing was done: the request did not arrive whole in time, or no host took it. */
const NOTHING_DONE = new Set([408, 503]);
const NO_SESSION = 404;

export function outcomeOfResult(result, id) {
  const { text } = result.content?.[0] ?? {};
  if (result.isError !== true) return { outcome: text === id ? 'succeeded' : 'unclear', about: text };
  const { code } = result._meta?.['mcp-troupe/error'] ?? {};
  return { outcome: OUTCOMES[code] ?? 'unclear', about: text };
}

/** `isSessionOver`: the client has to begin a new session. */
export function outcomeOfError(error) {
  const { code, status: said, data, message } = error;
  const status = said ?? (code > 0 ? code : undefined);
  const about = `${status ?? code ?? error.name}: ${message}${reasonOf(error)}`;
  if (GAVE_UP.has(code)) return { outcome: 'gave-up', about };
  if (Object.hasOwn(OUTCOMES, code)) return { outcome: OUTCOMES[code], about };
  if (status === NO_SESSION) return { outcome: 'not-delivered', about, isSessionOver: true };
  if (NOTHING_DONE.has(status)) return { outcome: 'not-delivered', about };
  if (JSON.stringify([message, data ?? {}]).includes('outcome-unknown')) return { outcome: 'unknown', about };
  if (data?.tool !== undefined) return { outcome: 'not-delivered', about };
  return { outcome: isBroken(error) ? 'unknown' : 'unclear', about };
}

/** The connection broke, or the stream of the answer. */
function isBroken({ code, message }) {
  return message === 'fetch failed' || code === 'CONNECTION_CLOSED';
}

function reasonOf({ cause }) {
  return cause === undefined ? '' : ` (${cause.code ?? cause.message})`;
}

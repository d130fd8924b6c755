/** One call of a case, told in the words of the checks: a text or an error, and how long it took. */
import { setTimeout as pause } from 'node:timers/promises';

/** A call that outlives its limit by this much is told as never settled. */
const PATIENCE_MS = 5_000;
const LONGEST_CALL_MS = 65_000;

/** `{ text }`, `{ error }`, both, or `{ unsettled }`; `ms` from the start, `settledAt` since the epoch. */
export async function outcomeOf(host, step, signal) {
  host.connection(step.server);
  const { timeoutMs } = step;
  const options = { ...(timeoutMs && { timeoutMs }), ...(signal && { signal }) };
  const startedAt = Date.now();
  const enough = new AbortController();
  const settled = await Promise.race([
    host.callTool(step, options).then(toResult, (error) => toError(error, host)),
    silence(timeoutMs, enough.signal),
  ]);
  enough.abort();
  const settledAt = Date.now();
  return { ...settled, settledAt, ms: settledAt - startedAt };
}

/** A result that says it is an error counts as one, with its text as the message. */
function toResult({ content = [], isError = false }) {
  const texts = content.filter(({ type }) => type === 'text');
  const text = texts.map((part) => part.text).join('');
  return isError ? { text, error: text } : { text };
}

/** What the server itself answered may hold anything; the other errors are ours and must not give secrets away. */
function toError(error, host) {
  if (error.code !== 'SERVER_ERROR') host.watch.keepError(error);
  return { error: error.message };
}

async function silence(timeoutMs, signal) {
  await pause(timeoutMs ? timeoutMs + PATIENCE_MS : LONGEST_CALL_MS, undefined, { signal }).catch(() => {});
  return { unsettled: true };
}

/** One call of a case, told in the words of the checks: a text or an error, and how long it took. */
import { setTimeout as pause } from 'node:timers/promises';
import { callOptions } from './client-settings.mjs';
import { patienceWith } from './time-limits.mjs';

/** `{ text }`, `{ error }`, both, or `{ unsettled }`; `ms` from the start, `settledAt` since the epoch. */
export async function outcomeOf(host, step, signal) {
  const { client } = host.kase;
  const startedAt = Date.now();
  const enough = new AbortController();
  const settled = await Promise.race([
    host
      .callTool(step, { ...callOptions(step, client), ...(signal && { signal }) })
      .then(toResult, (error) => toError(error, host)),
    silence(patienceWith(step, client), enough.signal),
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
  if (error.code !== 'JSON_RPC_ERROR') host.watch.keepError(error);
  return { error: error.message };
}

async function silence(ms, signal) {
  await pause(ms, undefined, { signal }).catch(() => {});
  return { unsettled: true };
}

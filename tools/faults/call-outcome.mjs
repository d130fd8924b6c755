/** Makes one call of a case and returns its outcome for the checks: a text or an error, and its duration. */
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

/** A result that is marked as an error counts as an error, with its text as the message. */
function toResult({ content = [], isError = false }) {
  const texts = content.filter(({ type }) => type === 'text');
  const text = texts.map((part) => part.text).join('');
  return isError ? { text, error: text } : { text };
}

/** An answer of the server may contain anything. Other errors come from Troupe and must not contain secrets. */
function toError(error, host) {
  if (error.code !== 'JSON_RPC_ERROR') host.watch.keepError(error);
  return { error: error.message };
}

async function silence(ms, signal) {
  await pause(ms, undefined, { signal }).catch(() => {});
  return { unsettled: true };
}

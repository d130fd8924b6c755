/** Judges the calls of a run with replicas. Pure. */

const OUTCOMES = ['succeeded', 'not-delivered', 'unknown', 'gave-up', 'unclear'];
/** Maximum number of examples of each kind of problem. */
const MAX_EXAMPLES = 5;

/**
 * Compares all calls with the journal, which has the id of each call that was carried out. Returns what is wrong, as sentences.
 * `limitMs` is the longest allowed time of a call.
 */
export function judgeCalls(calls, journal, limitMs) {
  const executed = new Map();
  for (const id of journal) executed.set(id, (executed.get(id) ?? 0) + 1);
  const known = new Set(calls.map(({ id }) => id));
  return [
    ...examples(calls.flatMap((call) => problemsOf(call, executed.get(call.id) ?? 0, limitMs))),
    ...examples(
      [...executed.keys()]
        .filter((id) => !known.has(id))
        .map((id) => `${id} was carried out and never called`),
    ),
  ];
}

function problemsOf({ id, startedAt, settledAt, outcome, about }, times, limitMs) {
  if (outcome === undefined) return [`${id} never settled`];
  const problems = [];
  const tookMs = Math.round(settledAt - startedAt);
  if (tookMs > limitMs) problems.push(`${id} (${outcome}) took ${tookMs} ms`);
  if (outcome === 'unclear') problems.push(`${id} has no clear outcome: ${about}`);
  const isWrong =
    times > 1 || (outcome === 'succeeded' && times === 0) || (outcome === 'not-delivered' && times > 0);
  if (isWrong) problems.push(`${id} (${outcome}) was carried out ${times} times: ${about}`);
  return problems;
}

/**
 * Judges one round from the calls that were open between `since` and `until`. `mayFail`, `mayGiveUp` and `losesSessions` say
 * what the fault may do to them.
 */
export function judgeRound(calls, { since, until, lost }, { mayFail, mayGiveUp, losesSessions }) {
  const open = calls.filter(({ startedAt, settledAt }) => startedAt <= until && !(settledAt < since));
  const problems = open.flatMap((call) => {
    const { id, outcome, about } = call;
    if (outcome === 'succeeded' || outcome === undefined) return [];
    if (!mayFail(call)) return [`${id} failed (${outcome}): ${about}`];
    return outcome === 'gave-up' && !mayGiveUp(call) ? [`${id} got no answer`] : [];
  });
  if (lost > 0 && !losesSessions) problems.push(`${lost} session(s) were lost`);
  const counts = OUTCOMES.map((name) => [name, open.filter(({ outcome }) => outcome === name).length]);
  return {
    problems: examples(problems),
    calls: open.length,
    ...Object.fromEntries(counts),
    lost,
    pausesMs: pausesOf(open, since, until),
  };
}

/** For each server, the longest time of each of its callers without a call that succeeded. */
function pausesOf(calls, since, until) {
  const moments = new Map();
  for (const { client, server, outcome, settledAt } of calls) {
    const caller = `${client} ${server}`;
    if (!moments.has(caller)) moments.set(caller, { server, times: [since, until] });
    const isWithin = settledAt >= since && settledAt <= until;
    if (outcome === 'succeeded' && isWithin) moments.get(caller).times.push(settledAt);
  }
  const pauses = {};
  for (const { server, times } of moments.values()) {
    const sorted = times.toSorted((a, b) => a - b);
    const gaps = sorted.slice(1).map((time, index) => time - sorted[index]);
    (pauses[server] ??= []).push(Math.round(Math.max(...gaps)));
  }
  return pauses;
}

function examples(problems) {
  const more = problems.length - MAX_EXAMPLES;
  return more > 0 ? [...problems.slice(0, MAX_EXAMPLES), `… and ${more} more`] : problems;
}

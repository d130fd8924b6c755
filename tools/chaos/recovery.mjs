/**
 * After the chaos, when every server works again: lets every connection recover, and reports the results. A connection
 * that gave up must have a reason, and is started once more.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { makeCall } from './callers.mjs';

const RECOVERY_LIMIT_MS = 60_000;
const POLL_MS = 100;
const PROOF_LIMIT_MS = 20_000;

const isSettled = ({ tags }) => tags.includes('settled');

/** `counts`: the states of the connections after the chaos and at the end. `faults`: sentences. */
export async function recover({ troupe, fleet, ledger }, signal) {
  await troupe.reload(fleet.entries);
  await untilSettled(troupe, signal);
  const gaveUp = rowsOf(troupe).filter(({ state }) => state === 'failed');
  const stopped = rowsOf(troupe).filter(({ state }) => state === 'stopped');
  const connections = [...gaveUp, ...stopped].map(({ server }) => troupe.connection(server));
  await Promise.all(connections.map((connection) => connection.start().catch(() => {})));
  await untilSettled(troupe, signal);

  const rows = new Map(rowsOf(troupe).map((row) => [row.server, row]));
  const silent = await silentOnes({ troupe, ledger, signal }, rows);
  const end = [...rows.values()];
  return {
    counts: {
      connections: end.length,
      'gave up in the chaos': gaveUp.length,
      ready: end.filter(({ state }) => state === 'ready').length,
      explained: end.filter((row) => row.state === 'failed' && isExplained(row)).length,
    },
    reasons: countBy(gaveUp, ({ error }) => error?.code ?? 'none'),
    faults: [
      ...gaveUp
        .filter((row) => !isExplained(row))
        .map((row) => `${row.server} gave up without an explanation`),
      ...fleet.allNames.filter((name) => !rows.has(name)).map((name) => `${name} is missing`),
      ...end.filter((row) => row.state !== 'ready' && !isExplained(row)).map(describeState),
      ...silent.map((name) => `${name} is ready, but did not answer`),
    ],
  };
}

const rowsOf = ({ status }) => status;

const isExplained = ({ state, error }) =>
  state === 'failed' && error !== null && error.code !== 'internal' && error.message.length > 0;

const describeState = ({ server, state, substate, error }) =>
  `${server} is ${state}${substate === '' ? '' : ` (${substate})`} at the end: ${error?.message ?? 'no reason given'}`;

/** Returns after a limit, even if connections are not settled; their rows then show it. */
async function untilSettled(troupe, signal) {
  const deadline = Date.now() + RECOVERY_LIMIT_MS;
  while (!rowsOf(troupe).every(isSettled) && Date.now() < deadline && !signal.aborted) await pause(POLL_MS);
}

/** Ready connections that do not answer a call without side effects. The first call detects a forgotten session. */
async function silentOnes(parts, rows) {
  const ready = [...rows.values()].filter(({ state }) => state === 'ready').map(({ server }) => server);
  const answers = await Promise.all(ready.map((name) => doesAnswer(parts, name)));
  return ready.filter((_, index) => !answers[index]);
}

async function doesAnswer({ troupe, ledger, signal }, server) {
  const deadline = Date.now() + PROOF_LIMIT_MS;
  for (let number = 1; Date.now() < deadline && !signal.aborted; number += 1) {
    const id = `proof-${server}-${number}`;
    await makeCall(troupe, ledger, { id, tool: 'read', server, timeoutMs: PROOF_LIMIT_MS });
    if (ledger.outcome(id) === 'answered') return true;
    await pause(POLL_MS);
  }
  return false;
}

function countBy(list, key) {
  const counts = {};
  for (const item of list) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}

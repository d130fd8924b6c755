/** A server that dies, and one that has forgotten its sessions. */
import { setTimeout as pause } from 'node:timers/promises';
import { KEY, PEERS } from '../contenders.mjs';
import { endAll, processesWith } from '../processes.mjs';
import { httpServer, stdioServers } from '../servers.mjs';

const REST_MS = 300;
const WITHOUT_CALL_MS = 2_500;
const WITH_CALLS_MS = 2_500;

export const scenario = {
  name: 'recovery',
  title: 'Recovery',
  about:
    '*Killed*: `kill -9` of the server; the time until its tools are usable again if no call is made (– means not ' +
    'within 2.5 s), and, if they are not, until a call answers that is repeated every 20 ms. The row of the floor is ' +
    'not a recovery: it is one spawn, handshake and list in a process that has done this once before, like the ' +
    'others. *Session lost*: an HTTP server forgets its sessions, as in a restart, and answers 404; the table shows ' +
    'whether the next call answers.',
  metrics: {
    backMs: { label: 'usable again, no call made', unit: 'ms' },
    callMs: { label: 'first call that answers', unit: 'ms', ratio: false },
    answered: { label: 'next call answers', unit: '', ratio: false },
  },
  cases: ({ isQuick }) => [
    {
      name: 'killed',
      params: { kind: 'stdio' },
      clients: [...KEY, ...PEERS],
      runs: 7,
      runsOf: { sdk: isQuick ? 0 : 1 },
      peerRuns: 1,
      seconds: isQuick ? 1 : 4,
    },
    {
      name: 'session lost',
      params: { kind: 'http' },
      clients: [...KEY, ...PEERS],
      ...{ runs: 5, runsOf: { sdk: isQuick ? 0 : 1, floor: isQuick ? 0 : 1 }, peerRuns: 1 },
      seconds: 0.5,
    },
  ],
};

export function measure(job) {
  if (job.params.kind === 'http') return sessionLost(job);
  return job.client.name === 'floor' ? onceMore(job) : killed(job);
}

/** The minimum work of a recovery. */
async function onceMore({ client, mark }) {
  const library = await client.load('stdio');
  const [server] = stdioServers(1, mark);
  await (await client.open(library, [server])).close();
  await pause(REST_MS);
  const begun = performance.now();
  const handle = await client.open(library, [server]);
  const backMs = performance.now() - begun;
  await handle.close();
  return { backMs, callMs: null, answered: null };
}

async function killed({ client, mark }) {
  const library = await client.load('stdio');
  let onListed = () => {};
  const handle = await client.open(library, stdioServers(1, mark), { onListed: () => onListed() });
  const call = handle.caller('s0', 'tool_0');
  await call({ text: 'before' });
  await pause(REST_MS);
  const victims = processesWith(mark);
  const begun = performance.now();
  const back = new Promise((resolve) => (onListed = () => resolve(performance.now() - begun)));
  endAll(victims);
  const backMs = await Promise.race([back, pause(WITHOUT_CALL_MS, null)]);
  const callMs = await untilAnswered(call, begun);
  await Promise.race([handle.close(), pause(WITH_CALLS_MS)]);
  return { backMs, callMs: backMs === null ? callMs : null, answered: callMs === null ? 0 : 1 };
}

/** Milliseconds since `begun`, or null if no call was answered in time. */
async function untilAnswered(call, begun) {
  const end = performance.now() + WITH_CALLS_MS;
  while (performance.now() < end) {
    const answer = await Promise.race([attempt(call), pause(WITH_CALLS_MS, false)]);
    if (answer) return performance.now() - begun;
    await pause(20);
  }
  return null;
}

async function attempt(call) {
  try {
    return isAnswer(await call({ text: 'after' }));
  } catch {
    return false;
  }
}

/** Some clients return an error as if it were an answer. */
const isAnswer = (result) => JSON.stringify(result ?? null).includes('after') && result?.isError !== true;

async function sessionLost({ client, mark }) {
  const { server, end } = await httpServer(mark);
  const library = await client.load('http');
  const handle = await client.open(library, [server]);
  const call = handle.caller('s0', 'tool_0');
  await call({ text: 'before' });
  await fetch(new URL('/forget', server.url), { method: 'POST' });
  const begun = performance.now();
  const isAnswered = await Promise.race([attempt(call), pause(WITH_CALLS_MS, false)]);
  const callMs = isAnswered ? performance.now() - begun : null;
  await Promise.race([handle.close(), pause(WITH_CALLS_MS)]).catch(() => {});
  await end();
  return { backMs: null, callMs, answered: isAnswered ? 1 : 0 };
}

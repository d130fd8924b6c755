/** The effect of a server that does not answer on the others. */
import { KEY, PEERS } from '../contenders.mjs';
import { endAll, processesWith } from '../processes.mjs';
import { stdioServers } from '../servers.mjs';

const LATE_MS = 3_000;
/** Limit of the wait for a client after the others are usable. */
const GRACE_MS = 3_500;
const KINDS = {
  none: { label: 'all answer', flags: [] },
  silent: { label: 'silent', flags: ['--silent'] },
  slow: { label: `${LATE_MS / 1_000} s late`, flags: [`--late=${LATE_MS}`] },
  missing: { label: 'no such program', flags: [] },
};

/** The name of a case; the targets look figures up by it. */
export const caseName = (servers, faulty, kind) =>
  kind === 'none'
    ? `${servers}, but for ${faulty}: all answer`
    : `${servers}, of which ${faulty}: ${KINDS[kind].label}`;

export const scenario = {
  name: 'faults',
  title: 'Servers that do not answer',
  about:
    'The difficult servers come first in the list. The table shows the time until all the *others* are usable: if all ' +
    'answer, and if some do not. The benchmark stops waiting 3.5 s after that, or 5 s after the call (8 s if one is ' +
    'late, 15 s with fifty): – means that the result did not arrive by then.',
  metrics: {
    othersMs: { label: 'the others usable', unit: 'ms' },
    readyMs: { label: 'the call returned', unit: 'ms', ratio: false },
    tools: { label: 'tools then', unit: '', ratio: false },
  },
  cases: ({ isQuick }) =>
    [
      [10, 1, 'none', 5, 1],
      [10, 1, 'silent', 5, isQuick ? 4 : 6],
      [10, 1, 'slow', 3, 4],
      [10, 1, 'missing', 5, 1],
      [50, 10, 'none', 3, 2.5],
      [50, 10, 'silent', 3, 5],
    ]
      .filter(([servers, , kind]) => !isQuick || (servers === 10 && kind !== 'slow'))
      .map(([servers, faulty, kind, runs, seconds]) => ({
        name: caseName(servers, faulty, kind),
        params: {
          servers,
          faulty,
          kind,
          limitMs: servers === 50 ? 15_000 : kind === 'slow' ? 8_000 : 5_000,
          graceMs: isQuick ? 500 : GRACE_MS,
        },
        clients: servers === 10 ? [...KEY, ...PEERS] : KEY,
        ...{ runs, runsOf: kind === 'none' || kind === 'missing' ? {} : { sdk: 1, floor: 1 }, peerRuns: 1 },
        seconds,
      })),
};

function toFaulty(server, kind) {
  return kind === 'missing' ? { ...server, command: '/nonexistent/server' } : server;
}

export async function measure({ client, params, mark }) {
  const { faulty, kind, limitMs, graceMs } = params;
  const servers = stdioServers(params.servers, mark, (index) =>
    index < faulty ? KINDS[kind].flags : [],
  ).map((server, index) => (index < faulty ? toFaulty(server, kind) : server));
  const others = new Set(servers.slice(faulty).map(({ name }) => name));
  const library = await client.load('stdio');
  const begun = performance.now();
  let othersMs = null;
  let timer;
  let giveUp = () => {};
  const late = new Promise((resolve) => (giveUp = resolve));
  const wait = (ms) => {
    clearTimeout(timer);
    timer = setTimeout(() => giveUp(), ms);
  };
  wait(limitMs);
  const onListed = (name) => {
    others.delete(name);
    if (others.size > 0 || othersMs !== null) return;
    othersMs = performance.now() - begun;
    wait(graceMs);
  };
  const opening = client.open(library, servers, { onListed, options: { startGateMs: 10_000 } });
  opening.catch(() => {});
  const handle = await Promise.race([opening, late]);
  clearTimeout(timer);
  const readyMs = handle === undefined ? null : performance.now() - begun;
  const tools = handle?.tools ?? null;
  if (handle !== undefined)
    await Promise.race([handle.close(), new Promise((resolve) => setTimeout(resolve, 2_500))]);
  endAll(processesWith(mark));
  return { othersMs, readyMs, tools };
}

/**
 * Records the corpus again: runs faulty servers of the fault kit and scripted ones of either era, and writes a summary of the replay beside each log. Run
 * it after a build, from the folder of the package: node tools/make-corpus.mjs [NAME...]
 */
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogFile, replayLog } from '../dist/bundle/src/event-log/index.js';
import { createFleet, createMemoryEngine } from '../dist/bundle/src/fleet/index.js';
import { createGateway, serveHttp } from '../dist/bundle/src/gateway/index.js';
import { createTroupe } from '../dist/bundle/src/index.js';
import { createScriptedServer } from '../dist/bundle/src/testing/index.js';
import { readCaseFile } from './faults/case-file.mjs';
import { serverEntry } from './faults/client-settings.mjs';
import { startHttpServer } from './faults/http-server.mjs';
import { fill } from './faults/placeholders.mjs';

const CORPUS = fileURLToPath(new URL('../test/property/replay/corpus', import.meta.url));
const { folder, cases } = readCaseFile(fileURLToPath(new URL('./faults/kit/cases.json', import.meta.url)));

/** Short limits, so that the corpus is small and quickly recorded. */
const FAST = { backoff: [50, 100], maxAttempts: 3, exhausted: { remoteEveryMs: 0 } };
const SHORT = { launchTimeoutMs: 700, handshakeTimeoutMs: 700, listTimeoutMs: 700 };
const call =
  (tool, args = {}) =>
  (connection) =>
    connection.callTool(tool, args).catch(() => {});
const INCIDENTS = {
  'stdio-plain': { use: [call('echo', { text: 'hello' })] },
  'http-plain': { use: [call('echo', { text: 'hello' })] },
  'exit-at-once': {},
  'exit-after-initialize': {},
  'unknown-command': {},
  'init-never': { policy: SHORT },
  'init-future-version': {},
  'no-tools-capability': {},
  'list-changed-storm': { ms: 1_500 },
  'dies-in-a-call': {
    use: [call('lamp_set', { lamp: 'porch', on: true }), call('echo', { text: 'a' })],
    ms: 1_000,
  },
  'flaps-forever': { policy: { intensity: { restarts: 3, periodMs: 30_000 } }, ms: 2_500 },
  'session-404': { use: ['a', 'b', 'c', 'd', 'e'].map((text) => call('echo', { text })), ms: 1_000 },
  'warming-up-503': { ms: 1_500 },
  'host-restarts': {
    of: 'stdio-plain',
    use: [
      (connection) => connection.retry().catch(() => {}),
      (connection) => connection.restart(),
      (connection) => connection.stop(),
      (connection) => connection.start(),
    ],
  },
};

const listening = (...answers) => ({ era: 'new', on: { 'subscriptions/listen': answers } });
Object.assign(INCIDENTS, {
  'new-era': {
    script: { era: 'new' },
    use: [call('echo', { text: 'hello' }), (connection) => connection.refresh()],
  },
  'new-era-dies': {
    script: { era: 'new', on: { 'tools/call': [{ fault: 'crash' }, {}] } },
    use: [call('echo', { text: 'a' }), call('echo', { text: 'b' })],
    ms: 500,
  },
  'new-era-loses-its-stream': { script: listening({ result: {} }, {}), ms: 1_500 },
  'new-era-without-a-stream': { script: listening({ error: { code: -32601, message: 'Method not found' } }) },
  'both-eras': { script: { era: 'both' }, use: [call('echo', { text: 'hello' })] },
  'only-once': { of: 'stdio-plain', place: onceInAFleet },
});

/**
 * A server that runs once: somebody has its lease at first, then it runs at the recorded host, and then at another one, whose
 * server the recorded host uses.
 */
async function onceInAFleet(entry) {
  const leaseMs = 2_000;
  const engine = createMemoryEngine();
  const given = [];
  const acquire = async (...terms) => {
    const lease = await engine.acquire(...terms);
    if (lease !== undefined) given.push(lease);
    return lease;
  };
  const own = new Proxy(engine, {
    get: (from, name) => {
      const value = Reflect.get(from, name, from);
      if (name === 'acquire') return acquire;
      return typeof value === 'function' ? value.bind(from) : value;
    },
  });
  const fleetOf = (seen) => createFleet({ engine: seen, key: '07'.repeat(32), serverLeaseMs: leaseMs });
  const once = { ...entry, only: 'fleet' };
  const lease = `only/${createHash('sha256').update('files').digest('hex')}`;
  await engine.acquire(lease, 'somebody', leaseMs / 4);
  const gateway = createGateway({ servers: { files: once }, cache: false, fleet: fleetOf(engine) });
  const service = await serveHttp(gateway, { port: 0, token: 'corpus' });
  const isElsewhere = ({ status }) => status.state === 'ready' && status.pid === null;
  return {
    entry: once,
    options: { fleet: fleetOf(own) },
    use: [
      call('echo', { text: 'here' }),
      async (connection) => {
        void gateway.start();
        await pause(leaseMs / 4);
        // The engine forgets it, and the other host is faster.
        await engine.release(given.at(-1));
        const signal = AbortSignal.timeout(15_000);
        while (!isElsewhere(connection)) await pause(20, undefined, { signal });
      },
      call('echo', { text: 'elsewhere' }),
    ],
    end: async () => {
      await service.close({ gracePeriodMs: 0 });
      await gateway.close();
      await engine.close();
    },
  };
}

async function record(name, { of = name, script, use = [], policy = {}, ms = 0, place }) {
  const kase = cases.find(({ id }) => id === of) ?? {};
  const files = {
    journal: join(tmpdir(), `troupe-corpus-${process.pid}`),
    state: join(tmpdir(), `troupe-state-${process.pid}`),
  };
  const server = kase.server && (await startHttpServer(fill(kase.server, files), folder));
  const values = { ...files, ...(server && { url: server.url }) };
  const reached =
    script === undefined
      ? serverEntry(fill(kase, values), server?.url)
      : { type: 'in-process', server: createScriptedServer(script) };
  const alone = { ...reached, policy: { ...FAST, ...policy } };
  const own = 'command' in alone ? { ...alone, cwd: folder } : alone;
  const placed = await place?.(own);
  const target = join(CORPUS, `${name}.jsonl`);
  await rm(target, { force: true });
  const troupe = createTroupe({
    servers: {
      files: placed?.entry ?? own,
      idle: { command: 'none', enabled: false },
    },
    record: createLogFile(target),
    seed: 1,
    ...placed?.options,
  });
  try {
    await troupe.settled({ signal: AbortSignal.timeout(15_000) }).catch(() => {});
    for (const step of placed?.use ?? use) await step(troupe.connection('files'));
    await pause(ms);
  } finally {
    await troupe.close();
    await placed?.end();
    await server?.stop();
    for (const file of Object.values(files)) await rm(file, { force: true });
  }
  return target;
}

/** The summary that the test compares. */
async function summaryOf(file) {
  const { connections, entries } = await replayLog(createReadStream(file));
  const summaries = [...connections].map(([name, { state, attempts, failureCodes, rejected }]) => [
    name,
    { state: state.split('.')[0], attempts, failureCodes, rejected: rejected.map(({ event }) => event) },
  ]);
  return { entries, connections: Object.fromEntries(summaries) };
}

const names = process.argv.slice(2);
for (const [name, incident] of Object.entries(INCIDENTS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const file = await record(name, incident);
  const summary = await summaryOf(file);
  await writeFile(file.replace(/\.jsonl$/, '.summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
  console.log(`${name}: ${summary.entries} entries, ${JSON.stringify(summary.connections.files)}`);
}

/** A connection that crashed five hundred times keeps no more than one that never did. */
import { readdirSync } from 'node:fs';
import { getEventListeners } from 'node:events';
import { queryObjects } from 'node:v8';
import { Subscriber } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { Actor } from 'xstate';
import { heapKiB } from '../../support/heap.js';
import { Session } from '../../../src/sessions/sessions.js';
import type { Troupe } from '../../../src/runtime/troupe.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { readProcesses } from '../../../src/transports/stdio/process-table.js';
import { createControlledClock, type ControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import { FakeTransport } from '../../support/fake-transport.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent } from '../../support/scripted-server.js';
import { makeTroupe, passTime, whenEmits } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
beforeAll(() =>
  Promise.all([
    import('../../../src/servers/load-config.js'),
    import('../../../src/protocol/session-client.js'),
  ]),
);

/** Any number of losses is allowed, and earlier losses are forgotten at once. */
const PATIENT = {
  intensity: { restarts: 0, periodMs: 1 },
  stableMs: 5,
  immediateRetryWindowMs: 0,
  backoff: [1],
} as const;

/** The number of live objects of each kind, after a garbage collection. */
function liveObjects(): Record<string, number> {
  const kinds = { Actor, Session, FakeTransport, Subscriber, AbortController, Promise };
  return Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [name, queryObjects(kind, { format: 'count' })]),
  );
}

interface Bench {
  readonly troupe: Troupe;
  readonly clock: ControlledClock;
  /** One crash in the given way, and the recovery from it. */
  crash(way: number): Promise<void>;
  /** The number of everything that a crash could leave behind. */
  counts(): Record<string, number>;
}

const WAYS = 5;

function makeBench(): Bench {
  const clock = createControlledClock();
  const host = new AbortController();
  let refusals = 0;
  const server = new FakeServer(() => ({
    start: async () => {
      refusals -= 1;
      if (refusals >= 0) throw new TransportError({ code: 'spawn-failed', message: 'Refused by the test.' });
    },
  }));
  const troupe = makeTroupe({ servers: { a: fake(server) }, clock, seed: 1, policy: PATIENT });
  troupe.events$.subscribe();
  troupe.tools$.subscribe();
  troupe.status$.subscribe();
  const whenBack = (generation: number): Promise<unknown> =>
    whenEmits(troupe.status$, ([row]) => row?.state === 'ready' && row.generation > generation);

  const crash = async (way: number): Promise<void> => {
    const generation = troupe.status[0]?.generation ?? 0;
    server.peer.script = { on: { 'tools/call': silent, ...(way === 3 ? { initialize: silent } : {}) } };
    if (way === 2) refusals = 2;
    const back = whenBack(generation);
    const call =
      way === 1
        ? troupe.callTool('mcp__a__echo', {}, { signal: host.signal }).catch((error: unknown) => error)
        : undefined;
    if (call !== undefined) await server.peer.when(() => server.peer.of('tools/call').length > 0);
    const lines = way === 4 ? 10 : 0;
    for (let line = 0; line < lines; line += 1) {
      server.transport.simulateStderr(`line ${line}`);
      server.transport.simulateMessage({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    }
    server.transport.simulateEnd();
    if (way === 3) {
      server.peer.received.length = 0;
      await passTime(clock, server.peer.whenReceived('initialize'));
      server.peer.script = {};
      server.transport.simulateEnd();
    }
    await passTime(clock, back);
    expect(await call).toSatisfy((error: unknown) => way !== 1 || error instanceof Error);
    server.transports.splice(0, server.transports.length - 1);
    server.peer.received.length = 0;
    await clock.advance(10);
  };

  const counts = (): Record<string, number> => ({
    ...liveObjects(),
    timers: clock.pending.length,
    listeners: getEventListeners(host.signal, 'abort').length,
    tools: troupe.tools.length,
    rows: troupe.status.length,
    stderr: troupe.status[0]?.stderrTail.length ?? 0,
  });
  return { troupe, clock, crash, counts };
}

describe('a connection that crashes five hundred times', () => {
  it('keeps no session, actor, timer, listener, observer or memory of them', async () => {
    // Sessions of test files that ran in this process before.
    const others = queryObjects(Session, { format: 'count' });
    const { troupe, clock, crash, counts } = makeBench();
    await passTime(clock, troupe.start());
    const crashes = async (count: number): Promise<void> => {
      for (let n = 1; n <= count; n += 1) await crash(n % WAYS);
    };
    await crashes(100);
    const before = counts();
    const heap = heapKiB();
    await crashes(400);
    const grown = heapKiB() - heap;
    expect(counts()).toEqual(before);
    // Compiled code varies by half of this; the smallest leak of a session would be more.
    expect(grown).toBeLessThan(1_500);
    expect(troupe.status).toMatchObject([{ state: 'ready', attempt: 0 }]);
    expect(troupe.status[0]?.generation).toBeGreaterThan(500);

    await passTime(clock, troupe.close());
    expect(clock.pending).toEqual([]);
    // The fake server still refers to the transport of the last one.
    expect(queryObjects(Session, { format: 'count' })).toBeLessThanOrEqual(others + 1);
  }, 240_000);
});

describe('a real server that crashes twenty times', () => {
  /** Answers the requests of a start, and dies when its tool is called. */
  const MORTAL = `
    const answers = {
      initialize: ({ protocolVersion }) =>
        ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'mortal', version: '1' } }),
      'tools/list': () => ({ tools: [{ name: 'die', inputSchema: { type: 'object' } }] }),
    };
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (method === 'tools/call') process.kill(process.pid, 'SIGKILL');
      if (answers[method]) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }));
    });`;

  it('leaves no descriptor or process behind', async () => {
    const troupe = makeTroupe({
      servers: { a: { command: process.execPath, args: ['-e', MORTAL] } },
      // It can die before its attempts are reset.
      policy: { ...PATIENT, maxAttempts: 100 },
    });
    const children = (): number => readProcesses()!.filter(({ parent }) => parent === process.pid).length;
    const descriptors = (): number => readdirSync('/proc/self/fd').length;
    const crashes = async (from: number, to: number): Promise<void> => {
      for (let generation = from; generation <= to; generation += 1) {
        const back = whenEmits(
          troupe.status$,
          ([row]) => row?.state === 'failed' || (row?.state === 'ready' && row.generation > generation),
        );
        await expect(troupe.callTool('mcp__a__die')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
        await back;
        expect(troupe.status).toMatchObject([{ state: 'ready', generation: generation + 1 }]);
      }
    };
    try {
      await troupe.start();
      await troupe.connection('a')!.ready();
      await crashes(1, 5);
      const before = [children(), descriptors()];
      await crashes(6, 20);
      expect([children(), descriptors()]).toEqual(before);
      expect(troupe.status).toMatchObject([{ generation: 21, lastExit: { code: null, signal: 'SIGKILL' } }]);
    } finally {
      await troupe.close();
    }
  }, 120_000);
});

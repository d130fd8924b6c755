/** A small run of `tools/bench/gateway-load.mjs`, which normally takes a minute with a hundred clients. */
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { createGateway } from '../../src/gateway/gateway.js';
import { serveHttp } from '../../src/gateway/http/serve-http.js';
import { livingProcesses } from '../../src/transports/stdio/process-table.js';
import { loadSessions } from '../../tools/bench/load-sessions.mjs';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';

// The connection pool of `fetch` closes idle sockets after some seconds.
useLeakCheck({ settleMs: 10_000 });
useCrashWatch();

const SERVERS = 3;
const LIMIT_MS = 60_000;

const children = (): number =>
  (livingProcesses() ?? []).filter(({ parent }) => parent === process.pid).length;

it(
  'ten clients of three servers connect, call and disconnect: each gets its own answers and leaves nothing behind.',
  async () => {
    const others = children();
    const entries = Array.from({ length: SERVERS }, (_, i) => [
      `s${i}`,
      { command: process.execPath, args: [resolve('tools/bench/small-server.mjs')] },
    ]);
    const gateway = createGateway({ servers: Object.fromEntries(entries) });
    const service = await serveHttp(gateway);
    await gateway.start();
    const before = children();
    const load = { url: service.url, sessions: 10, servers: SERVERS, asking: 2 };
    const { calls, errors } = await loadSessions({ ...load, callsInAll: 200 });
    expect(errors).toEqual([]);
    expect(calls).toBeGreaterThanOrEqual(200);
    expect(service.sessions).toBe(0);
    await expect.poll(children).toBe(before);
    await service.close({ gracePeriodMs: 0 });
    await gateway.close();
    await expect.poll(children).toBe(others);
  },
  LIMIT_MS,
);

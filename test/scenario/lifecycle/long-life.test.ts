/** A connection may be lost a thousand times, and does not need more memory for it. */
import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer } from '../../support/scripted-server.js';
import { inProcess, passTime, whenEmits } from '../../support/test-troupe.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapKiB(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed / 1_024;
}

describe('a long life', () => {
  useLeakCheck();
  useCrashWatch();

  it('of a thousand reconnects leaves no memory, timers or listeners behind', async () => {
    const server = new ScriptedServer();
    const clock = createControlledClock();
    const troupe = createTroupe({
      servers: { a: inProcess(server) },
      clock,
      seed: 1,
      policy: { intensity: { restarts: 0, periodMs: 1 }, backoff: [1], maxAttempts: 2_000 },
    });
    await troupe.start();
    const host = new AbortController();
    const reconnect = async (generation: number): Promise<void> => {
      await troupe.callTool('mcp__a__echo', {}, { signal: host.signal });
      await server.die();
      const isBack = whenEmits(
        troupe.status$,
        ([row]) => row?.generation === generation && row.state === 'ready',
      );
      await passTime(clock, isBack);
      server.received.length = 0;
    };

    for (let generation = 2; generation <= 600; generation += 1) await reconnect(generation);
    const timers = clock.pending.length;
    const before = heapKiB();
    for (let generation = 601; generation <= 1_001; generation += 1) await reconnect(generation);
    const grown = heapKiB() - before;

    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 1_001 }]);
    expect(clock.pending).toHaveLength(timers);
    expect(getEventListeners(host.signal, 'abort')).toEqual([]);
    // Compiled code and caches grow in the first half; in the second one, no reconnect may leave anything behind.
    expect(grown).toBeLessThan(600);
    await passTime(clock, troupe.close());
    expect(clock.pending).toEqual([]);
  }, 60_000);

  it('of ten thousand calls that waited or were aborted leaves no listener on the signal of the host', async () => {
    const server = new ScriptedServer();
    const clock = createControlledClock();
    const troupe = createTroupe({ servers: { a: inProcess(server) }, clock, seed: 1 });
    await troupe.start();
    const { signal } = new AbortController();
    const connection = troupe.connection('a');
    const wave = async (): Promise<void> => {
      const restarting = connection?.restart({ signal });
      const calls = Array.from({ length: 500 }, () => connection?.callTool('echo', {}, { signal }));
      await Promise.all([restarting, ...calls]);
      await connection?.ready({ signal });
      server.received.length = 0;
    };
    await wave();
    const before = heapKiB();
    for (let waves = 0; waves < 20; waves += 1) await wave();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(heapKiB() - before).toBeLessThan(1_000);
    await passTime(clock, troupe.close());
  }, 60_000);
});

/** How a recorded server handles requests that were never answered. */
import { describe, expect, it } from 'vitest';
import { createControlledClock } from '../../../src/testing/controlled-clock.js';
import { createRecordedServer } from '../../../src/testing/recorded-server.js';
import { createScriptedServer } from '../../../src/testing/scripted-server.js';
import type { ServerScript } from '../../../src/testing/server-script.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { MemoryLog } from '../../support/memory-log.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime, useTroupes, whenEmits, whenState } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

/** The log of a server whose first calls are lost. */
async function recorded(script: ServerScript, calls: number): Promise<string> {
  const log = new MemoryLog();
  const server = createScriptedServer(script);
  const test = troupes.make({
    servers: { files: { type: 'in-process', server, policy: { backoff: [700] } } },
    record: { target: log, bodies: true },
    retryCalls: 'never',
  });
  await passTime(test.clock, test.troupe.start());
  for (let count = 1; count <= calls; count += 1) {
    await passTime(test.clock, test.troupe.connection('files')!.ready());
    await passTime(test.clock, test.troupe.callTool('mcp__files__echo', { count })).catch(() => {});
  }
  await passTime(test.clock, whenState(test, 'files', 'ready'));
  await passTime(test.clock, test.troupe.close());
  return log.text;
}

/** The top-level states of the only connection, from now on. */
function recordStates(troupe: Troupe): readonly string[] {
  const states: string[] = [];
  troupe.events$.subscribe((event) => {
    if (event.type === 'connection.state' && states.at(-1) !== event.to) states.push(event.to);
  });
  return states;
}

describe('a recorded server', { timeout: 60_000 }, () => {
  it('loses the recorded call again, and answers the next one.', async () => {
    const log = await recorded({ on: { 'tools/call': [{ fault: 'crash' }, {}] } }, 2);
    const server = createRecordedServer(log, 'files');
    const troupe = createTroupe({
      servers: { files: server.config },
      clock: server.clock,
      retryCalls: 'never',
    });
    try {
      await troupe.start();
      const lost = troupe.callTool('mcp__files__echo', { count: 1 });
      await expect(lost).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
      await troupe.connection('files')!.ready();
      const answer = await troupe.callTool('mcp__files__echo', { count: 2 });
      expect(answer).toMatchObject({ content: [{ text: 'echo {"count":2}' }] });
    } finally {
      await troupe.close();
    }
  });

  it('fails again at the page of tools at which its session was lost.', async () => {
    const script: ServerScript = {
      pages: [[], []],
      on: { 'tools/list': [{}, { fault: 'crash' }, {}] },
    };
    const server = createRecordedServer(await recorded(script, 0), 'files');
    const troupe = createTroupe({ servers: { files: server.config }, clock: server.clock });
    try {
      const isReady = whenEmits(troupe.status$, ([files]) => files?.state === 'ready');
      await troupe.start();
      await isReady;
      expect(server.played).toBe(2);
    } finally {
      await troupe.close();
    }
  });

  it('replays later events if the connection is retried after it gave up.', async () => {
    const log = new MemoryLog();
    const policy = { maxAttempts: 1, exhausted: { callAfterMs: 0 } };
    const refusing = createScriptedServer({
      on: { initialize: [{ error: { code: -32_001, message: 'not today' } }, {}] },
    });
    const test = troupes.make({
      servers: { files: { type: 'in-process', server: refusing, policy } },
      record: { target: log },
    });
    await passTime(test.clock, test.troupe.start());
    await passTime(test.clock, test.troupe.connection('files')!.callTool('echo'));
    await passTime(test.clock, test.troupe.close());
    const server = createRecordedServer(log.text, 'files');
    expect(server.states.at(-1)).toBe('failed');
    const troupe = createTroupe({ servers: { files: server.config }, clock: server.clock });
    try {
      await troupe.start();
      expect(troupe.status[0]?.state).toBe('failed');
      await troupe.connection('files')!.retry();
      await troupe.connection('files')!.ready();
      expect(server.played).toBe(2);
    } finally {
      await troupe.close();
    }
  });

  it('is lost again if the loss was found after the machine slept, even without a ping.', async () => {
    const log = new MemoryLog();
    const policy = { ping: { idleMs: 0, timeoutMs: 5_000 } };
    const silent = createScriptedServer({ on: { ping: { fault: 'silent' } } });
    const test = troupes.make({
      servers: { files: { type: 'in-process', server: silent, policy } },
      record: { target: log },
    });
    await passTime(test.clock, test.troupe.start());
    test.clock.sleep(60_000);
    await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
    await passTime(test.clock, whenState(test, 'files', 'ready'));
    await passTime(test.clock, test.troupe.close());
    const server = createRecordedServer(log.text, 'files');
    const troupe = createTroupe({ servers: { files: server.config }, clock: server.clock });
    try {
      const isBack = whenEmits(troupe.status$, ([row]) => row?.state === 'ready' && row.generation === 2);
      const lost = whenEmits(troupe.events$, ({ type }) => type === 'connection.lost');
      await troupe.start();
      expect(await lost).toMatchObject({ failure: { code: 'unresponsive' } });
      await isBack;
    } finally {
      await troupe.close();
    }
  }, 20_000);

  it('is not stopped for being idle if recorded calls kept it running.', async () => {
    const log = new MemoryLog();
    const scripted = createScriptedServer();
    const test = troupes.make({
      servers: { files: { type: 'in-process', server: scripted, idleStopMs: 60_000 } },
      record: { target: log },
    });
    await passTime(test.clock, test.troupe.start());
    for (let count = 1; count <= 3; count += 1) {
      await test.clock.advance(40_000);
      await passTime(test.clock, test.troupe.callTool('mcp__files__echo', { count }));
    }
    await scripted.die();
    await passTime(test.clock, whenState(test, 'files', 'reconnecting'));
    await passTime(test.clock, whenState(test, 'files', 'ready'));
    await passTime(test.clock, test.troupe.close());

    const server = createRecordedServer(log.text, 'files');
    const troupe = createTroupe({ servers: { files: server.config }, clock: server.clock });
    try {
      const came = ['shuttingDown', 'reconnecting'];
      const next = whenEmits(troupe.status$, ([row]) => came.includes(row?.state ?? ''));
      await troupe.start();
      expect((await next)[0]?.state).toBe('reconnecting');
    } finally {
      await troupe.close();
    }
  });

  it('is lost again if the clock of the recorded machine was set back.', async () => {
    const log = new MemoryLog();
    const clock = createControlledClock();
    const scripted = createScriptedServer({ on: { initialize: { afterMs: 800 } } }, { clock });
    let setBackMs = 0;
    const { troupe: other } = troupes.make({
      clock: { ...clock, now: () => clock.now() - setBackMs },
      servers: { files: { type: 'in-process', server: scripted } },
      record: { target: log },
    });
    const isBack = (troupe: Troupe) =>
      whenEmits(troupe.status$, ([row]) => row?.state === 'ready' && row.generation === 2);
    await passTime(clock, other.start());
    await clock.advance(10_000);
    setBackMs = 3_600_000;
    await clock.advance(10_000);
    await scripted.die();
    await passTime(clock, isBack(other));
    await passTime(clock, other.close());

    const server = createRecordedServer(log.text, 'files');
    const troupe = createTroupe({ servers: { files: server.config }, clock: server.clock });
    try {
      const came = isBack(troupe);
      const states = recordStates(troupe);
      await troupe.start();
      await came;
      expect(states.join(' ')).toContain(server.states.join(' '));
    } finally {
      await troupe.close();
    }
  }, 20_000);

  it('can only be created from a log.', () => {
    expect(() => createRecordedServer(undefined as never, 'files')).toThrow(
      new TypeError('The log must be its text or its bytes.'),
    );
    expect(() => createRecordedServer('', undefined as never)).toThrow(
      new TypeError('The connection must be given by its name in the log.'),
    );
  });
});

/** How a recorded server handles requests that were never answered. */
import { describe, expect, it } from 'vitest';
import { createControlledClock } from '../../../src/testing/controlled-clock.js';
import { createRecordedServer, type RecordedServerOptions } from '../../../src/testing/recorded-server.js';
import type { RecordedRequest } from '../../../src/testing/recorded-requests.js';
import { text, tool } from '../../../src/testing/ordinary-answers.js';
import { createScriptedServer, SILENCE } from '../../../src/testing/scripted-server.js';
import type { Params, ServerScript } from '../../../src/testing/server-script.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { JsonRpcError, type TroupeError } from '../../../src/errors.js';
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

  it('runs the recorded task again, over both of its sessions.', async () => {
    const log = new MemoryLog();
    const states = [{}, {}, { statusMessage: 'half way' }, { status: 'completed' }];
    const task = states.map((state) => ({ pollIntervalMs: 500, ...state }));
    const script = { era: 'new', on: { 'tools/call': { result: text('built'), task } } } as const;
    const source = createScriptedServer(script);
    const policy = { backoff: [700] } as const;
    const entry = { type: 'in-process', server: source, protocol: 'new', policy } as const;
    const test = troupes.make({ servers: { files: entry }, record: { target: log, bodies: true } });
    await passTime(test.clock, test.troupe.start());
    const call = test.troupe.callTool('mcp__files__echo');
    await source.whenReceived('tools/call');
    await test.clock.advance(500);
    await source.die();
    expect(await passTime(test.clock, call)).toMatchObject(text('built'));
    expect(source.sessions).toBe(2);
    await passTime(test.clock, test.troupe.close());

    const server = createRecordedServer(log.text, 'files');
    const troupe = createTroupe({ servers: { files: server.config }, clock: server.clock });
    try {
      await troupe.start();
      const said: unknown[] = [];
      const onProgress = ({ message }: { message?: string | undefined }): void => void said.push(message);
      expect(await troupe.callTool('mcp__files__echo', {}, { onProgress })).toMatchObject(text('built'));
      expect(said).toEqual(['half way']);
      expect([server.played, server.unmatched]).toEqual([2, []]);
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

  it('can only be created from a log, with known options.', () => {
    expect(() => createRecordedServer('', 'files', { matches: () => true } as never)).toThrow(/'match'/);
    expect(() => createRecordedServer(undefined as never, 'files')).toThrow(TypeError);
    expect(() => createRecordedServer('', undefined as never)).toThrow(
      new TypeError('The connection must be given by its name in the log.'),
    );
  });
});

describe('a recorded server with messages', { timeout: 60_000 }, () => {
  const sum = (params: Params): unknown => {
    const { a } = params['arguments'] as { a: number };
    return text(`a is ${a}`);
  };
  const add = tool('add');

  /** The log of calls of `add` with these arguments; a call with `a: 0` kills the server. */
  async function calls(given: readonly object[]): Promise<string> {
    const log = new MemoryLog();
    const server = createScriptedServer({
      tools: [add],
      on: {
        'tools/call': (params) => {
          if ((params['arguments'] as { a: number }).a !== 0) return sum(params);
          void server.die();
          return SILENCE;
        },
      },
    });
    const test = troupes.make({
      servers: { sums: { type: 'in-process', server } },
      record: { target: log, bodies: true },
      retryCalls: 'never',
    });
    await passTime(test.clock, test.troupe.start());
    for (const args of given) {
      await passTime(test.clock, test.troupe.connection('sums')!.ready());
      await passTime(test.clock, test.troupe.connection('sums')!.callTool('add', { ...args })).catch(
        () => {},
      );
    }
    await passTime(test.clock, test.troupe.close());
    return log.text;
  }

  /** Plays the log, and gives the answer to each call: a text, or the code of the error. */
  async function answers(log: string, asked: readonly object[], options: RecordedServerOptions = {}) {
    const server = createRecordedServer(log, 'sums', options);
    const troupe = createTroupe({
      servers: { sums: server.config },
      clock: server.clock,
      retryCalls: 'never',
    });
    const found: unknown[] = [];
    try {
      await troupe.start();
      for (const args of asked) {
        await troupe.connection('sums')!.ready();
        const answer = await troupe
          .connection('sums')!
          .callTool('add', { ...args })
          .then(({ content }) => (content[0] as { text: string }).text)
          .catch((error: unknown) =>
            error instanceof JsonRpcError ? error.rpcCode : (error as TroupeError).code,
          );
        found.push(answer);
      }
    } finally {
      await troupe.close();
    }
    return { found, server };
  }

  it('answers by arguments, in any order; equal requests in their order.', async () => {
    const log = await calls([{ a: 1 }, { a: 2 }, { a: 1, b: ['x', { y: null }] }]);
    const asked = [{ a: 2 }, { b: ['x', { y: null }], a: 1 }, { a: 1 }];
    const { found, server } = await answers(log, asked);
    expect(found).toEqual(['a is 2', 'a is 1', 'a is 1']);
    expect(server.unmatched).toEqual([]);
  });

  it('refuses a request that was not recorded, names the nearest, and reports it.', async () => {
    const { found, server } = await answers(await calls([{ a: 1 }, { a: 2, b: 7 }]), [{ a: 3, b: 7 }]);
    expect(found).toEqual([-32_602]);
    expect(server.unmatched).toMatchObject([
      { method: 'tools/call', session: 1, params: { arguments: { a: 3, b: 7 } } },
    ]);
    expect(server.unmatched[0]!.message).toMatch(/'arguments\.a'.*"a":1.*"a":2/s);
  });

  it('answers a request once for each time that it was recorded, unless it is not strict.', async () => {
    const log = await calls([{ a: 1 }]);
    const strict = await answers(log, [{ a: 1 }, { a: 1 }]);
    expect(strict.found).toEqual(['a is 1', -32_602]);
    const lenient = await answers(log, [{ a: 1 }, { a: 1 }, { a: 5 }], { strict: false });
    expect(lenient.found).toEqual(['a is 1', 'a is 1', 'a is 1']);
    expect(lenient.server.unmatched).toEqual([]);
  });

  it('ignores arguments that differ in every run if `match` does.', async () => {
    const log = await calls([
      { a: 1, now: 100 },
      { a: 2, now: 200 },
    ]);
    const a = ({ params }: RecordedRequest): unknown => (params['arguments'] as { a: number }).a;
    const match = (recorded: RecordedRequest, asked: RecordedRequest): boolean => a(recorded) === a(asked);
    const { found } = await answers(
      log,
      [
        { a: 2, now: 300 },
        { a: 1, now: 400 },
        { a: 3, now: 500 },
      ],
      { match },
    );
    expect(found).toEqual(['a is 2', 'a is 1', -32_602]);
  });

  it('gives any value to a masked argument.', async () => {
    const log = await calls([
      { a: 1, password: 'hunter2-hunter2' },
      { a: 2, password: 'hunter3-hunter3' },
    ]);
    expect(log).not.toContain('hunter2');
    const { found } = await answers(log, [{ a: 2, password: 'another' }]);
    expect(found).toEqual(['a is 2']);
  });

  it('answers a request in another session than the recorded one.', async () => {
    const log = await calls([{ a: 1 }, { a: 0 }, { a: 2 }]);
    const { found, server } = await answers(log, [{ a: 2 }, { a: 0 }, { a: 1 }]);
    expect(found).toEqual(['a is 2', 'OUTCOME_UNKNOWN', 'a is 1']);
    expect(server.played).toBe(2);
  });
});

/** How many calls a server gets at the same time, and which call is next. */
import { describe, expect, it } from 'vitest';
import { Semaphore } from '../../../src/async/semaphore.js';
import { CallAbortedError, NotReadyError } from '../../../src/errors.js';
import type { ServerSettings } from '../../../src/config/entry/server-config.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate, type Gate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, silent, text, type Script } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, type TestTroupe } from '../../support/test-troupe.js';

const NAME = 'mcp__a__echo';

describe('slots for calls', () => {
  useLeakCheck();

  it('are taken at once while there are free ones, and then in order', async () => {
    const turns = new Semaphore(() => 2);
    const { signal } = new AbortController();
    const came: number[] = [];
    expect([turns.tryTake(), turns.tryTake(), turns.tryTake()]).toEqual([true, true, false]);
    const waits = [1, 2, 3].map((n) => turns.take(signal).then(() => came.push(n)));
    turns.leave();
    await waits[0];
    expect(came).toEqual([1]);
    expect(turns.tryTake()).toBe(false);
    turns.leave();
    turns.leave();
    await Promise.all(waits);
    expect(came).toEqual([1, 2, 3]);
    expect(turns.taken).toBe(2);
  });

  it('that a caller stops waiting for are given up with the reason of the signal, and block no other wait', async () => {
    const turns = new Semaphore(() => 1);
    const controller = new AbortController();
    turns.tryTake();
    const given = turns.take(controller.signal);
    const next = turns.take(new AbortController().signal);
    controller.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    turns.leave();
    await next;
    expect(turns.taken).toBe(1);
    await expect(turns.take(controller.signal)).rejects.toThrow('enough');
  });

  it('can be added while calls wait for them', async () => {
    let most = 1;
    const turns = new Semaphore(() => most);
    turns.tryTake();
    const waits = [1, 2].map(() => turns.take(new AbortController().signal));
    most = 0;
    turns.admit();
    await Promise.all(waits);
    expect(turns.taken).toBe(3);
  });
});

describe('a server with a limit of concurrent calls', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  interface Busy extends TestTroupe {
    readonly server: ScriptedServer;
    /** One gate for each call that has arrived. */
    readonly gates: Gate[];
    call(n: number, options?: object): Promise<unknown>;
    arrived(): readonly unknown[];
  }

  async function begin(settings: ServerSettings, script: Script = {}): Promise<Busy> {
    const gates: Gate[] = [];
    const server = new ScriptedServer({
      on: {
        'tools/call': async ({ arguments: args }) => {
          const gate = createGate();
          gates.push(gate);
          await gate.promise;
          return text(JSON.stringify(args));
        },
      },
      ...script,
    });
    const test = make({ servers: { a: inProcess(server, settings) } });
    await test.troupe.start();
    return {
      ...test,
      server,
      gates,
      call: (n, options = {}) => test.troupe.callTool(NAME, { n }, options),
      arrived: () => server.of('tools/call').map(({ params }) => (params['arguments'] as { n: number }).n),
    };
  }

  it('gets no more calls than that, and all calls in the order in which they were made', async () => {
    const { call, gates, arrived, clock } = await begin({ maxConcurrentCalls: 2 });
    const calls = [0, 1, 2, 3, 4].map((n) => call(n));
    await clock.advance(0);
    expect(arrived()).toEqual([0, 1]);
    gates[1]?.open();
    await calls[1];
    await clock.advance(0);
    expect(arrived()).toEqual([0, 1, 2]);
    for (let n = 0; n < 5; n += 1) {
      gates[n]?.open();
      await clock.advance(0);
    }
    await Promise.all(calls);
    expect(arrived()).toEqual([0, 1, 2, 3, 4]);
  });

  it('gets all calls at once by default', async () => {
    const { call, gates, arrived, clock } = await begin({});
    const calls = Array.from({ length: 50 }, (_, n) => call(n));
    await clock.advance(0);
    expect(arrived()).toHaveLength(50);
    for (const gate of gates) gate.open();
    await Promise.all(calls);
  });

  it('is not considered silent because a call waits for its slot', async () => {
    const { call, gates, arrived, clock, events } = await begin({ maxConcurrentCalls: 1 });
    const first = call(0, { timeoutMs: 0 });
    const second = call(1, { timeoutMs: 1_000, totalTimeoutMs: 0 });
    await clock.advance(60_000);
    gates[0]?.open();
    await first;
    await clock.advance(999);
    expect(arrived()).toEqual([0, 1]);
    gates[1]?.open();
    await second;
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'answered' }, { outcome: 'answered' }]);
  });

  it('lets a call wait for its total time limit, after which it was not sent', async () => {
    const { call, gates, arrived, clock } = await begin({ maxConcurrentCalls: 1 });
    const first = call(0, { timeoutMs: 0 });
    const second = call(1, { totalTimeoutMs: 5_000 });
    const rejection = expect(second).rejects.toThrow(/'echo'.*5000 ms/);
    await clock.advance(5_000);
    await rejection;
    await expect(second).rejects.toBeInstanceOf(NotReadyError);
    gates[0]?.open();
    await first;
    expect(arrived()).toEqual([0]);
  });

  it('skips a call that is aborted while it waits, and no other', async () => {
    const { call, gates, arrived, clock } = await begin({ maxConcurrentCalls: 1 });
    const controller = new AbortController();
    const calls = [call(0), call(1, { signal: controller.signal }), call(2)];
    controller.abort('never mind');
    await expect(calls[1]).rejects.toBeInstanceOf(CallAbortedError);
    gates[0]?.open();
    await calls[0];
    await clock.advance(0);
    gates[1]?.open();
    await calls[2];
    expect(arrived()).toEqual([0, 2]);
  });

  it('gets the slots back from calls that failed, timed out or were refused', async () => {
    const { call, clock, server } = await begin({ maxConcurrentCalls: 1 }, { on: { 'tools/call': silent } });
    const late = call(0, { timeoutMs: 100 });
    const bad = call(1, { signal: AbortSignal.abort() });
    const good = call(2);
    for (const one of [late, bad]) one.catch(() => {});
    await clock.advance(100);
    await expect(late).rejects.toThrow('timed out');
    await expect(bad).rejects.toBeInstanceOf(CallAbortedError);
    await server.whenReceived('tools/call', 2);
    server.script = {};
    await server.die();
    await expect(passTime(clock, good)).rejects.toThrow('lost');
    await expect(passTime(clock, call(3))).resolves.toBeDefined();
  });

  it('leaves no call waiting when the troupe is closed', async () => {
    const { call, troupe, clock } = await begin({ maxConcurrentCalls: 1 });
    const calls = [call(0), call(1), call(2)];
    for (const one of calls) one.catch(() => {});
    await clock.advance(0);
    await passTime(clock, troupe.close());
    await expect(calls[0]).rejects.toThrow();
    await expect(calls[1]).rejects.toBeInstanceOf(NotReadyError);
    await expect(calls[2]).rejects.toBeInstanceOf(NotReadyError);
  });

  it('gets more calls after a reload, including waiting ones', async () => {
    const { call, troupe, gates, arrived, clock, server } = await begin({ maxConcurrentCalls: 1 });
    const calls = [call(0), call(1), call(2)];
    await clock.advance(0);
    expect(arrived()).toEqual([0]);
    await passTime(clock, troupe.reload({ a: inProcess(server, { maxConcurrentCalls: 3 }) }));
    expect(server.sessions).toBe(1);
    expect(arrived()).toEqual([0, 1, 2]);
    for (const gate of gates) gate.open();
    await Promise.all(calls);
  });

  it('gets more calls after a reload that needs a new session, including waiting ones', async () => {
    const { call, troupe, gates, arrived, clock } = await begin({ maxConcurrentCalls: 1 });
    const calls = [call(0), call(1), call(2)];
    const slow = new ScriptedServer({ on: { initialize: silent } });
    await clock.advance(0);
    await passTime(clock, troupe.reload({ a: inProcess(slow, { maxConcurrentCalls: 3 }) }));
    expect(arrived()).toEqual([0, 1, 2]);
    for (const gate of gates) gate.open();
    await Promise.all(calls);
  });
});

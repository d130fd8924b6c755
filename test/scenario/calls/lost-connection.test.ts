import { describe, expect, it } from 'vitest';
import { NotReadyError, OutcomeUnknownError } from '../../../src/errors.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { FakeServer } from '../../support/fake-server.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, text, type Script } from '../../support/scripted-server.js';
import { useOneFake } from '../../support/one-server.js';
import { passTime, whenState, type TestTroupe } from '../../support/test-troupe.js';

const NAME = 'mcp__a__echo';
const EXITED = { code: 'process-exited', message: 'It exited with code 3.' } as const;

describe('a call whose connection is lost', () => {
  useLeakCheck();
  useCrashWatch();
  const { make: makeOne } = useOneFake({ startGateMs: 1_000 });

  const callAndLose = async (
    script: Script,
  ): Promise<TestTroupe & { error: unknown; server: FakeServer; order: string[] }> => {
    const server = new FakeServer(() => ({}), script);
    const test = makeOne(server);
    await test.troupe.start();
    const order: string[] = [];
    test.troupe.events$.subscribe(({ type }) => order.push(type));
    const call = test.troupe.callTool(NAME, {}).catch((reason: unknown) => {
      order.push('rejected');
      return reason;
    });
    await server.peer.whenReceived('tools/call');
    server.transport.simulateEnd(EXITED);
    return { ...test, server, order, error: await call };
  };

  it('after it was sent has an unknown outcome, with the cause of the loss', async () => {
    const { error, events } = await callAndLose({ on: { 'tools/call': silent } });
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ server: 'a', failure: { code: 'process-exited', phase: 'session' } });
    expect((error as Error).message).toContain(EXITED.message);
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'outcome-unknown', generation: 1 }]);
  });

  it('is settled before the loss is published', async () => {
    const { order, clock } = await callAndLose({ on: { 'tools/call': silent } });
    await clock.advance(0);
    expect(order.indexOf('call.finished')).toBeGreaterThan(-1);
    expect(order.indexOf('call.finished')).toBeLessThan(order.indexOf('connection.state'));
    expect(order.indexOf('rejected')).toBeLessThan(order.indexOf('connection.lost'));
  });

  it('is never repeated if its tool is not marked as safe to repeat', async () => {
    const { server, clock, events } = await callAndLose({ on: { 'tools/call': silent } });
    await passTime(
      clock,
      events.when('connection.ready', ({ generation }) => generation === 2),
    );
    await clock.advance(120_000);
    expect(server.peer.of('tools/call')).toHaveLength(1);
  });

  it('before it was written was not sent, and is safe to repeat', async () => {
    let broken = false;
    const server = new FakeServer(() => ({
      send: async () => {
        if (broken) throw new TransportError({ code: 'connection-lost', message: 'The pipe is closed.' });
      },
    }));
    const { troupe, clock, events } = makeOne(server);
    await troupe.start();
    broken = true;
    const call = passTime(clock, troupe.callTool(NAME, {}, { timeoutMs: 200 }));
    await expect(call).rejects.toBeInstanceOf(NotReadyError);
    await expect(call).rejects.toThrow('The pipe is closed.');
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'not-sent' }, { outcome: 'not-sent' }]);
    broken = false;
  });

  it('alone, while the session continues, does not affect other calls', async () => {
    const gate = createGate();
    const server = new FakeServer(() => ({}), {
      on: { 'tools/call': ({ arguments: args }) => gate.promise.then(() => text(JSON.stringify(args))) },
    });
    const { troupe, events } = makeOne(server);
    await troupe.start();
    const lost = troupe.callTool(NAME, { n: 1 });
    const other = troupe.callTool(NAME, { n: 2 });
    await server.peer.whenReceived('tools/call', 2);
    server.transport.simulateLost(server.peer.of('tools/call')[0]?.id ?? '');
    await expect(lost).rejects.toBeInstanceOf(OutcomeUnknownError);
    gate.open();
    await expect(other).resolves.toEqual(text('{"n":2}'));
    expect(events.of('connection.lost')).toEqual([]);
  });

  it.each([
    ['http-status', 503],
    ['http-not-mcp', 200],
  ] as const)('although the server replied (%s %i) reports the reply', async (code, status) => {
    const server = new FakeServer(() => ({}), { on: { 'tools/call': silent } });
    const { troupe, events } = makeOne(server);
    await troupe.start();
    const call = troupe.callTool(NAME);
    call.catch(() => {});
    const { id } = await server.peer.whenReceived('tools/call');
    server.transport.simulateLost(id ?? '', { code, message: 'http://a/ refused.', http: { status } });
    await expect(call).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: expect.stringContaining('http://a/') as string,
      failure: { code, http: { status } },
    });
    expect(events.of('connection.lost')).toEqual([]);
    expect(server.peer.of('tools/call')).toHaveLength(1);
  });

  it('and that its caller repeats at once waits for the new session', async () => {
    const server = new FakeServer(() => ({}), { on: { 'tools/call': silent } });
    const { troupe, clock } = makeOne(server);
    await troupe.start();
    const call = troupe.callTool(NAME).catch(() => troupe.callTool(NAME));
    await server.peer.whenReceived('tools/call');
    server.peer.script = {};
    server.transport.simulateEnd(EXITED);
    await expect(passTime(clock, call)).resolves.toEqual(text('echo {}'));
    expect(server.transports).toHaveLength(2);
  });

  it('in the moment it is made waits for the new session as well', async () => {
    const server = new FakeServer();
    const { troupe, clock } = makeOne(server);
    await troupe.start();
    server.transport.simulateEnd(EXITED);
    const call = troupe.callTool(NAME);
    await expect(passTime(clock, call)).resolves.toEqual(text('echo {}'));
    expect(server.peer.of('tools/call')).toMatchObject([{ session: 2 }]);
  });
});

describe('a call that has to wait', () => {
  useLeakCheck();
  useCrashWatch();
  const { make: makeOne } = useOneFake({ startGateMs: 1_000 });

  it('for the first session is sent when that session is ready', async () => {
    const gate = createGate();
    const server = new FakeServer(() => ({ start: () => gate.promise }));
    const { troupe, events } = makeOne(server);
    void troupe.start();
    await events.when('connection.state', ({ to }) => to === 'launching');
    const call = troupe.connection('a')?.callTool('echo', { n: 1 });
    gate.open();
    await expect(call).resolves.toEqual(text('echo {"n":1}'));
    expect(events.of('call.started')).toHaveLength(1);
  });

  it('for a reconnect is sent when the connection is ready again', async () => {
    const server = new FakeServer();
    const test = makeOne(server);
    await test.troupe.start();
    server.transport.simulateEnd();
    await whenState(test, 'a', 'reconnecting');
    const calls = [1, 2, 3].map((n) => test.troupe.callTool(NAME, { n }));
    await expect(passTime(test.clock, Promise.all(calls))).resolves.toHaveLength(3);
    expect(server.peer.of('tools/call').every(({ session }) => session === 2)).toBe(true);
  });

  it('for a restart is sent afterwards', async () => {
    const server = new FakeServer();
    const { troupe } = makeOne(server);
    await troupe.start();
    const restarting = troupe.connection('a')?.restart();
    await expect(troupe.callTool(NAME)).resolves.toEqual(text('echo {}'));
    await restarting;
    expect(server.peer.of('tools/call')).toMatchObject([{ session: 2 }]);
  });

  it('starts a server that was stopped as idle, any number of times', async () => {
    const server = new FakeServer();
    const test = makeOne(server, { idleStopMs: 5_000 });
    await test.troupe.start();
    for (let round = 1; round <= 3; round += 1) {
      await test.clock.advance(5_000);
      await whenState(test, 'a', 'configuring');
      expect(test.troupe.tools).toHaveLength(1);
      await expect(test.troupe.callTool(NAME)).resolves.toEqual(text('echo {}'));
      expect(server.transports).toHaveLength(round + 1);
    }
  });

  it('restarts a server that is just being stopped as idle', async () => {
    const closing = createGate();
    const server = new FakeServer((session) => (session === 1 ? { close: () => closing.promise } : {}));
    const test = makeOne(server, { idleStopMs: 5_000 });
    await test.troupe.start();
    await test.clock.advance(5_000);
    await whenState(test, 'a', 'shuttingDown');
    const call = test.troupe.callTool(NAME);
    closing.open();
    await expect(call).resolves.toEqual(text('echo {}'));
    expect(server.peer.of('tools/call')).toMatchObject([{ session: 2 }]);
  });

  it('is rejected as not sent after its own limit', async () => {
    const server = new FakeServer(() => ({}), { on: { initialize: silent } });
    const { troupe, clock, events } = makeOne(server);
    await passTime(clock, troupe.start());
    const call = troupe.connection('a')?.callTool('echo', {}, { timeoutMs: 3_000 });
    call?.catch(() => {});
    await clock.advance(3_000);
    await expect(call).rejects.toThrow('3000 ms');
    await expect(call).rejects.toBeInstanceOf(NotReadyError);
    expect(events.of('call.started')).toEqual([]);
  });

  it('says what kept the server from becoming ready', async () => {
    const refused = new TransportError({
      code: 'address-refused',
      message: '127.0.0.1:1 cannot be reached.',
    });
    const start = (): Promise<void> => Promise.reject(refused);
    const server = new FakeServer((session) => (session === 1 ? {} : { start }));
    const { troupe, clock, events } = makeOne(server);
    await passTime(clock, troupe.start());
    server.transport.simulateEnd(EXITED);
    await passTime(
      clock,
      events.when('connection.retrying', ({ failure }) => failure?.code === 'address-refused'),
    );
    const call = troupe.connection('a')?.callTool('echo', {}, { timeoutMs: 100 });
    call?.catch(() => {});
    await clock.advance(100);
    await expect(call).rejects.toThrow(/100 ms.*127\.0\.0\.1:1/);
    await expect(call).rejects.toMatchObject({ cause: { failure: { code: 'address-refused' } } });
  });

  it('is aborted by its signal, with the reason as the cause', async () => {
    const server = new FakeServer(() => ({}), { on: { initialize: silent } });
    const { troupe, clock } = makeOne(server);
    await passTime(clock, troupe.start());
    const controller = new AbortController();
    const call = troupe.connection('a')?.callTool('echo', {}, { signal: controller.signal });
    controller.abort('user left');
    await expect(call).rejects.toMatchObject({ code: 'CALL_ABORTED', cause: 'user left' });
    const before = clock.pending.length;
    await expect(
      troupe.connection('a')?.callTool('echo', {}, { signal: controller.signal }),
    ).rejects.toMatchObject({ code: 'CALL_ABORTED' });
    expect(clock.pending).toHaveLength(before);
  });

  it('is rejected with the cause if the server gives up meanwhile', async () => {
    const server = new FakeServer(() => ({ start: () => Promise.reject(new TransportError(EXITED)) }));
    const { troupe, clock } = makeOne(server);
    await passTime(clock, troupe.start());
    const call = troupe.connection('a')?.callTool('echo', {}, { timeoutMs: 0 });
    call?.catch(() => {});
    await clock.advance(120_000);
    await expect(call).rejects.toMatchObject({ code: 'NOT_READY', cause: { code: 'LAUNCH_FAILED' } });
    await expect(call).rejects.toThrow(EXITED.message);
  });
});

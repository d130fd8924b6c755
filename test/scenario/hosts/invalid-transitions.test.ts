import { describe, expect, it } from 'vitest';
import type { ConnectionCommand } from '../../../machines/connection/connection.events.js';
import { InvalidTransitionError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, silent, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, type TestTroupe } from '../../support/test-troupe.js';

const STOP: ConnectionCommand = { type: 'connection.stop', reason: 'stop' };

describe('dispatch', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  const begin = async (server = new ScriptedServer()): Promise<TestTroupe> => {
    const test = make({ startGateMs: 1_000, servers: { a: inProcess(server) } });
    await passTime(test.clock, test.troupe.start());
    return test;
  };

  it('accepts what the state allows, and publishes no rejection', async () => {
    const { troupe, events } = await begin();
    expect(troupe.connection('a')?.dispatch({ type: 'connection.refresh' })).toEqual({ accepted: true });
    await troupe.connection('a')?.refresh();
    expect(events.of('connection.rejected')).toEqual([]);
  });

  it('rejects an unhandled command with a list of the allowed ones, and changes nothing', async () => {
    const { troupe, events } = await begin();
    const before = troupe.status;
    const answer = troupe.connection('a')?.dispatch({ type: 'connection.retry' });
    expect(answer).toEqual({
      accepted: false,
      reason: 'unhandled',
      state: 'ready',
      event: 'connection.retry',
      allowed: ['connection.stop', 'connection.restart', 'connection.refresh', 'connection.reload'],
    });
    await Promise.resolve();
    expect(events.of('connection.rejected')).toMatchObject([
      { server: 'a', generation: 1, state: 'ready', event: 'connection.retry', reason: 'unhandled' },
    ]);
    expect(troupe.status).toEqual(before);
  });

  it('rejects an internal event, which a host cannot send', async () => {
    const { troupe, events } = await begin();
    const fact = { type: 'session.lost', generation: 1 } as unknown as ConnectionCommand;
    expect(troupe.connection('a')?.dispatch(fact)).toMatchObject({ accepted: false, reason: 'unhandled' });
    await Promise.resolve();
    expect(troupe.connection('a')?.state).toBe('ready');
    expect(events.of('connection.rejected')).toMatchObject([{ event: 'session.lost' }]);
  });

  it('rejects a restart while the connection is stopping', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = await begin(server);
    server.script = { on: { 'tools/call': silent } };
    troupe.callTool('mcp__a__echo').catch(() => {});
    await server.whenReceived('tools/call');
    troupe.connection('a')?.dispatch(STOP);
    expect(troupe.connection('a')?.dispatch({ type: 'connection.restart' })).toMatchObject({
      accepted: false,
      reason: 'unhandled',
      state: 'shuttingDown',
    });
    await Promise.resolve();
    expect(events.of('connection.rejected')).toMatchObject([
      { reason: 'unhandled', event: 'connection.restart' },
    ]);
  });

  it('ignores a command whose goal is already reached, without an event', async () => {
    const { troupe, events } = await begin();
    expect(troupe.connection('a')?.dispatch({ type: 'connection.start' })).toMatchObject({
      accepted: false,
      reason: 'ignored',
      state: 'ready',
    });
    await Promise.resolve();
    expect(events.of('connection.rejected')).toEqual([]);
    await expect(troupe.connection('a')?.start()).resolves.toBeUndefined();
  });

  it('rejects everything but a start if the connection has stopped', async () => {
    const { troupe, events } = await begin();
    const connection = troupe.connection('a');
    await connection?.stop();
    expect(connection?.allowed).toEqual(['connection.start']);
    expect(connection?.dispatch({ type: 'connection.refresh' })).toMatchObject({
      accepted: false,
      reason: 'stopped',
      state: 'stopped',
      allowed: ['connection.start'],
    });
    expect(connection?.dispatch(STOP)).toMatchObject({ accepted: false, reason: 'stopped' });
    await Promise.resolve();
    expect(events.of('connection.rejected').map(({ reason }) => reason)).toEqual(['stopped', 'stopped']);
    expect(connection?.dispatch({ type: 'connection.start' })).toEqual({ accepted: true });
    await connection?.ready();
  });

  it.each(['connection.stop', 'connection.restart', 'connection.refresh'] as const)(
    'accepts %s, which is in the list of allowed commands',
    async (type) => {
      const { troupe } = await begin();
      const connection = troupe.connection('a');
      expect(connection?.allowed).toContain(type);
      const command: ConnectionCommand = type === 'connection.stop' ? STOP : { type };
      expect(connection?.dispatch(command)).toEqual({ accepted: true });
    },
  );

  it('rejects an unknown command', async () => {
    const { troupe, events } = await begin();
    const answer = troupe.connection('a')?.dispatch({ type: 'connection.dance' } as never);
    expect(answer).toMatchObject({ accepted: false, reason: 'unhandled' });
    await Promise.resolve();
    expect(events.of('connection.rejected')).toHaveLength(1);
  });
});

describe('a command with a promise', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('rejects with an error that has the state, the event and the allowed commands', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const error: unknown = await troupe
      .connection('a')
      ?.retry()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidTransitionError);
    expect(error).toMatchObject({
      code: 'INVALID_TRANSITION',
      server: 'a',
      state: 'ready',
      event: 'connection.retry',
      reason: 'unhandled',
      allowed: expect.arrayContaining(['connection.stop', 'connection.restart']) as unknown,
    });
    expect(events.of('connection.rejected')).toHaveLength(1);
  });

  it.each([
    ['trust', 'trust.granted'],
    ['refresh', 'connection.refresh'],
    ['retry', 'connection.retry'],
    ['restart', 'connection.restart'],
  ] as const)('%s of a stopped connection rejects, with one event', async (verb, event) => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    await troupe.connection('a')?.stop();
    await expect(troupe.connection('a')?.[verb]()).rejects.toMatchObject({ event, reason: 'stopped' });
    expect(events.of('connection.rejected')).toMatchObject([{ event, state: 'stopped' }]);
  });

  it('throws at once if the method returns no promise', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    expect(() => troupe.connection('a')?.deny()).toThrow(InvalidTransitionError);
  });

  it('rejects if the tools cannot be listed again, and the old list stays', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const before = troupe.tools;
    server.script = {
      on: { 'tools/list': () => Promise.reject(Object.assign(new Error('db down'), { code: -32000 })) },
    };
    await expect(troupe.connection('a')?.refresh()).rejects.toMatchObject({ code: 'NOT_READY', server: 'a' });
    expect(troupe.tools).toBe(before);
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'catalog-problem', message: expect.stringContaining('db down') as unknown },
    ]);
  });

  it('waits for the next session, which lists the tools anyway, if its own is lost during the refresh', async () => {
    const server = new ScriptedServer();
    const { troupe, clock } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    server.script = { on: { 'tools/list': silent } };
    const refreshing = troupe.connection('a')?.refresh();
    await server.whenReceived('tools/list', 2);
    server.script = { tools: [tool('new')] };
    void server.die();
    await passTime(clock, refreshing ?? Promise.reject(new Error('no connection')));
    expect(troupe.tools.map((each) => each.tool)).toEqual(['new']);
  });

  it('rejects with the failure if no session follows the one that was lost during the refresh', async () => {
    const server = new ScriptedServer();
    const { troupe, clock } = make({ servers: { a: inProcess(server, { policy: { maxAttempts: 1 } }) } });
    await troupe.start();
    server.script = { on: { 'tools/list': silent } };
    const refreshing = troupe.connection('a')?.refresh();
    refreshing?.catch(() => {});
    await server.whenReceived('tools/list', 2);
    await server.die();
    await clock.advance(0);
    await expect(refreshing).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  });
});

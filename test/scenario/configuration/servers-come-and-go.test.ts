import { describe, expect, it } from 'vitest';
import { ConfigError, NotReadyError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, silent } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

describe('add', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('creates a connection that starts with the troupe if the troupe has not started', async () => {
    const { troupe } = make({ servers: {} });
    const connection = await troupe.add('late', inProcess(new ScriptedServer()));
    expect(connection).toBe(troupe.connection('late'));
    expect(connection.state).toBe('stopped');
    await expect(troupe.start()).resolves.toMatchObject({ ready: ['late'] });
  });

  it('starts the connection at once if the troupe is running', async () => {
    const { troupe, events } = make({ servers: {} });
    await troupe.start();
    const connection = await troupe.add('late', inProcess(new ScriptedServer()));
    await connection.ready();
    expect(troupe.tools.map(({ name }) => name)).toEqual(['mcp__late__echo']);
    expect(events.states('late')).toEqual(['configuring', 'launching', 'handshaking', 'ready']);
  });

  it('does not wait for the servers that are still starting', async () => {
    const { troupe } = make({
      servers: { mute: inProcess(new ScriptedServer({ on: { initialize: silent } })) },
    });
    void troupe.start();
    const connection = await troupe.add('quick', inProcess(new ScriptedServer()));
    await connection.ready();
    expect(troupe.connection('mute')?.state).not.toBe('ready');
  });

  it('rejects a name that is known, even while it is being added or read from the configuration', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    void troupe.start();
    await expect(troupe.add('a', inProcess(new ScriptedServer()))).rejects.toBeInstanceOf(ConfigError);
    const server = new ScriptedServer();
    const both = await Promise.allSettled([
      troupe.add('b', inProcess(server)),
      troupe.add('b', inProcess(server)),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await troupe.connection('b')?.ready();
    expect(server.sessions).toBe(1);
  });

  it('rejects a name of the options before the start, unless it was removed', async () => {
    const [first, second] = [new ScriptedServer(), new ScriptedServer()];
    const { troupe } = make({ servers: { a: inProcess(first) } });
    await expect(troupe.add('a', inProcess(second))).rejects.toBeInstanceOf(ConfigError);
    await troupe.remove('a');
    await troupe.add('a', inProcess(second));
    expect(await troupe.start()).toMatchObject({ ready: ['a'] });
    expect([first.sessions, second.sessions]).toEqual([0, 1]);
  });

  it('rejects an invalid entry and names the wrong field', async () => {
    const { troupe } = make({ servers: {} });
    await troupe.start();
    const adding = troupe.add('odd', { command: 7 } as never);
    await expect(adding).rejects.toMatchObject({ code: 'CONFIG_ERROR', server: 'odd' });
    await expect(adding).rejects.toThrow('command');
    expect(troupe.connection('odd')).toBeUndefined();
  });

  it('is named as the source of the server, even after a reload', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    await troupe.add('late', inProcess(new ScriptedServer()));
    const { sources, unchanged } = await troupe.reload();
    const source = 'add()';
    expect(troupe.connection('late')?.status).toMatchObject({ source });
    expect(unchanged).toEqual(['a', 'late']);
    expect(sources.map((each) => each.id)).toEqual(['host', 'added']);
  });

  it('adds a disabled server without starting it', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: {} });
    await troupe.start();
    const connection = await troupe.add('off', inProcess(server, { enabled: false }));
    expect(connection.status).toMatchObject({ state: 'stopped', reason: 'disabled' });
    expect(server.sessions).toBe(0);
    await expect(connection.callTool('echo')).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringContaining('disabled'),
    });
    await expect(troupe.callTool('echo')).rejects.toMatchObject({
      code: 'UNKNOWN_TOOL',
      message: expect.stringContaining('off is disabled'),
    });
  });

  it('is rejected after close, and if close is called meanwhile', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: {} });
    await troupe.start();
    const adding = troupe.add('late', inProcess(server));
    await troupe.close();
    await expect(adding).rejects.toBeInstanceOf(NotReadyError);
    await expect(troupe.add('later', inProcess(server))).rejects.toBeInstanceOf(NotReadyError);
    expect(server.sessions).toBe(0);
  });
});

describe('remove', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('ends the server, forgets it and frees its name', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    await troupe.remove('a');
    expect(server.isConnected).toBe(false);
    expect([troupe.connection('a'), troupe.status, troupe.tools]).toEqual([undefined, [], []]);
    expect(events.of('connection.stopped')).toMatchObject([{ server: 'a', reason: 'remove' }]);
    expect(events.of('connection.removed')).toMatchObject([{ server: 'a', generation: 1 }]);
    const again = await troupe.add('a', inProcess(server));
    await again.ready();
    expect(server.sessions).toBe(2);
  });

  it('excludes servers of the options, before the start and while it reads them', async () => {
    const [a, b, c] = [new ScriptedServer(), new ScriptedServer(), new ScriptedServer()];
    const { troupe } = make({ servers: { a: inProcess(a), b: inProcess(b), c: inProcess(c) } });
    await troupe.remove('a');
    const starting = troupe.start();
    await troupe.remove('b');
    expect(await starting).toMatchObject({ ready: ['c'], failed: [], pending: [] });
    expect(troupe.status.map(({ server }) => server)).toEqual(['c']);
    expect([a.sessions, b.sessions]).toEqual([0, 0]);
  });

  it.each(['before the start', 'after the start'])(
    'ends a server that is still being added, %s',
    async (when) => {
      const server = new ScriptedServer();
      const { troupe, clock, events } = make({ servers: {} });
      if (when === 'after the start') await troupe.start();
      const adding = troupe.add('late', inProcess(server));
      await troupe.remove('late');
      const connection = await adding;
      expect([troupe.connection('late'), troupe.status]).toEqual([undefined, []]);
      await passTime(clock, troupe.start());
      await troupe.reload();
      expect([connection.state, troupe.status, server.isConnected]).toEqual(['stopped', [], false]);
      expect(events.of('connection.ready')).toEqual([]);
    },
  );

  it('lets a server be added again while it ends one that is still being added', async () => {
    const [first, second] = [new ScriptedServer(), new ScriptedServer()];
    const { troupe } = make({ servers: {} });
    await troupe.start();
    const adding = troupe.add('late', inProcess(first));
    const removing = troupe.remove('late');
    await Promise.all([adding, removing]);
    const again = await troupe.add('late', inProcess(second));
    await again.ready();
    expect([first.isConnected, second.isConnected]).toEqual([false, true]);
  });

  it('ignores an unknown name', async () => {
    const { troupe } = make({ servers: {} });
    await expect(troupe.remove('nobody')).resolves.toBeUndefined();
  });

  it('called twice at once removes once', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    await Promise.all([troupe.remove('a'), troupe.remove('a')]);
    expect(events.of('connection.removed')).toHaveLength(1);
  });

  it('rejects pending waits for the connection, and its handle starts nothing any more', async () => {
    const server = new ScriptedServer({ on: { initialize: silent } });
    const { troupe, clock, events } = make({ startGateMs: 1_000, servers: { a: inProcess(server) } });
    await passTime(clock, troupe.start());
    const connection = troupe.connection('a');
    const waiting = connection?.ready();
    waiting?.catch(() => {});
    await troupe.remove('a');
    await expect(waiting).rejects.toMatchObject({ code: 'NOT_READY', server: 'a' });
    await expect(connection?.ready()).rejects.toMatchObject({ code: 'NOT_READY' });
    await expect(connection?.start()).rejects.toMatchObject({ code: 'NOT_READY' });
    await expect(connection?.callTool('echo')).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringContaining('removed'),
    });
    expect(events.of('connection.added')).toHaveLength(1);
  });

  it('makes its handle useless for the next server of that name', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const former = troupe.connection('a')!;
    await troupe.remove('a');
    const next = await troupe.add('a', inProcess(server));
    await next.ready();
    expect([former.state, former.allowed]).toEqual(['stopped', []]);
    await former.stop();
    expect(former.dispatch({ type: 'connection.stop', reason: 'stop' })).toMatchObject({ accepted: false });
    await expect(former.start()).rejects.toMatchObject({ code: 'NOT_READY' });
    await expect(former.callTool('echo')).rejects.toMatchObject({ code: 'NOT_READY' });
    expect([next.state, server.sessions]).toEqual(['ready', 2]);
  });

  it('removes a server that never started', async () => {
    const { troupe, events } = make({ servers: {} });
    await troupe.add('a', inProcess(new ScriptedServer()));
    await troupe.remove('a');
    await expect(troupe.start()).resolves.toMatchObject({ ready: [], pending: [] });
    expect(events.of('connection.added')).toEqual([]);
    expect(events.of('connection.removed')).toMatchObject([{ server: 'a', generation: 0 }]);
  });
});

describe('stop, start and restart', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('create the next incarnation, whose generation continues', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const connection = troupe.connection('a');
    await connection?.stop();
    expect(connection?.status).toMatchObject({ state: 'stopped', reason: 'stop', generation: 1 });
    await connection?.start();
    expect(connection?.status).toMatchObject({ state: 'ready', generation: 2 });
    await expect(troupe.callTool('mcp__a__echo')).resolves.toBeDefined();
    expect(events.of('connection.added').map(({ generation }) => generation)).toEqual([0, 1]);
  });

  it('are rejected before the troupe has started', async () => {
    const { troupe } = make({ servers: {} });
    const connection = await troupe.add('a', inProcess(new ScriptedServer()));
    await expect(connection.start()).rejects.toMatchObject({ code: 'NOT_READY' });
    expect(connection.allowed).toEqual([]);
  });

  it('are combined in restart, with a new session', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    await troupe.connection('a')?.restart();
    expect(server.sessions).toBe(2);
    expect(events.of('connection.stopped')).toEqual([]);
    expect(troupe.connection('a')?.status).toMatchObject({ state: 'ready', generation: 2 });
  });

  it('reject with the failure if the restart fails', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    server.script = { protocolVersion: '1999-01-01' };
    await expect(troupe.connection('a')?.restart()).rejects.toMatchObject({
      code: 'HANDSHAKE_FAILED',
      server: 'a',
      failure: { code: 'protocol-version' },
    });
  });

  it('continue when a signal ends the wait for them', async () => {
    const gate = createGate();
    const server = new ScriptedServer();
    const { troupe } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    server.script = { beforeConnect: () => gate.promise };
    const controller = new AbortController();
    const restarting = troupe.connection('a')?.restart({ signal: controller.signal });
    controller.abort(new Error('waited enough'));
    await expect(restarting).rejects.toThrow('waited enough');
    gate.open();
    await troupe.connection('a')?.ready();
    expect(server.sessions).toBe(2);
  });
});

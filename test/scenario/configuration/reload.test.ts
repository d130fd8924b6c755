/** What a reload does to each server, in any state. */
import { describe, expect, it } from 'vitest';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, fakeProgram, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, tool, type Script } from '../../support/scripted-server.js';
import { passTime, useTroupes, whenState } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

const wrong = (): FakeServer => new FakeServer(() => ({}), { protocolVersion: '1999-01-01' });

describe('a reload', () => {
  it('affects only what changed, and reports the difference', async () => {
    const [stays, leaves, arrives, before, after] = Array.from({ length: 5 }, () => new FakeServer());
    const { troupe, events } = make({
      servers: { stays: fake(stays!), leaves: fake(leaves!), changes: fake(before!) },
    });
    await troupe.start();
    const report = await troupe.reload({
      changes: fake(after!),
      arrives: fake(arrives!),
      stays: fake(stays!),
    });
    expect(report).toEqual({
      added: ['arrives'],
      removed: ['leaves'],
      changed: ['changes'],
      unchanged: ['stays'],
      refused: [],
      outdated: [],
      problems: [],
      sources: [{ id: 'host', scope: 'host', ok: true }],
    });
    expect(troupe.status.map(({ server, state }) => [server, state])).toEqual([
      ['stays', 'ready'],
      ['changes', 'ready'],
      ['arrives', 'ready'],
    ]);
    expect(stays!.transports).toHaveLength(1);
    expect(events.states('stays')).toEqual(['configuring', 'launching', 'handshaking', 'ready']);
    expect([leaves!.transport.isOpen, before!.transport.isOpen]).toEqual([false, false]);
    expect(events.of('connection.removed')).toMatchObject([{ server: 'leaves' }]);
    expect(troupe.connection('changes')?.status.generation).toBe(2);
    expect(troupe.tools.map(({ name }) => name)).toEqual([
      'mcp__arrives__echo',
      'mcp__changes__echo',
      'mcp__stays__echo',
    ]);
    await troupe.callTool('mcp__changes__echo');
    expect(after!.peer.of('tools/call')).toHaveLength(1);
  });

  it('of the same servers changes nothing and reports nothing', async () => {
    const server = new FakeServer();
    const { troupe, events } = make({ servers: { a: fake(server) } });
    await troupe.start();
    const { length } = events.all;
    await expect(troupe.reload({ a: fake(server, { enabled: true }) })).resolves.toMatchObject({
      changed: [],
      unchanged: ['a'],
    });
    await expect(troupe.reload()).resolves.toMatchObject({ unchanged: ['a'] });
    expect(events.all).toHaveLength(length);
    expect(server.transports).toHaveLength(1);
  });

  it('is reported with the names of what changed', async () => {
    const { troupe, events } = make({ servers: { old: fake(new FakeServer()), a: fake(new FakeServer()) } });
    await troupe.start();
    await troupe.reload({ a: fake(new FakeServer()), b: fake(new FakeServer()) });
    expect(events.of('diagnostic')).toMatchObject([
      {
        kind: 'config-reloaded',
        message: expect.stringMatching(/\bb\b.*\bold\b.*\ba\b/) as string,
      },
    ]);
  });

  it('drains the calls of an old program before the new one starts', async () => {
    const program = (script: Script = {}) => new FakeServer(() => ({ kind: 'stdio' }), script);
    const [before, after] = [program({ on: { 'tools/call': silent } }), program()];
    const test = make({ servers: { a: fakeProgram(before) } });
    const { troupe } = test;
    await troupe.start();
    const call = troupe.callTool('mcp__a__echo');
    const { id } = await before.peer.whenReceived('tools/call');
    const reloading = troupe.reload({ a: fakeProgram(after) });
    await whenState(test, 'a', 'shuttingDown');
    expect(after.transports).toEqual([]);
    before.peer.send({ jsonrpc: '2.0', id, result: { content: [] } });
    await expect(call).resolves.toEqual({ content: [] });
    await reloading;
    expect(after.transport.isOpen).toBe(true);
  });

  it('adds a disabled server without starting it', async () => {
    const server = new FakeServer();
    const { troupe } = make({ servers: {} });
    await troupe.start();
    await expect(troupe.reload({ a: fake(server, { enabled: false }) })).resolves.toMatchObject({
      added: ['a'],
    });
    expect(troupe.connection('a')?.status).toMatchObject({ state: 'stopped', reason: 'disabled' });
    expect(server.transports).toEqual([]);
  });

  it('adds a server with an invalid entry as failed, and the next reload repairs it', async () => {
    const { troupe } = make({ servers: {} });
    await troupe.start();
    const report = await troupe.reload({ a: { command: 7 } as never });
    expect(report).toMatchObject({ added: ['a'], refused: ['a'], problems: [{ server: 'a' }] });
    expect(troupe.connection('a')?.status.error?.code).toBe('config-invalid');
    await expect(troupe.reload({ a: fake(new FakeServer()) })).resolves.toMatchObject({ changed: ['a'] });
    expect(troupe.connection('a')?.state).toBe('ready');
  });

  it('keeps a server whose new entry is invalid, and reports the problem', async () => {
    const server = new FakeServer();
    const { troupe, events } = make({ servers: { a: fake(server) } });
    await troupe.start();
    const report = await troupe.reload({ a: { command: 7 } as never });
    expect(report).toMatchObject({
      changed: [],
      unchanged: ['a'],
      refused: ['a'],
      problems: [{ server: 'a' }],
    });
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'config-problem', server: 'a' }]);
    await expect(troupe.callTool('mcp__a__echo')).resolves.toBeDefined();
    expect(server.transports).toHaveLength(1);
  });

  it('reports a problem once, and again if it was gone meanwhile', async () => {
    const server = new FakeServer();
    const { troupe, events } = make({ servers: { a: fake(server) } });
    await troupe.start();
    for (const command of [7, 7, undefined, 7]) {
      await troupe.reload({ a: command === undefined ? fake(server) : ({ command } as never) });
    }
    expect(events.of('diagnostic')).toHaveLength(2);
  });

  it.each([5, null, [], 'a'])('of %j is rejected', async (servers) => {
    const server = new FakeServer();
    const { troupe } = make({ servers: { a: fake(server) } });
    await troupe.start();
    await expect(troupe.reload(servers as never)).rejects.toMatchObject({ code: 'CONFIG_ERROR' });
    await expect(troupe.reload()).resolves.toMatchObject({ unchanged: ['a'] });
  });
});

describe('settings that changed', () => {
  const started = async (settings = {}) => {
    const server = new FakeServer(() => ({}), { tools: [tool('on'), tool('off')] });
    const test = make({ servers: { a: fake(server, settings) } });
    await test.troupe.start();
    const reload = (changed = {}) => test.troupe.reload({ a: fake(server, changed) });
    return { ...test, test, server, reload };
  };

  it('filter the tools at once, in the same session', async () => {
    const { troupe, events, server, reload } = await started();
    const [on] = troupe.tools.filter((one) => one.tool === 'on');
    await expect(reload({ tools: { deny: ['off'] } })).resolves.toMatchObject({ changed: ['a'] });
    expect(events.of('catalog.changed').at(-1)).toMatchObject({ added: [], removed: ['off'], toolCount: 1 });
    expect(troupe.tools).toEqual([on]);
    expect(troupe.status).toMatchObject([{ toolCount: 1 }]);
    await reload();
    expect(events.of('catalog.changed').at(-1)).toMatchObject({ added: ['off'], removed: [], toolCount: 2 });
    expect(troupe.tools).toHaveLength(2);
    expect(server.transports).toHaveLength(1);
  });

  it('report no change of tools if a filter shows the same ones', async () => {
    const { events, reload } = await started();
    const before = events.of('catalog.changed').length;
    await reload({ tools: { allow: ['o*'] } });
    expect(events.of('catalog.changed')).toHaveLength(before);
  });

  it('limit the next call, in the same session', async () => {
    const { troupe, clock, server, reload } = await started();
    server.peer.script = { ...server.peer.script, on: { 'tools/call': silent } };
    await reload({ callTimeoutMs: 5_000 });
    const call = troupe.callTool('mcp__a__on');
    await server.peer.whenReceived('tools/call');
    await expect(passTime(clock, call, 6_000)).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    expect(server.transports).toHaveLength(1);
  });

  it('change the policy of the connection, in the same session', async () => {
    const { troupe, server, reload } = await started();
    await reload({ policy: { maxAttempts: 2, backoff: [7_000] } });
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 1, maxAttempts: 2 }]);
    expect(server.transports).toHaveLength(1);
  });

  it('stop a server that has been idle for long enough, and no other', async () => {
    const { test, troupe, clock, server, reload } = await started();
    await clock.advance(4_000);
    await reload({ idleStopMs: 6_000 });
    await clock.advance(1_000);
    expect(troupe.connection('a')?.state).toBe('ready');
    await clock.advance(1_000);
    await passTime(clock, troupe.settled());
    expect(troupe.status).toMatchObject([{ substate: 'dormant' }]);
    await troupe.connection('a')?.start();
    await reload();
    await clock.advance(20_000);
    expect(troupe.status).toMatchObject([{ state: 'ready' }]);
    expect(server.transports).toHaveLength(2);
    await reload({ idleStopMs: 6_000 });
    await passTime(clock, whenState(test, 'a', 'shuttingDown'), 1_000);
  });

  it('set how often a quiet server is pinged', async () => {
    const { clock, server, reload } = await started({ policy: { ping: { idleMs: 0 } } });
    await clock.advance(60_000);
    expect(server.peer.of('ping')).toHaveLength(0);
    await reload({ policy: { ping: { idleMs: 5_000 } } });
    await clock.advance(0);
    expect(server.peer.of('ping')).toHaveLength(1);
    await clock.advance(10_000);
    expect(server.peer.of('ping').length).toBeGreaterThan(1);
    await reload({ policy: { ping: { idleMs: 0 } } });
    const pings = server.peer.of('ping').length;
    await clock.advance(60_000);
    expect(server.peer.of('ping')).toHaveLength(pings);
    expect(server.transports).toHaveLength(1);
  });

  it('stop a server that is disabled, and start it when it is enabled', async () => {
    const { troupe, server, reload } = await started();
    await expect(reload({ enabled: false })).resolves.toMatchObject({ changed: ['a'] });
    expect(server.transport.isOpen).toBe(false);
    expect(troupe.status).toMatchObject([{ state: 'stopped', reason: 'disabled' }]);
    expect(troupe.tools).toEqual([]);
    await reload({ enabled: true });
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 2 }]);
    expect(troupe.tools).toHaveLength(2);
  });

  it('start a server that was disabled from the start', async () => {
    const { troupe, reload } = await started({ enabled: false });
    await reload();
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 1 }]);
  });

  it('start a dormant server that is no longer lazy', async () => {
    const { test, troupe, clock, reload } = await started({ start: 'lazy', idleStopMs: 1_000 });
    await passTime(clock, whenState(test, 'a', 'shuttingDown'));
    await passTime(clock, troupe.settled());
    expect(troupe.status).toMatchObject([{ substate: 'dormant' }]);
    await reload();
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 2 }]);
  });
});

describe('a changed entry', () => {
  it('of a failed server is tried, and an unchanged one is left alone', async () => {
    const [a, b] = [wrong(), wrong()];
    const { troupe } = make({ servers: { a: fake(a), b: fake(b) } });
    await troupe.start();
    await troupe.reload({ a: fake(new FakeServer()), b: fake(b) });
    expect(troupe.status).toMatchObject([{ state: 'ready' }, { state: 'failed', generation: 1 }]);
    expect(b.transports).toHaveLength(1);
  });

  it('of a failed server is tried even if only a setting changed, such as a limit that was too short', async () => {
    const server = wrong();
    const { troupe } = make({ servers: { a: fake(server, { startTimeoutMs: 5_000 }) } });
    await troupe.start();
    server.peer.script = {};
    await expect(troupe.reload({ a: fake(server, { startTimeoutMs: 9_000 }) })).resolves.toMatchObject({
      changed: ['a'],
    });
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 2 }]);
  });

  it('of a server that the user stopped waits for its next start', async () => {
    const [before, after] = [new FakeServer(), new FakeServer()];
    const { troupe, events } = make({ servers: { a: fake(before) } });
    await troupe.start();
    await troupe.connection('a')?.stop();
    await expect(troupe.reload({ a: fake(after) })).resolves.toMatchObject({ changed: ['a'] });
    expect(troupe.status).toMatchObject([{ state: 'stopped', reason: 'stop' }]);
    expect(events.of('connection.rejected')).toEqual([]);
    await troupe.connection('a')?.start();
    expect([before.transports.length, after.transports.length]).toEqual([1, 1]);
  });

  it('of a server that is being stopped does not restart it', async () => {
    const [before, after] = [new FakeServer(), new FakeServer()];
    const { troupe, events } = make({ servers: { a: fake(before) } });
    await troupe.start();
    const stopping = troupe.connection('a')?.stop();
    await troupe.reload({ a: fake(after) });
    await stopping;
    expect(troupe.status).toMatchObject([{ state: 'stopped', reason: 'stop' }]);
    expect([events.of('connection.rejected'), after.transports]).toEqual([[], []]);
  });

  it('of a server that waits for its next attempt is tried at once', async () => {
    const notYet = new TransportError({ code: 'connection-lost', message: 'not yet' });
    const failing = new FakeServer(() => ({ start: () => Promise.reject(notYet) }));
    const { troupe } = make({ servers: { a: fake(failing) }, policy: { backoff: [30_000] } });
    await troupe.start();
    expect(troupe.connection('a')?.state).toBe('reconnecting');
    await troupe.reload({ a: fake(new FakeServer()) });
    expect(troupe.connection('a')?.state).toBe('ready');
  });

  it('of a dormant server starts it once, to learn its tools', async () => {
    const [before, after] = [new FakeServer(), new FakeServer(() => ({}), { tools: [tool('new')] })];
    const lazy = { start: 'lazy', idleStopMs: 1_000 } as const;
    const test = make({ servers: { a: fake(before, lazy) } });
    const { troupe, clock } = test;
    await troupe.start();
    await passTime(clock, whenState(test, 'a', 'shuttingDown'));
    await passTime(clock, troupe.settled());
    await troupe.reload({ a: fake(after, lazy) });
    expect(troupe.tools.map(({ name }) => name)).toEqual(['mcp__a__new']);
    await passTime(clock, whenState(test, 'a', 'shuttingDown'));
    await passTime(clock, troupe.settled());
    expect(troupe.status).toMatchObject([{ substate: 'dormant' }]);
  });

  it('of a connection whose actor died of an internal error revives it', async () => {
    const after = new FakeServer();
    const { troupe, events } = make({ servers: { a: fake(new FakeServer()) } });
    await troupe.start();
    troupe.connection('a')?.dispatch({ type: 'connection.reload', transport: 'stdio' } as never);
    await events.when('connection.failed');
    await troupe.reload({ a: fake(after) });
    expect(troupe.status).toMatchObject([{ state: 'ready', error: null }]);
    expect(after.transport.isOpen).toBe(true);
  });

  it('can name another kind of server', async () => {
    const program = new FakeServer(() => ({ kind: 'stdio' }));
    const { troupe } = make({ servers: { a: fake(new FakeServer()) } });
    await troupe.start();
    expect(troupe.status).toMatchObject([{ transport: 'in-process' }]);
    await troupe.reload({ a: fakeProgram(program) });
    expect(troupe.status).toMatchObject([{ state: 'ready', transport: 'stdio' }]);
  });
});

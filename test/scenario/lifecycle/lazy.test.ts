/** Servers that are dormant until their first use, and what happens then. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMemoryCatalogStore, type CatalogStore } from '../../../src/catalog/cache-store.js';
import type { TroupeOptions } from '../../../src/options.js';
import type { ServerConfig, ServerSettings } from '../../../src/config/entry/server-config.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeProgram, fakeRemote, FakeServer } from '../../support/fake-server.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { passTime, useTroupes, whenEmits } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

const LAZY: ServerSettings = { start: 'lazy' };

const server = (...names: readonly string[]): FakeServer =>
  new FakeServer(() => ({ kind: 'stdio' }), { tools: names.map((name) => tool(name)) });

/** Runs a troupe with these servers once, and returns the store with their lists. */
async function ranBefore(
  servers: Record<string, ServerConfig>,
  options: TroupeOptions = {},
): Promise<CatalogStore> {
  const cache = createMemoryCatalogStore();
  const { troupe } = make({ servers, cache, ...options });
  await troupe.start();
  await troupe.close();
  return cache;
}

/** A lazy server whose tools are known, in a troupe that has started. */
async function startDormant(one: FakeServer, options: TroupeOptions = {}, settings: ServerSettings = LAZY) {
  const cache = await ranBefore({ a: fakeProgram(one) });
  one.transports.splice(0);
  one.peer.received.splice(0);
  const test = make({ servers: { a: fakeProgram(one, settings) }, cache, ...options });
  await test.troupe.start();
  expect(test.troupe.connection('a')?.status).toMatchObject({ state: 'configuring', substate: 'dormant' });
  expect(one.transports).toEqual([]);
  return test;
}

describe('fifty lazy servers', () => {
  it('show their cached tools, start nothing, and delay no start', async () => {
    const fakes = Array.from({ length: 50 }, (_, index) => server(`tool-${index}`));
    const entries = (settings: ServerSettings): Record<string, ServerConfig> =>
      Object.fromEntries(fakes.map((one, index) => [`s${index}`, fakeProgram(one, settings)]));
    const cache = await ranBefore(entries({}));
    for (const one of fakes) one.transports.splice(0);
    const { troupe, clock } = make({ servers: entries(LAZY), cache });
    const startedAt = clock.now();
    const report = await troupe.start();
    await troupe.settled();
    expect(clock.now()).toBe(startedAt);
    expect(report).toMatchObject({ ready: [], failed: [], pending: [] });
    expect(troupe.tools).toHaveLength(50);
    await clock.advance(3_600_000);
    expect(fakes.flatMap(({ transports }) => transports)).toEqual([]);

    await troupe.callTool('mcp__s7__tool-7');
    expect(fakes.flatMap(({ transports }, index) => transports.map(() => index))).toEqual([7]);
  });
});

describe('the first call of a dormant server', () => {
  it('has the same result as one of an eager server', async () => {
    const [lazy, eager] = [server('read'), server('read')];
    const { troupe } = await startDormant(lazy);
    const other = make({ servers: { a: fakeProgram(eager) } });
    await other.troupe.start();
    const args = { path: 'x' };
    const result = await troupe.callTool('mcp__a__read', args);
    expect(result).toEqual(await other.troupe.callTool('mcp__a__read', args));
    expect(troupe.tools).toEqual(other.troupe.tools);
    expect(troupe.connection('a')?.state).toBe('ready');
  });

  it('and all calls meanwhile start it once', async () => {
    const one = server('read');
    const { troupe } = await startDormant(one);
    const calls = Array.from({ length: 20 }, (_, index) => troupe.callTool('mcp__a__read', { index }));
    await Promise.all(calls);
    expect(one.transports).toHaveLength(1);
    expect(one.peer.of('tools/call')).toHaveLength(20);
  });

  it('of a tool that the server no longer has is not sent, and the error says when and why it disappeared', async () => {
    const one = server('read', 'write');
    const { troupe, events } = await startDormant(one);
    one.peer.script = { tools: [tool('read')] };
    const call = troupe.callTool('mcp__a__write');
    await expect(call).rejects.toMatchObject({ code: 'UNKNOWN_TOOL', server: 'a', removedAt: 1_000_000 });
    await expect(call).rejects.toThrow(/1970-01-01T00:16:40\.000Z.*restarted/);
    expect(one.peer.of('tools/call')).toEqual([]);
    expect(events.of('call.started')).toEqual([]);
    await expect(troupe.callTool('mcp__a__write')).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
    await expect(troupe.callTool('mcp__a__read')).resolves.toBeDefined();
  });

  it('fails with the reason if the server cannot be started, and its tools are withdrawn', async () => {
    const one = server('read');
    const { troupe, events } = await startDormant(one);
    one.beforeCreate = async () => {
      throw new TransportError({ code: 'command-not-found', message: 'It is not installed.' });
    };
    const call = troupe.callTool('mcp__a__read');
    await expect(call).rejects.toMatchObject({
      code: 'NOT_READY',
      server: 'a',
      cause: { failure: { code: 'command-not-found' } },
    });
    expect(events.of('call.started')).toEqual([]);
    await events.when('catalog.changed', ({ why }) => why === 'It is not installed.');
    expect(troupe.tools).toEqual([]);
  });

  it('waits through failed attempts, and is sent when one succeeds', async () => {
    const one = server('read');
    const { troupe, clock } = await startDormant(one);
    let attempts = 0;
    one.beforeCreate = async () => {
      attempts += 1;
      if (attempts < 3) throw new TransportError({ code: 'connection-lost', message: 'Not yet.' });
    };
    await expect(passTime(clock, troupe.callTool('mcp__a__read'))).resolves.toBeDefined();
    expect(attempts).toBe(3);
  });

  it('can be aborted during the start, which ends the wait and not the start', async () => {
    const one = server('read');
    const { troupe, events } = await startDormant(one);
    const gate = createGate();
    one.beforeCreate = () => gate.promise;
    const controller = new AbortController();
    const call = troupe.callTool('mcp__a__read', {}, { signal: controller.signal });
    await events.when('connection.state', ({ to }) => to === 'launching');
    controller.abort(new Error('user left'));
    await expect(call).rejects.toMatchObject({ code: 'CALL_ABORTED' });
    gate.open();
    await troupe.connection('a')?.ready();
    expect(one.peer.of('tools/call')).toEqual([]);
  });

  it('is not sent if the troupe is closed meanwhile, and leaves nothing behind', async () => {
    const one = server('read');
    const { troupe, clock, events } = await startDormant(one);
    const gate = createGate();
    one.beforeCreate = () => gate.promise;
    const call = troupe.callTool('mcp__a__read');
    call.catch(() => {});
    await events.when('connection.state', ({ to }) => to === 'launching');
    const closing = passTime(clock, troupe.close());
    gate.open();
    await closing;
    await expect(call).rejects.toMatchObject({ code: 'NOT_READY' });
    expect(one.transports.some(({ isOpen }) => isOpen)).toBe(false);
  });
});

describe('a lazy server', () => {
  it('resolves no variables before it is used', async () => {
    const one = server('read');
    const entry: ServerConfig = { command: one.command, env: { KEY: '${THE_KEY}' } };
    const cache = await ranBefore({ a: entry }, { env: { THE_KEY: 'of-the-last-run' } });
    const { troupe } = make({ servers: { a: { ...entry, ...LAZY } }, cache, env: {} });
    await troupe.start();
    expect(troupe.status).toMatchObject([{ substate: 'dormant', error: null }]);
    await expect(troupe.callTool('mcp__a__read')).rejects.toThrow('THE_KEY');
  });

  it('is stopped when it is idle, keeps its tools, and starts again with the next call', async () => {
    const one = server('read');
    const { troupe, clock } = await startDormant(one, {}, { ...LAZY, idleStopMs: 60_000 });
    for (const session of [1, 2, 3]) {
      await troupe.callTool('mcp__a__read');
      expect(one.transports).toHaveLength(session);
      const before = troupe.tools.map(({ name }) => name);
      await clock.advance(60_000);
      expect(troupe.connection('a')?.status.substate).toBe('dormant');
      expect(one.transport.isOpen).toBe(false);
      expect(troupe.tools).toMatchObject([{ stale: true }]);
      expect(troupe.tools.map(({ name }) => name)).toEqual(before);
    }
  });

  it('without cached tools is started once to list them, and is dormant in the next run', async () => {
    const one = server('read');
    const cache = createMemoryCatalogStore();
    const first = make({ servers: { a: fakeProgram(one, LAZY) }, cache });
    await expect(first.troupe.start()).resolves.toMatchObject({ ready: ['a'] });
    await first.troupe.close();
    const second = make({ servers: { a: fakeProgram(one, LAZY) }, cache });
    await second.troupe.start();
    expect(one.transports).toHaveLength(1);
    expect(second.troupe.tools).toMatchObject([{ name: 'mcp__a__read', stale: true }]);
  });

  it('is dormant after it was removed and added again, or disabled and enabled again', async () => {
    const one = server('read');
    const { troupe } = await startDormant(one);
    await troupe.remove('a');
    await troupe.add('a', fakeProgram(one, LAZY));
    await troupe.settled();
    expect(troupe.connection('a')?.status).toMatchObject({ substate: 'dormant', toolCount: 1 });
    await troupe.remove('a');
    await troupe.reload({ a: fakeProgram(one, { ...LAZY, enabled: false }) });
    await troupe.reload({ a: fakeProgram(one, LAZY) });
    expect(troupe.connection('a')?.status).toMatchObject({ substate: 'dormant', toolCount: 1 });
    expect(one.transports).toEqual([]);
  });

  it('can be a remote server as well', async () => {
    const one = new FakeServer(() => ({ kind: 'http' }), { tools: [tool('read')] });
    const cache = await ranBefore({ a: fakeRemote(one) });
    const { troupe } = make({ servers: { a: fakeRemote(one, LAZY) }, cache });
    await troupe.start();
    expect(one.transports).toHaveLength(1);
    await troupe.callTool('mcp__a__read');
    expect(one.transports).toHaveLength(2);
  });

  it('that is started by a command is ready, and its tools are no longer stale', async () => {
    const { troupe } = await startDormant(server('read'));
    const fresh = whenEmits(troupe.tools$, ([only]) => only?.stale === false);
    await troupe.connection('a')?.start();
    await fresh;
    expect(troupe.connection('a')?.state).toBe('ready');
  });
});

describe('a lazy server that is not trusted yet', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-lazy-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A project file names the server, and its tools are cached. */
  async function found(one: FakeServer) {
    const path = join(folder, `${one.command}.json`);
    writeFileSync(path, JSON.stringify({ mcpServers: { a: fakeProgram(one, LAZY) } }));
    const config = { path, scope: 'project' } as const;
    const cache = createMemoryCatalogStore();
    const first = make({ config, cache, trust: 'all' });
    await first.troupe.start();
    await first.troupe.close();
    one.transports.splice(0);
    return { config, cache };
  }

  it('shows no cached tools, is dormant once it is trusted, and is then started by a call', async () => {
    const one = server('read');
    const { troupe, clock, events } = make(await found(one));
    await troupe.start();
    await clock.advance(60_000);
    expect(troupe.status).toMatchObject([{ substate: 'awaitingTrust' }]);
    expect(troupe.tools).toEqual([]);
    await expect(troupe.callTool('mcp__a__read')).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
    await troupe.connection('a')?.trust();
    expect(troupe.status).toMatchObject([{ substate: 'dormant' }]);
    expect(troupe.tools).toMatchObject([{ name: 'mcp__a__read', stale: true }]);
    expect(events.of('catalog.changed')).toHaveLength(1);
    expect(one.transports).toEqual([]);
    await troupe.callTool('mcp__a__read');
    expect(one.transports).toHaveLength(1);
  });

  it('is dormant and shows its tools if the trust function of the host agrees, which is asked once', async () => {
    const one = server('read');
    const trust = vi.fn(async () => true);
    const { troupe } = make({ ...(await found(one)), trust });
    await troupe.start();
    expect(troupe.status).toMatchObject([{ substate: 'dormant' }]);
    expect(troupe.tools).toMatchObject([{ name: 'mcp__a__read', stale: true }]);
    await troupe.callTool('mcp__a__read');
    expect(trust).toHaveBeenCalledTimes(1);
  });

  it('shows no tools if the trust function of the host refuses', async () => {
    const one = server('read');
    const { troupe } = make({ ...(await found(one)), trust: () => false });
    await troupe.start();
    expect(troupe.tools).toEqual([]);
    troupe.connection('a')?.deny();
    await troupe.settled();
    expect([troupe.tools, one.transports]).toEqual([[], []]);
  });
});

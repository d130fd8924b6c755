/** A start before any server has answered: the cached tools of earlier runs, and how long the start waits. */
import { describe, expect, it, vi } from 'vitest';
import { createMemoryCatalogStore, type CatalogStore } from '../../../src/catalog/cache-store.js';
import type { CatalogTool } from '../../../src/catalog/registry.js';
import type { TroupeOptions } from '../../../src/options.js';
import type { ServerConfig, ServerSettings } from '../../../src/config/entry/server-config.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, fakeProgram, fakeRemote, FakeServer } from '../../support/fake-server.js';
import { createGate, never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse, silent, tool, type Script } from '../../support/scripted-server.js';
import { passTime, useTroupes, type TestTroupe } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

const server = (...names: readonly string[]): FakeServer =>
  new FakeServer(() => ({ kind: 'stdio' }), { tools: names.map((name) => tool(name)) });

const names = (tools: readonly CatalogTool[]): string[] => tools.map(({ name }) => name);

/** Runs a troupe with these servers once, and returns the store with their lists. */
async function ranBefore(servers: Record<string, ServerConfig>): Promise<CatalogStore> {
  const cache = createMemoryCatalogStore();
  const { troupe } = make({ servers, cache });
  await troupe.start();
  await troupe.close();
  return cache;
}

/** Every list of tools that `tools$` has emitted, from the start on. */
function lists({ troupe }: TestTroupe): string[][] {
  const seen: string[][] = [];
  troupe.tools$.subscribe((tools) =>
    seen.push(tools.map(({ name, stale }) => `${name}${stale ? ' (stale)' : ''}`)),
  );
  return seen;
}

describe('cached tools', () => {
  it('of fifty silent programs are listed before any of them is started', async () => {
    const fakes = Array.from({ length: 50 }, (_, index) => server(`tool-${index}`));
    const servers = Object.fromEntries(fakes.map((one, index) => [`s${index}`, fakeProgram(one)]));
    const cache = await ranBefore(servers);
    for (const one of fakes) {
      one.transports.splice(0);
      one.peer.script = { ...one.peer.script, on: { initialize: silent } };
    }
    const { troupe, clock } = make({ servers, cache });
    const transportsWhenListed: number[] = [];
    const connectionsWhenListed: number[] = [];
    let connections = 0;
    troupe.events$.subscribe(({ type }) => {
      if (type === 'connection.added') connections += 1;
    });
    troupe.tools$.subscribe(({ length }) => {
      if (length !== 50) return;
      transportsWhenListed.push(fakes.flatMap(({ transports }) => transports).length);
      connectionsWhenListed.push(connections);
    });
    const startedAt = clock.now();
    await expect(troupe.listed()).resolves.toHaveLength(50);
    expect(clock.now()).toBe(startedAt);
    expect(transportsWhenListed).toEqual([0]);
    expect(connectionsWhenListed).toEqual([0]);
    const report = await passTime(clock, troupe.start());
    expect(report).toMatchObject({ ready: [], failed: [] });
    expect(report.pending).toHaveLength(50);
    expect(fakes.flatMap(({ peer }) => peer.of('tools/list')).length).toBe(50);
  });

  it('can be called, and the call waits for the connection', async () => {
    const one = server('read');
    const servers = { a: fakeProgram(one) };
    const cache = await ranBefore(servers);
    const gate = createGate();
    one.beforeCreate = () => gate.promise;
    const { troupe, clock } = make({ servers, cache });
    await troupe.listed();
    const calling = troupe.callTool('mcp__a__read', { path: 'x' });
    await clock.advance(1_000);
    expect(one.peer.of('tools/call')).toEqual([]);
    gate.open();
    await expect(calling).resolves.toEqual({ content: [{ type: 'text', text: 'read {"path":"x"}' }] });
  });

  it('that the server still lists are announced once, and then only lose their stale mark', async () => {
    const servers = { a: fakeProgram(server('one', 'two')) };
    const cache = await ranBefore(servers);
    const test = make({ servers, cache });
    const seen = lists(test);
    await test.troupe.start();
    expect(seen).toEqual([
      [],
      ['mcp__a__one (stale)', 'mcp__a__two (stale)'],
      ['mcp__a__one', 'mcp__a__two'],
    ]);
    expect(test.events.of('catalog.changed')).toMatchObject([
      { generation: 0, added: ['one', 'two'], toolCount: 2 },
    ]);
    expect(test.events.of('connection.added')[0]!.seq).toBeLessThan(
      test.events.of('catalog.changed')[0]!.seq,
    );
  });

  it('that the server has changed since are replaced by its new list, which the next run reads', async () => {
    const one = server('old', 'same');
    const servers = { a: fakeProgram(one) };
    const cache = await ranBefore(servers);
    one.peer.script = { tools: [tool('same'), tool('new')] };
    const { troupe, events } = make({ servers, cache });
    await troupe.start();
    expect(names(troupe.tools)).toEqual(['mcp__a__new', 'mcp__a__same']);
    expect(events.of('catalog.changed').at(-1)).toMatchObject({
      generation: 1,
      added: ['new'],
      removed: ['old'],
    });
    await troupe.close();
    const third = make({ servers: { a: fakeProgram(one, { start: 'lazy' }) }, cache });
    await third.troupe.start();
    expect(names(third.troupe.tools)).toEqual(['mcp__a__new', 'mcp__a__same']);
  });

  it('are withdrawn with the reason if the server can no longer be started', async () => {
    const one = server('read');
    const entry = fakeProgram(one, { policy: { maxAttempts: 1 } });
    const cache = await ranBefore({ a: entry });
    one.beforeCreate = async () => {
      throw new TransportError({ code: 'command-not-found', message: 'It is not installed.' });
    };
    const { troupe, events } = make({ servers: { a: entry }, cache });
    await expect(troupe.listed()).resolves.toMatchObject([{ name: 'mcp__a__read', stale: true }]);
    expect((await troupe.start()).failed).toMatchObject([{ server: 'a' }]);
    await events.when('catalog.changed', ({ removed }) => removed.length > 0);
    expect(troupe.tools).toEqual([]);
    expect(events.of('catalog.changed').at(-1)).toMatchObject({ why: 'It is not installed.' });
    await expect(troupe.callTool('mcp__a__read')).rejects.toMatchObject({
      code: 'NOT_READY',
      cause: { failure: { code: 'command-not-found' } },
    });
    await expect(troupe.callTool('mcp__a__other')).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
  });

  it('that were withdrawn can still be called, which gives their server one more attempt', async () => {
    const one = server('read');
    const policy = { maxAttempts: 1, exhausted: { callAfterMs: 0 } };
    const entry = fakeProgram(one, { policy });
    const cache = await ranBefore({ a: entry });
    one.beforeCreate = async () => {
      throw new TransportError({ code: 'process-exited', message: 'It has ended.' });
    };
    const { troupe, clock, events } = make({ servers: { a: entry }, cache });
    await troupe.start();
    await events.when('catalog.changed', ({ removed }) => removed.length > 0);
    one.beforeCreate = async () => {};
    await clock.advance(60_000);
    const result = await passTime(clock, troupe.callTool('mcp__a__read', {}));
    expect(result.content).toMatchObject([{ type: 'text' }]);
    expect(names(troupe.tools)).toEqual(['mcp__a__read']);
  });

  it('stay, as stale, if the server was ready before it failed', async () => {
    const one = server('read');
    const entry = fakeProgram(one, { policy: { maxAttempts: 1 } });
    const cache = await ranBefore({ a: entry });
    const { troupe, clock } = make({ servers: { a: entry }, cache });
    await troupe.start();
    one.beforeCreate = async () => {
      throw new TransportError({ code: 'command-not-found', message: 'It is not installed.' });
    };
    await expect(passTime(clock, troupe.connection('a')!.restart())).rejects.toThrow();
    expect(troupe.tools).toMatchObject([{ name: 'mcp__a__read', stale: true }]);
  });

  it('belong to what the host can do: another host asks the server', async () => {
    const one = server('read');
    const servers = { a: fakeProgram(one) };
    const cache = await ranBefore(servers);
    one.peer.script = { on: { initialize: silent } };
    const about = { servers, cache, startGateMs: 1_000 };
    const asking = make({
      ...about,
      handlers: { elicitation: { form: async () => ({ action: 'cancel' }) } },
    });
    await passTime(asking.clock, asking.troupe.start());
    expect(asking.troupe.tools).toEqual([]);
    const same = make(about);
    await expect(same.troupe.listed()).resolves.toHaveLength(1);
  });

  it('are filtered by the present settings of the entry, and a change of these settings does not discard them', async () => {
    const one = server('read', 'write');
    const cache = await ranBefore({ a: fakeProgram(one) });
    const settings: ServerSettings = { start: 'lazy', tools: { deny: ['write'] }, callTimeoutMs: 5 };
    const { troupe } = make({ servers: { a: fakeProgram(one, settings) }, cache });
    await troupe.start();
    expect(names(troupe.tools)).toEqual(['mcp__a__read']);
  });

  it('are shown only for the same name and the same target', async () => {
    const [one, other] = [server('read'), server('other')];
    const cache = await ranBefore({ a: fakeProgram(one) });
    one.peer.script = { on: { initialize: silent } };
    const { troupe, clock } = make({
      cache,
      startGateMs: 1_000,
      servers: {
        b: fakeProgram(one),
        a: fakeProgram(other),
        remote: fakeRemote(one),
        c: { command: one.command, args: ['--other'] },
        d: { command: one.command, env: { ANOTHER: 'one' } },
      },
    });
    await passTime(clock, troupe.start());
    expect(names(troupe.tools)).toEqual(['mcp__a__other']);
  });

  it('are not stored for an in-process server, whose entry says nothing about its tools', async () => {
    const put = vi.fn(async () => {});
    const cache = { ...createMemoryCatalogStore(), put };
    const { troupe } = make({ servers: { a: fake(server('read')) }, cache });
    await troupe.start();
    await troupe.close();
    expect(put).not.toHaveBeenCalled();
  });

  it('are neither stored nor read if the host turned caching off', async () => {
    const one = server('read');
    const servers = { a: fakeProgram(one) };
    await ranBefore(servers);
    one.peer.script = { on: { initialize: silent } };
    const { troupe, clock } = make({ servers, cache: false, startGateMs: 1_000 });
    await passTime(clock, troupe.start());
    expect(troupe.tools).toEqual([]);
  });

  it('that cannot be read cost only a diagnostic and the wait for the server', async () => {
    const memory = createMemoryCatalogStore();
    const get = async (): Promise<never> => {
      throw new Error('the file is corrupt');
    };
    const { troupe, events } = make({
      servers: { a: fakeProgram(server('read')) },
      cache: { ...memory, get },
    });
    expect((await troupe.start()).ready).toEqual(['a']);
    expect(names(troupe.tools)).toEqual(['mcp__a__read']);
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'cache-problem', server: 'a' }]);
  });

  it('in a store that never answers block neither the start nor the close', async () => {
    const cache: CatalogStore = { get: never, put: never, delete: never };
    const { troupe, clock } = make({ servers: { a: fakeProgram(server('read')) }, cache });
    const startedAt = clock.now();
    expect((await passTime(clock, troupe.start())).ready).toEqual(['a']);
    expect(clock.now() - startedAt).toBeLessThan(3_000);
    await passTime(clock, troupe.close());
  });

  it('never contain a secret of the entry, even if the server repeats it', async () => {
    const cache = createMemoryCatalogStore();
    const put = vi.spyOn(cache, 'put');
    const secret = 'sk-9876543210';
    const leaky = new FakeServer(() => ({ kind: 'stdio' }), {
      tools: [tool('x', { description: `uses ${secret}` })],
    });
    const { troupe, events } = make({
      servers: {
        leaky: { command: leaky.command, env: { API_KEY: '${THE_KEY}', LEVEL: 'info' } },
        plain: { command: server('info').command, env: { LEVEL: 'info' } },
      },
      env: { THE_KEY: secret },
      cache,
    });
    await troupe.start();
    await troupe.close();
    expect(JSON.stringify(put.mock.calls)).not.toContain(secret);
    expect(put).toHaveBeenCalledTimes(1);
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'cache-problem', server: 'leaky' }]);
    expect(JSON.stringify(events.all)).not.toContain(secret);
  });
});

describe('the start gate', () => {
  async function mixed(script: Script, options: Partial<TroupeOptions> = {}) {
    const [known, unknown] = [server('known'), server('unknown')];
    const servers = { known: fakeProgram(known) };
    const cache = await ranBefore(servers);
    known.peer.script = { on: { initialize: silent } };
    unknown.peer.script = script;
    return make({ servers: { ...servers, unknown: fakeProgram(unknown) }, cache, ...options });
  }

  it('waits for every server, whether its tools are cached or not', async () => {
    const gate = createGate();
    const { troupe, clock } = await mixed({
      on: { 'tools/list': () => gate.promise.then(() => ({ tools: [tool('late')] })) },
    });
    let isOver = false;
    const starting = troupe.start().finally(() => (isOver = true));
    await clock.advance(5_000);
    gate.open();
    await clock.advance(0);
    expect(isOver).toBe(false);
    await expect(passTime(clock, starting)).resolves.toMatchObject({
      ready: ['unknown'],
      pending: [{ server: 'known' }],
    });
  });

  it('is not waited for by listed(), which needs something to offer for each server', async () => {
    const gate = createGate();
    const { troupe, clock } = await mixed({
      on: { 'tools/list': () => gate.promise.then(() => ({ tools: [tool('late')] })) },
    });
    let isOver = false;
    const listing = troupe.listed().finally(() => (isOver = true));
    await clock.advance(5_000);
    expect(isOver).toBe(false);
    gate.open();
    expect(names(await listing)).toEqual(['mcp__known__known', 'mcp__unknown__late']);
  });

  it('gives the same report to a first run and to a later one', async () => {
    const servers = {
      good: fakeProgram(server('a')),
      wrong: fakeProgram(new FakeServer(() => ({ kind: 'stdio' }), { protocolVersion: '1999-01-01' })),
    };
    const cache = createMemoryCatalogStore();
    const outcomes = [];
    for (const _ of ['first', 'second']) {
      const { troupe } = make({ servers, cache });
      const { ready, failed, pending } = await troupe.start();
      outcomes.push({ ready, failed: failed.map((each) => each.server), pending });
      await troupe.close();
    }
    expect(outcomes).toEqual([1, 2].map(() => ({ ready: ['good'], failed: ['wrong'], pending: [] })));
  });

  it('waits for them no longer than its limit', async () => {
    const { troupe, clock } = await mixed({ on: { initialize: silent } });
    const startedAt = clock.now();
    await expect(passTime(clock, troupe.start())).resolves.toMatchObject({ ready: [] });
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(10_000);
    expect(clock.now() - startedAt).toBeLessThanOrEqual(11_000);
  });

  it('opens as soon as all first attempts have ended, with or without cached tools', async () => {
    const servers = { a: fakeProgram(server('a')), b: fakeRemote(server('b')) };
    const cache = await ranBefore(servers);
    const { troupe, clock } = make({ servers, cache });
    const startedAt = clock.now();
    await expect(troupe.start()).resolves.toMatchObject({ ready: ['a', 'b'] });
    expect(clock.now()).toBe(startedAt);
  });
});

describe('a server', () => {
  it('shows its cached tools as soon as it is added, by a command or by a reload', async () => {
    const [added, brought] = [server('added'), server('brought')];
    const cache = await ranBefore({ added: fakeProgram(added), brought: fakeProgram(brought) });
    for (const { peer } of [added, brought]) peer.script = { on: { initialize: silent } };
    const { troupe, clock, events } = make({ servers: {}, cache });
    await troupe.start();
    await troupe.add('added', fakeProgram(added));
    await events.when('catalog.changed');
    expect(troupe.tools).toMatchObject([{ name: 'mcp__added__added', stale: true }]);
    await passTime(clock, troupe.reload({ brought: fakeProgram(brought) }));
    expect(names(troupe.tools)).toEqual(['mcp__added__added', 'mcp__brought__brought']);
  });

  it('that is added later stores its list for the next run', async () => {
    const one = server('read');
    const cache = createMemoryCatalogStore();
    const { troupe } = make({ servers: {}, cache });
    await troupe.start();
    await (await troupe.add('a', fakeProgram(one))).ready();
    await troupe.close();
    const next = make({ servers: { a: fakeProgram(one, { start: 'lazy' }) }, cache });
    await next.troupe.start();
    expect(names(next.troupe.tools)).toEqual(['mcp__a__read']);
  });

  it('that is stopped shows no tools until it is started again', async () => {
    const servers = { a: fakeProgram(server('read')) };
    const cache = await ranBefore(servers);
    const { troupe, clock } = make({ servers, cache });
    await troupe.start();
    await passTime(clock, troupe.connection('a')!.stop());
    expect(troupe.tools).toEqual([]);
    await troupe.connection('a')!.start();
    expect(troupe.tools).toMatchObject([{ name: 'mcp__a__read', stale: false }]);
  });
});

describe('a refused list', () => {
  it('does not replace the cached one', async () => {
    const one = server('read');
    const entry = fakeProgram(one, { policy: { maxAttempts: 1 } });
    const cache = await ranBefore({ a: entry });
    one.peer.script = { on: { 'tools/list': refuse(-32603, 'not now') } };
    const second = make({ servers: { a: entry }, cache });
    await second.troupe.start();
    await second.troupe.close();
    const third = make({ servers: { a: fakeProgram(one, { start: 'lazy' }) }, cache });
    await third.troupe.start();
    expect(names(third.troupe.tools)).toEqual(['mcp__a__read']);
  });
});

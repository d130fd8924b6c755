/** How long lists hold, as servers of the new era say (MCP 2026-07-28, "Caching"). */
import { describe, expect, it } from 'vitest';
import { tool } from '../../../src/testing/ordinary-answers.js';
import { createMemoryCatalogStore } from '../../../src/catalog/cache-store.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeRemote, FakeServer } from '../../support/fake-server.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, type Script } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

const TTL_MS = 60_000;
const TOOLS = { tools: {}, resources: {} };

describe('the time for which a list holds', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  async function begin(hints: object, more: Script = {}) {
    const names = ['one', 'two', 'three'];
    const server = new ScriptedServer({
      era: 'new',
      capabilities: TOOLS,
      ...more,
      on: {
        'tools/list': () => ({ tools: [tool(names.shift() ?? 'last')], ...hints }),
        'tools/call': { result: { content: [] } },
        ...more.on,
      },
    });
    const { troupe, clock } = make({ servers: { a: inProcess(server, { protocol: 'new' }) }, cache: false });
    await passTime(clock, troupe.start());
    const times = (method: string): number => server.received.filter((each) => each.method === method).length;
    const call = async (): Promise<void> => {
      await passTime(clock, troupe.connection('a')!.callTool(troupe.tools[0]!.tool, {}));
      await clock.advance(1_000);
    };
    return { troupe, clock, times, call };
  }

  it('is no interval for polling: an idle server is not asked again', async () => {
    const { clock, times } = await begin({ ttlMs: TTL_MS });
    await clock.advance(10 * TTL_MS);
    expect(times('tools/list')).toBe(1);
  });

  it('is over for the next request: the list is read again after it', async () => {
    const { troupe, clock, times, call } = await begin({ ttlMs: TTL_MS, cacheScope: 'private' });
    await call();
    expect(times('tools/list')).toBe(1);
    await clock.advance(TTL_MS);
    await call();
    expect(times('tools/list')).toBe(2);
    expect(troupe.tools.map((each) => each.tool)).toEqual(['two']);
    await call();
    expect(times('tools/list')).toBe(2);
  });

  it('is the shortest one of the pages', async () => {
    const { clock, times, call } = await begin(
      {},
      {
        on: {
          'tools/list': ({ cursor }) =>
            cursor === undefined
              ? { tools: [tool('one')], nextCursor: '', ttlMs: 10 * TTL_MS }
              : { tools: [tool('two')], ttlMs: TTL_MS },
        },
      },
    );
    await clock.advance(TTL_MS);
    await call();
    expect(times('tools/list')).toBe(4);
  });

  it('covers resources and their templates', async () => {
    const { clock, times, call } = await begin(
      {},
      {
        on: {
          'resources/list': { result: { resources: [{ uri: 'x:1', name: 'x' }], ttlMs: 10 * TTL_MS } },
          'resources/templates/list': { result: { resourceTemplates: [], ttlMs: TTL_MS } },
        },
      },
    );
    await clock.advance(TTL_MS);
    await call();
    expect([times('resources/list'), times('resources/templates/list')]).toEqual([2, 2]);
  });

  it.each([{}, { ttlMs: 0 }, { ttlMs: -5 }, { ttlMs: 'soon' }])(
    'is unlimited with the hints %j',
    async (hints) => {
      const { clock, times, call } = await begin(hints);
      await clock.advance(100 * TTL_MS);
      await call();
      expect(times('tools/list')).toBe(1);
    },
  );

  const announcing = (answer?: Script['on']): Script => ({
    capabilities: { tools: { listChanged: true } },
    ...(answer && { on: answer }),
  });

  it('does not matter while the server reports changes', async () => {
    const { clock, times, call } = await begin({ ttlMs: TTL_MS }, announcing());
    await clock.advance(TTL_MS);
    await call();
    expect([times('subscriptions/listen'), times('tools/list')]).toEqual([1, 1]);
  });

  it('matters if the server does not open the stream of changes', async () => {
    const { clock, times, call } = await begin(
      { ttlMs: TTL_MS },
      announcing({ 'subscriptions/listen': { error: { code: -32601, message: 'no' } } }),
    );
    await clock.advance(TTL_MS);
    await call();
    expect(times('tools/list')).toBe(2);
  });
});

describe('lists that a server gives as private', () => {
  useLeakCheck();
  const { make } = useTroupes();

  it.each([
    ['ada', ['mine']],
    ['bob', []],
  ])('are cached for the account ada, and known early to %s as %j', async (account, known) => {
    const lists = { tools: [tool('mine')], ttlMs: TTL_MS, cacheScope: 'private' };
    const server = new FakeServer(() => ({ kind: 'http' }), {
      era: 'new',
      on: { 'tools/list': { result: lists } },
    });
    const entry = (name: string): ServerConfig =>
      ({ ...fakeRemote(server), oauth: { account: name } }) as ServerConfig;
    const cache = createMemoryCatalogStore();
    const before = make({ servers: { a: entry('ada') }, cache });
    await passTime(before.clock, before.troupe.start());
    expect(before.troupe.tools).toHaveLength(1);
    await passTime(before.clock, before.troupe.close());

    const gate = createGate();
    server.beforeCreate = () => gate.promise;
    const { troupe, clock } = make({ servers: { a: entry(account) }, cache });
    const starting = troupe.start();
    await clock.advance(1_000);
    expect(troupe.tools.map((each) => each.tool)).toEqual(known);
    gate.open();
    await passTime(clock, starting);
    expect(troupe.tools.map((each) => each.tool)).toEqual(['mine']);
  });
});

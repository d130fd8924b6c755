/** The error of a call of a removed tool, for each way to remove one; and what a change of one list costs the others. */
import { describe, expect, it } from 'vitest';
import type { CatalogTool } from '../../../src/catalog/registry.js';
import type { ServerConfig, ServerSettings } from '../../../src/config/entry/server-config.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeProgram, FakeServer } from '../../support/fake-server.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenEmits } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

const CHANGED = 'notifications/tools/list_changed';
const X = 'mcp__a__x';

const server = (...names: readonly string[]): FakeServer =>
  new FakeServer(() => ({ kind: 'stdio' }), { tools: names.map((name) => tool(name)) });

/** One server with the tools `x` and `y`. */
async function begin(settings: ServerSettings = {}) {
  const one = server('x', 'y');
  const test = make({ servers: { a: fakeProgram(one, settings) } });
  await test.troupe.start();
  const entry = (more: ServerSettings): Record<string, ServerConfig> => ({ a: fakeProgram(one, more) });
  /** From now on, the server lists these. */
  const lists = (...names: readonly string[]): void => {
    one.peer.script = { tools: names.map((name) => tool(name)) };
  };
  return { ...test, one, entry, lists };
}

describe('a call of a removed tool', () => {
  it('reports that the server changed its list, and when', async () => {
    const { troupe, clock, one, lists, events } = await begin();
    await clock.advance(5_000);
    lists('y');
    one.peer.notify(CHANGED);
    await clock.advance(300);
    await events.when('catalog.changed', ({ removed }) => removed.includes('x'));
    const removedAt = clock.now();
    await clock.advance(3_600_000);
    const call = troupe.callTool(X);
    await expect(call).rejects.toMatchObject({ code: 'UNKNOWN_TOOL', tool: X, server: 'a', removedAt });
    await expect(call).rejects.toThrow(new Date(removedAt).toISOString());
    expect(one.peer.of('tools/call')).toEqual([]);
  });

  it('reports that the restarted server no longer lists it, and the other names stay the same', async () => {
    const { troupe, clock, one, lists } = await begin();
    lists('y');
    const back = whenEmits(troupe.tools$, (tools) => tools.length === 1 && tools[0]?.stale === false);
    one.transport.simulateEnd();
    await passTime(clock, back);
    expect(troupe.tools.map(({ name }) => name)).toEqual(['mcp__a__y']);
    await expect(troupe.callTool(X)).rejects.toThrow('restarted');
    await troupe.callTool('mcp__a__y');
  });

  it('reports that its server was stopped, and works again after a start', async () => {
    const { troupe, clock } = await begin();
    await passTime(clock, troupe.connection('a')!.stop());
    await expect(troupe.callTool(X)).rejects.toThrow('stopped');
    await troupe.connection('a')!.start();
    await expect(troupe.callTool(X)).resolves.toBeDefined();
  });

  it('reports that its server was removed', async () => {
    const { troupe, clock } = await begin();
    await passTime(clock, troupe.remove('a'));
    await expect(troupe.callTool(X)).rejects.toThrow('removed');
  });

  it('reports after a reload that the entry hides it, or that its server was disabled', async () => {
    const { troupe, clock, entry } = await begin();
    await troupe.reload(entry({ tools: { deny: ['x'] } }));
    await expect(troupe.callTool(X)).rejects.toThrow('hides');
    await troupe.reload(entry({}));
    await expect(troupe.callTool(X)).resolves.toBeDefined();
    await passTime(clock, troupe.reload(entry({ enabled: false })));
    await expect(troupe.callTool(X)).rejects.toThrow('disabled');
    await passTime(clock, troupe.reload({}));
    await expect(troupe.callTool(X)).rejects.toThrow('disabled');
  });

  it('reports the new name if the tool was renamed', async () => {
    const { troupe } = await begin();
    await troupe.add('a__', fakeProgram(server('x')));
    await troupe.settled();
    expect(troupe.tool('mcp__a____x')).toBeDefined();
    const clashing = server('_x');
    await (await troupe.add('a_', fakeProgram(clashing))).ready();
    const present = troupe.tools.find((one) => one.server === 'a_' && one.tool === '_x');
    expect(present?.name).toMatch(/^mcp__a____x_[0-9a-f]{8}$/);
    const moved = troupe.tools.find((one) => one.server === 'a__');
    await expect(troupe.callTool('mcp__a____x')).rejects.toThrow(`'${moved?.name}'`);
  });

  it('reveals nothing to a view that cannot see its server', async () => {
    const { troupe, clock } = await begin();
    const sees = troupe.view({ servers: ['a'] });
    const others = [troupe.view({ servers: ['b'] }), troupe.view({ tools: ['mcp__a__y'] })];
    await passTime(clock, troupe.remove('a'));
    await expect(sees.callTool(X)).rejects.toThrow('removed');
    for (const other of others) {
      await expect(other.callTool(X)).rejects.toMatchObject({
        code: 'UNKNOWN_TOOL',
        removedAt: undefined,
        message: expect.not.stringContaining('removed') as string,
      });
    }
    await expect(troupe.view({ tools: [] }).callTool(X)).rejects.toMatchObject({ removedAt: undefined });
  });

  it('has the right time of removal even if nobody observed the list', async () => {
    const { troupe, clock, entry } = await begin();
    await clock.advance(1_000);
    const removedAt = clock.now();
    await troupe.reload(entry({ tools: { deny: ['x'] } }));
    await clock.advance(60_000);
    await expect(troupe.callTool(X)).rejects.toMatchObject({ removedAt });
  });
});

describe('a call that waits while its tool is removed', () => {
  it('by the next session is not sent', async () => {
    const { troupe, clock, one, lists, events } = await begin();
    const gate = createGate();
    one.beforeCreate = () => gate.promise;
    one.transport.simulateEnd();
    await passTime(
      clock,
      events.when('connection.state', ({ to }) => to === 'launching'),
    );
    const calls = [troupe.callTool(X), troupe.callTool('mcp__a__y')];
    calls[0]!.catch(() => {});
    lists('y');
    gate.open();
    await expect(calls[1]).resolves.toBeDefined();
    await expect(calls[0]).rejects.toMatchObject({ code: 'UNKNOWN_TOOL', server: 'a' });
    expect(one.peer.of('tools/call').map(({ params }) => params['name'])).toEqual(['y']);
  });

  it('by a filter is not sent', async () => {
    const { troupe, clock, one, entry, events } = await begin();
    const gate = createGate();
    one.beforeCreate = () => gate.promise;
    one.transport.simulateEnd();
    await passTime(
      clock,
      events.when('connection.state', ({ to }) => to === 'launching'),
    );
    const call = troupe.callTool(X);
    call.catch(() => {});
    const reloading = troupe.reload(entry({ tools: { deny: ['x'] } }));
    await events.when('catalog.changed', ({ removed }) => removed.includes('x'));
    gate.open();
    await reloading;
    await expect(call).rejects.toThrow('hides');
    expect(one.peer.of('tools/call')).toEqual([]);
  });

  it('is not repeated if it was sent before its session was lost', async () => {
    const { troupe, clock, one, lists } = await begin();
    one.peer.script = { ...one.peer.script, on: { 'tools/call': () => new Promise(() => {}) } };
    const call = troupe.callTool(X);
    call.catch(() => {});
    await one.peer.whenReceived('tools/call');
    lists('y');
    one.transport.simulateEnd();
    await expect(passTime(clock, call)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(one.peer.of('tools/call')).toHaveLength(1);
  });
});

describe('ten thousand tools of a hundred servers', () => {
  it('cost one refresh of one server when its list changes, and all other tools stay the same objects', async () => {
    const count = 100;
    const names = Array.from({ length: count }, (_, index) => `tool-${index}`);
    const servers = Array.from(
      { length: count },
      () => new ScriptedServer({ tools: names.map((name) => tool(name)) }),
    );
    const entries = servers.map((one, index) => [`s${index}`, inProcess(one)] as const);
    const { troupe, clock, events } = make({ servers: Object.fromEntries(entries) });
    await troupe.start();
    const before = troupe.tools;
    expect(before).toHaveLength(10_000);
    const listings = (): number[] => servers.map((one) => one.of('tools/list').length);
    expect(listings()).toEqual(servers.map(() => 1));
    const emitted: (readonly CatalogTool[])[] = [];
    troupe.tools$.subscribe((tools) => emitted.push(tools));

    servers[42]!.script = { tools: [...names.slice(1).map((name) => tool(name)), tool('new')] };
    servers[42]!.notify(CHANGED);
    await clock.advance(300);
    await events.when('catalog.changed', ({ added }) => added.includes('new'));
    await clock.advance(60_000);

    expect(listings()).toEqual(servers.map((_, index) => (index === 42 ? 2 : 1)));
    expect(emitted).toHaveLength(2);
    const known = new Set(before);
    expect(troupe.tools.filter((each) => !known.has(each))).toMatchObject([{ name: 'mcp__s42__new' }]);
    const present = new Set(troupe.tools);
    expect(before.filter((each) => !present.has(each))).toMatchObject([{ name: 'mcp__s42__tool-0' }]);
    expect(Object.isFrozen(troupe.tools)).toBe(true);
  }, 60_000);
});

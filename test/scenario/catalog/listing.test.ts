import { describe, expect, it } from 'vitest';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { InspectionCopy } from '../../../src/inspector/inspection-copies.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useOneServer } from '../../support/one-server.js';
import { refuse, ScriptedServer, silent, tool } from '../../support/scripted-server.js';
import { inProcess, useTroupes } from '../../support/test-troupe.js';

const CHANGED = 'notifications/tools/list_changed';

describe('the first list', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneServer({ settings: { policy: { maxAttempts: 1 } } });

  it('has the tools of every page', async () => {
    const pages: Tool[][] = [[tool('a'), tool('b')], [], [tool('c')]];
    const { troupe, events } = await begin({ pages });
    expect(troupe.tools.map((each) => each.tool)).toEqual(['a', 'b', 'c']);
    expect(events.of('connection.ready')).toMatchObject([{ toolCount: 3 }]);
  });

  it('is empty if the server has no tools, and the server is still ready', async () => {
    const { troupe, events } = await begin({ capabilities: {}, on: { 'tools/list': refuse(-32601) } });
    expect(troupe.connection('a')?.state).toBe('ready');
    expect(troupe.tools).toEqual([]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('is reported if it repeats its cursor, and the tools that were read are used', async () => {
    const { troupe, events } = await begin({
      on: { 'tools/list': ({ cursor }) => ({ tools: [tool(`t${String(cursor)}`)], nextCursor: 'again' }) },
    });
    expect(troupe.tools).toHaveLength(2);
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'catalog-problem', server: 'a', generation: 1 }]);
  });

  it('that was declared and is refused is reported, and the server is ready', async () => {
    const { troupe, server, events, clock } = await begin({ on: { 'tools/list': refuse(-32601) } });
    expect(troupe.connection('a')?.state).toBe('ready');
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'catalog-problem', message: expect.stringContaining('tools/list') as unknown },
    ]);
    await clock.advance(60_000);
    expect(server.of('tools/list')).toHaveLength(1);
  });

  it('that is empty although tools were declared is requested again with growing delays until it has a tool', async () => {
    const { troupe, server, events, clock } = await begin({ tools: [] });
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'catalog-problem', server: 'a' }]);
    await clock.advance(1_300);
    expect(server.of('tools/list')).toHaveLength(2);
    await clock.advance(25_000);
    expect(server.of('tools/list').length).toBeLessThanOrEqual(6);
    server.script = { tools: [tool('late')] };
    await clock.advance(40_000);
    expect(troupe.tools.map((each) => each.tool)).toEqual(['late']);
    const asked = server.of('tools/list').length;
    await clock.advance(3_600_000);
    expect(server.of('tools/list')).toHaveLength(asked);
  });

  it('reports a thousand bad tools in a few diagnostics', async () => {
    const bad = Array.from({ length: 1_000 }, (_, index) => ({
      ...tool(`t${index}`),
      inputSchema: 7 as never,
    }));
    const { troupe, events } = await begin({ tools: [...bad, tool('good')] });
    expect(troupe.tools.map((each) => each.tool)).toEqual(['good']);
    expect(events.of('diagnostic').length).toBeLessThan(20);
    expect(events.of('diagnostic').at(-1)?.message).toContain('990');
  });

  it('comes with the number of resources and prompts that the server declares, and a failure to read them is a diagnostic', async () => {
    const { troupe, events, clock } = await begin({
      capabilities: { tools: {}, resources: {}, prompts: {} },
      on: {
        'resources/list': () => ({
          resources: [
            { uri: 'x:1', name: '1' },
            { uri: 'x:2', name: '2' },
          ],
        }),
        'resources/templates/list': refuse(-32603, 'x'.repeat(100_000)),
        'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
      },
    });
    await clock.advance(0);
    await troupe.callTool('mcp__a__echo');
    expect(troupe.status).toMatchObject([{ resourceCount: 2, promptCount: 1 }]);
    const [problem] = events.of('diagnostic');
    expect(problem).toMatchObject({ kind: 'catalog-problem', server: 'a' });
    expect(problem?.message.length).toBeLessThan(5_000);
  });
});

describe('a list that changes', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();
  const begin = useOneServer({ settings: { policy: { maxAttempts: 1 } } });

  it('is read again 300 ms after the server announces the change', async () => {
    const { troupe, server, clock, events } = await begin();
    server.script = { tools: [tool('other')] };
    server.notify(CHANGED);
    await clock.advance(299);
    expect(server.of('tools/list')).toHaveLength(1);
    await clock.advance(1);
    await events.when('catalog.changed', ({ added }) => added.includes('other'));
    expect(troupe.tools.map((each) => each.tool)).toEqual(['other']);
  });

  it('is read again even if the server did not declare that it announces changes', async () => {
    const { server, clock } = await begin({ capabilities: { tools: {} } });
    server.notify(CHANGED);
    await clock.advance(300);
    expect(server.of('tools/list')).toHaveLength(2);
  });

  it('continuously is read every 2 s and not more often', async () => {
    const { server, clock } = await begin();
    for (let passed = 0; passed < 10_000; passed += 100) {
      server.notify(CHANGED);
      await clock.advance(100);
    }
    await clock.advance(2_000);
    const refreshes = server.of('tools/list').length - 1;
    expect(refreshes).toBeGreaterThanOrEqual(5);
    expect(refreshes).toBeLessThanOrEqual(7);
  });

  it('after every read is read with growing delays, and reported once', async () => {
    const { server, clock, events } = await begin();
    const tools = [tool('echo')];
    server.script = {
      on: {
        'tools/list': () => {
          server.notify(CHANGED);
          return { tools };
        },
      },
    };
    server.notify(CHANGED);
    await clock.advance(60_000);
    const first = server.of('tools/list').length;
    expect(first).toBeLessThanOrEqual(12);
    await clock.advance(600_000);
    expect(server.of('tools/list').length - first).toBeLessThanOrEqual(12);
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'catalog-problem', server: 'a' }]);
  });

  it('while the first one is being read is read again', async () => {
    const gate = createGate();
    const server = new ScriptedServer({
      on: { 'tools/list': () => gate.promise.then(() => ({ tools: [tool('old')] })) },
    });
    const { troupe, clock } = make({ servers: { a: inProcess(server) } });
    const started = troupe.start();
    await server.whenReceived('tools/list', 1);
    server.notify(CHANGED);
    gate.open();
    await started;
    server.script = { tools: [tool('new')] };
    await clock.advance(300);
    expect(troupe.tools.map((each) => each.tool)).toEqual(['new']);
  });

  it('a thousand times in one burst is read once, and reaches the chart once', async () => {
    const heard: string[] = [];
    const { server, clock } = await begin(undefined, undefined, {
      inspector: (copy: InspectionCopy) => {
        if (copy.type === '@xstate.event') heard.push(copy.event.type);
      },
    });
    for (let count = 0; count < 1_000; count += 1) server.notify(CHANGED);
    await clock.advance(5_000);
    expect(server.of('tools/list')).toHaveLength(2);
    expect(heard.filter((type) => type === 'catalog.listChanged').length).toBeLessThan(5);
  });

  it('while it is being read is read once more', async () => {
    const gate = createGate();
    const { server, clock } = await begin();
    server.script = { on: { 'tools/list': () => gate.promise.then(() => ({ tools: [] })) } };
    server.notify(CHANGED);
    await clock.advance(300);
    await server.whenReceived('tools/list', 2);
    server.notify(CHANGED);
    server.notify(CHANGED);
    await clock.advance(1_000);
    expect(server.of('tools/list')).toHaveLength(2);
    gate.open();
    await clock.advance(1_000);
    expect(server.of('tools/list')).toHaveLength(3);
    await clock.advance(10_000);
    expect(server.of('tools/list')).toHaveLength(3);
  });

  it('and cannot be read stays as it was, with a diagnostic, until the next change', async () => {
    const { troupe, server, clock, events } = await begin();
    server.script = { on: { 'tools/list': refuse(-32603, 'db down') } };
    server.notify(CHANGED);
    await clock.advance(300);
    await events.when('diagnostic');
    await clock.advance(0);
    expect(troupe.status).toMatchObject([{ state: 'ready', substate: 'resting+stale', toolCount: 1 }]);
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'catalog-problem', message: expect.stringContaining('db down') as unknown },
    ]);
    server.script = { tools: [tool('new')] };
    server.notify(CHANGED);
    await clock.advance(300);
    expect(troupe.status).toMatchObject([{ substate: 'resting+current' }]);
    expect(troupe.tools.map((each) => each.tool)).toEqual(['new']);
  });

  it('and takes too long to read stays as it was', async () => {
    const { troupe, server, clock, events } = await begin();
    server.script = { on: { 'tools/list': silent } };
    const refreshing = troupe.connection('a')?.refresh();
    refreshing?.catch(() => {});
    await clock.advance(30_000);
    await expect(refreshing).rejects.toMatchObject({ code: 'NOT_READY' });
    expect(events.of('diagnostic')).toHaveLength(1);
    expect(troupe.tools).toHaveLength(1);
    expect(server.of('notifications/cancelled')).toHaveLength(1);
  });

  it('is read at once by refresh, and only once for simultaneous calls of refresh', async () => {
    const { troupe, server } = await begin();
    const connection = troupe.connection('a');
    await Promise.all([connection?.refresh(), connection?.refresh(), connection?.refresh()]);
    expect(server.of('tools/list')).toHaveLength(2);
  });
});

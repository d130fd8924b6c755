import { describe, expect, it } from 'vitest';
import type { ServerStatus } from '../../src/lifecycle/status.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';
import { ScriptedServer, silent, tool } from '../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenEmits, whenState } from '../support/test-troupe.js';

describe('events$', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('tells of a start in order: added, its states, ready', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const told = events.all.map((event) =>
      event.type === 'connection.state' ? `${event.to} ${event.substate}` : event.type,
    );
    expect(told).toEqual([
      'connection.added',
      'configuring resolving',
      'manager.started',
      'launching opening',
      'handshaking initializing',
      'handshaking listing',
      'catalog.changed',
      'ready resting+current',
      'connection.ready',
    ]);
  });

  it('numbers every event, without a gap, and stamps it with the time of the clock', async () => {
    const { troupe, events, clock } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    await troupe.callTool('mcp__a__echo');
    await clock.advance(1_000);
    await troupe.close();
    expect(events.all.map(({ seq }) => seq)).toEqual(events.all.map((_, index) => index + 1));
    const times = events.all.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBe(clock.now());
  });

  it('says with every event of a session which generation it is', async () => {
    const server = new ScriptedServer();
    const { troupe, clock, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    await server.die();
    await passTime(
      clock,
      events.when('connection.ready', ({ generation }) => generation === 2),
    );
    expect(events.of('connection.added')[0]?.generation).toBe(0);
    expect(events.of('connection.ready').map(({ generation }) => generation)).toEqual([1, 2]);
    expect(events.of('connection.lost').map(({ generation }) => generation)).toEqual([1]);
  });

  it('replays nothing', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const late: unknown[] = [];
    troupe.events$.subscribe((event) => late.push(event));
    await Promise.resolve();
    expect(late).toEqual([]);
  });

  it('completes on close, with nothing after the end of the manager', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    let isComplete = false;
    troupe.events$.subscribe({ complete: () => (isComplete = true) });
    await troupe.start();
    await troupe.close();
    expect(isComplete).toBe(true);
    expect(events.all.at(-1)?.type).toBe('manager.stopped');
    troupe.network(false);
    troupe.connection('a')?.dispatch({ type: 'connection.refresh' });
    await Promise.resolve();
    expect(events.all.at(-1)?.type).toBe('manager.stopped');
  });

  it('shows settled state to an observer that asks, or commands, on hearing it', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    const seen: string[] = [];
    troupe.events$.subscribe((event) => {
      if (event.type !== 'connection.ready') return;
      seen.push(troupe.connection('a')?.state ?? '', String(troupe.tools.length));
      troupe.connection('a')?.dispatch({ type: 'connection.stop', reason: 'stop' });
    });
    await troupe.start();
    await events.when('connection.stopped');
    expect(seen).toEqual(['ready', '1']);
  });
});

describe('diagnostics$', () => {
  useCrashWatch();
  const { make } = useTroupes();

  it('gives the diagnostics and nothing else', async () => {
    const server = new ScriptedServer({ tools: [tool('good'), { ...tool('bad'), inputSchema: 7 as never }] });
    const { troupe } = make({ servers: { a: inProcess(server) } });
    const heard: string[] = [];
    troupe.diagnostics$.subscribe(({ type }) => heard.push(type));
    await troupe.start();
    expect(heard).toEqual(['diagnostic']);
  });
});

describe('status and status$', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('have one row for every configured server, in the order of the configuration, once that was read', async () => {
    const { troupe } = make({
      servers: { b: inProcess(new ScriptedServer()), a: inProcess(new ScriptedServer()) },
    });
    expect(troupe.status).toEqual([]);
    await troupe.start();
    expect(troupe.status.map(({ name }) => name)).toEqual(['b', 'a']);
  });

  it('tell everything about a server that is ready', async () => {
    const server = new ScriptedServer({ tools: [tool('one'), tool('two')] });
    const { troupe, clock } = make({ servers: { a: inProcess(server, { tools: { deny: ['two'] } }) } });
    const at = clock.now();
    await troupe.start();
    expect(troupe.status).toMatchObject([
      {
        name: 'a',
        state: 'ready',
        substate: 'resting+current',
        reason: null,
        source: 'the servers option',
        transport: 'in-process',
        toolCount: 1,
        serverInfo: { name: 'scripted', version: '1.2.3' },
        protocolVersion: '2025-11-25',
        instructions: 'Be kind.',
        generation: 1,
        attempt: 1,
        maxAttempts: 5,
        connectedAt: at,
        error: null,
      },
    ]);
  });

  it('replay the present rows and follow every change', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const seen: (string | undefined)[] = [];
    troupe.status$.subscribe((rows: readonly ServerStatus[]) => {
      const state = rows[0]?.state;
      if (state !== seen.at(-1)) seen.push(state);
    });
    expect(seen).toEqual(['ready']);
    await troupe.connection('a')?.stop();
    expect(seen).toEqual(['ready', 'shuttingDown', 'stopped']);
  });

  it('complete on close with the last rows', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const seen: (string | undefined)[] = [];
    troupe.status$.subscribe({
      next: (rows) => seen.push(rows[0]?.state),
      complete: () => seen.push('complete'),
    });
    await troupe.close();
    expect(seen.slice(-2)).toEqual(['stopped', 'complete']);
  });

  it('are plain JSON', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    expect(JSON.parse(JSON.stringify(troupe.status))).toEqual(troupe.status);
  });
});

describe('tools and tools$', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('are sorted by server and tool, whoever was ready first', async () => {
    const { troupe } = make({
      servers: {
        b: inProcess(new ScriptedServer({ tools: [tool('z'), tool('a')] })),
        a: inProcess(new ScriptedServer({ tools: [tool('m')] })),
      },
    });
    await troupe.start();
    expect(troupe.tools.map(({ name }) => name)).toEqual(['mcp__a__m', 'mcp__b__a', 'mcp__b__z']);
    expect(troupe.tool('mcp__b__a')).toMatchObject({
      server: 'b',
      tool: 'a',
      requiresApproval: true,
      stale: false,
    });
    expect(troupe.tool('mcp__b__nope')).toBeUndefined();
  });

  it('replay the list, and are the same object as long as nothing changed', async () => {
    const server = new ScriptedServer();
    const { troupe, clock, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const lists: unknown[] = [];
    troupe.tools$.subscribe((list) => lists.push(list));
    expect(lists).toEqual([troupe.tools]);
    server.notify('notifications/tools/list_changed');
    await clock.advance(300);
    await troupe.connection('a')?.refresh();
    await troupe.callTool('mcp__a__echo');
    expect(server.of('tools/list').length).toBeGreaterThan(1);
    expect(lists).toHaveLength(1);
    expect(events.of('catalog.changed')).toHaveLength(1);
  });

  it('stay while their server is away, marked stale, and leave when it stops', async () => {
    const server = new ScriptedServer();
    const test = make({ servers: { a: inProcess(server) } });
    const { troupe } = test;
    await troupe.start();
    server.script = { on: { initialize: silent } };
    await server.die();
    await passTime(test.clock, whenState(test, 'a', 'handshaking'));
    expect(troupe.tools).toMatchObject([{ name: 'mcp__a__echo', stale: true }]);
    await troupe.connection('a')?.stop();
    expect(troupe.tools).toEqual([]);
  });

  it('tell what was added, removed and changed, by raw name', async () => {
    const server = new ScriptedServer({ tools: [tool('keep'), tool('drop'), tool('edit')] });
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const kept = troupe.tool('mcp__a__keep');
    server.script = { tools: [tool('keep'), tool('edit', { description: 'other' }), tool('new')] };
    await troupe.connection('a')?.refresh();
    expect(events.of('catalog.changed').at(-1)).toMatchObject({
      connection: 'a',
      added: ['new'],
      removed: ['drop'],
      changed: ['edit'],
      toolCount: 3,
    });
    expect(troupe.tool('mcp__a__keep')).toBe(kept);
    expect(troupe.tool('mcp__a__edit')?.description).toBe('other');
  });

  it('complete on close', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const isOver = whenEmits(troupe.tools$, () => false);
    await troupe.close();
    await expect(isOver).rejects.toThrow('completed');
  });
});

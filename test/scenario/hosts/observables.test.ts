import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../src/servers/connection.js';
import type { DiagnosticEvent } from '../../../src/lifecycle/event.js';
import type { ServerStatus } from '../../../src/lifecycle/status.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import type { Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, silent, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenEmits, whenState } from '../../support/test-troupe.js';

describe('events$', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('publishes a start in order: added, its states, ready', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const order = events.all.map((event) =>
      event.type === 'connection.state' ? `${event.to} ${event.substate}` : event.type,
    );
    expect(order).toEqual([
      'connection.added',
      'configuring resolving',
      'manager.started',
      'launching opening',
      'handshaking initializing',
      'handshaking listing',
      'catalog.changed',
      'handshaking adopting',
      'ready resting+current',
      'connection.ready',
    ]);
  });

  it('numbers every event without a gap, and has the time of the clock', async () => {
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

  it('has the generation in every event of a session', async () => {
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

  it('completes on close, and publishes nothing after the end of the manager', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    let isComplete = false;
    troupe.events$.subscribe({ complete: () => (isComplete = true) });
    await troupe.start();
    await troupe.close();
    expect(isComplete).toBe(true);
    expect(events.all.at(-1)?.type).toBe('manager.stopped');
    troupe.setOnline(false);
    troupe.connection('a')?.dispatch({ type: 'connection.refresh' });
    await Promise.resolve();
    expect(events.all.at(-1)?.type).toBe('manager.stopped');
  });

  it('shows a settled state to an observer that reads or commands during an event', async () => {
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

  it('emits the diagnostics and nothing else', async () => {
    const server = new ScriptedServer({ tools: [tool('good'), { ...tool('bad'), inputSchema: 7 as never }] });
    const { troupe } = make({ servers: { a: inProcess(server) } });
    const seen: string[] = [];
    troupe.diagnostics$.subscribe((event: DiagnosticEvent) => seen.push(event.type, event.kind));
    await troupe.start();
    expect(seen).toEqual(['diagnostic', 'catalog-problem']);
  });
});

describe('status and status$', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  const two = (): { servers: Record<string, ServerConfig>; a: ScriptedServer; b: ScriptedServer } => {
    const [a, b] = [new ScriptedServer(), new ScriptedServer()];
    return { servers: { a: inProcess(a), b: inProcess(b) }, a, b };
  };

  const follow = (troupe: Troupe): (readonly ServerStatus[])[] => {
    const seen: (readonly ServerStatus[])[] = [];
    troupe.status$.subscribe((rows) => seen.push(rows));
    return seen;
  };

  it('have one row for every configured server, in the order of the configuration, once it has been read', async () => {
    const { troupe } = make({
      servers: { b: inProcess(new ScriptedServer()), a: inProcess(new ScriptedServer()) },
    });
    expect(troupe.status).toEqual([]);
    await troupe.start();
    expect(troupe.status.map(({ server }) => server)).toEqual(['b', 'a']);
  });

  it('describe a ready server completely', async () => {
    const server = new ScriptedServer({ tools: [tool('one'), tool('two')] });
    const { troupe, clock } = make({ servers: { a: inProcess(server, { tools: { deny: ['two'] } }) } });
    const at = clock.now();
    await troupe.start();
    expect(troupe.status).toMatchObject([
      {
        server: 'a',
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

  it('replay the present rows and emit every change', async () => {
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

  it('keep a row as the same object while nothing in it changes, and the list while no row does', async () => {
    const { troupe } = make({ servers: two().servers });
    await troupe.settled();
    const before = troupe.status;
    expect(troupe.status).toBe(before);
    expect(troupe.connection('a')?.status).toBe(before[0]);
    await troupe.connection('b')?.stop();
    expect(troupe.status).not.toBe(before);
    expect(troupe.status[0]).toBe(before[0]);
    expect(troupe.status[1]).not.toBe(before[1]);
  });

  it('emit only if a row has changed, each time with the rows of that moment', async () => {
    const { troupe } = make({ servers: two().servers });
    const seen = follow(troupe);
    await troupe.start();
    await troupe.connection('b')?.restart();
    await troupe.settled();
    for (const [index, rows] of seen.entries()) expect(rows).not.toEqual(seen[index - 1]);
    expect(seen.at(-1)).toBe(troupe.status);
    const { length } = seen;
    await troupe.callTool('mcp__a__echo');
    await expect(troupe.connection('a')?.start()).resolves.toBeUndefined();
    expect(seen).toHaveLength(length);
  });

  it('emit the same rows to all subscribers, read once for all of them, and never without a subscriber', async () => {
    const { troupe } = make({ servers: two().servers });
    await troupe.start();
    const reads = countReads(troupe);
    await troupe.connection('b')?.stop();
    expect(reads.count).toBe(0);
    const seen = [follow(troupe), follow(troupe), follow(troupe)];
    expect(reads.count).toBe(3);
    troupe.connection('b')?.dispatch({ type: 'connection.start' });
    await Promise.resolve();
    expect(reads.count).toBe(4);
    await troupe.connection('b')?.ready();
    expect(seen[0]?.length).toBeGreaterThan(2);
    for (const others of seen) {
      expect(others).toHaveLength(seen[0]?.length ?? 0);
      expect(others.every((rows, index) => rows === seen[0]?.[index])).toBe(true);
    }
  });

  it('read no row for any number of calls', async () => {
    const { troupe } = make({ servers: two().servers });
    await troupe.settled();
    troupe.status$.subscribe();
    const reads = countReads(troupe);
    await Promise.all(Array.from({ length: 100 }, () => troupe.callTool('mcp__a__echo')));
    expect(reads.count).toBe(0);
  });

  it('have the tools that a server has listed again, and keep the rows of the others', async () => {
    const { servers, b } = two();
    const { troupe } = make({ servers });
    await troupe.settled();
    const seen = follow(troupe);
    b.script = { tools: [tool('one'), tool('two')] };
    await troupe.connection('b')?.refresh();
    expect(seen.at(-1)).toMatchObject([{ toolCount: 1 }, { toolCount: 2 }]);
    expect(seen.at(-1)?.[0]).toBe(seen[0]?.[0]);
  });
});

describe('state$', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  const follow = (connection: Connection | undefined): string[] => {
    const seen: string[] = [];
    connection?.state$.subscribe({
      next: (state) => seen.push(state),
      complete: () => seen.push('complete'),
    });
    return seen;
  };

  it('delivers each state in order, even one that lasts no longer than a batch', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const seen = follow(troupe.connection('a'));
    await troupe.connection('a')?.restart();
    expect(events.states('a').slice(-seen.length)).toEqual(seen);
    expect(seen).toEqual(['ready', 'shuttingDown', 'configuring', 'launching', 'handshaking', 'ready']);
  });

  it('replays the current state, and does not repeat it for an event that waits for delivery', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const connection = troupe.connection('a');
    const before = follow(connection);
    connection?.dispatch({ type: 'connection.stop', reason: 'stop' });
    expect(before).toEqual(['ready']);
    const between = follow(connection);
    expect(between).toEqual(['shuttingDown']);
    await connection?.stop();
    expect(before).toEqual(['ready', 'shuttingDown', 'stopped']);
    expect(between).toEqual(['shuttingDown', 'stopped']);
  });

  it('emits to each of many late subscribers the rest of what the first one gets', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const connection = troupe.connection('a');
    const first = follow(connection);
    const late: string[][] = [];
    const subscribe = (): void => void late.push(follow(connection));
    troupe.events$.subscribe(() => {
      subscribe();
      queueMicrotask(subscribe);
    });
    await connection?.restart();
    await connection?.stop();
    expect(late.length).toBeGreaterThan(10);
    for (const seen of late) expect(seen).toEqual(first.slice(-seen.length));
    for (const seen of late) expect(seen.at(-1)).toBe('stopped');
  });

  it('emits nothing for another connection', async () => {
    const servers = { a: inProcess(new ScriptedServer()), b: inProcess(new ScriptedServer()) };
    const { troupe } = make({ servers });
    await troupe.start();
    const seen = follow(troupe.connection('a'));
    await troupe.connection('b')?.stop();
    await troupe.remove('b');
    expect(seen).toEqual(['ready']);
  });

  it('completes when the server is removed, even for a later subscriber', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const connection = troupe.connection('a');
    const seen = follow(connection);
    await troupe.remove('a');
    await Promise.resolve();
    expect(seen).toEqual(['ready', 'shuttingDown', 'stopped', 'complete']);
    expect(follow(connection)).toEqual(['stopped', 'complete']);
  });

  it('of a removed server emits nothing for the next one of the same name', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const seen = follow(troupe.connection('a'));
    await troupe.remove('a');
    const added = await troupe.add('a', inProcess(new ScriptedServer()));
    const next = follow(added);
    await added.ready();
    await Promise.resolve();
    expect(seen.slice(-2)).toEqual(['stopped', 'complete']);
    expect(next.at(-1)).toBe('ready');
    expect(next).not.toContain('complete');
  });

  it('completes when the troupe is closed, after the last state', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const connection = troupe.connection('a');
    const seen = follow(connection);
    await troupe.close();
    expect(seen).toEqual(['ready', 'shuttingDown', 'stopped', 'complete']);
    expect(follow(connection)).toEqual(['stopped', 'complete']);
  });
});

describe('an event in development', () => {
  useCrashWatch();
  const { make } = useTroupes();

  it('is deeply immutable: an observer that changes it throws', async () => {
    const server = new ScriptedServer();
    const { troupe, events, clock } = make({ servers: { a: inProcess(server) } });
    troupe.events$.subscribe((event) => {
      if (event.type === 'connection.lost') (event.failure as { message: string }).message = 'mine';
    });
    const messages: string[] = [];
    troupe.events$.subscribe((event) => {
      if (event.type === 'connection.lost') messages.push(event.failure.message);
    });
    await troupe.start();
    await server.die();
    await passTime(
      clock,
      events.when('diagnostic', ({ kind }) => kind === 'observer-failed'),
    );
    expect(messages).toHaveLength(1);
    expect(messages).not.toContain('mine');
  });

  it('is deeply frozen, and so are the rows of the status', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    await troupe.connection('a')?.stop();
    for (const value of [...events.all, troupe.status]) expect(thawed(value)).toEqual([]);
  });
});

/** Counts the reads of the rows from now on. */
function countReads(troupe: Troupe): { readonly count: number } {
  const read = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(troupe), 'status')?.get;
  const reads = { count: 0 };
  Object.defineProperty(troupe, 'status', {
    get: () => {
      reads.count += 1;
      return read?.call(troupe) as unknown;
    },
  });
  return reads;
}

/** Paths to the values that are not frozen. */
function thawed(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, item]) => thawed(item, `${path}.${key}`));
  return Object.isFrozen(value) ? inner : [path, ...inner];
}

describe('the diagnostic of an observer that throws', () => {
  useCrashWatch();
  const { make } = useTroupes();

  it('masks the secrets of every server', async () => {
    const servers: Record<string, ServerConfig> = {
      a: inProcess(new ScriptedServer()),
      b: { command: '/no/such/program', env: { KEY: 'hunter2-and-more' } },
    };
    const { troupe, events } = make({ servers });
    troupe.status$.subscribe(([row]) => {
      if (row?.state === 'ready') throw new Error('with hunter2-and-more');
    });
    await troupe.start();
    const diagnostic = await events.when('diagnostic', ({ kind }) => kind === 'observer-failed');
    expect(diagnostic.message).toContain('***');
    expect(JSON.stringify(events.all)).not.toContain('hunter2');
  });
});

describe('tools and tools$', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('are sorted by server and tool, whichever server was ready first', async () => {
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
      requiresConfirmation: null,
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

  it('stay, marked stale, while their server is away, and are removed when it stops', async () => {
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

  it('report what was added, removed and changed, by raw name', async () => {
    const server = new ScriptedServer({ tools: [tool('keep'), tool('drop'), tool('edit')] });
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const kept = troupe.tool('mcp__a__keep');
    server.script = { tools: [tool('keep'), tool('edit', { description: 'other' }), tool('new')] };
    await troupe.connection('a')?.refresh();
    expect(events.of('catalog.changed').at(-1)).toMatchObject({
      server: 'a',
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

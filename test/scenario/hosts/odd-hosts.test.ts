/** Hosts that use unexpected names, and that react to events by changing everything. */
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, silent, text } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

describe('a server with an unusual name', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it.each(['constructor', 'toString', 'hasOwnProperty', 'a.b.*', '*', 'manager', 'a b', 'ü', 'slot.a', '#a'])(
    '%j starts, is called, restarted, removed and closed like any other',
    async (name) => {
      const server = new ScriptedServer();
      const { troupe, clock, events } = make({
        servers: { [name]: inProcess(server), other: inProcess(new ScriptedServer()) },
      });
      await expect(troupe.start()).resolves.toMatchObject({
        ready: expect.arrayContaining([name]) as unknown,
      });
      const shown = troupe.tools.find((tool) => tool.server === name);
      await expect(troupe.callTool(shown?.name ?? '')).resolves.toEqual(text('echo {}'));
      await server.die();
      await passTime(
        clock,
        events.when('connection.ready', ({ generation }) => generation === 2),
      );
      await troupe.connection(name)?.restart();
      await troupe.remove(name);
      const again = await troupe.add(name, inProcess(server));
      await again.ready();
      const startedAt = clock.now();
      await passTime(clock, troupe.close());
      expect(clock.now() - startedAt).toBeLessThan(1_000);
      expect(server.isConnected).toBe(false);
    },
  );
});

describe('a server called __proto__', () => {
  useCrashWatch();
  const { make } = useTroupes();

  it('is left out with a diagnostic, and the others start', async () => {
    const { troupe, events } = make({
      servers: { ['__proto__']: inProcess(new ScriptedServer()), good: inProcess(new ScriptedServer()) },
    });
    await expect(troupe.start()).resolves.toMatchObject({ ready: ['good'], failed: [], pending: [] });
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'config-problem' }]);
    expect(troupe.connection('__proto__')).toBeUndefined();
    await expect(troupe.add('__proto__', inProcess(new ScriptedServer()))).rejects.toMatchObject({
      code: 'CONFIG_ERROR',
    });
  });
});

describe('an observer that reacts to events', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('can close the troupe on the first event', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    const closed = new Promise<void>((resolve) => {
      troupe.events$.subscribe({ next: () => void troupe.close(), complete: resolve });
    });
    await troupe.start();
    await closed;
    expect(troupe.status).toMatchObject([{ state: 'stopped' }]);
  });

  it('can stop every connection that becomes ready, and start every one that has stopped', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    troupe.events$.subscribe((event) => {
      const connection = troupe.connection('a');
      if (server.sessions > 5) return;
      if (event.type === 'connection.ready') connection?.stop().catch(() => {});
      if (event.type === 'connection.stopped') connection?.start().catch(() => {});
    });
    await troupe.start();
    await events.when('connection.ready', ({ generation }) => generation === 6);
    expect(troupe.connection('a')?.state).toBe('ready');
  });

  it('can restart on every change of state, and the connection is ready in the end', async () => {
    const { troupe, clock } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    let restarts = 0;
    troupe.connection('a');
    troupe.events$.subscribe((event) => {
      if (event.type !== 'connection.state' || restarts >= 50) return;
      restarts += 1;
      troupe
        .connection('a')
        ?.restart()
        .catch(() => {});
    });
    await passTime(clock, troupe.start());
    await passTime(clock, troupe.connection('a')?.ready() ?? Promise.resolve());
    expect(troupe.connection('a')?.state).toBe('ready');
  });

  it('can unsubscribe itself and others during an event', async () => {
    const { troupe } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    const order: string[] = [];
    const first = troupe.events$.subscribe(() => {
      order.push('first');
      first.unsubscribe();
      second.unsubscribe();
    });
    const second = troupe.events$.subscribe(() => order.push('second'));
    await troupe.start();
    expect(order.filter((who) => who === 'first')).toHaveLength(1);
    expect(order.filter((who) => who === 'second').length).toBeLessThanOrEqual(1);
  });
});

describe('an unusual time limit', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it.each([Infinity, Number.MAX_SAFE_INTEGER])('of %d lets a call wait for its answer', async (timeoutMs) => {
    const server = new ScriptedServer({ on: { 'tools/call': silent } });
    const { troupe, clock, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const caller = new AbortController();
    troupe.callTool('mcp__a__echo', {}, { timeoutMs, signal: caller.signal }).catch(() => {});
    await server.whenReceived('tools/call');
    expect(clock.pending.every((ms) => ms < 2 ** 31)).toBe(true);
    await clock.advance(3_600_000);
    expect(events.of('call.finished')).toEqual([]);
    caller.abort();
  });

  it.each([NaN, -1])('of %d is refused', async (timeoutMs) => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    await expect(troupe.callTool('mcp__a__echo', {}, { timeoutMs })).rejects.toBeInstanceOf(TypeError);
    expect(server.of('tools/call')).toEqual([]);
  });
});

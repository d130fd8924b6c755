import { describe, expect, it } from 'vitest';
import { NotReadyError } from '../../../src/errors.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, silent } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

describe('close', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('is possible before the start', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.close();
    expect(events.all.map(({ type }) => type)).toEqual(['manager.stopped']);
  });

  it('is possible while the configuration is read, and nothing is started afterwards', async () => {
    const server = new ScriptedServer();
    const { troupe } = make({ servers: { a: inProcess(server) } });
    const starting = troupe.start();
    await troupe.close();
    await expect(starting).resolves.toMatchObject({ ready: [], failed: [], pending: [] });
    expect(server.sessions).toBe(0);
  });

  it('settles a start that still waits for its servers', async () => {
    const { troupe, events } = make({
      servers: { mute: inProcess(new ScriptedServer({ on: { initialize: silent } })) },
    });
    const starting = troupe.start();
    await events.when('connection.state', ({ to }) => to === 'handshaking');
    await troupe.close();
    await expect(starting).resolves.toMatchObject({ ready: [], failed: [] });
  });

  it('settles all pending waits', async () => {
    const { troupe, clock } = make({
      startGateMs: 1_000,
      servers: { mute: inProcess(new ScriptedServer({ on: { initialize: silent } })) },
    });
    await passTime(clock, troupe.start());
    const connection = troupe.connection('mute');
    const waiting: (Promise<unknown> | undefined)[] = [
      troupe.settled(),
      connection?.ready(),
      connection?.start(),
      connection?.callTool('echo'),
      connection?.restart(),
    ];
    const outcomes = Promise.allSettled(waiting.map((each) => Promise.resolve(each)));
    await troupe.close();
    const [settled, ...others] = await outcomes;
    expect(settled?.status).toBe('fulfilled');
    for (const outcome of others) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'NOT_READY' } });
    }
  });

  it('returns the same promise to every caller, and does everything once', async () => {
    const { troupe, events } = make({ servers: { a: inProcess(new ScriptedServer()) } });
    await troupe.start();
    const first = troupe.close();
    expect(troupe.close()).toBe(first);
    await first;
    expect(troupe.close()).toBe(first);
    expect(events.of('manager.stopped')).toHaveLength(1);
    expect(events.of('connection.stopped')).toHaveLength(1);
  });

  it('ends all servers at the same time', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const servers = names.map((name) => [
      name,
      inProcess(new ScriptedServer({ on: { 'tools/call': silent } })),
    ]);
    const { troupe, clock } = make({ servers: Object.fromEntries(servers) });
    await troupe.start();
    const calls = Promise.allSettled(names.map((name) => troupe.callTool(`mcp__${name}__echo`)));
    const startedAt = clock.now();
    await passTime(clock, troupe.close());
    expect(clock.now() - startedAt).toBeLessThanOrEqual(1_000);
    expect((await calls).every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('lets a call in flight finish, and accepts no new one', async () => {
    const server = new ScriptedServer();
    const { troupe, events } = make({ servers: { a: inProcess(server) } });
    await troupe.start();
    const call = troupe.callTool('mcp__a__echo', { a: 1 });
    const closing = troupe.close();
    await expect(call).resolves.toMatchObject({ content: [{ text: 'echo {"a":1}' }] });
    await closing;
    expect(events.of('call.finished')).toMatchObject([{ outcome: 'answered' }]);
    await expect(troupe.callTool('mcp__a__echo')).rejects.toMatchObject({
      code: 'NOT_READY',
    });
    await expect(troupe.connection('a')?.callTool('echo')).rejects.toBeInstanceOf(NotReadyError);
  });

  it('is called by `await using`', async () => {
    const server = new ScriptedServer();
    {
      await using troupe = createTroupe({
        servers: { a: inProcess(server) },
        clock: createControlledClock(),
      });
      await troupe.start();
      expect(server.isConnected).toBe(true);
    }
    expect(server.isConnected).toBe(false);
  });

  it('does not wait for a server whose connect never settles', async () => {
    const { troupe, events, clock } = make({
      servers: { a: inProcess(new ScriptedServer({ beforeConnect: never })) },
    });
    void troupe.start();
    await events.when('connection.state', ({ to }) => to === 'launching');
    await troupe.close();
    expect(clock.pending).toEqual([]);
  });
});

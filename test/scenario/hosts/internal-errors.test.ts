/** If an actor dies of an internal error, nothing of it is left and nothing waits forever. */
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/ports.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import type { Troupe } from '../../../src/runtime/troupe.js';
import { createControlledClock, type ControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents, type EventRecord } from '../../support/event-record.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import { createGate, never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent } from '../../support/scripted-server.js';
import { makeTroupe, passTime } from '../../support/test-troupe.js';

/** The troupe checks the clock at this interval until it closes. */
const CLOCK_CHECK_MS = 5_000;

/** Makes the machine of a connection throw: a reload of another kind of server, without a policy. */
const POISON = { type: 'connection.reload', transport: 'stdio' } as never;

interface Made {
  readonly troupe: Troupe;
  readonly clock: ControlledClock;
  readonly events: EventRecord;
}

function make(
  servers: Record<string, FakeServer>,
  breakClock: (clock: ControlledClock) => Clock = (clock) => clock,
): Made {
  const clock = createControlledClock();
  const entries = Object.entries(servers).map(([name, server]) => [name, fake(server)]);
  const troupe = makeTroupe({ servers: Object.fromEntries(entries), clock: breakClock(clock), seed: 1 });
  return { troupe, clock, events: recordEvents(troupe.events$) };
}

describe('a connection whose actor dies', () => {
  useLeakCheck();
  useCrashWatch();

  const crash = async (server = new FakeServer()): Promise<Made> => {
    const made = make({ a: server, b: new FakeServer() });
    await made.troupe.start();
    made.troupe.connection('a')?.dispatch(POISON);
    await made.events.when('connection.failed');
    return made;
  };

  it('has failed with an internal error as the cause', async () => {
    const { troupe, clock, events } = await crash();
    expect(events.of('connection.failed')).toMatchObject([
      { server: 'a', generation: 1, failure: { code: 'internal', at: clock.now() } },
    ]);
    expect(events.states('a').at(-1)).toBe('failed');
    await clock.advance(0);
    expect(troupe.connection('a')?.status).toMatchObject({
      state: 'failed',
      tags: ['attempted', 'settled'],
      generation: 1,
      error: { code: 'internal' },
    });
    await troupe.close();
  });

  it('has its session closed, and affects no other connection', async () => {
    const server = new FakeServer();
    const { troupe } = await crash(server);
    expect(server.transport.asked).toEqual(['start', 'close']);
    expect(troupe.connection('b')?.state).toBe('ready');
    await expect(troupe.callTool('mcp__b__echo')).resolves.toBeDefined();
    await troupe.close();
  });

  it('rejects the calls in flight, and later ones', async () => {
    const server = new FakeServer(() => ({}), { on: { 'tools/call': silent } });
    const { troupe, events } = make({ a: server });
    await troupe.start();
    const call = troupe.callTool('mcp__a__echo');
    call.catch(() => {});
    await server.peer.whenReceived('tools/call');
    troupe.connection('a')?.dispatch(POISON);
    await expect(call).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await events.when('connection.failed');
    expect(troupe.tools).toMatchObject([{ stale: true }]);
    await expect(troupe.callTool('mcp__a__echo')).rejects.toMatchObject({ code: 'NOT_READY' });
    await troupe.close();
  });

  it.each(['retry', 'start', 'restart'] as const)('returns by %s, with a higher generation', async (verb) => {
    const { troupe, clock, events } = await crash();
    const connection = troupe.connection('a');
    expect(connection?.allowed).toEqual([
      'connection.start',
      'connection.stop',
      'connection.retry',
      'connection.restart',
      'connection.reload',
    ]);
    await passTime(clock, Promise.resolve(connection?.[verb]()));
    expect(connection?.status).toMatchObject({ state: 'ready', generation: 2, error: null });
    expect(events.of('connection.rejected')).toEqual([]);
    await troupe.close();
  });

  it('returns only when its old session is proven gone', async () => {
    const gate = createGate();
    const server = new FakeServer((session) => (session === 1 ? { close: () => gate.promise } : {}));
    const { troupe, clock } = await crash(server);
    const retrying = troupe.connection('a')?.retry();
    await clock.advance(1_000);
    expect(server.transports).toHaveLength(1);
    gate.open();
    await passTime(clock, Promise.resolve(retrying));
    expect(server.transports).toHaveLength(2);
    await troupe.close();
  });

  it('and whose old session never ends has it killed, and fails if even that fails', async () => {
    const server = new FakeServer(() => ({ close: never, kill: never }));
    const { troupe, clock } = await crash(server);
    const retrying = troupe.connection('a')?.retry();
    retrying?.catch(() => {});
    await passTime(clock, Promise.allSettled([retrying]));
    await expect(retrying).rejects.toMatchObject({ failure: { code: 'not-released' } });
    expect(server.transports).toHaveLength(1);
    expect(server.transport.asked).toContain('kill');
    await passTime(clock, troupe.close(), 15_000);
    expect(clock.pending).toEqual([]);
  });

  it('can be stopped, with an event, and removed', async () => {
    const { troupe, events } = await crash();
    await troupe.connection('a')?.stop();
    expect(troupe.connection('a')?.state).toBe('stopped');
    expect(events.states('a').at(-1)).toBe('stopped');
    expect(events.of('connection.stopped')).toMatchObject([{ server: 'a', generation: 1, reason: 'stop' }]);
    expect(troupe.tools.map(({ server }) => server)).toEqual(['b']);
    await troupe.remove('a');
    expect(troupe.connection('a')).toBeUndefined();
    await troupe.close();
  });

  it('is no longer watched, so that no timer remains', async () => {
    const { troupe, clock, events } = make({ a: new FakeServer() });
    await troupe.start();
    troupe.connection('a')?.dispatch(POISON);
    await events.when('connection.failed');
    await clock.advance(0);
    expect(clock.pending).toEqual([CLOCK_CHECK_MS]);
    await troupe.close();
    expect(clock.pending).toEqual([]);
  });

  it('while it waits for its next attempt leaves no timer when the troupe closes', async () => {
    const refused = new TransportError({ code: 'spawn-failed', message: 'no' });
    const server = new FakeServer(() => ({ start: () => Promise.reject(refused) }));
    const { troupe, clock, events } = make({ a: server });
    void troupe.start();
    await events.when('connection.state', ({ substate }) => substate === 'backingOff');
    troupe.connection('a')?.dispatch(POISON);
    await troupe.close();
    expect(clock.pending).toEqual([]);
  });

  it('does not delay the start, and the troupe closes', async () => {
    const gate = createGate();
    const { troupe, clock, events } = make({ a: new FakeServer(() => ({ start: () => gate.promise })) });
    const starting = troupe.start();
    await events.when('connection.state', ({ to }) => to === 'launching');
    troupe.connection('a')?.dispatch(POISON);
    await expect(starting).resolves.toMatchObject({
      failed: [{ server: 'a', failure: { code: 'internal' } }],
    });
    await passTime(clock, troupe.close());
    expect(clock.pending).toEqual([]);
    gate.open();
  });
});

/** A clock that throws at the next timer after `break`. */
function breakable(): { wrap: (clock: ControlledClock) => Clock; break: () => void } {
  let isBroken = false;
  return {
    break: () => (isBroken = true),
    wrap: (clock) => ({
      now: () => clock.now(),
      clearTimeout: (handle) => clock.clearTimeout(handle),
      setTimeout: (fn, ms) => {
        if (!isBroken) return clock.setTimeout(fn, ms);
        isBroken = false;
        throw new Error('the clock is broken');
      },
    }),
  };
}

describe('a manager that dies', () => {
  useLeakCheck();
  useCrashWatch();

  it('is reported, the start settles, and the troupe closes', async () => {
    const broken = breakable();
    const { troupe, clock, events } = make({ a: new FakeServer(), b: new FakeServer() }, broken.wrap);
    // The first timer that is set is the one of the start gate.
    broken.break();
    await passTime(clock, troupe.start());
    expect(events.of('manager.failed')).toMatchObject([{ message: 'the clock is broken' }]);
    await passTime(clock, troupe.close());
    expect(clock.pending).toEqual([]);
  });

  it('leaves no session, and settles pending waits', async () => {
    const server = new FakeServer(() => ({}), { on: { 'tools/call': silent } });
    const broken = breakable();
    const { troupe, clock, events } = make({ a: server }, broken.wrap);
    await troupe.start();
    const connection = troupe.connection('a');
    const outcomes = Promise.allSettled([connection?.callTool('echo'), troupe.settled()]);
    await server.peer.whenReceived('tools/call');
    killManager(troupe, broken);
    await events.when('manager.failed');
    await passTime(clock, outcomes);
    expect(server.transport.isOpen).toBe(false);
    expect(connection?.state).toBe('stopped');
    await expect(connection?.start()).rejects.toMatchObject({ code: 'NOT_READY' });
    await expect(
      troupe.add('late', fake(new FakeServer())).then((late) => late.ready()),
    ).rejects.toMatchObject({
      code: 'NOT_READY',
    });
    await passTime(clock, troupe.close());
    expect(clock.pending).toEqual([]);
  });

  it('does not prevent the close from giving up on sessions that do not end', async () => {
    const server = new FakeServer(() => ({ close: never, kill: never }));
    const broken = breakable();
    const { troupe, clock, events } = make({ a: server }, broken.wrap);
    await troupe.start();
    killManager(troupe, broken);
    await events.when('manager.failed');
    await passTime(clock, troupe.close(), 15_000);
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'not-released' }]);
    expect(clock.pending).toEqual([]);
  });
});

/** A server that needs a start slot makes the manager set a timer. */
function killManager(troupe: Troupe, clock: { break: () => void }): void {
  clock.break();
  void troupe.add('program', { command: new FakeServer().command });
}

import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../support/crash-watch.js';
import { FakeServer } from '../support/fake-server.js';
import { useLeakCheck } from '../support/leak-check.js';
import { passTime } from '../support/test-troupe.js';
import { useSupervised, type Supervised } from './supervised.js';

describe('the door of a connection', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useSupervised();

  const begin = async (): Promise<Supervised> => {
    const one = make();
    await one.connection.ready();
    // What is done best effort after that changes the snapshot as well.
    await one.clock.advance(0);
    return one;
  };

  it('tells of a command from inside that nobody wanted, once, and changes nothing', async () => {
    const { roster, events, clock } = await begin();
    const ref = roster.supervisor.ref('a');
    const before = ref?.getSnapshot();
    roster.supervisor.command('a', { type: 'connection.retry' });
    await clock.advance(0);
    expect(events.of('connection.rejected')).toMatchObject([
      {
        connection: 'a',
        generation: 1,
        state: 'ready',
        event: 'connection.retry',
        reason: 'unhandled',
        allowed: expect.arrayContaining(['connection.stop']) as unknown,
      },
    ]);
    expect(ref?.getSnapshot()).toBe(before);
  });

  it('tells nothing of a command from inside that asks for what is already so', async () => {
    const { roster, events, clock } = await begin();
    roster.supervisor.command('a', { type: 'connection.start' });
    await clock.advance(0);
    expect(events.of('connection.rejected')).toEqual([]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it.each([0, 2, -1])(
    'keeps out a fact of generation %i while that is not the present one',
    async (generation) => {
      const { roster, events, clock } = await begin();
      const ref = roster.supervisor.ref('a');
      const before = ref?.getSnapshot();
      const failure = { code: 'connection-lost', message: 'old', phase: 'session', at: 0 } as const;
      ref?.send({ type: 'session.lost', generation, failure });
      await clock.advance(0);
      expect(ref?.getSnapshot()).toBe(before);
      expect(events.of('connection.lost')).toEqual([]);
      expect(events.of('connection.rejected')).toEqual([]);
      expect(events.of('diagnostic')).toMatchObject([{ kind: 'stale-fact', connection: 'a', generation: 1 }]);
    },
  );

  it('takes a fact that means nothing now for a diagnostic, not for a rejection', async () => {
    const { roster, events, clock } = await begin();
    const ref = roster.supervisor.ref('a');
    const before = ref?.getSnapshot();
    ref?.send({ type: 'slot.granted' });
    await clock.advance(0);
    expect(ref?.getSnapshot()).toBe(before);
    expect(events.of('connection.rejected')).toEqual([]);
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'unwanted-fact' }]);
  });

  it('lets the facts of the present generation through', async () => {
    const { roster, events, clock } = await begin();
    const failure = { code: 'connection-lost', message: 'now', phase: 'session', at: clock.now() } as const;
    roster.supervisor.ref('a')?.send({ type: 'session.lost', generation: 1, failure });
    await passTime(
      clock,
      events.when('connection.ready', ({ generation }) => generation === 2),
    );
    expect(events.of('connection.lost')).toMatchObject([{ generation: 1, failure: { message: 'now' } }]);
  });
});

describe('an entry that has to be approved', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useSupervised();

  it('is not started before, and the row shows what it would do', async () => {
    const server = new FakeServer(() => ({ kind: 'stdio' }));
    const { connection, events } = make(server, { scope: 'project' });
    await events.when('connection.trustRequired');
    expect(server.transports).toEqual([]);
    expect(connection.status).toMatchObject({
      state: 'configuring',
      substate: 'awaitingTrust',
      trustRequest: { server: 'a', transport: 'stdio', command: server.command, variables: [] },
    });
    await expect(connection.ready()).rejects.toMatchObject({ code: 'TRUST_REQUIRED', server: 'a' });
    await expect(connection.callTool('echo')).rejects.toMatchObject({ cause: { code: 'TRUST_REQUIRED' } });
  });

  it('starts when it is approved, and needs no second approval', async () => {
    const server = new FakeServer(() => ({ kind: 'stdio' }));
    const { connection, events } = make(server, { scope: 'project' });
    await events.when('connection.trustRequired');
    await connection.approve();
    expect(connection.state).toBe('ready');
    await connection.restart();
    expect(events.of('connection.trustRequired')).toHaveLength(1);
  });

  it('fails when it is refused', async () => {
    const server = new FakeServer(() => ({ kind: 'stdio' }));
    const { connection, events } = make(server, { scope: 'project' });
    await events.when('connection.trustRequired');
    connection.deny();
    await events.when('connection.failed');
    expect(connection.status).toMatchObject({ state: 'failed', error: { code: 'trust-denied' } });
    await expect(connection.ready()).rejects.toMatchObject({ code: 'TRUST_REQUIRED' });
    expect(server.transports).toEqual([]);
  });

  it('can be stopped instead of answered', async () => {
    const server = new FakeServer(() => ({ kind: 'stdio' }));
    const { connection, events } = make(server, { scope: 'project' });
    await events.when('connection.trustRequired');
    await connection.stop();
    expect(connection.state).toBe('stopped');
  });
});

import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime } from '../../support/test-troupe.js';
import { useSupervised, type Supervised } from '../../support/supervised.js';

describe('the event filter of a connection', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useSupervised();

  const begin = async (): Promise<Supervised> => {
    const one = make();
    await one.connection.ready();
    // The best-effort effects after that change the snapshot as well.
    await one.clock.advance(0);
    return one;
  };

  it('reports an internal command that was not accepted once, and changes nothing', async () => {
    const { servers, events, clock } = await begin();
    const ref = servers.get('a')?.ref;
    const before = ref?.getSnapshot();
    servers.get('a')?.deliver({ type: 'connection.retry' });
    await clock.advance(0);
    expect(events.of('connection.rejected')).toMatchObject([
      {
        server: 'a',
        generation: 1,
        state: 'ready',
        event: 'connection.retry',
        reason: 'unhandled',
        allowed: expect.arrayContaining(['connection.stop']) as unknown,
      },
    ]);
    expect(ref?.getSnapshot()).toBe(before);
  });

  it('does not report an internal command whose goal is already reached', async () => {
    const { servers, events, clock } = await begin();
    servers.get('a')?.deliver({ type: 'connection.start' });
    await clock.advance(0);
    expect(events.of('connection.rejected')).toEqual([]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it.each([0, 2, -1])(
    'drops an event of generation %i if that is not the current one',
    async (generation) => {
      const { servers, events, clock } = await begin();
      const ref = servers.get('a')?.ref;
      const before = ref?.getSnapshot();
      const failure = { code: 'connection-lost', message: 'old', phase: 'session', at: 0 } as const;
      ref?.send({ type: 'session.lost', generation, failure });
      await clock.advance(0);
      expect(ref?.getSnapshot()).toBe(before);
      expect(events.of('connection.lost')).toEqual([]);
      expect(events.of('connection.rejected')).toEqual([]);
      expect(events.of('diagnostic')).toMatchObject([{ kind: 'stale-fact', server: 'a', generation: 1 }]);
    },
  );

  it('reports an event without a meaning in the current state as a diagnostic, not as a rejection', async () => {
    const { servers, events, clock } = await begin();
    const ref = servers.get('a')?.ref;
    const before = ref?.getSnapshot();
    ref?.send({ type: 'slot.granted' });
    await clock.advance(0);
    expect(ref?.getSnapshot()).toBe(before);
    expect(events.of('connection.rejected')).toEqual([]);
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'unwanted-fact' }]);
  });

  it('passes events of the current generation', async () => {
    const { servers, events, clock } = await begin();
    const failure = { code: 'connection-lost', message: 'now', phase: 'session', at: clock.now() } as const;
    servers.get('a')?.ref?.send({ type: 'session.lost', generation: 1, failure });
    await passTime(
      clock,
      events.when('connection.ready', ({ generation }) => generation === 2),
    );
    expect(events.of('connection.lost')).toMatchObject([{ generation: 1, failure: { message: 'now' } }]);
  });
});

describe('a connection that crashes while it stops', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useSupervised();

  it('is given up if its replacement crashes in the same way, and nothing waits forever', async () => {
    const { servers, connection, events, clock, server } = make();
    await connection.ready();
    const { policy } = servers.get('a')!.ref!.getSnapshot().context;
    // With such a policy, every shutdown crashes.
    const broken = { ...policy, stop: null } as never;
    servers.get('a')!.ref!.send({ type: 'policy.changed', policy: broken });
    await passTime(clock, connection.stop());
    expect(connection.state).toBe('stopped');
    const internal = { failure: { code: 'internal' } };
    expect(events.of('connection.failed')).toMatchObject([internal, internal]);
    expect(events.states('a').slice(-1)).toEqual(['stopped']);
    expect(events.of('connection.stopped')).toMatchObject([{ reason: 'crash' }]);
    expect(server.transport.isOpen).toBe(false);
    expect(connection.allowed).toEqual(['connection.start']);
  });
});

describe('an entry that has to be trusted', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useSupervised();

  it('is not started before, and its status shows what it would run', async () => {
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

  it('starts when it is trusted, and needs no second trust', async () => {
    const server = new FakeServer(() => ({ kind: 'stdio' }));
    const { connection, events } = make(server, { scope: 'project' });
    await events.when('connection.trustRequired');
    await connection.trust();
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

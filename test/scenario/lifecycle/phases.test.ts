/** The phases of a troupe: what each accepts, and how it rejects the rest. */
import { describe, expect, it } from 'vitest';
import { InvalidTransitionError } from '../../../src/errors.js';
import { Lifetime } from '../../../src/lifecycle/lifetime.js';
import { useSupervised } from '../../support/supervised.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';

describe('the manager', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useSupervised();

  it('publishes a rejected command once, and throws the rejection', async () => {
    const { servers, events, clock } = make();
    servers.close();
    const refused = (() => {
      try {
        servers.get('a')?.start();
        return undefined;
      } catch (error) {
        return error;
      }
    })();
    await clock.advance(0);
    const rejection = {
      state: 'closing',
      event: 'manager.add',
      reason: 'unhandled',
      allowed: ['network.changed', 'manager.stop'],
    };
    expect(events.of('manager.rejected')).toMatchObject([rejection]);
    expect(refused).toBeInstanceOf(InvalidTransitionError);
    expect(refused).toMatchObject({ ...rejection, server: undefined });
  });

  it('publishes nothing for a command that changes nothing', async () => {
    const { servers, events, clock } = make();
    servers.supervisor.network(true);
    await clock.advance(0);
    expect(events.of('manager.rejected')).toEqual([]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('accepts the start only once', async () => {
    const { servers, events, clock } = make();
    expect(() => servers.startAll()).toThrow(InvalidTransitionError);
    expect(() => servers.open()).toThrow(InvalidTransitionError);
    await clock.advance(0);
    expect(events.of('manager.rejected').map(({ event }) => event)).toEqual([
      'manager.start',
      'manager.open',
    ]);
  });

  it('publishes a diagnostic for an unexpected fact', async () => {
    const { servers, events, clock } = make();
    servers.close();
    servers.supervisor.observable.manager.send({ type: 'cores.idle', busyCores: 0 });
    await clock.advance(0);
    expect(events.of('manager.rejected')).toEqual([]);
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'unwanted-fact' }]);
  });
});

describe('a troupe', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('is idle without a manager', () => {
    const { isIdle, hasStarted, isSettled, isClosed, hasEnded } = new Lifetime();
    expect({ isIdle, hasStarted, isSettled, isClosed, hasEnded }).toEqual({
      isIdle: true,
      hasStarted: false,
      isSettled: false,
      isClosed: false,
      hasEnded: false,
    });
  });

  it('starts a server that is added while the sources are read with the others, and once', async () => {
    const test = make({ servers: { a: fake(new FakeServer()) } });
    const { troupe, clock, events } = test;
    const starting = troupe.start();
    const added = troupe.add('b', fake(new FakeServer()));
    await passTime(clock, Promise.all([starting, added]));
    expect(events.of('connection.added').map(({ server }) => server)).toEqual(['a', 'b']);
    expect(events.of('manager.rejected')).toEqual([]);
    expect(troupe.connection('b')?.state).toBe('ready');
  });

  it('rejects a server that is added while it closes', async () => {
    const gate = createGate();
    const test = make({ servers: { a: fake(new FakeServer(() => ({ close: () => gate.promise }))) } });
    const { troupe, clock, events } = test;
    await passTime(clock, troupe.start());
    const closing = troupe.close();
    await expect(troupe.add('b', fake(new FakeServer()))).rejects.toMatchObject({
      code: 'NOT_READY',
    });
    await expect(troupe.start()).rejects.toMatchObject({ code: 'NOT_READY' });
    await expect(troupe.record({ write: () => {} } as never)).rejects.toMatchObject({ code: 'NOT_READY' });
    gate.open();
    await passTime(clock, closing);
    expect(events.of('manager.rejected')).toEqual([]);
  });

  it('that is closed before it starts starts nothing', async () => {
    const server = new FakeServer();
    const { troupe, clock, events } = make({ servers: { a: fake(server) } });
    const starting = Promise.allSettled([troupe.start()]);
    await passTime(clock, troupe.close());
    expect(await starting).toMatchObject([{ status: 'fulfilled' }]);
    expect(server.transports).toEqual([]);
    expect(events.of('manager.started')).toEqual([]);
  });
});

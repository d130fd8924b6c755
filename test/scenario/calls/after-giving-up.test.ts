/** A connection that is out of attempts gets one more for a call, now and then. */
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../src/servers/connection.js';
import { NotReadyError } from '../../../src/errors.js';
import type { PolicyOverrides } from '../../../src/config/entry/server-config.js';
import { TransportError, type RawFailure } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { text } from '../../support/scripted-server.js';
import { passTime, useTroupes, type TestTroupe } from '../../support/test-troupe.js';

const REFUSED = { code: 'spawn-failed', message: 'No such luck.' } as const;
const MISSING = { code: 'command-not-found', message: 'No such command.' } as const;

describe('a call of a server that has given up', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  /** A server that cannot be started until `repair` is called, and has failed. */
  const givenUp = async (
    failure: RawFailure = REFUSED,
    policy: PolicyOverrides = {},
  ): Promise<TestTroupe & { server: FakeServer; connection: Connection; repair(): void }> => {
    let isBroken = true;
    const server = new FakeServer(() => ({
      start: async () => {
        if (isBroken) throw new TransportError(failure);
      },
    }));
    const test = make({
      policy: { maxAttempts: 2, backoff: [100], ...policy },
      servers: { a: fake(server) },
    });
    await passTime(test.clock, test.troupe.start());
    await passTime(test.clock, test.events.when('connection.failed'));
    await test.clock.advance(0);
    const connection = test.troupe.connection('a');
    if (connection === undefined) throw new Error('There is no connection.');
    return { ...test, server, connection, repair: () => (isBroken = false) };
  };

  it('is refused at once within 30 s, and told when a call tries again', async () => {
    const { connection, server, clock, events } = await givenUp();
    const failedAt = events.of('connection.failed')[0]?.failure.at ?? 0;
    await clock.advance(failedAt + 10_000 - clock.now());
    const call = connection.callTool('echo');
    await expect(call).rejects.toBeInstanceOf(NotReadyError);
    await expect(call).rejects.toMatchObject({ cause: { code: 'LAUNCH_FAILED' } });
    await expect(call).rejects.toThrow(
      "'echo' was not sent: No such luck. A call in 20 s or later causes another attempt.",
    );
    expect(server.transports).toHaveLength(2);
    expect(events.of('diagnostic')).toEqual([]);
    expect(events.of('connection.rejected')).toEqual([]);
  });

  it('tries once more after 30 s, and is answered where that succeeds', async () => {
    const { connection, server, clock, repair } = await givenUp();
    await clock.advance(30_000);
    repair();
    await expect(passTime(clock, connection.callTool('echo'))).resolves.toEqual(text('echo {}'));
    expect(server.transports).toHaveLength(3);
    expect(connection.state).toBe('ready');
  });

  it('tries once, not a round, and shares that try with others that come meanwhile', async () => {
    const { connection, server, clock, events } = await givenUp();
    await clock.advance(30_000);
    const calls = Promise.allSettled([1, 2, 3].map((n) => connection.callTool('echo', { n })));
    const settled = await passTime(clock, calls);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(server.transports).toHaveLength(3);
    expect(events.of('connection.failed')).toHaveLength(2);
    await expect(connection.callTool('echo')).rejects.toThrow(
      'A call in 30 s or later causes another attempt.',
    );
    expect(server.transports).toHaveLength(3);
  });

  it('tries once for each call where calls need not wait at all', async () => {
    const { connection, server, clock } = await givenUp(REFUSED, { exhausted: { callAfterMs: 0 } });
    await expect(passTime(clock, connection.callTool('echo'))).rejects.toThrow(/No such luck\.$/);
    expect(server.transports).toHaveLength(3);
  });

  it('is refused whenever it comes where the failure is permanent', async () => {
    const { connection, server, clock } = await givenUp(MISSING);
    await clock.advance(3_600_000);
    const refused = expect(connection.callTool('echo')).rejects;
    await refused.toThrow(/No such command\.$/);
    expect(server.transports).toHaveLength(1);
  });

  it('causes one attempt, as waiting for `ready` does', async () => {
    const { connection, server, clock } = await givenUp();
    await clock.advance(3_600_000);
    await expect(connection.ready()).rejects.toMatchObject({ code: 'LAUNCH_FAILED' });
    expect(server.transports).toHaveLength(3);
    await expect(connection.ready()).rejects.toMatchObject({ code: 'LAUNCH_FAILED' });
    expect(server.transports).toHaveLength(3);
  });
});

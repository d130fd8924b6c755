/** A connection that is out of attempts makes one more for a call, from time to time. */
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

const REFUSED = { code: 'spawn-failed', message: 'Refused by the test.' } as const;
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

  it('is rejected at once within 30 s, and says when a call causes another attempt', async () => {
    const { connection, server, clock, events } = await givenUp();
    const failedAt = events.of('connection.failed')[0]?.failure.at ?? 0;
    await clock.advance(failedAt + 10_000 - clock.now());
    const call = connection.callTool('echo');
    await expect(call).rejects.toBeInstanceOf(NotReadyError);
    await expect(call).rejects.toMatchObject({ cause: { code: 'LAUNCH_FAILED' } });
    await expect(call).rejects.toThrow('20 s');
    expect(server.transports).toHaveLength(2);
    expect(events.of('diagnostic')).toEqual([]);
    expect(events.of('connection.rejected')).toEqual([]);
  });

  it('causes another attempt after 30 s, and is answered if it succeeds', async () => {
    const { connection, server, clock, repair } = await givenUp();
    await clock.advance(30_000);
    repair();
    await expect(passTime(clock, connection.callTool('echo'))).resolves.toEqual(text('echo {}'));
    expect(server.transports).toHaveLength(3);
    expect(connection.state).toBe('ready');
  });

  it('causes one attempt, not a round, which it shares with other calls', async () => {
    const { connection, server, clock, events } = await givenUp();
    await clock.advance(30_000);
    const calls = Promise.allSettled([1, 2, 3].map((n) => connection.callTool('echo', { n })));
    const settled = await passTime(clock, calls);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(server.transports).toHaveLength(3);
    expect(events.of('connection.failed')).toHaveLength(2);
    await expect(connection.callTool('echo')).rejects.toThrow('30 s');
    expect(server.transports).toHaveLength(3);
  });

  it('causes one attempt each time if callAfterMs is 0', async () => {
    const { connection, server, clock } = await givenUp(REFUSED, { exhausted: { callAfterMs: 0 } });
    await expect(passTime(clock, connection.callTool('echo'))).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.not.stringMatching(/\d s\b/),
    });
    expect(server.transports).toHaveLength(3);
  });

  it('is rejected at any time if the failure is permanent', async () => {
    const { connection, server, clock } = await givenUp(MISSING);
    await clock.advance(3_600_000);
    await expect(connection.callTool('echo')).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.not.stringMatching(/\d s\b/),
    });
    expect(server.transports).toHaveLength(1);
  });

  it('causes one attempt, and so does ready', async () => {
    const { connection, server, clock } = await givenUp();
    await clock.advance(3_600_000);
    await expect(connection.ready()).rejects.toMatchObject({ code: 'LAUNCH_FAILED' });
    expect(server.transports).toHaveLength(3);
    await expect(connection.ready()).rejects.toMatchObject({ code: 'LAUNCH_FAILED' });
    expect(server.transports).toHaveLength(3);
  });
});

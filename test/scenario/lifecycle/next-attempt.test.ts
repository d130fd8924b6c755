/** The time of the next attempt in the status of a server: in the future, or null if none is planned. */
import { describe, expect, it } from 'vitest';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeRemote, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime, useTroupes, whenState } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();

describe('a remote server that has given up', () => {
  const { make } = useTroupes();

  it('has no next attempt while the network is down, for any time', async () => {
    const server = new FakeServer(() => ({
      kind: 'http',
      start: () =>
        Promise.reject(new TransportError({ code: 'connection-lost', message: 'Nothing listens there.' })),
    }));
    const test = make({ servers: { a: fakeRemote(server, { policy: { maxAttempts: 1 } }) } });
    const { clock, troupe } = test;
    await passTime(clock, troupe.start());
    await whenState(test, 'a', 'failed');
    await clock.advance(0);
    const connection = troupe.connection('a')!;
    expect(connection.status.nextAttemptAt).toBeGreaterThan(clock.now());

    troupe.setOnline(false);
    await clock.advance(0);
    expect(connection.status).toMatchObject({
      tags: expect.arrayContaining(['retryingSlowly']) as unknown,
      nextAttemptAt: null,
    });

    await clock.advance(600_000);
    expect(connection.status).toMatchObject({
      tags: expect.arrayContaining(['retryingSlowly']) as unknown,
      nextAttemptAt: null,
    });
  });
});

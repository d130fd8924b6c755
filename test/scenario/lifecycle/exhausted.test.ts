/** A server that is out of attempts for a cause that may be temporary. */
import { describe, expect, it } from 'vitest';
import type { ServerConfig, ServerSettings } from '../../../src/config/entry/server-config.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeProgram, fakeRemote, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime, useTroupes, whenState, type TestTroupe } from '../../support/test-troupe.js';

const ONE_ATTEMPT: ServerSettings = { policy: { maxAttempts: 1 } };

/** A server that rejects every start while it is broken. */
class BrokenServer extends FakeServer {
  isBroken = true;

  constructor() {
    super(() => ({
      kind: 'http',
      start: () =>
        this.isBroken
          ? Promise.reject(new TransportError({ code: 'connection-lost', message: 'Nothing listens there.' }))
          : Promise.resolve(),
    }));
  }
}

const refused = {
  code: 'CONNECTION_LOST',
  message: expect.stringContaining('Nothing listens there.') as string,
};

useLeakCheck();
useCrashWatch();

function useGivenUp(): (entry: (server: FakeServer, settings: ServerSettings) => ServerConfig) => Promise<{
  test: TestTroupe;
  server: BrokenServer;
}> {
  const { make } = useTroupes();
  return async (entry) => {
    const server = new BrokenServer();
    const test = make({ servers: { a: entry(server, ONE_ATTEMPT) } });
    await passTime(test.clock, test.troupe.start());
    await whenState(test, 'a', 'failed');
    return { test, server };
  };
}

describe('a remote server that is out of attempts', () => {
  const giveUp = useGivenUp();

  it('is tried again about every 20 seconds, and has the time of the next attempt', async () => {
    const { test, server } = await giveUp(fakeRemote);
    await test.clock.advance(0);
    const { clock, troupe } = test;
    for (let attempts = 2; attempts <= 4; attempts += 1) {
      const status = troupe.connection('a')!.status;
      expect(status).toMatchObject({ state: 'failed', attempt: 1, maxAttempts: 1 });
      const waitMs = status.nextAttemptAt! - clock.now();
      expect(waitMs).toBeGreaterThanOrEqual(15_000);
      expect(waitMs).toBeLessThanOrEqual(25_000);
      await clock.advance(waitMs - 1);
      expect(server.transports).toHaveLength(attempts - 1);
      await clock.advance(1);
      expect(server.transports).toHaveLength(attempts);
    }
  });

  it('returns by itself once it works again', async () => {
    const { test, server } = await giveUp(fakeRemote);
    server.isBroken = false;
    await test.clock.advance(75_000);
    expect(test.troupe.connection('a')?.state).toBe('ready');
  });

  it('is not tried while the network is down, but soon after it is up again', async () => {
    const { test, server } = await giveUp(fakeRemote);
    test.troupe.setOnline(false);
    await test.clock.advance(600_000);
    expect(server.transports).toHaveLength(1);
    server.isBroken = false;
    test.troupe.setOnline(true);
    await test.clock.advance(2_000);
    expect(test.troupe.connection('a')?.state).toBe('ready');
  });

  it('is left alone if the policy turns these attempts off', async () => {
    const policy = { maxAttempts: 1, exhausted: { remoteEveryMs: 0 } };
    const { test, server } = await giveUp((one) => fakeRemote(one, { policy }));
    await test.clock.advance(600_000);
    expect(server.transports).toHaveLength(1);
    expect(test.troupe.connection('a')?.status).toMatchObject({ state: 'failed', nextAttemptAt: null });
  });
});

describe('a program that is out of attempts', () => {
  const giveUp = useGivenUp();

  it('is not tried again without a call', async () => {
    const { test, server } = await giveUp(fakeProgram);
    await test.clock.advance(600_000);
    expect(server.transports).toHaveLength(1);
  });

  it('is tried once more for a call, which is answered if the attempt succeeds', async () => {
    const { test, server } = await giveUp(fakeProgram);
    await test.clock.advance(30_000);
    server.isBroken = false;
    const result = await passTime(test.clock, test.troupe.connection('a')!.callTool('echo', { text: 'hi' }));
    expect(result.isError).not.toBe(true);
    expect(server.transports).toHaveLength(2);
  });

  it('is tried once for all calls within half a minute, and each gets the cause', async () => {
    const { test, server } = await giveUp(fakeProgram);
    await test.clock.advance(30_000);
    const connection = test.troupe.connection('a')!;
    const calls = Array.from({ length: 5 }, () =>
      connection.callTool('echo').catch((error: unknown) => error),
    );
    for (const error of await passTime(test.clock, Promise.all(calls))) {
      expect(error).toMatchObject({ code: 'NOT_READY', message: refused.message });
    }
    expect(server.transports).toHaveLength(2);
    await test.clock.advance(29_000);
    await expect(connection.callTool('echo')).rejects.toMatchObject({ code: 'NOT_READY' });
    expect(server.transports).toHaveLength(2);
    await test.clock.advance(1_000);
    await expect(passTime(test.clock, connection.callTool('echo'))).rejects.toMatchObject({
      code: 'NOT_READY',
    });
    expect(server.transports).toHaveLength(3);
  });
});

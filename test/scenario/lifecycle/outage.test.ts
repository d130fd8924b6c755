/** Remote servers that are away for seconds or a minute, such as for a deployment. */
import { describe, expect, it } from 'vitest';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeRemote, FakeServer } from '../../support/fake-server.js';
import type { FakeTransport } from '../../support/fake-transport.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime, useTroupes, whenState, type TestTroupe } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();

/** A server that can be taken away. */
class AwayServer extends FakeServer {
  isAway = false;

  constructor() {
    super(() => ({
      kind: 'http',
      start: () =>
        this.isAway
          ? Promise.reject(new TransportError({ code: 'address-refused', message: 'Nothing listens there.' }))
          : Promise.resolve(),
    }));
  }

  override async createTransport(): Promise<FakeTransport> {
    return Object.assign(await super.createTransport(), { url: 'http://fake.example/mcp' });
  }
}

const { make } = useTroupes();

async function connected(seed: number): Promise<{ test: TestTroupe; server: AwayServer }> {
  const server = new AwayServer();
  const test = make({ servers: { a: fakeRemote(server) }, seed });
  await passTime(test.clock, test.troupe.start());
  await whenState(test, 'a', 'ready');
  return { test, server };
}

async function lose({ test, server }: { test: TestTroupe; server: AwayServer }): Promise<void> {
  server.isAway = true;
  server.transport.simulateEnd({ code: 'connection-lost', message: 'It is gone.' });
  await test.clock.advance(1);
}

describe('a remote server that was ready and is away', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'is back within seconds of its return, whatever the jitter: seed %i',
    async (seed) => {
      const { test, server } = await connected(seed);
      for (const awayMs of [3_000, 20_000, 60_000]) {
        await lose({ test, server });
        await test.clock.advance(awayMs);
        expect(test.troupe.connection('a')?.state).not.toBe('failed');
        server.isAway = false;
        await test.clock.advance(4_500);
        expect(test.troupe.connection('a')?.state).toBe('ready');
        await test.clock.advance(120_000);
      }
    },
  );

  it('is given up in the end, and tried soon for a call', async () => {
    const { test, server } = await connected(1);
    await lose({ test, server });
    await test.clock.advance(200_000);
    const { status } = test.troupe.connection('a')!;
    expect(status).toMatchObject({ state: 'failed', attempt: 40, maxAttempts: 40 });
    server.isAway = false;
    const call = test.troupe.connection('a')!.callTool('echo', {});
    await test.clock.advance(2_500);
    expect(test.troupe.connection('a')?.state).toBe('ready');
    await passTime(test.clock, call);
  });

  it('counts the attempts that the policy gives', async () => {
    const server = new AwayServer();
    const test = make({ servers: { a: fakeRemote(server, { policy: { maxAttempts: 2 } }) } });
    await passTime(test.clock, test.troupe.start());
    await lose({ test, server });
    await test.clock.advance(10_000);
    expect(test.troupe.connection('a')?.status).toMatchObject({
      state: 'failed',
      attempt: 2,
      maxAttempts: 2,
    });
  });
});

/** A server that cannot be reached for a while: a request that was never sent is tried again within its limit. */
import { describe, expect, it } from 'vitest';
import { TransportError, type RawFailure } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fake, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { library } from '../../support/library-server.js';
import { silent } from '../../support/scripted-server.js';
import { passTime, useTroupes } from '../../support/test-troupe.js';

const REFUSED: RawFailure = { code: 'address-refused', message: '127.0.0.1:1 cannot be reached.' };

describe('a request to a server that cannot be reached', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  const begin = async () => {
    const server = new FakeServer(
      () => ({
        send: async () => {
          const message = server.transport.sent.at(-1);
          if (message === undefined || !('method' in message) || message.method !== 'resources/read') return;
          tries += 1;
          if (line.isDown) throw new TransportError(REFUSED);
        },
      }),
      library(),
    );
    let tries = 0;
    const line = { isDown: false };
    const test = make({ servers: { a: fake(server) } });
    await test.troupe.start();
    await passTime(test.clock, test.troupe.settled());
    return { ...test, server, line, tries: () => tries, a: test.troupe.connection('a')! };
  };

  it('is answered if the server is back within its limit', async () => {
    const { a, clock, line, server, tries } = await begin();
    line.isDown = true;
    const reading = a.readResource('x:1', { timeoutMs: 5_000 });
    await clock.advance(2_000);
    line.isDown = false;
    await expect(passTime(clock, reading)).resolves.toMatchObject({ contents: [{}] });
    expect(tries()).toBe(6);
    expect(server.peer.of('resources/read')).toHaveLength(1);
  });

  it('was not sent if its limit passes first, and the error has the reason', async () => {
    const { a, clock, line } = await begin();
    const before = clock.pending.length;
    line.isDown = true;
    const reading = a.readResource('x:1', { timeoutMs: 5_000 });
    reading.catch(() => {});
    await clock.advance(4_999);
    await expect(Promise.race([reading, Promise.resolve('still waiting')])).resolves.toBe('still waiting');
    await clock.advance(1);
    await expect(reading).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringMatching(/5000 ms.*127\.0\.0\.1:1/) as unknown,
    });
    expect(clock.pending).toHaveLength(before);
  });

  it('is repeated only once after it may have been received, even with failed attempts in between', async () => {
    const { a, clock, line, server } = await begin();
    server.peer.script = library({ on: { 'resources/read': silent } });
    const reading = a.readResource('x:1', { timeoutMs: 20_000 });
    reading.catch(() => {});
    const lose = async (count: number): Promise<void> => {
      const { id } = await server.peer.whenReceived('resources/read', count);
      server.transport.simulateLost(id ?? '');
    };
    line.isDown = true;
    await clock.advance(500);
    line.isDown = false;
    await clock.advance(1_000);
    line.isDown = true;
    await lose(1);
    await clock.advance(500);
    line.isDown = false;
    await clock.advance(3_000);
    await lose(2);
    await expect(passTime(clock, reading)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await clock.advance(60_000);
    expect(server.peer.of('resources/read')).toHaveLength(2);
  });
});

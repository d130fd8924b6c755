/** What is known and told of a remote server that is out of attempts. */
import { describe, expect, it } from 'vitest';
import { ConnectionDriver } from '../support/connection-driver.js';

const LIMIT = 2;

async function exhausted(): Promise<ConnectionDriver> {
  const driver = new ConnectionDriver({ transport: 'http', policy: { maxAttempts: LIMIT } });
  for (let attempt = 1; attempt <= LIMIT; attempt += 1) {
    await driver.bringUp('handshake');
    await driver.fail('handshake', 'retry');
    await driver.advance(40);
    await driver.settle('releaseSession');
    if (attempt < LIMIT) await driver.advance(5_000);
  }
  expect(driver.path).toBe('failed.retryingSlowly');
  return driver;
}

describe('a remote server that is out of attempts', () => {
  it('has left nothing, and waits from the moment that this is known.', async () => {
    const driver = await exhausted();
    const { delayMs } = driver.context;
    expect(driver.context).toMatchObject({
      pid: null,
      released: true,
      at: driver.clock.now(),
      nextAttemptAt: driver.clock.now() + delayMs,
    });
  });

  it('tells when it is tried again, once the network is back.', async () => {
    const driver = await exhausted();
    const told = driver.emitted.length;
    await driver.fact({ type: 'network.online', at: driver.clock.now() });
    expect(driver.path).toBe('reconnecting.backingOff');
    expect(driver.emitted.slice(told)).toEqual([
      {
        type: 'retrying',
        attempt: driver.context.attempt + 1,
        maxAttempts: LIMIT,
        delayMs: driver.context.delayMs,
        failure: driver.context.failure,
      },
    ]);
  });
});

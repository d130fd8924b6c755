/** The context and the events of a remote server that is out of attempts. */
import { describe, expect, it } from 'vitest';
import { ConnectionDriver } from '../../support/connection-driver.js';

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
  expect(driver.path).toBe('failed.exhausted.retryingSlowly');
  return driver;
}

describe('a remote server that is out of attempts', () => {
  it('waits once its session is released, and has nothing running.', async () => {
    const driver = await exhausted();
    const { delayMs, at } = driver.context;
    expect(at).toBe(driver.clock.now());
    expect(Math.abs(delayMs - 60_000)).toBeLessThanOrEqual(15_000);
    expect(driver.emitted.slice(-2)).toEqual([{ type: 'released' }, { type: 'retryingSlowly', delayMs, at }]);
  });

  it('emits when it is tried again, once the network is back.', async () => {
    const driver = await exhausted();
    const countBefore = driver.emitted.length;
    await driver.fact({ type: 'network.online', at: driver.clock.now() });
    expect(driver.path).toBe('reconnecting.backingOff');
    expect(driver.emitted.slice(countBefore)).toEqual([
      {
        type: 'retrying',
        attempt: driver.context.attempt + 1,
        maxAttempts: LIMIT,
        delayMs: driver.context.delayMs,
        at: driver.clock.now(),
        failure: driver.context.failure,
      },
    ]);
  });
});

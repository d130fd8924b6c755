/** How often the tokens of a sign-in may be refused. */
import { describe, expect, it } from 'vitest';
import { ConnectionDriver } from '../../support/connection-driver.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const PERIOD_MS = 60_000;

async function signInTimes(driver: ConnectionDriver, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await driver.fail('openTransport', 'authorize');
    await driver.settle('releaseSession');
    await driver.settle('authorize');
    await driver.settle('resolveConfig');
  }
}

async function signedIn(times: number, restarts = 3): Promise<ConnectionDriver> {
  const driver = new ConnectionDriver({
    transport: 'http',
    policy: { signIns: { restarts, periodMs: PERIOD_MS } },
  });
  await driver.bringUp('openTransport');
  await signInTimes(driver, times);
  return driver;
}

describe('a server that refuses the tokens of repeated sign-ins', () => {
  it('is given up when it requires more sign-ins than the policy allows, with a cause and a hint.', async () => {
    const driver = await signedIn(3);
    await driver.fail('openTransport', 'authorize');
    expect(driver.path).toBe('failed.permanent.releasing');
    expect(driver.context.failure).toMatchObject({
      code: 'auth-required',
      message: expect.stringContaining('3 sign-ins'),
      hint: expect.any(String),
    });
    expect(driver.context.attempt).toBe(1);
    await driver.settle('releaseSession');
    expect(driver.path).toBe('failed.permanent.waiting');
  });

  it('is given up even if an open session is refused.', async () => {
    const driver = await signedIn(3);
    await driver.bringUp();
    await driver.lose('authorize');
    expect(driver.path).toBe('failed.permanent.releasing');
    expect(driver.context.failure?.message).toContain('3 sign-ins');
  });

  it('leads to another sign-in while the sign-ins are fewer, or longer ago.', async () => {
    const few = await signedIn(2);
    await few.fail('openTransport', 'authorize');
    expect(few.path).toBe('configuring.authorizing.releasing');
    const old = await signedIn(3);
    await old.advance(PERIOD_MS + 1);
    await old.fail('openTransport', 'authorize');
    expect(old.path).toBe('configuring.authorizing.releasing');
  });

  it('is never given up if the policy has no limit.', async () => {
    const driver = await signedIn(10, 0);
    await driver.fail('openTransport', 'authorize');
    expect(driver.path).toBe('configuring.authorizing.releasing');
    expect(driver.context.signIns).toEqual([]);
  });

  it('starts over when a person retries.', async () => {
    const driver = await signedIn(3);
    await driver.fail('openTransport', 'authorize');
    await driver.settle('releaseSession');
    await driver.command('connection.retry');
    expect(driver.context.signIns).toEqual([]);
  });

  it('starts over once a session was stable.', async () => {
    const driver = await signedIn(3);
    await driver.bringUp();
    expect(driver.context.signIns).toHaveLength(3);
    await driver.watcher('session.stable');
    expect(driver.context.signIns).toEqual([]);
  });

  it('keeps the reason of a sign-in that fails.', async () => {
    const driver = await signedIn(2);
    await driver.fail('openTransport', 'authorize');
    await driver.settle('releaseSession');
    const refused = driver.failure('permanent', 'handshake', { code: 'auth-required' });
    await driver.fail('authorize', refused);
    expect(driver.context.failure).toEqual(refused);
  });
});

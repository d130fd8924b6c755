/** What a session is told, and what is remembered of it, where it gives way to the next. */
import { describe, expect, it } from 'vitest';
import { ConnectionDriver, PLAIN_POLICY } from '../support/connection-driver.js';

const STOP = { ...PLAIN_POLICY.stop, deleteMs: 20, stdinEndMs: 30, termMs: 50 };

async function reloaded(): Promise<ConnectionDriver> {
  const driver = new ConnectionDriver({ transport: 'http' });
  await driver.bringUp();
  const policy = { ...PLAIN_POLICY, stop: STOP };
  await driver.command({ type: 'connection.reload', transport: 'http', policy });
  return driver;
}

describe('a session that gives way', () => {
  it('has as long to close as the whole ladder of the new entry takes, and a second more.', async () => {
    const driver = await reloaded();
    await driver.settle('prepareSession');
    expect(driver.inputOf('retireSession')).toMatchObject({ generation: 1, closeMs: 30 + 50 + 1_000 });
  });

  it('leaves why it was lost, where that came before its successor.', async () => {
    const driver = await reloaded();
    await driver.fail('prepareSession', 'retry');
    await driver.lose('retry');
    expect(driver.path).toBe('shuttingDown.draining');
    expect(driver.context).toMatchObject({ failure: { phase: 'session' }, readyAt: null, pid: null });
  });
});

describe('the session that follows', () => {
  it('is what it turned out to be: an entry says less than the server that was reached.', async () => {
    const driver = await reloaded();
    await driver.settle('prepareSession', { transport: 'sse', url: 'https://example.com/sse' });
    expect(driver.context).toMatchObject({ transport: 'sse', url: 'https://example.com/sse' });
  });

  it('is tried without the failure of the one before it.', async () => {
    const driver = await reloaded();
    await driver.fail('prepareSession', 'retry');
    expect(driver.context.outdated).not.toBeNull();
    await driver.command({ type: 'connection.reload', transport: 'http', policy: PLAIN_POLICY });
    expect(driver.path).toContain('preparing');
    expect(driver.context.outdated).toBeNull();
  });
});

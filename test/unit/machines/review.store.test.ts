/** A review and its store: what the store has is used as soon as it is known, and what it cannot store is not lost. */
import { expect, it } from 'vitest';
import { ReviewDriver } from './review-driver.js';

it('holds no tool that another process has accepted before it stores an acceptance of this one.', async () => {
  const driver = new ReviewDriver();
  await driver.list('read:1 write:1');
  await driver.recall();
  await driver.list('read:2 write:2');
  expect(driver.held).toBe('read:2 write:2');
  await driver.changeStore();
  await driver.accept('read:2');
  await driver.recall('read:1 write:2');
  expect(driver.path).toBe('keeping');
  expect(driver.held).toBe('');
  expect(driver.asked).toBe('keep read:2');
});

/** Two tools have changed, and the first acceptance is being stored. */
async function keeping(): Promise<ReviewDriver> {
  const driver = new ReviewDriver();
  await driver.list('read:1 write:1');
  await driver.recall();
  await driver.list('read:2 write:2');
  await driver.accept('read:2');
  expect(driver.asked).toBe('keep read:2');
  return driver;
}

it('keeps what was stored, even if the store is read again afterwards.', async () => {
  const driver = await keeping();
  await driver.changeStore();
  await driver.keep();
  expect(driver.path).toBe('recalling');
  expect(driver.context.unkept).toEqual([]);
});

it('emits a failed write even if more has to be stored at once.', async () => {
  const driver = await keeping();
  await driver.accept('write:2');
  expect(driver.newEvents).toContain('accepted write:2');
  await driver.fail('no disk');
  expect(driver.asked).toBe('keep read:2 write:2');
  expect(driver.newEvents).toEqual(['troubled: no disk']);
});

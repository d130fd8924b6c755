/** What a store knows is used as soon as it is told, also while something is still to be kept. */
import { expect, it } from 'vitest';
import { ReviewDriver } from './review-driver.js';

it('holds nothing that another process has approved, before it keeps what was approved here.', async () => {
  const driver = new ReviewDriver();
  await driver.list('read:1 write:1');
  await driver.recall();
  await driver.list('read:2 write:2');
  expect(driver.held).toBe('read:2 write:2');
  await driver.changeStore();
  await driver.approve('read:2');
  await driver.recall('read:1 write:2');
  expect(driver.path).toBe('keeping');
  expect(driver.held).toBe('');
  expect(driver.asked).toBe('keep read:2');
});

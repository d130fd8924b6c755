/** A review and its store: what one knows is used as soon as it is told, and what the other cannot keep is not lost. */
import { expect, it } from 'vitest';
import { ReviewDriver } from './review-driver.js';

it('holds nothing that another process has accepted, before it keeps what was accepted here.', async () => {
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

/** Two tools have changed, and the first change is being kept. */
async function keeping(): Promise<ReviewDriver> {
  const driver = new ReviewDriver();
  await driver.list('read:1 write:1');
  await driver.recall();
  await driver.list('read:2 write:2');
  await driver.accept('read:2');
  expect(driver.asked).toBe('keep read:2');
  return driver;
}

it('knows what was kept also where the store is asked again after it.', async () => {
  const driver = await keeping();
  await driver.changeStore();
  await driver.keep();
  expect(driver.path).toBe('recalling');
  expect(driver.context.unkept).toEqual([]);
});

it('tells of a trouble in keeping also where more is to be kept at once.', async () => {
  const driver = await keeping();
  await driver.accept('write:2');
  expect(driver.told).toContain('accepted write:2');
  await driver.fail('no disk');
  expect(driver.asked).toBe('keep read:2 write:2');
  expect(driver.told).toEqual(['troubled: no disk']);
});

/** The whole context of a review, field by field, and what its effects are asked. */
import { describe, expect, it } from 'vitest';
import { print, prints, ReviewDriver } from './review-driver.js';

describe('the context of a review', () => {
  it('is empty at the start, and every field of it is there.', () => {
    expect(new ReviewDriver().context).toStrictEqual({
      server: 'fs',
      listed: [],
      approved: null,
      held: [],
      unkept: [],
      outdated: false,
    });
  });

  it('has what was approved as soon as that is known, though the store has changed meanwhile.', async () => {
    const driver = new ReviewDriver();
    await driver.list('read:2');
    await driver.changeStore();
    expect(driver.context).toMatchObject({ outdated: true });
    await driver.recall('read:1');
    expect(driver.path).toBe('recalling');
    expect(driver.context).toStrictEqual({
      server: 'fs',
      listed: prints('read:2'),
      approved: prints('read:1'),
      held: [{ ...print('read:2'), reason: 'changed' }],
      unkept: [],
      outdated: false,
    });
  });
});

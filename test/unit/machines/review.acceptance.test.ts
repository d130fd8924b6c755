/** What the review chart asks its store, and what it tells, along whole stories. */
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { ReviewDriver } from './review-driver.js';

useLeakCheck();

describe('the first list of a server', () => {
  it('is the one that is remembered; what is listed while that takes its time is compared with it.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1 b:1');
    expect(driver.asked).toBe('recall a:1 b:1');
    await driver.list('a:2 b:1 c:1');
    await driver.recall();
    expect(driver.held).toBe('a:2 c:1');
    expect(driver.told).toEqual(['held a:2 (changed)', 'held c:1 (new)']);
  });

  it('counts for nothing where the store has known the server before.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:2');
    await driver.recall('a:1 b:1');
    expect(driver.told).toEqual(['held a:2 (changed)']);
  });

  it('that is empty is no first list.', async () => {
    const driver = new ReviewDriver();
    await driver.list('');
    expect(driver.asked).toBeUndefined();
    await driver.list('a:1');
    expect(driver.asked).toBe('recall a:1');
  });
});

describe('a held tool', () => {
  it('is told once for each of its versions.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1');
    await driver.recall();
    await driver.list('a:2');
    await driver.list('a:2 b:1');
    await driver.list('a:3 b:1');
    await driver.list('a:2 b:1');
    expect(driver.told).toEqual([
      'held a:2 (changed)',
      'held b:1 (new)',
      'held a:3 (changed)',
      'held a:2 (changed)',
    ]);
  });

  it('that goes is held no more, and is told as nothing else.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1');
    await driver.recall();
    await driver.list('a:2');
    await driver.list('');
    expect(driver.held).toBe('');
    expect(driver.told).toEqual(['held a:2 (changed)']);
  });
});

describe('an acceptance', () => {
  const reachHolding = async (): Promise<ReviewDriver> => {
    const driver = new ReviewDriver();
    await driver.list('a:1 b:1');
    await driver.recall();
    await driver.list('a:2 b:2');
    expect(driver.told).toHaveLength(2);
    return driver;
  };

  it('counts at once, is told, and is kept.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    expect(driver.held).toBe('b:2');
    expect(driver.told).toEqual(['accepted a:2']);
    expect(driver.asked).toBe('keep a:2');
    await driver.keep();
    expect(driver.context.unkept).toEqual([]);
  });

  it('of what was held before, and is not any more, counts for nothing.', async () => {
    const driver = await reachHolding();
    await driver.list('a:3 b:2');
    expect(await driver.accept('a:2')).toBe('guarded');
    expect(driver.held).toBe('a:3 b:2');
  });

  it('takes the place of the one before: the older version is held from then on.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    await driver.keep();
    await driver.list('a:1 b:1');
    expect(driver.held).toBe('a:1');
  });

  it('that could not be kept is told, counts here, and is kept with the next list.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    await driver.fail('disk full');
    expect(driver.told).toEqual(['accepted a:2', 'troubled: disk full']);
    expect(driver.held).toBe('b:2');
    await driver.list('a:2 b:2');
    expect(driver.asked).toBe('keep a:2');
  });

  it('that could not be kept is not tried again because the store speaks of the attempt.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    await driver.changeStore();
    await driver.fail('disk full');
    await driver.recall('a:1 b:1');
    expect(driver.path).toBe('judged.holding');
    expect(driver.held).toBe('b:2');
    expect(driver.told).toEqual(['accepted a:2', 'troubled: disk full']);
    await driver.accept('b:2');
    expect(driver.asked).toBe('keep a:2 b:2');
  });

  it('that comes while another is kept is kept after it.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    await driver.accept('b:2');
    expect(driver.asked).toBe('keep a:2');
    await driver.keep();
    expect(driver.asked).toBe('keep b:2');
  });

  it('from elsewhere is found once the store says that something changed.', async () => {
    const driver = await reachHolding();
    await driver.changeStore();
    expect(driver.held).toBe('a:2 b:2');
    await driver.recall('a:2 b:1');
    expect(driver.held).toBe('b:2');
    expect(driver.told).toEqual(['accepted a:2']);
  });

  it('is not undone by an older word of the store.', async () => {
    const driver = await reachHolding();
    await driver.changeStore();
    await driver.accept('a:2');
    await driver.recall('a:1 b:1');
    expect(driver.held).toBe('b:2');
    expect(driver.asked).toBe('keep a:2');
  });

  it('is not undone by a change of the store that is heard of while it is kept.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    await driver.changeStore();
    expect(driver.asked).toBe('keep a:2');
    await driver.keep();
    expect(driver.asked).toBe('recall a:2 b:1');
  });

  it('outlives the loss of the store: what is accepted here becomes its first list, and not what is held.', async () => {
    const driver = await reachHolding();
    await driver.changeStore();
    expect(driver.asked).toBe('recall a:1 b:1');
    await driver.recall();
    expect(driver.held).toBe('a:2 b:2');
  });
});

describe('a store that cannot be asked', () => {
  it('has everything held, and is asked again with the next list.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1 b:1');
    await driver.fail();
    expect(driver.path).toBe('blind');
    expect(driver.told).toEqual(['held a:1 (unknown)', 'held b:1 (unknown)', 'troubled: no disk']);
    await driver.list('a:1 b:2');
    expect(driver.held).toBe('a:1');
    await driver.recall('a:1 b:1');
    expect(driver.told).toEqual(['held b:2 (changed)', 'accepted a:1']);
  });

  it('changes nothing where it was asked before.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1');
    await driver.recall();
    await driver.changeStore();
    await driver.fail();
    expect(driver.path).toBe('judged.clear');
    expect(driver.told).toEqual(['troubled: no disk']);
  });

  it('is asked again after a person has accepted without it, and may say more then.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1 b:1');
    await driver.fail();
    await driver.accept('a:1');
    expect(driver.held).toBe('b:1');
    await driver.keep();
    expect(driver.asked).toBe('recall a:1');
    await driver.recall('a:1 b:1');
    expect(driver.held).toBe('');
  });
});

/** What the review chart requests from its store, and what it emits, in whole scenarios. */
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { ReviewDriver } from './review-driver.js';

useLeakCheck();

describe('the first list of a server', () => {
  it('is stored; lists that come in the meantime are compared with it.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1 b:1');
    expect(driver.asked).toBe('recall a:1 b:1');
    await driver.list('a:2 b:1 c:1');
    await driver.recall();
    expect(driver.held).toBe('a:2 c:1');
    expect(driver.newEvents).toEqual(['held a:2 (changed)', 'held c:1 (new)']);
  });

  it('is not stored if the store has known the server before.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:2');
    await driver.recall('a:1 b:1');
    expect(driver.newEvents).toEqual(['held a:2 (changed)']);
  });

  it('that is empty is not a first list.', async () => {
    const driver = new ReviewDriver();
    await driver.list('');
    expect(driver.asked).toBeUndefined();
    await driver.list('a:1');
    expect(driver.asked).toBe('recall a:1');
  });
});

describe('a held tool', () => {
  it('is emitted once for each of its versions.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1');
    await driver.recall();
    await driver.list('a:2');
    await driver.list('a:2 b:1');
    await driver.list('a:3 b:1');
    await driver.list('a:2 b:1');
    expect(driver.newEvents).toEqual([
      'held a:2 (changed)',
      'held b:1 (new)',
      'held a:3 (changed)',
      'held a:2 (changed)',
    ]);
  });

  it('that is removed is no longer held, and no other event is emitted.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1');
    await driver.recall();
    await driver.list('a:2');
    await driver.list('');
    expect(driver.held).toBe('');
    expect(driver.newEvents).toEqual(['held a:2 (changed)']);
  });
});

describe('an acceptance', () => {
  const reachHolding = async (): Promise<ReviewDriver> => {
    const driver = new ReviewDriver();
    await driver.list('a:1 b:1');
    await driver.recall();
    await driver.list('a:2 b:2');
    expect(driver.newEvents).toHaveLength(2);
    return driver;
  };

  it('has an effect at once, is emitted, and is stored.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    expect(driver.held).toBe('b:2');
    expect(driver.newEvents).toEqual(['accepted a:2']);
    expect(driver.asked).toBe('keep a:2');
    await driver.keep();
    expect(driver.context.unkept).toEqual([]);
  });

  it('of a tool that is no longer held has no effect.', async () => {
    const driver = await reachHolding();
    await driver.list('a:3 b:2');
    expect(await driver.accept('a:2')).toBe('guarded');
    expect(driver.held).toBe('a:3 b:2');
  });

  it('replaces the former one: the older version is held from then on.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    await driver.keep();
    await driver.list('a:1 b:1');
    expect(driver.held).toBe('a:1');
  });

  it('that could not be stored is reported, has an effect anyway, and is stored with the next list.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    await driver.fail('disk full');
    expect(driver.newEvents).toEqual(['accepted a:2', 'troubled: disk full']);
    expect(driver.held).toBe('b:2');
    await driver.list('a:2 b:2');
    expect(driver.asked).toBe('keep a:2');
  });

  it("that could not be stored is not retried because of the store's own change report.", async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    await driver.changeStore();
    await driver.fail('disk full');
    await driver.recall('a:1 b:1');
    expect(driver.path).toBe('judged.holding');
    expect(driver.held).toBe('b:2');
    expect(driver.newEvents).toEqual(['accepted a:2', 'troubled: disk full']);
    await driver.accept('b:2');
    expect(driver.asked).toBe('keep a:2 b:2');
  });

  it('that comes while another one is stored is stored after it.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    await driver.accept('b:2');
    expect(driver.asked).toBe('keep a:2');
    await driver.keep();
    expect(driver.asked).toBe('keep b:2');
  });

  it('by another process is found once the store reports a change.', async () => {
    const driver = await reachHolding();
    await driver.changeStore();
    expect(driver.held).toBe('a:2 b:2');
    await driver.recall('a:2 b:1');
    expect(driver.held).toBe('b:2');
    expect(driver.newEvents).toEqual(['accepted a:2']);
  });

  it('is not undone by an older answer of the store.', async () => {
    const driver = await reachHolding();
    await driver.changeStore();
    await driver.accept('a:2');
    await driver.recall('a:1 b:1');
    expect(driver.held).toBe('b:2');
    expect(driver.asked).toBe('keep a:2');
  });

  it('is not undone by a change of the store that is reported while it is stored.', async () => {
    const driver = await reachHolding();
    await driver.accept('a:2');
    await driver.changeStore();
    expect(driver.asked).toBe('keep a:2');
    await driver.keep();
    expect(driver.asked).toBe('recall a:2 b:1');
  });

  it('survives the loss of the store: the accepted tools become its first list, but not the held ones.', async () => {
    const driver = await reachHolding();
    await driver.changeStore();
    expect(driver.asked).toBe('recall a:1 b:1');
    await driver.recall();
    expect(driver.held).toBe('a:2 b:2');
  });
});

describe('a store that cannot be read', () => {
  it('leads to every tool being held, and is read again with the next list.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1 b:1');
    await driver.fail();
    expect(driver.path).toBe('blind');
    expect(driver.newEvents).toEqual(['held a:1 (unknown)', 'held b:1 (unknown)', 'troubled: no disk']);
    await driver.list('a:1 b:2');
    expect(driver.held).toBe('a:1');
    await driver.recall('a:1 b:1');
    expect(driver.newEvents).toEqual(['held b:2 (changed)', 'accepted a:1']);
  });

  it('changes nothing if it could be read before.', async () => {
    const driver = new ReviewDriver();
    await driver.list('a:1');
    await driver.recall();
    await driver.changeStore();
    await driver.fail();
    expect(driver.path).toBe('judged.clear');
    expect(driver.newEvents).toEqual(['troubled: no disk']);
  });

  it('is read again after a user has accepted a tool without it, and may have more then.', async () => {
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

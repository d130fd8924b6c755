/** What a usable connection does, and how its lists are updated. */
import { beforeEach, describe, expect, it } from 'vitest';
import { ConnectionDriver } from '../../../support/connection-driver.js';

let driver: ConnectionDriver;

const refreshes = (): number => driver.started.filter(({ slot }) => slot === 'readTools').length - 1;

/** Lets the running refresh succeed. */
async function refreshed(output: { hash?: string; tools?: number } = {}): Promise<void> {
  await driver.settle('readTools');
  await driver.settle('adoptTools', output);
}

const CATALOG_2 = { hash: 'catalog-2', tools: 9 };

beforeEach(async () => {
  driver = new ConnectionDriver();
  await driver.bringUp();
});

describe('a ready connection', () => {
  it('can be used, and no longer has a failure.', async () => {
    const other = new ConnectionDriver();
    await other.bringUp('openTransport');
    await other.fail('openTransport', 'retry');
    await other.settle('releaseSession');
    await other.advance(1_000);
    await other.bringUp();
    expect(other.snapshot.hasTag('usable')).toBe(true);
    expect(other.context).toMatchObject({ failure: null, delayMs: 0, unasked: false });
  });

  it('holds no timer of its own.', () => {
    expect(driver.clock.pending).toEqual([]);
    expect(driver.running()).toEqual(['watchSession']);
  });

  it('stays ready if only the extras could not be listed.', async () => {
    const other = new ConnectionDriver();
    await other.bringUp('enrichCatalog');
    await other.fail('enrichCatalog', 'permanent');
    expect(other.path).toBe('ready.resting+current');
    expect(other.emitted.at(-1)).toMatchObject({ type: 'ready' });
  });

  it('pings once at a time.', async () => {
    await driver.watcher('session.quiet');
    expect(await driver.watcher('session.quiet')).toBe('ignored');
    expect(driver.started.filter(({ slot }) => slot === 'probe')).toHaveLength(1);
  });
});

describe('a changed list of tools', () => {
  it('is listed again 300 ms after the last change, once.', async () => {
    await driver.listChanged();
    await driver.advance(200);
    await driver.listChanged();
    await driver.advance(299);
    expect(refreshes()).toBe(0);
    await driver.advance(1);
    expect(refreshes()).toBe(1);
    await refreshed(CATALOG_2);
    expect(driver.emitted.at(-1)).toEqual({ type: 'adopted', generation: 1, ...CATALOG_2 });
    expect(driver.path).toBe('ready.resting+current');
  });

  async function storm(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await driver.listChanged();
      await driver.advance(100);
    }
  }

  it('is listed after two seconds although the burst continues.', async () => {
    await storm(1_900);
    expect(refreshes()).toBe(0);
    await storm(100);
    expect(refreshes()).toBe(1);
  });

  it('is listed once more if it changed in the meantime, which a burst cannot delay either.', async () => {
    await driver.command('connection.refresh');
    await driver.listChanged();
    await refreshed(CATALOG_2);
    expect(driver.path).toBe('ready.resting+debouncing+listing');
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'adopted', ...CATALOG_2 });
    await storm(2_000);
    expect(refreshes()).toBe(2);
  });

  it('is listed after two seconds of a burst although the last listing failed.', async () => {
    await driver.command('connection.refresh');
    await driver.fail('readTools', 'retry');
    await storm(2_000);
    expect(refreshes()).toBe(2);
  });

  it('is listed once more if the listing failed because of it.', async () => {
    await driver.command('connection.refresh');
    await driver.listChanged();
    await driver.fail('readTools', 'retry');
    await driver.advance(300);
    expect(refreshes()).toBe(2);
  });

  it('keeps the old list if it cannot be listed, until the next change.', async () => {
    await driver.command('connection.refresh');
    await driver.settle('enrichCatalog');
    await driver.fail('readTools', 'retry');
    expect(driver.path).toBe('ready.resting+stale');
    expect(driver.emitted.filter(({ type }) => type === 'adopted')).toHaveLength(1);
    await driver.listChanged();
    await driver.advance(300);
    await refreshed();
    expect(driver.path).toBe('ready.resting+current');
  });

  it('is listed at once when a user requests it, which covers the pending change.', async () => {
    await driver.listChanged();
    await driver.command('connection.refresh');
    expect(refreshes()).toBe(1);
    await refreshed();
    await driver.advance(10_000);
    expect(refreshes()).toBe(1);
  });

  it('stays the same until the new one is adopted, which may wait for a review.', async () => {
    await driver.command('connection.refresh');
    await driver.settle('readTools');
    await driver.advance(600_000);
    expect(driver.running()).toContain('adoptTools');
    expect(driver.snapshot.hasTag('refreshing')).toBe(true);
    expect(driver.emitted.filter(({ type }) => type === 'adopted')).toHaveLength(1);
  });

  it('of a lost session does not affect the next one.', async () => {
    await driver.listChanged();
    await driver.lose('retry');
    await driver.settle('releaseSession');
    await driver.advance(0);
    await driver.bringUp();
    expect(driver.context.tools.dueSince).toBeNull();
    await driver.advance(10_000);
    expect(refreshes()).toBe(1);
  });
});

describe('the lists of resources and prompts', () => {
  const listings = (): unknown[] =>
    driver.started.flatMap(({ input }) => ('lists' in input ? [input.lists] : []));

  it('are all read once the connection is ready, and those that changed 300 ms after the last change.', async () => {
    await driver.extrasChanged('prompts');
    await driver.advance(200);
    await driver.extrasChanged('prompts');
    await driver.advance(299);
    expect(listings()).toEqual([['resources', 'prompts']]);
    await driver.advance(1);
    expect(listings()).toEqual([['resources', 'prompts'], ['prompts']]);
    await driver.settle('enrichCatalog', { prompts: 9 });
    expect(driver.path).toBe('ready.resting+current');
    expect(refreshes()).toBe(0);
  });

  it('are read together if both change in one burst, after two seconds at the latest.', async () => {
    for (let passed = 0; passed < 2_000; passed += 200) {
      await driver.extrasChanged('resources');
      await driver.advance(100);
      await driver.extrasChanged('prompts');
      await driver.advance(100);
    }
    expect(listings()).toEqual([
      ['resources', 'prompts'],
      ['resources', 'prompts'],
    ]);
  });

  it('are read once more if they changed in the meantime, even if the reading failed because of it.', async () => {
    await driver.extrasChanged('resources');
    await driver.advance(300);
    await driver.extrasChanged('prompts');
    await driver.settle('enrichCatalog');
    await driver.advance(300);
    await driver.extrasChanged('resources');
    await driver.fail('enrichCatalog', 'retry');
    await driver.advance(300);
    expect(listings().slice(1)).toEqual([['resources'], ['prompts'], ['resources']]);
  });

  it('are all read at once when a user requests it, whatever was known to have changed.', async () => {
    await driver.extrasChanged('prompts');
    await driver.command('connection.refresh');
    expect(listings().at(-1)).toEqual(['resources', 'prompts']);
    await driver.settle('enrichCatalog');
    await driver.advance(10_000);
    expect(listings()).toHaveLength(2);
  });

  it('do not delay the tools, however long they take.', async () => {
    await driver.extrasChanged('resources');
    await driver.advance(300);
    await driver.listChanged();
    await driver.advance(300);
    await refreshed(CATALOG_2);
    expect(driver.path).toBe('ready.resting+current+listing');
    expect(driver.emitted.at(-1)).toMatchObject({ type: 'adopted', tools: 9 });
  });

  it('of a lost session do not affect the next one.', async () => {
    await driver.extrasChanged('prompts');
    await driver.lose('retry');
    await driver.settle('releaseSession');
    await driver.advance(0);
    await driver.bringUp();
    await driver.advance(10_000);
    expect(listings()).toEqual([
      ['resources', 'prompts'],
      ['resources', 'prompts'],
    ]);
  });
});

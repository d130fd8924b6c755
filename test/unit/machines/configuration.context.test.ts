/** The context and the emitted events of the configuration chart, when it reads, and what holds in random sequences. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzz } from '../../support/fuzz.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ConfigurationDriver, POLICY } from './configuration-driver.js';

useLeakCheck();

const START = 1_000_000;

describe('the context of a configuration', () => {
  it('starts empty, with every field present.', () => {
    const driver = new ConfigurationDriver();
    expect(driver.context).toStrictEqual({
      policy: POLICY,
      readable: true,
      changedAt: null,
      seenAt: null,
      asked: 0,
      serving: false,
      retries: 0,
    });
    driver.stop();
  });

  it('has the first and the latest change until a reading begins that covers them.', async () => {
    const driver = new ConfigurationDriver();
    await driver.change();
    await driver.clock.advance(200);
    await driver.change();
    expect(driver.context).toMatchObject({ changedAt: START, seenAt: START + 200 });
    await driver.clock.advance(300);
    expect(driver.context).toMatchObject({ changedAt: null, seenAt: null });
    driver.stop();
  });

  it('counts the reads that the host waits for, and knows whether the current one is among them.', async () => {
    const driver = new ConfigurationDriver();
    await driver.ask();
    await driver.ask();
    await driver.ask();
    expect(driver.context).toMatchObject({ asked: 2, serving: true });
    await driver.read();
    expect(driver.context).toMatchObject({ asked: 1, serving: true });
    await driver.fail();
    await driver.change();
    await driver.read();
    await driver.clock.advance(300);
    expect(driver.effects.reading).toEqual({ serving: false });
    expect(driver.context).toMatchObject({ asked: 0, serving: false });
    driver.stop();
  });

  it('knows whether the last reading could read every source, and when it ended if a change came during it.', async () => {
    const driver = new ConfigurationDriver();
    await driver.ask();
    await driver.read(false);
    expect(driver.context).toMatchObject({ readable: false, seenAt: null });
    await driver.ask();
    await driver.read();
    expect(driver.context).toMatchObject({ readable: true, seenAt: null });
    for (const end of [() => driver.fail(), () => driver.read()]) {
      await driver.ask();
      await driver.change();
      await driver.clock.advance(40);
      await end();
      expect(driver.context.seenAt).toBe(driver.clock.now());
    }
    await driver.ask();
    await driver.fail();
    expect(driver.context).toMatchObject({ readable: false, seenAt: null });
    driver.stop();
  });

  it.each(['change', 'ask'] as const)('forgets the retries at a %s, even during a reading.', async (what) => {
    const driver = new ConfigurationDriver({ readable: false });
    await driver.clock.advance(POLICY.retryAfterMs[0]!);
    expect(driver.context.retries).toBe(1);
    await driver[what]();
    expect(driver.context.retries).toBe(0);
    driver.stop();
  });

  it('of an actor that replaces a crashed one leads to another reading.', async () => {
    const driver = new ConfigurationDriver({ crash: 'a bug' });
    expect(driver.path).toBe('unreadable.retrying');
    await driver.clock.advance(POLICY.retryAfterMs[0]!);
    expect(driver.path).toBe('applying');
    driver.stop();
  });
});

/** A reading begins after that time, and not a millisecond earlier. */
async function expectReading(driver: ConfigurationDriver, afterMs: number): Promise<void> {
  expect(driver.path).toBe('changed');
  await driver.clock.advance(afterMs - 1);
  expect(driver.path).toBe('changed');
  await driver.clock.advance(1);
  expect(driver.path).toBe('applying');
}

describe('a change', () => {
  it('is read 300 ms after the last of a burst.', async () => {
    const driver = new ConfigurationDriver();
    for (let count = 0; count < 3; count += 1) {
      await driver.change();
      await driver.clock.advance(200);
    }
    await expectReading(driver, 100);
    driver.stop();
  });

  it('in continuous changes is read every 2 s.', async () => {
    const driver = new ConfigurationDriver();
    const readAt: number[] = [];
    for (let passed = 0; passed <= 4_500; passed += 100) {
      await driver.change();
      if (driver.effects.reading !== undefined) await driver.read();
      await driver.clock.advance(100);
      if (driver.effects.reading !== undefined) readAt.push(driver.clock.now() - START);
    }
    expect(readAt).toEqual([2_000, 4_000]);
    driver.stop();
  });

  it('during a reading waits for a quiet period after its end, for 2 s in all at most.', async () => {
    const driver = new ConfigurationDriver();
    await driver.ask();
    await driver.change();
    await driver.clock.advance(1_900);
    await driver.read();
    await expectReading(driver, 100);
    driver.stop();
  });

  it('is read at once after a reading that took longer.', async () => {
    const driver = new ConfigurationDriver();
    await driver.ask();
    await driver.change();
    await driver.clock.advance(2_500);
    const { reads } = driver.effects;
    await driver.read();
    await driver.clock.advance(0);
    expect(driver.effects.reads).toBe(reads + 1);
    driver.stop();
  });

  it('is not read later if the clock was set back.', async () => {
    const driver = new ConfigurationDriver();
    await driver.send({ type: 'files.changed', at: START });
    await driver.send({ type: 'files.changed', at: 0 });
    await driver.clock.advance(300);
    expect(driver.path).toBe('applying');
    driver.stop();
  });
});

describe('an unreadable source', () => {
  it('is read again after 1 and 2 s, and then after the next change, which starts the retries over.', async () => {
    const driver = new ConfigurationDriver({ readable: false });
    const readAt: number[] = [];
    const wait = async (): Promise<void> => {
      for (let passed = 0; passed < 10_000; passed += 100) {
        await driver.clock.advance(100);
        if (driver.effects.reading === undefined) continue;
        readAt.push(driver.clock.now() - START);
        await driver.read(false);
      }
    };
    await wait();
    expect(readAt).toEqual([1_000, 3_000]);
    await driver.change();
    await wait();
    expect(readAt.slice(2)).toEqual([10_300, 11_300, 13_300]);
    await driver.ask();
    await driver.read(false);
    await wait();
    expect(readAt.slice(5)).toEqual([21_000, 23_000]);
    driver.stop();
  });
});

describe('a problem', () => {
  it('is emitted, unless the host asked for the reading and gets the error itself.', async () => {
    const driver = new ConfigurationDriver();
    await driver.send({ type: 'watch.failed', message: 'ENOSPC' });
    await driver.change();
    await driver.clock.advance(300);
    await driver.fail('no table');
    expect(driver.newEvents).toEqual(['unwatched: ENOSPC', 'unapplied: no table']);
    await driver.ask();
    await driver.fail();
    expect(driver.newEvents).toEqual([]);
    driver.stop();
  });
});

describe('the watch', () => {
  it('gets an event when a reading ends, and ends with the chart.', async () => {
    const driver = new ConfigurationDriver();
    const { effects } = driver;
    await driver.ask();
    expect(effects.rereads).toBe(0);
    await driver.read();
    await driver.ask();
    await driver.fail();
    expect([effects.rereads, effects.isWatching]).toEqual([2, true]);
    await driver.ask();
    await driver.close();
    expect([effects.isWatching, effects.reading, driver.clock.pending]).toEqual([false, undefined, []]);
  });
});

describe('the watch, when a reading has ended', () => {
  const DURING: Readonly<Record<string, (driver: ConfigurationDriver) => Promise<unknown>>> = {
    nothing: async () => {},
    'a change': (driver) => driver.change(),
    'another request': (driver) => driver.ask(),
  };
  const ENDS: Readonly<Record<string, (driver: ConfigurationDriver) => Promise<void>>> = {
    'was read': (driver) => driver.read(),
    'was read in part': (driver) => driver.read(false),
    'could not be applied': (driver) => driver.fail(),
  };
  const ways = Object.keys(ENDS).flatMap((end) => Object.keys(DURING).map((came) => [end, came] as const));

  it.each(ways)('gets one event if everything %s (during the reading: %s).', async (end, came) => {
    const driver = new ConfigurationDriver();
    await driver.ask();
    await DURING[came]!(driver);
    await ENDS[end]!(driver);
    expect(driver.effects.rereads).toBe(1);
    driver.stop();
  });
});

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant('change' as const) },
  { weight: 2, arbitrary: fc.constant('ask' as const) },
  { weight: 3, arbitrary: fc.constant('read' as const) },
  { weight: 1, arbitrary: fc.constant('readPartly' as const) },
  { weight: 1, arbitrary: fc.constant('fail' as const) },
  { weight: 3, arbitrary: fc.constantFrom(1, 100, 300, 1_000, 5_000) },
);

describe('every random sequence', () => {
  it('that ends well ends in `quiet`: the last change was read, and each request had its own reading.', () =>
    fuzz(
      300,
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (story) => {
        const driver = new ConfigurationDriver();
        const { effects, clock } = driver;
        let [changes, asked] = [0, 0];
        /** How many changes had come when the current reading began, and how many any reading covers. */
        let [seen, covered, served, reads] = [0, 0, 0, 0];
        const look = (): void => {
          if (effects.reads === reads) return;
          expect(effects.reads).toBe(reads + 1);
          reads = effects.reads;
          seen = changes;
          if (effects.reading?.serving === true) served += 1;
        };
        for (const each of story) {
          const isReading = effects.reading !== undefined;
          if (typeof each === 'number') await clock.advance(each);
          else if (each === 'change') {
            changes += 1;
            await driver.change();
          } else if (each === 'ask') {
            asked += 1;
            await driver.ask();
          } else if (isReading) {
            covered = seen;
            await (each === 'fail' ? driver.fail() : driver.read(each === 'read'));
          }
          look();
        }
        for (let left = 0; left < 100 && (driver.path !== 'quiet' || left === 0); left += 1) {
          if (driver.path === 'failed' || driver.path === 'unreadable.waiting') {
            asked += 1;
            await driver.ask();
          }
          await clock.advance(2_000);
          look();
          if (effects.reading === undefined) continue;
          covered = seen;
          await driver.read();
          look();
        }
        expect(driver.path).toBe('quiet');
        expect({ covered, served }).toEqual({ covered: changes, served: asked });
        expect(clock.pending).toEqual([]);
        driver.stop();
      }),
    ));
});

import { describe, expect, it } from 'vitest';
import { CacheWrites } from '../../../src/catalog/cache-writes.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';

const PAUSE_MS = 1_000;
const CALM_MS = 100;

function begin() {
  const clock = createControlledClock();
  const writes = new CacheWrites(clock, PAUSE_MS);
  const done: string[] = [];
  const ask = (key: string, what: string): void =>
    writes.ask(key, async () => {
      done.push(`${key} ${what}`);
    });
  return { clock, writes, done, ask };
}

describe('deferred work', () => {
  useLeakCheck();

  it('does not start synchronously.', async () => {
    const { clock, done, ask } = begin();
    ask('a', 'one');
    await Promise.resolve();
    expect(done).toEqual([]);
    await clock.advance(CALM_MS);
    expect(done).toEqual(['a one']);
    expect(clock.pending).toEqual([]);
  });

  it('of many keys begins when no further key has come for a moment.', async () => {
    const { clock, done, ask } = begin();
    for (const key of ['a', 'b', 'c']) {
      ask(key, '1');
      await clock.advance(CALM_MS - 1);
    }
    expect(done).toEqual([]);
    await clock.advance(1);
    expect(done).toEqual(['a 1', 'b 1', 'c 1']);
    expect(clock.pending).toEqual([]);
  });

  it('runs twice in a burst: the first time soon, and the last one after a pause.', async () => {
    const { clock, done, ask } = begin();
    ask('a', '0');
    await clock.advance(CALM_MS);
    for (let round = 1; round <= 100; round += 1) {
      ask('a', String(round));
      await clock.advance(5);
    }
    await clock.advance(PAUSE_MS);
    expect(done).toEqual(['a 0', 'a 100']);
  });

  it('does not delay other keys.', async () => {
    const { clock, done, ask } = begin();
    ask('a', '1');
    await clock.advance(CALM_MS);
    ask('a', '2');
    ask('b', '1');
    await clock.advance(CALM_MS);
    expect(done).toEqual(['a 1', 'b 1']);
    await clock.advance(PAUSE_MS);
    expect(done).toEqual(['a 1', 'b 1', 'a 2']);
  });

  it('never runs twice at the same time.', async () => {
    const { clock, writes, done, ask } = begin();
    const gate = createGate();
    writes.ask('a', () => gate.promise);
    await clock.advance(CALM_MS);
    ask('a', '2');
    await clock.advance(10 * PAUSE_MS);
    expect(done).toEqual([]);
    gate.open();
    await clock.advance(PAUSE_MS);
    expect(done).toEqual(['a 2']);
  });

  it('that is pending is done by a flush, which leaves no timer and starts nothing new.', async () => {
    const { clock, writes, done, ask } = begin();
    ask('a', '1');
    await clock.advance(CALM_MS);
    ask('a', '2');
    ask('b', '1');
    await writes.flush();
    expect(done).toEqual(['a 1', 'a 2', 'b 1']);
    expect(clock.pending).toEqual([]);
    ask('a', '3');
    await clock.advance(10 * PAUSE_MS);
    expect(done).toHaveLength(3);
  });

  it('that is in progress when a flush starts is waited for, with everything requested in the meantime.', async () => {
    const { clock, writes, done, ask } = begin();
    const gate = createGate();
    writes.ask('a', () => gate.promise);
    await clock.advance(CALM_MS);
    ask('a', '2');
    let isFlushed = false;
    const flushing = writes.flush().then(() => (isFlushed = true));
    await clock.advance(0);
    expect(isFlushed).toBe(false);
    gate.open();
    await flushing;
    expect(done).toEqual(['a 2']);
  });
});

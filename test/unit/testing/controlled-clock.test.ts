/** A clock that a test controls. */
import { describe, expect, it } from 'vitest';
import { createControlledClock } from '../../../src/testing/controlled-clock.js';

describe('a controlled clock', () => {
  it('advances from one due timer to the next, each at its time, and then to the end.', async () => {
    const clock = createControlledClock(0);
    const fired: [string, number][] = [];
    const note = (name: string) => (): void => void fired.push([name, clock.now()]);
    clock.setTimeout(note('later'), 30);
    clock.setTimeout(() => {
      note('first')();
      clock.setTimeout(note('from the first'), 5);
    }, 10);
    const cleared = clock.setTimeout(note('cleared'), 20);
    clock.clearTimeout(cleared);
    expect(clock.pending).toEqual([30, 10]);
    await clock.advance(100);
    expect(fired).toEqual([
      ['first', 10],
      ['from the first', 15],
      ['later', 30],
    ]);
    expect(clock.now()).toBe(100);
  });

  it('never goes back, whatever the delay of a timer.', async () => {
    const clock = createControlledClock(1_000);
    const fired: number[] = [];
    for (const ms of [-5, Number.NaN, 0]) clock.setTimeout(() => fired.push(clock.now()), ms);
    await clock.advance(10);
    expect(fired).toEqual([1_000, 1_000, 1_000]);
    expect(clock.pending).toEqual([]);
  });

  it('advances by the sum of two concurrent calls.', async () => {
    const clock = createControlledClock(0);
    await Promise.all([clock.advance(5_000), clock.advance(1_000)]);
    expect(clock.now()).toBe(6_000);
  });

  it('can be advanced after a timer that threw.', async () => {
    const clock = createControlledClock(0);
    clock.setTimeout(() => {
      throw new Error('mistake');
    }, 1);
    await expect(clock.advance(5)).rejects.toThrow('mistake');
    await clock.advance(5);
    expect(clock.now()).toBe(6);
  });

  it('refuses an invalid time.', async () => {
    const clock = createControlledClock(0);
    for (const ms of [-1, Number.NaN, Infinity, undefined as unknown as number])
      await expect(clock.advance(ms)).rejects.toThrow(RangeError);
    expect(() => clock.sleep(-1)).toThrow(
      new RangeError('Expected a finite number of milliseconds, 0 or more; found -1.'),
    );
    expect(() => createControlledClock('noon' as never)).toThrow(
      new RangeError('Expected a number as the time, found noon.'),
    );
    expect(clock.now()).toBe(0);
  });

  it('keeps the remaining delay of timers while the machine sleeps.', async () => {
    const clock = createControlledClock(0);
    const fired: number[] = [];
    clock.setTimeout(() => fired.push(clock.now()), 10);
    clock.sleep(1_000);
    await clock.advance(9);
    expect(fired).toEqual([]);
    await clock.advance(1);
    expect(fired).toEqual([1_010]);
  });

  it('reports when a timer with a delay is set.', async () => {
    const clock = createControlledClock(0);
    const waited = clock.whenSet(7);
    clock.setTimeout(() => {}, 7);
    await expect(waited).resolves.toBeUndefined();
    await expect(clock.whenSet(7)).resolves.toBeUndefined();
  });
});

/** Where the lines of the timeline are if the clocks change in its period. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ticksOf } from '../../../../visualizer/src/views/time-ticks.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const HOUR = 3_600_000;
const zone = process.env['TZ'];

beforeEach(() => {
  process.env['TZ'] = 'Europe/Berlin';
});

afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

const read = (ticks: Iterable<number>): readonly string[] =>
  [...ticks].map((at) => {
    const date = new Date(at);
    return `${date.getMonth() + 1}-${date.getDate()} ${date.getHours()}:${date.getMinutes()}`;
  });

describe('the ticks of the timeline', () => {
  it('of days are at the start of each day, even after a change of the clocks.', () => {
    const autumn = new Date(2026, 9, 23, 12).getTime();
    expect(read(ticksOf(autumn, autumn + 96 * HOUR, 24 * HOUR))).toEqual([
      '10-24 0:0',
      '10-25 0:0',
      '10-26 0:0',
      '10-27 0:0',
    ]);
    const spring = new Date(2026, 2, 27, 12).getTime();
    expect(read(ticksOf(spring, spring + 96 * HOUR, 24 * HOUR))).toEqual([
      '3-28 0:0',
      '3-29 0:0',
      '3-30 0:0',
      '3-31 0:0',
    ]);
  });

  it('of several hours are at even hours before and after it, and those of one hour at each.', () => {
    const evening = new Date(2026, 9, 24, 20, 30).getTime();
    expect(read(ticksOf(evening, evening + 25 * HOUR, 6 * HOUR))).toEqual([
      '10-25 0:0',
      '10-25 6:0',
      '10-25 12:0',
      '10-25 18:0',
    ]);
    const night = new Date(2026, 9, 25, 0, 30).getTime();
    expect(read(ticksOf(night, night + 4 * HOUR, HOUR))).toEqual([
      '10-25 1:0',
      '10-25 2:0',
      '10-25 2:0',
      '10-25 3:0',
    ]);
  });
});

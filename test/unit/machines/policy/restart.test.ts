import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type RestartIntensity } from '../../../../machines/policy/policy.js';
import { isImmediateRetry, recordRestart } from '../../../../machines/policy/restart.js';

const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, Infinity, -Infinity));

/** Records losses one after the other and returns which of them, counted from 1, were over the limit. */
function exceedingLosses(losses: readonly number[], intensity: RestartIntensity): number[] {
  let times: readonly number[] = [];
  return losses.flatMap((at, index) => {
    const record = recordRestart(times, at, intensity);
    times = record.times;
    return record.exceeded ? [index + 1] : [];
  });
}

describe('restart intensity', () => {
  it.each([
    { story: 'the fifth loss within 30 s', losses: [0, 1_000, 2_000, 3_000, 4_000], exceeding: [5] },
    { story: 'every further loss too', losses: [0, 1, 2, 3, 4, 5], exceeding: [5, 6] },
    { story: 'five losses in the same millisecond', losses: [7, 7, 7, 7, 7], exceeding: [5] },
    { story: 'the fifth loss exactly 30 s after the first', losses: [0, 1, 2, 3, 30_000], exceeding: [5] },
    { story: 'not the fifth a millisecond later', losses: [0, 1, 2, 3, 30_001], exceeding: [] },
    { story: 'not four losses', losses: [0, 1, 2, 3], exceeding: [] },
    {
      story: 'no slow trickle, however long',
      losses: [0, 8_000, 16_000, 24_000, 32_000, 40_000],
      exceeding: [],
    },
    {
      story: 'a burst after a quiet time',
      losses: [0, 1, 99_000, 99_001, 99_002, 99_003, 99_004],
      exceeding: [7],
    },
    {
      story: 'no losses from before the clock was set back',
      losses: [9e6, 9e6, 9e6, 9e6, 1_000],
      exceeding: [],
    },
    {
      story: 'a burst in which the clock slips back a little',
      losses: [100, 200, 190, 300, 290],
      exceeding: [5],
    },
    { story: 'no loss at a time that is not a number', losses: [0, 1, 2, 3, NaN], exceeding: [] },
  ])('with 5 in 30 s, counts as a crash loop: $story', ({ losses, exceeding }) => {
    expect(exceedingLosses(losses, DEFAULT_POLICY.intensity)).toEqual(exceeding);
  });

  it.each([
    { restarts: 1, periodMs: 30_000, exceeding: [1, 2, 3] },
    { restarts: 2, periodMs: 30_000, exceeding: [2, 3] },
    { restarts: 2.5, periodMs: 30_000, exceeding: [3] },
    { restarts: 0, periodMs: 30_000, exceeding: [] },
    { restarts: -1, periodMs: 30_000, exceeding: [] },
    { restarts: NaN, periodMs: 30_000, exceeding: [] },
    { restarts: Infinity, periodMs: 30_000, exceeding: [] },
    { restarts: 2, periodMs: 0, exceeding: [] },
    { restarts: 2, periodMs: -1, exceeding: [] },
    { restarts: 2, periodMs: NaN, exceeding: [] },
    { restarts: 3, periodMs: Infinity, exceeding: [3] },
  ])(
    'with $restarts in $periodMs ms, three losses a second apart exceed at $exceeding',
    ({ exceeding, ...intensity }) => {
      expect(exceedingLosses([0, 1_000, 2_000], intensity)).toEqual(exceeding);
    },
  );

  it('keeps the losses that count, oldest first, and leaves the given list alone', () => {
    const times = Object.freeze([0, 10_000, 20_000]);
    expect(recordRestart(times, 35_000, DEFAULT_POLICY.intensity).times).toEqual([10_000, 20_000, 35_000]);
    const between = { restarts: 2.5, periodMs: 60_000 };
    expect(recordRestart(times, 35_000, between).times).toEqual([10_000, 20_000, 35_000]);
    expect(recordRestart(times, 35_000, { ...between, restarts: 0.5 }).times).toEqual([35_000]);
  });

  it('never keeps more losses than the limit and never throws, whatever the numbers', () => {
    const anyIntensity = fc.record({
      restarts: fc.oneof(fc.integer({ min: -5, max: 20 }), fc.constant(NaN)),
      periodMs: anyNumber,
    });
    fc.assert(
      fc.property(fc.array(anyNumber), anyNumber, anyIntensity, (times, at, intensity) => {
        const { times: kept } = recordRestart(times, at, intensity);
        expect(kept.length).toBeLessThanOrEqual(Math.max(0, intensity.restarts || 0));
      }),
    );
  });
});

describe('the immediate retry', () => {
  it.each([
    { story: 'after the first loss ever', lastLossAt: null, at: 1_000, windowMs: 60_000, immediate: true },
    {
      story: 'when the last loss is longer ago than the window',
      lastLossAt: 0,
      at: 60_001,
      windowMs: 60_000,
      immediate: true,
    },
    {
      story: 'when the last loss is exactly a window ago',
      lastLossAt: 0,
      at: 60_000,
      windowMs: 60_000,
      immediate: false,
    },
    {
      story: 'when the last loss was just now',
      lastLossAt: 1_000,
      at: 1_000,
      windowMs: 60_000,
      immediate: false,
    },
    {
      story: 'when the clock slipped back a little',
      lastLossAt: 1_000,
      at: 900,
      windowMs: 60_000,
      immediate: false,
    },
    {
      story: 'when the clock was set back by an hour',
      lastLossAt: 3_600_000,
      at: 0,
      windowMs: 60_000,
      immediate: true,
    },
    { story: 'without a window, a millisecond later', lastLossAt: 0, at: 1, windowMs: 0, immediate: true },
    {
      story: 'without a window, in the same millisecond',
      lastLossAt: 0,
      at: 0,
      windowMs: 0,
      immediate: false,
    },
    { story: 'with an endless window', lastLossAt: 0, at: 1e12, windowMs: Infinity, immediate: false },
    { story: 'with a window that is not a number', lastLossAt: 0, at: 1e12, windowMs: NaN, immediate: false },
    { story: 'at a time that is not a number', lastLossAt: 0, at: NaN, windowMs: 60_000, immediate: false },
  ])('is $immediate $story', ({ lastLossAt, at, windowMs, immediate }) => {
    expect(isImmediateRetry(lastLossAt, at, windowMs)).toBe(immediate);
  });
});

describe('a limit of zero restarts', () => {
  it('is no limit: nothing is exceeded, and nothing is remembered.', () => {
    expect(recordRestart([1, 2, 3], 4, { restarts: 0, periodMs: 30_000 })).toStrictEqual({
      times: [],
      exceeded: false,
    });
  });
});

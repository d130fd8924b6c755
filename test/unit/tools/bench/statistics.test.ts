import { describe, expect, it } from 'vitest';
import { loadScript, type Figure, type Figures, type Run } from '../../../support/tools/bench.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const { median, summary, countedRuns, figuresOf, ratio } = await loadScript<{
  median(values: readonly number[]): number | null;
  summary(values: readonly number[]): Figure | null;
  countedRuns(runs: readonly Run[]): { counted: readonly Run[]; isRough: boolean };
  figuresOf(runs: readonly Run[]): Figures;
  ratio(figure: Figure | null, base: Figure | null): number | null;
}>('statistics.mjs');
const { machineTicks, otherLoad, isNoisy } = await loadScript<{
  machineTicks(stat: string): number;
  otherLoad(
    begun: { machine: number; own: number; atMs: number },
    ended: { machine: number; own: number; atMs: number },
  ): number;
  isNoisy(load: number | null, most?: number): boolean;
}>('noise.mjs');
const { number, spread } = await loadScript<{
  number(value: number | null): string;
  spread(figure: Figure | null): string;
}>('numbers.mjs');

const quiet = (ms: number): Run => ({ values: { ms }, otherLoad: 0, isNoisy: false });
const noisy = (ms: number): Run => ({ values: { ms }, otherLoad: 0.9, isNoisy: true });

describe('the statistics of the benchmarks', () => {
  it('use the median, or the mean of the two middle values, in numeric order.', () => {
    expect(median([10, 9, 100])).toBe(10);
    expect(median([100, 9, 10, 20])).toBe(15);
    expect(median([])).toBeNull();
    expect(summary([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3, runs: 3 });
  });

  it('exclude noisy runs if enough quiet ones remain, and otherwise report the figure as rough.', () => {
    const enough = countedRuns([quiet(1), noisy(9), quiet(2)]);
    expect(enough).toEqual({ counted: [quiet(1), quiet(2)], isRough: false });
    expect(countedRuns([quiet(1), noisy(9), noisy(8)]).isRough).toBe(true);
    expect(countedRuns([quiet(1), noisy(9), noisy(8)]).counted).toHaveLength(3);
    expect(countedRuns([noisy(1)]).isRough).toBe(true);
  });

  it('keep a figure that only some runs have, and the last error.', () => {
    const runs: Run[] = [
      { values: { ms: 4, back: null }, otherLoad: null, isNoisy: false },
      { error: 'the first', otherLoad: null, isNoisy: false },
      { values: { ms: 6, back: 7 }, otherLoad: null, isNoisy: false },
      { error: 'the last', otherLoad: null, isNoisy: false },
    ];
    expect(figuresOf(runs)).toEqual({
      metrics: {
        ms: { median: 5, min: 4, max: 6, runs: 2 },
        back: { median: 7, min: 7, max: 7, runs: 1 },
      },
      isRough: false,
      runs: 4,
      counted: 2,
      error: 'the last',
    });
  });

  it('have no ratio to a missing figure or zero.', () => {
    const two = summary([2]);
    expect(ratio(summary([3]), two)).toBe(1.5);
    expect(ratio(null, two)).toBeNull();
    expect(ratio(two, null)).toBeNull();
    expect(ratio(two, summary([0]))).toBeNull();
  });

  it('are formatted with three significant digits, and with their range if there is one.', () => {
    expect([0, 0.01234, 1.005, 12.34, 1234.5, null].map(number)).toEqual([
      '0',
      '0.012',
      '1',
      '12.3',
      '1,235',
      '–',
    ]);
    expect(spread({ median: 12.34, min: 1, max: 20, runs: 3 })).toBe('12.3 (1–20)');
    expect(spread({ median: 5, min: 5, max: 5, runs: 1 })).toBe('5');
  });
});

describe('the load of other processes', () => {
  it('is the busy processor time of the machine, without idle time.', () => {
    expect(machineTicks('cpu  100 10 50 9000 30 5 6 7 0 0\ncpu0 1 1 1 1\n')).toBe(178);
  });

  it('is noise if the processes of the run did not cause it.', () => {
    const begun = { machine: 1_000, own: 50, atMs: 0 };
    expect(otherLoad(begun, { machine: 1_250, own: 200, atMs: 2_000 })).toBe(0.5);
    expect(otherLoad(begun, { machine: 1_100, own: 200, atMs: 2_000 })).toBe(0);
    expect([0.2, 0.3, null].map((load) => isNoisy(load))).toEqual([false, true, false]);
    expect(isNoisy(0.3, 0.5)).toBe(false);
  });
});

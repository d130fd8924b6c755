import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffDelay, jitterOver, MAX_DELAY_MS } from '../../../../machines/policy/backoff.js';
import { DEFAULT_POLICY, type BackoffOptions } from '../../../../machines/policy/policy.js';
import { nextRandom } from '../../../../machines/policy/seeded-random.js';

const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, Infinity, -Infinity, -0, 0, -1));

const anyOptions: fc.Arbitrary<BackoffOptions> = fc.oneof(
  fc.record({
    kind: fc.constant('exponential' as const),
    firstMs: anyNumber,
    factor: anyNumber,
    maxMs: anyNumber,
  }),
  fc.record({ kind: fc.constant('fixed' as const), delaysMs: fc.array(anyNumber) }),
);

function isWholeDelay(ms: number): boolean {
  return Number.isInteger(ms) && ms >= 0 && ms <= MAX_DELAY_MS;
}

function exponential(
  overrides: Partial<Extract<BackoffOptions, { kind: 'exponential' }>> = {},
): BackoffOptions {
  return { kind: 'exponential', firstMs: 1_000, factor: 2, maxMs: 30_000, ...overrides };
}

function fixed(...delaysMs: number[]): BackoffOptions {
  return { kind: 'fixed', delaysMs };
}

/** The smallest and the largest delay of one retry over many seeds: the span of the jitter as a user would see it. */
function rangeOf(retry: number, options: BackoffOptions): { readonly least: number; readonly most: number } {
  const delays = Array.from({ length: 5_000 }, (_, seed) => backoffDelay({ retry, seed }, options).delayMs);
  return { least: Math.min(...delays), most: Math.max(...delays) };
}

describe('exponential backoff', () => {
  it.each([
    { retry: 1, spanMs: 1_000 },
    { retry: 2, spanMs: 2_000 },
    { retry: 3, spanMs: 4_000 },
    { retry: 4, spanMs: 8_000 },
    { retry: 5, spanMs: 16_000 },
    { retry: 6, spanMs: 30_000 },
    { retry: 7, spanMs: 30_000 },
    { retry: 1_000_000, spanMs: 30_000 },
    { retry: Infinity, spanMs: 30_000 },
    { retry: 2.9, spanMs: 2_000 },
    { retry: 0.5, spanMs: 1_000 },
    { retry: 0, spanMs: 1_000 },
    { retry: -3, spanMs: 1_000 },
    { retry: NaN, spanMs: 1_000 },
  ])('waits up to $spanMs ms before retry $retry with the default numbers', ({ retry, spanMs }) => {
    const { least, most } = rangeOf(retry, DEFAULT_POLICY.backoff);
    expect(least).toBeLessThan(spanMs * 0.01);
    expect(most).toBeGreaterThan(spanMs * 0.99);
    expect(most).toBeLessThanOrEqual(spanMs);
  });

  it.each([
    { what: 'no first delay', options: exponential({ firstMs: 0 }), spanMs: 0 },
    { what: 'a first delay below zero', options: exponential({ firstMs: -1_000 }), spanMs: 0 },
    { what: 'a first delay that is not a number', options: exponential({ firstMs: NaN }), spanMs: 0 },
    { what: 'an endless first delay', options: exponential({ firstMs: Infinity }), spanMs: 30_000 },
    { what: 'a factor of one', options: exponential({ factor: 1 }), spanMs: 1_000 },
    { what: 'a factor of one half', options: exponential({ factor: 0.5 }), spanMs: 250 },
    { what: 'a factor of zero', options: exponential({ factor: 0 }), spanMs: 1_000 },
    { what: 'a factor below zero', options: exponential({ factor: -2 }), spanMs: 1_000 },
    { what: 'a factor that is not a number', options: exponential({ factor: NaN }), spanMs: 1_000 },
    { what: 'an endless factor', options: exponential({ factor: Infinity }), spanMs: 30_000 },
    { what: 'a ceiling below the first delay', options: exponential({ maxMs: 500 }), spanMs: 500 },
    { what: 'the lowest ceiling', options: exponential({ maxMs: 1 }), spanMs: 1 },
    { what: 'no ceiling', options: exponential({ maxMs: 0 }), spanMs: 4_000 },
    { what: 'an endless ceiling', options: exponential({ maxMs: Infinity }), spanMs: 4_000 },
    { what: 'a ceiling that is not a number', options: exponential({ maxMs: NaN }), spanMs: 4_000 },
  ])('spans $spanMs ms before the third retry with $what', ({ options, spanMs }) => {
    const { least, most } = rangeOf(3, options);
    expect(least).toBeLessThanOrEqual(spanMs * 0.02);
    expect(most).toBeGreaterThanOrEqual(spanMs * 0.98);
    expect(most).toBeLessThanOrEqual(spanMs);
  });

  it.each([
    [0.5, 2_000, 4_000],
    [0.25, 3_000, 4_000],
    [0, 4_000, 4_000],
    [1, 0, 4_000],
    [7, 0, 4_000],
    [-1, 4_000, 4_000],
  ])('draws only a share of the delay: %j', (jitter, leastMs, mostMs) => {
    const { least, most } = rangeOf(3, exponential({ jitter }));
    expect(Math.abs(least - leastMs)).toBeLessThanOrEqual(mostMs * 0.02);
    expect(Math.abs(most - mostMs)).toBeLessThanOrEqual(mostMs * 0.02);
  });

  it('stays at the first delay forever with a factor of one', () => {
    expect(rangeOf(Infinity, exponential({ factor: 1 })).most).toBe(1_000);
  });

  it('never waits longer than a timer can hold, even without a ceiling', () => {
    expect(MAX_DELAY_MS).toBe(2 ** 31 - 1);
    expect(rangeOf(1_000, exponential({ maxMs: 0 })).most).toBeGreaterThan(MAX_DELAY_MS * 0.99);
    expect(rangeOf(1_000, exponential({ maxMs: 0 })).most).toBeLessThanOrEqual(MAX_DELAY_MS);
  });

  it('spreads the delays evenly, both ends included', () => {
    const delays = Array.from(
      { length: 10_000 },
      (_, seed) => backoffDelay({ retry: 1, seed }, exponential({ firstMs: 4 })).delayMs,
    );
    for (const delayMs of [0, 1, 2, 3, 4]) {
      const count = delays.filter((each) => each === delayMs).length;
      expect(Math.abs(count - 2_000)).toBeLessThan(200);
    }
  });

  it('gives the same delay for the same seed, and a next seed that gives another', () => {
    const first = backoffDelay({ retry: 3, seed: 42 }, exponential());
    expect(backoffDelay({ retry: 3, seed: 42 }, exponential())).toEqual(first);
    expect(backoffDelay({ retry: 3, seed: first.seed }, exponential()).delayMs).not.toBe(first.delayMs);
    expect(first.seed).toBe(nextRandom(42).seed);
  });
});

describe('a fixed schedule', () => {
  it.each([
    { retry: 1, options: fixed(2_000, 5_000, 15_000), delayMs: 2_000 },
    { retry: 2, options: fixed(2_000, 5_000, 15_000), delayMs: 5_000 },
    { retry: 3, options: fixed(2_000, 5_000, 15_000), delayMs: 15_000 },
    { retry: 4, options: fixed(2_000, 5_000, 15_000), delayMs: 15_000 },
    { retry: Infinity, options: fixed(2_000, 5_000, 15_000), delayMs: 15_000 },
    { retry: 0, options: fixed(2_000, 5_000, 15_000), delayMs: 2_000 },
    { retry: -1, options: fixed(2_000, 5_000, 15_000), delayMs: 2_000 },
    { retry: NaN, options: fixed(2_000, 5_000, 15_000), delayMs: 2_000 },
    { retry: 1, options: fixed(0), delayMs: 0 },
    { retry: 1, options: fixed(-0), delayMs: 0 },
    { retry: 1, options: fixed(), delayMs: 0 },
    { retry: 9, options: fixed(), delayMs: 0 },
    { retry: 1, options: fixed(0.6), delayMs: 1 },
    { retry: 1, options: fixed(-5), delayMs: 0 },
    { retry: 1, options: fixed(NaN), delayMs: 0 },
    { retry: 1, options: fixed(Infinity), delayMs: MAX_DELAY_MS },
  ])(
    'waits exactly $delayMs ms before retry $retry of $options.delaysMs and leaves the seed alone',
    (row) => {
      expect(backoffDelay({ retry: row.retry, seed: 42 }, row.options)).toEqual({
        delayMs: row.delayMs,
        seed: 42,
      });
    },
  );
});

describe('jitterOver', () => {
  it.each([
    { spanMs: 0, most: 0 },
    { spanMs: -10, most: 0 },
    { spanMs: NaN, most: 0 },
    { spanMs: 1, most: 1 },
    { spanMs: 7, most: 7 },
    { spanMs: Infinity, most: MAX_DELAY_MS },
  ])('stays from 0 to $most ms for a span of $spanMs ms', ({ spanMs, most }) => {
    const delays = Array.from({ length: 1_000 }, (_, seed) => jitterOver(spanMs, seed).delayMs);
    expect(Math.min(...delays)).toBeLessThanOrEqual(most * 0.01);
    expect(Math.max(...delays)).toBeGreaterThanOrEqual(most * 0.99);
    expect(Math.max(...delays)).toBeLessThanOrEqual(most);
  });

  it('spreads a fleet that comes back online at once', () => {
    const delays = Array.from({ length: 100 }, (_, seed) => jitterOver(10_000, seed).delayMs);
    expect(new Set(delays).size).toBeGreaterThan(95);
  });
});

it('gives a whole delay that a timer can hold, whatever the numbers', () => {
  fc.assert(
    fc.property(anyNumber, anyNumber, anyOptions, (retry, seed, options) =>
      isWholeDelay(backoffDelay({ retry, seed }, options).delayMs),
    ),
  );
  fc.assert(
    fc.property(anyNumber, anyNumber, (spanMs, seed) => isWholeDelay(jitterOver(spanMs, seed).delayMs)),
  );
});

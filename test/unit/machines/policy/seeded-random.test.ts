import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashSeed, nextRandom } from '../../../../machines/policy/seeded-random.js';

const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(NaN, Infinity, -Infinity, -0, 2 ** 53));

function isUint32(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < 2 ** 32;
}

function drawMany(count: number, start: number): number[] {
  let seed = start;
  return Array.from({ length: count }, () => {
    const draw = nextRandom(seed);
    seed = draw.seed;
    return draw.value;
  });
}

describe('hashSeed', () => {
  it('gives a uint32 for every number and every name', () => {
    fc.assert(
      fc.property(anyNumber, fc.string({ unit: 'binary' }), (seed, name) => isUint32(hashSeed(seed, name))),
    );
  });

  it.each([
    { seed: 0, name: '', expected: 1_234_930_415 },
    { seed: 42, name: 'files', expected: 3_183_333_646 },
    { seed: 1_700_000_000_000, name: 'laterne_ü', expected: 2_026_680_998 },
  ])('keeps its result for seed $seed and name "$name", since recorded logs depend on it', (row) => {
    expect(hashSeed(row.seed, row.name)).toBe(row.expected);
  });

  it.each([
    { what: 'the name', one: [1, 'files'], other: [1, 'search'] },
    { what: 'the last letter of the name', one: [1, 'server-1'], other: [1, 'server-2'] },
    { what: 'the seed', one: [1, 'files'], other: [2, 'files'] },
    { what: 'the fraction of the seed', one: [0.25, 'files'], other: [0.75, 'files'] },
    { what: 'the part of the seed above 32 bits', one: [7, 'files'], other: [7 + 2 ** 32, 'files'] },
    { what: 'where the seed ends and the name begins', one: [1, '1'], other: [11, ''] },
  ] as const)('changes with $what', ({ one, other }) => {
    expect(hashSeed(one[0], one[1])).not.toBe(hashSeed(other[0], other[1]));
  });

  it('gives a thousand connections a thousand different seeds', () => {
    const seeds = Array.from({ length: 1000 }, (_, index) => hashSeed(42, `server-${index}`));
    expect(new Set(seeds).size).toBe(1000);
  });
});

describe('nextRandom', () => {
  it('gives a value from 0 to below 1 and a uint32 as next seed, whatever the seed', () => {
    fc.assert(
      fc.property(anyNumber, (seed) => {
        const draw = nextRandom(seed);
        return draw.value >= 0 && draw.value < 1 && isUint32(draw.seed);
      }),
    );
  });

  it('keeps its sequence, since recorded logs depend on it', () => {
    expect(drawMany(3, 42).map((value) => value * 2 ** 32)).toEqual([
      939_911_724, 3_948_730_756, 321_366_731,
    ]);
  });

  it('fills ten equal parts evenly', () => {
    const parts = drawMany(10_000, 42).map((value) => Math.floor(value * 10));
    for (let part = 0; part < 10; part += 1) {
      const count = parts.filter((each) => each === part).length;
      expect(Math.abs(count - 1000)).toBeLessThan(120);
    }
  });

  it('moves on from every seed that is not a number', () => {
    expect(new Set(drawMany(100, NaN)).size).toBe(100);
  });

  it('gives connections with neighboring seeds unlike first values', () => {
    const values = Array.from({ length: 1000 }, (_, seed) => nextRandom(seed).value);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
  });
});

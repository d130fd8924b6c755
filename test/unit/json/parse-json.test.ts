import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonExtent, excessOf, JSON_LIMITS, parseJson } from '../../../src/json/parse-json.js';

const DEPTH = { depth: 3, structure: 1_000 };

/** The structure of a text, by the only limit that it does not exceed. */
function structureOf(text: string): number {
  let count = 0;
  while (excessOf(text, { depth: Infinity, structure: count }) !== undefined) count += 1;
  return count;
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('JSON that others wrote', () => {
  it.each([
    ['[[[1]]]', 1],
    [`{"a":{"b":{}}}`, 1],
    ['[[[[1]]]]', undefined],
    ['[[],[[],[]],{"a":[[]]}]', undefined],
    ['["[[[[[[","{{{{\\"[[[[\\\\"]', 1],
  ])('is parsed within the limit of depth only: %s', (text, isParsed) => {
    expect(parseJson(text, DEPTH) === undefined).toBe(isParsed === undefined);
    expect(excessOf(text, DEPTH) === undefined).toBe(isParsed !== undefined);
  });

  it('is not parsed beyond the limit of structural characters', () => {
    const text = '{"a":[1,2]}';
    expect(parseJson(text, { depth: 9, structure: 6 })).toEqual({ a: [1, 2] });
    expect(parseJson(text, { depth: 9, structure: 5 })).toBeUndefined();
  });

  it('is within the default limits exactly up to them', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect([nested(1_000), nested(1_001)].map((text) => excessOf(text) === undefined)).toEqual([true, false]);
    const wide = (commas: number): string => `[${'0,'.repeat(commas)}0]`;
    const { structure } = JSON_LIMITS;
    expect([wide(structure - 2), wide(structure - 1)].map((text) => excessOf(text) === undefined)).toEqual([
      true,
      false,
    ]);
  });

  it.each(['{"a":"', '"\\', '"\\"', '[1', ']]]]]', '', '\\"[[[[[[['])('may be no JSON: %j', (text) => {
    expect(parseJson(text.padEnd(20), { depth: 5, structure: 5 })).toBeUndefined();
  });

  it('is counted as a parser reads it, whatever its strings hold', () => {
    const text = fc.string({
      unit: fc.constantFrom('"', '\\', '[', '{', ']', ':', ',', 'a', '\n', '\u2028'),
    });
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), text, fc.boolean(), (value, key, isSpaced) => {
        const whole = { [key]: [value, key] };
        const written = JSON.stringify(whole, null, isSpaced ? 1 : 0);
        const read = JSON.parse(written) as unknown;
        expect(structureOf(written)).toBe(
          jsonExtent(read, { size: Infinity, structure: Infinity }).structure,
        );
        const depth = depthOf(read);
        const structure = Infinity;
        expect(excessOf(written.padEnd(1_001), { depth, structure })).toBeUndefined();
        expect(excessOf(written.padEnd(1_001), { depth: depth - 1, structure })).toBeDefined();
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { isDeeperThan, parseJson } from '../../../src/json/parse-json.js';
import { writeJson, visibleJson } from '../../../src/json/write-json.js';
import { useLeakCheck } from '../../support/leak-check.js';
import fc from 'fast-check';

useLeakCheck();

const nested = (levels: number): unknown => {
  let value: unknown = null;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

describe('JSON for others', () => {
  it('nests as deeply as JSON that is read, and no deeper', () => {
    expect(parseJson(writeJson(nested(1_000)))).toEqual(nested(1_000));
    for (const levels of [1_001, 5_000, 200_000])
      expect(() => writeJson(nested(levels))).toThrow(/deeper than 1,000 levels/);
  });

  it('does not contain itself', () => {
    const cyclic: { self?: unknown; list: unknown[] } = { list: [] };
    cyclic.self = cyclic;
    cyclic.list = [cyclic, cyclic];
    expect(() => writeJson(cyclic)).toThrow(/contains itself/);
  });

  it('says why other values are not JSON', () => {
    expect(() => writeJson({ id: 1n })).toThrow(/BigInt/);
    expect(writeJson(() => {})).toBeUndefined();
  });
});

describe('the depth of a value', () => {
  it('is the number of arrays and objects within each other', () => {
    for (const value of ['text', 1, null, undefined]) expect(isDeeperThan(0, value)).toBe(false);
    expect([isDeeperThan(0, {}), isDeeperThan(1, [null, 'x']), isDeeperThan(1, [[]])]).toEqual([
      true,
      false,
      true,
    ]);
    expect([isDeeperThan(200, nested(200)), isDeeperThan(200, nested(201))]).toEqual([false, true]);
  });
});

describe('visible JSON', () => {
  it.each([
    ['\u007f', '"\\u007f"'],
    ['\u009b2J', '"\\u009b2J"'],
    ['\u202ey', '"\\u202ey"'],
    ['\u2066\u2069\u061c\u200e', '"\\u2066\\u2069\\u061c\\u200e"'],
    ['\u2028\u2029', '"\\u2028\\u2029"'],
    ['\u{e0041}', '"\\udb40\\udc41"'],
    ['Grüße, 世界 👍', '"Grüße, 世界 👍"'],
  ])('writes %j as %s.', (text, written) => {
    expect(visibleJson(text)).toBe(written);
    expect(JSON.parse(written)).toBe(text);
  });

  it('has the value of the JSON that it is, in names as well, and no character that cannot be seen.', () => {
    const value = fc.jsonValue({ stringUnit: 'binary' });
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (given, indent) => {
        const text = visibleJson(given, indent);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(given)));
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });
});

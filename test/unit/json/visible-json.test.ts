import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visibleJson } from '../../../src/json/visible-json.js';

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

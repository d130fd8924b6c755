import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesSegments } from '../../../src/text/matches-segments.js';

describe('a text', () => {
  it.each([
    ['abc', ['abc'], true],
    ['abc', ['ab'], false],
    ['', [''], true],
    ['abc', ['a', 'c'], true],
    ['ac', ['a', 'c'], true],
    ['aba', ['ab', 'ba'], false],
    ['a-b-c', ['a', 'b', 'c'], true],
    ['a-c-b', ['a', 'b', 'c'], false],
    ['anything', ['', ''], true],
  ])('%j consists of %j: %j', (text, pieces, is) => {
    expect(matchesSegments(text, pieces)).toBe(is);
  });

  it('consists of its segments with anything between them', () => {
    const between = fc.array(fc.tuple(fc.string(), fc.string()), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.string(), between, (first, rest) => {
        const text = first + rest.map(([gap, piece]) => gap + piece).join('');
        expect(matchesSegments(text, [first, ...rest.map(([, piece]) => piece)])).toBe(true);
      }),
    );
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { consistsOf } from '../../src/catalog/pieces.js';

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
    expect(consistsOf(text, pieces)).toBe(is);
  });

  it('consists of its pieces with anything between them', () => {
    const between = fc.array(fc.tuple(fc.string(), fc.string()), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.string(), between, (first, rest) => {
        const text = first + rest.map(([gap, piece]) => gap + piece).join('');
        expect(consistsOf(text, [first, ...rest.map(([, piece]) => piece)])).toBe(true);
      }),
    );
  });
});

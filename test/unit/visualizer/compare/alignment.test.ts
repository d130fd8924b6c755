/** The alignment of two sequences. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aligned, type Aligned } from '../../../../visualizer/src/compare/alignment.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const letters = (text: string): readonly string[] => [...text];
/** The alignment as text: a letter that both have, `-x` and `+x` for one of them. */
const shown = (a: string, b: string): string =>
  aligned(letters(a), letters(b))
    .map(([left, right]) =>
      left === undefined ? `+${b[right ?? -1]}` : right === undefined ? `-${a[left]}` : a[left],
    )
    .join(' ');

describe('an alignment', () => {
  it('pairs what both have, and finds what only one has.', () => {
    expect(shown('abc', 'abc')).toBe('a b c');
    expect(shown('', '')).toBe('');
    expect(shown('abcd', 'acde')).toBe('a -b c d +e');
    expect(shown('', 'ab')).toBe('+a +b');
    expect(shown('xaby', 'xbay')).toMatch(/^x (?:-a b \+a|\+b a -b) y$/);
  });

  it('has every item once, in order, and pairs only equal ones.', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const pairs: readonly Aligned[] = aligned(a, b);
        const side = (index: 0 | 1): number[] => pairs.flatMap((pair) => pair[index] ?? []);
        expect(side(0)).toEqual([...a.keys()]);
        expect(side(1)).toEqual([...b.keys()]);
        for (const [left, right] of pairs)
          if (left !== undefined && right !== undefined) expect(a[left]).toBe(b[right]);
      }),
    );
  });

  it('is as short as possible, and gives up for sequences that have little in common.', () => {
    expect(aligned(letters('abcabba'), letters('cbabac'))).toHaveLength(9);
    const many = (letter: string): readonly string[] => Array.from({ length: 600 }, () => letter);
    const pairs = aligned(['s', ...many('a'), 'e'], ['s', ...many('b'), 'e']);
    expect(pairs).toHaveLength(1_202);
    expect([pairs[0], pairs.at(-1)]).toEqual([
      [0, 0],
      [601, 601],
    ]);
  });
});

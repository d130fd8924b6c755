import { describe, expect, it } from 'vitest';
import stringWidth from 'string-width';
import { countOf, preciseDuration, shortDuration } from '../../../src/cli/output/duration.js';
import { fit, truncate } from '../../../src/cli/output/fit-text.js';
import { manyLines, oneLine } from '../../../src/cli/output/terminal.js';

describe('text from elsewhere', () => {
  it('cannot control the terminal.', () => {
    expect(oneLine('a\u001B[31mred\u001B[0m\u0007 b\u202Ec')).toBe('ared bc');
    expect(manyLines('a\u001B[2J\r\nb\u009Bc\u0000')).toBe('a\nb');
  });

  it('stays on one line if it has to, and otherwise keeps its lines.', () => {
    expect(oneLine('  a\n\n b\tc ')).toBe('a b c');
    expect(manyLines('a\n\n  b')).toBe('a\n\n  b');
  });
});

describe('fitted text', () => {
  it.each([
    ['short', 8, 'short'],
    ['exactly', 7, 'exactly'],
    ['too long', 7, 'too lo…'],
    ['日本語サーバ', 7, '日本語…'],
    ['日本語サーバ', 6, '日本…'],
    ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 5, '👩‍👩‍👧‍👦👩‍👩‍👧‍👦…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['anything', 1, '…'],
    ['anything', 0, ''],
    ['', 0, ''],
  ])('%j in %i columns is %j.', (text, width, expected) => {
    expect(truncate(text, width)).toBe(expected);
    expect(stringWidth(truncate(text, width))).toBeLessThanOrEqual(width);
    expect(stringWidth(fit(text, width))).toBe(width);
  });
});

describe('a time span', () => {
  it.each([
    [-5, '0s'],
    [999, '0s'],
    [59_999, '59s'],
    [60_000, '1m 00s'],
    [184_000, '3m 04s'],
    [3_600_000, '1h 00m'],
    [90_000_000, '1d 01h'],
  ])('of %i ms is %s in short form.', (ms, text) => {
    expect(shortDuration(ms)).toBe(text);
  });

  it('is precise to the millisecond below a second, and to a tenth of a second above.', () => {
    expect([0, 40.4, 999, 1_000, 12_345].map(preciseDuration)).toEqual([
      '0 ms',
      '40 ms',
      '999 ms',
      '1.0 s',
      '12.3 s',
    ]);
  });
});

describe('a count', () => {
  it('is singular for one and plural for any other number.', () => {
    expect([0, 1, 2].map((number) => countOf(number, 'tool'))).toEqual(['0 tools', '1 tool', '2 tools']);
  });
});

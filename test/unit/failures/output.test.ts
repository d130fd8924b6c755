import { describe, expect, it } from 'vitest';
import { causeHint, outputOf } from '../../../src/failures/output.js';

describe('the hint from the output of a server', () => {
  it.each([
    ['an error on stderr', ['Error: no key'], ['Usage: kiln'], /stderr.*: Error: no key$/],
    [
      'an error on stdout rather than chatter on stderr',
      ['starting'],
      ['Error: no key', 'Usage: kiln'],
      /stdout.*: Error: no key$/,
    ],
    ['stdout if stderr is empty', [], ['Usage: kiln', '  --help'], /stdout.*: Usage: kiln$/],
    ['the last line of stderr otherwise', ['starting', 'no disk'], ['x'], /stderr.*: no disk$/],
  ])('quotes %s', (_, stderr, stdout, hint) => {
    expect(causeHint(stderr, stdout)).toMatch(hint);
  });

  it('is undefined if it wrote nothing', () => {
    expect(causeHint([], [''])).toBeUndefined();
    expect(outputOf([], [])).toEqual({});
  });
});

describe('the output in a failure', () => {
  it('has the first and the last lines', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const { stderrTail = [] } = outputOf(lines, []);
    expect(stderrTail).toHaveLength(20);
    expect(stderrTail.at(0)).toBe('line 0');
    expect(stderrTail.at(-1)).toBe('line 99');
    expect(stderrTail.filter((line) => !line.startsWith('line'))).toEqual(['… 81 more lines …']);
    expect(outputOf(lines.slice(0, 20), []).stderrTail).toEqual(lines.slice(0, 20));
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAllowed } from '../../../../src/config/entry/tool-filter.js';

describe('the lists of a tool filter', () => {
  it.each([
    { story: 'everything is shown without lists', filter: {}, allowed: true },
    { story: 'nothing is shown with an empty allow list', filter: { allow: [] }, allowed: false },
    { story: 'an empty deny list hides nothing', filter: { deny: [] }, allowed: true },
    {
      story: 'a tool that is allowed by name is shown',
      filter: { allow: ['other', 'read_file'] },
      allowed: true,
    },
    { story: 'a tool outside the allow list is hidden', filter: { allow: ['other'] }, allowed: false },
    { story: 'a tool that is denied by name is hidden', filter: { deny: ['read_file'] }, allowed: false },
    { story: 'a tool outside the deny list is shown', filter: { deny: ['other'] }, allowed: true },
    {
      story: 'deny wins over the same name',
      filter: { allow: ['read_file'], deny: ['read_file'] },
      allowed: false,
    },
    {
      story: 'deny by wildcard wins over a name',
      filter: { allow: ['read_file'], deny: ['read*'] },
      allowed: false,
    },
    {
      story: 'deny by name wins over a wildcard',
      filter: { allow: ['*'], deny: ['read_file'] },
      allowed: false,
    },
  ])('$story', ({ filter, allowed }) => {
    expect(isAllowed('read_file', filter)).toBe(allowed);
  });
});

describe('a pattern', () => {
  it.each([
    { pattern: '*', tool: 'read_file', matches: true },
    { pattern: '*', tool: '', matches: true },
    { pattern: '**', tool: 'read_file', matches: true },
    { pattern: 'read_*', tool: 'read_file', matches: true },
    { pattern: 'read_*', tool: 'read_', matches: true },
    { pattern: 'read_*', tool: 'pre_read_file', matches: false },
    { pattern: '*_file', tool: 'read_file', matches: true },
    { pattern: '*_file', tool: 'read_files', matches: false },
    { pattern: '*ad_*', tool: 'read_file', matches: true },
    { pattern: 'r*d*e', tool: 'read_file', matches: true },
    { pattern: 'r*x*e', tool: 'read_file', matches: false },
    { pattern: 'a*a', tool: 'a', matches: false },
    { pattern: 'a*a', tool: 'aa', matches: true },
    { pattern: 'a*ab*b', tool: 'aab', matches: false },
    { pattern: 'ab*bc*cd', tool: 'abbccd', matches: true },
    { pattern: 'ab*bc*cd', tool: 'abcd', matches: false },
    { pattern: 'read', tool: 'read_file', matches: false },
    { pattern: '', tool: 'read_file', matches: false },
    { pattern: '', tool: '', matches: true },
    { pattern: 'Read_*', tool: 'read_file', matches: false },
    { pattern: 'read?file', tool: 'read_file', matches: false },
    { pattern: 'read?file', tool: 'read?file', matches: true },
    { pattern: 'read.file', tool: 'read_file', matches: false },
    { pattern: '[a-z]*', tool: 'read_file', matches: false },
    { pattern: 'lampe_ü*', tool: 'lampe_ü🏮', matches: true },
  ])('"$pattern" on "$tool" gives $matches', ({ pattern, tool, matches }) => {
    expect(isAllowed(tool, { allow: [pattern] })).toBe(matches);
    expect(isAllowed(tool, { deny: [pattern] })).toBe(!matches);
  });

  it('matches the same names as an equivalent regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
    fc.assert(
      fc.property(pattern, text, (glob, tool) => {
        const expected = new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(tool);
        expect(isAllowed(tool, { allow: [glob] })).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('with ten thousand wildcards is answered within a second on a name that almost matches', () => {
    const started = performance.now();
    expect(
      isAllowed('a'.repeat(20_000), { allow: [`${'a*'.repeat(10_000)}b`, `*${'a*'.repeat(10_000)}b*`] }),
    ).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

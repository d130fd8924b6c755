import { describe, expect, it } from 'vitest';
import { asPattern, stepsOf } from '../../support/guide-page.js';

const page = [
  'Text.',
  '```json title="a.json"',
  '{}',
  '```',
  '```sh',
  'not to be run',
  '```',
  '```console',
  '$ one',
  '$ two --flag',
  'first line',
  '',
  'last line',
  '```',
].join('\n');

describe('a page of the guide', () => {
  it('consists of files to write and commands to type, in order.', () => {
    expect(stepsOf(page)).toEqual([
      { kind: 'file', name: 'a.json', text: '{}\n' },
      {
        kind: 'console',
        commands: [
          { line: 'one', output: '' },
          { line: 'two --flag', output: 'first line\n\nlast line' },
        ],
      },
    ]);
  });

  it('is refused if it shows output before a command.', () => {
    expect(() => stepsOf('```console\nhello\n```')).toThrow('hello');
  });
});

describe('shown output', () => {
  it.each([
    ['ready, 1.2 s', 'ready, 870 ms'],
    ['at 2026-01-01T00:00:00.000Z', 'at 2031-12-31T23:59:59.999Z'],
    ['hash: …', 'hash: 12ab'],
    ['a\n…\nz', 'a\nb\nc\nz'],
    ['(a) [b] $c', '(a) [b] $c'],
  ])('matches: %j and %j.', (shown, printed) => {
    expect(printed).toMatch(asPattern(shown));
  });

  it.each([
    ['ready, 1.2 s', 'ready, soon'],
    ['hash: …', 'hash: 12\nmore'],
    ['a', 'a\nb'],
    ['a.c', 'abc'],
  ])('does not match: %j and %j.', (shown, printed) => {
    expect(printed).not.toMatch(asPattern(shown));
  });
});

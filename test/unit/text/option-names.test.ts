import { expect, it } from 'vitest';
import { nameAtEnd, nearestName } from '../../../src/text/option-names.js';

const KNOWN = ['command', 'args', 'env', 'url', 'headers', 'callTimeoutMs'];

it.each([
  ['comand', 'command', 'a letter lost'],
  ['commmand', 'command', 'a letter added'],
  ['cimmand', 'command', 'a letter changed'],
  ['ocmmand', 'command', 'two letters swapped'],
  ['heders', 'headers', 'one mistake'],
  ['haeder', 'headers', 'two mistakes in a long word'],
  ['ARGS', 'args', 'another case'],
  ['call-timeout-ms', 'callTimeoutMs', 'another way of joining words'],
  ['url', 'url', 'no mistake'],
])('%s is similar to %s: %s', (word, nearest) => {
  expect(nearestName(word, KNOWN)).toBe(nearest);
});

it.each([
  ['tags', 'two mistakes in a short word'],
  ['en', 'too short to judge'],
  ['', 'an empty text'],
  ['description', 'another word'],
  ['x'.repeat(10_000), 'anything very long'],
])('%s is similar to no name: %s', (word) => {
  expect(nearestName(word, KNOWN)).toBeUndefined();
});

it.each([
  ['mcpHeaders', 'headers'],
  ['fooheaders', undefined],
  ['headers', undefined],
  ['headersFoo', undefined],
])('%s ends in %s.', (word, name) => {
  expect(nameAtEnd(word, KNOWN)).toBe(name);
});

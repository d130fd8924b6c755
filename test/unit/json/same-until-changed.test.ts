import { describe, expect, it } from 'vitest';
import { sameUntilChanged } from '../../../src/json/freeze.js';

const row = (change: object = {}): object => ({
  name: 'a',
  pid: null,
  tail: ['x', 'y'],
  info: { at: 1 },
  ...change,
});

describe('a new value', () => {
  it('is replaced by the former one while the JSON is the same', () => {
    const before = row();
    expect(sameUntilChanged(before, row())).toBe(before);
  });

  it.each([
    ['a value', { name: 'b' }],
    ['a value that was null', { pid: 7 }],
    ['an object that was null', { pid: {} }],
    ['a null that was an object', { info: null }],
    ['an entry of a list', { tail: ['x', 'z'] }],
    ['the length of a list', { tail: ['x'] }],
    ['a list that was an object', { info: [] }, { info: {} }],
    ['an object that was a list', { info: {} }, { info: [] }],
    ['something deep', { info: { at: 2 } }],
    ['the number of fields', { info: { at: 1, by: 2 } }],
  ])('is kept if %s differs', (_, change, former: object = {}) => {
    const now = row(change);
    expect(sameUntilChanged(row(former), now)).toBe(now);
  });

  it('is kept if there was none before', () => {
    const now = row();
    expect(sameUntilChanged(undefined, now)).toBe(now);
  });
});

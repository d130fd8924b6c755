import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { codeOf, messageOf, reasonOf, toError } from '../../../src/text/error-message.js';

const boom = (): never => {
  throw new Error('boom');
};

describe('a thrown value', () => {
  it.each([
    ['an error', new TypeError('bad'), 'bad'],
    ['a text', 'bad', 'bad'],
    ['a number', 7, '7'],
    ['a symbol', Symbol('bad'), 'Symbol(bad)'],
    ['nothing', undefined, 'undefined'],
    ['an error whose message is not a string', Object.assign(new Error(), { message: 7 }), '7'],
    ['an object without a prototype', Object.create(null), 'no reason was given'],
    ['an object that throws again', { toString: boom }, 'no reason was given'],
    [
      'an error that throws again',
      Object.defineProperty(new Error(), 'message', { get: boom }),
      'no reason was given',
    ],
  ])('has a message: %s', (_, thrown: unknown, message) => {
    expect(messageOf(thrown)).toBe(message);
  });

  it.each([
    ['a system error', Object.assign(new Error("ENOSPC: '/private/place'"), { code: 'ENOSPC' }), 'ENOSPC'],
    [
      'an import that failed',
      Object.assign(new Error("Cannot find module './impl/format'\nRequire stack:"), {
        code: 'MODULE_NOT_FOUND',
      }),
      "Cannot find module './impl/format'",
    ],
    [
      'an error without a code',
      new Error('Dynamic require of "process" is not supported'),
      /^Dynamic require/,
    ],
    [
      'an error whose message shows an argument',
      Object.assign(new TypeError("Received 'secret'"), { code: 'ERR_INVALID_ARG_VALUE' }),
      'ERR_INVALID_ARG_VALUE',
    ],
    ['an error that says nothing', new Error(), 'no reason was given'],
    ['an error of another realm', runInNewContext(`new TypeError('far away')`), 'far away'],
    ['nothing', undefined, 'no reason was given'],
  ])('has a reason: %s', (_, thrown: unknown, reason) => {
    expect(reasonOf(thrown)).toMatch(reason);
  });

  it('has a code only if it is an error with one, of any realm', () => {
    const foreign: unknown = runInNewContext(`Object.assign(new Error('gone'), { code: 'ENOENT' })`);
    expect(codeOf(foreign)).toBe('ENOENT');
    expect([messageOf(foreign), toError(foreign) === foreign]).toEqual(['gone', true]);
    expect([new Error('bad'), { code: 'ENOENT' }, undefined].map(codeOf)).toEqual(Array(3).fill(undefined));
  });

  it('is the error itself, or one with its message', () => {
    const error = new TypeError('bad');
    expect(toError(error)).toBe(error);
    expect(toError('bad')).toEqual(new Error('bad'));
    expect(toError(Object.create(null))).toEqual(new Error('no reason was given'));
  });
});

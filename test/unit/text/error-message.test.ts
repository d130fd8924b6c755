import { describe, expect, it } from 'vitest';
import { messageOf, toError } from '../../../src/text/error-message.js';

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

  it('is the error itself, or one with its message', () => {
    const error = new TypeError('bad');
    expect(toError(error)).toBe(error);
    expect(toError('bad')).toEqual(new Error('bad'));
    expect(toError(Object.create(null))).toEqual(new Error('no reason was given'));
  });
});

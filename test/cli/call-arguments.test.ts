import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readArguments, toArguments } from '../../src/cli/call-arguments.js';

const SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    maybe: { type: ['string', 'null'] },
    count: { type: 'integer' },
    list: { type: 'array' },
    any: {},
  },
};

async function sent(words: readonly string[], stdin = '', schema: Record<string, unknown> = SCHEMA) {
  return toArguments(await readArguments(words, Readable.from([stdin])), schema);
}

describe('the arguments of a call', () => {
  it('are empty where none are given.', async () => {
    expect(await sent([])).toEqual({});
  });

  it('are one JSON object, from the command line or from stdin.', async () => {
    expect(await sent(['{"text": 1, "a=b": [true]}'])).toEqual({ text: 1, 'a=b': [true] });
    expect(await sent(['-'], '\n{"count": 2}\n')).toEqual({ count: 2 });
  });

  it('are pairs whose values are what they look like.', async () => {
    const words = [
      'a=1',
      'b=-2.5',
      'c=true',
      'd=null',
      'e=[1,2]',
      'f={"g":"h"}',
      'i=plain words',
      'j=',
      'k=a=b',
    ];
    expect(await sent(words)).toEqual({
      a: 1,
      b: -2.5,
      c: true,
      d: null,
      e: [1, 2],
      f: { g: 'h' },
      i: 'plain words',
      j: '',
      k: 'a=b',
    });
  });

  it('stay text where the schema wants text, whatever they look like.', async () => {
    expect(await sent(['text=12', 'maybe=true'])).toEqual({ text: '12', maybe: 'true' });
  });

  it('are read as the schema wants them, and sent as they are where that is not possible.', async () => {
    expect(await sent(['count=12', 'list=[1]'])).toEqual({ count: 12, list: [1] });
    expect(await sent(['count=twelve'])).toEqual({ count: 'twelve' });
  });

  it('keep the quotes and the leading zeros that somebody wrote.', async () => {
    expect(await sent(['a="quoted"', 'b=007'])).toEqual({ a: '"quoted"', b: '007' });
  });

  it('keep every digit of a number too large for JSON, unless the schema wants a number.', async () => {
    expect(await sent(['id=12345678901234567890'])).toEqual({ id: '12345678901234567890' });
    expect(await sent(['count=12345678901234567890'])).toEqual({ count: 12345678901234567000 });
  });

  it('may have any name.', async () => {
    expect(Object.entries(await sent(['__proto__=1', 'constructor=2']))).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ]);
  });

  it('do not need a schema that makes sense.', async () => {
    expect(await sent(['a=1'], '', { properties: 'none' })).toEqual({ a: 1 });
    expect(await sent(['a=1'], '', { properties: { a: { type: 7 } } })).toEqual({ a: 1 });
  });

  it.each([
    [['{"a":'], '', 'ARGS is neither JSON nor key=value pairs'],
    [['word'], '', 'ARGS is neither JSON nor key=value pairs'],
    [['[1]'], '', 'ARGS must be a JSON object'],
    [['null'], '', 'ARGS must be a JSON object'],
    [['-'], '', 'stdin is neither JSON nor key=value pairs'],
    [['-'], '"text"', 'stdin must be a JSON object'],
    [['a=1', 'word'], '', 'ARGS is one JSON object, -, or key=value pairs'],
    [['a=1', '=2'], '', 'ARGS is one JSON object, -, or key=value pairs'],
    [['a=1', 'a=2'], '', "'a' is given twice"],
  ])('%j with %j on stdin is refused: %s.', async (words, stdin, message) => {
    await expect(sent(words, stdin)).rejects.toThrow(new RegExp(`^${message}$`));
  });
});

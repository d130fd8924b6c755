import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readArguments, toArguments } from '../../../../src/cli/arguments/call-arguments.js';

const SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    maybe: { type: ['string', 'null'] },
    count: { type: 'integer' },
    list: { type: 'array' },
    any: {},
    maybeText: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    maybeCount: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
    maybeAny: { anyOf: [{}, { type: 'null' }] },
    level: { $ref: '#/$defs/Level' },
    nested: { oneOf: [{ allOf: [{ $ref: '#/$defs/a~1b%20c' }] }, { type: 'boolean' }] },
    version: { const: '5' },
    mixed: { enum: [1, 2, 'auto', '3'] },
    countOrAuto: { anyOf: [{ type: 'integer' }, { const: 'auto' }] },
    speed: { enum: ['fast', 'slow'] },
    textOrList: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    whole: { allOf: [{ type: ['string', 'integer'] }, { type: 'integer' }] },
    cycle: { $ref: '#/$defs/Cycle' },
    nowhere: { anyOf: [{ $ref: '#/$defs/none' }, { $ref: 'https://schemas.example/id' }, { $ref: '#/%' }] },
  },
  $defs: {
    Level: { enum: ['1', '2'], title: 'Level' },
    'a/b c': { type: 'string' },
    Cycle: { anyOf: [{ $ref: '#/$defs/Cycle' }, { type: 'string' }] },
  },
};

async function sent(words: readonly string[], stdin = '', schema: Record<string, unknown> = SCHEMA) {
  return toArguments(await readArguments(words, Readable.from([stdin])), schema);
}

describe('the arguments of a call', () => {
  it('are empty if none are given.', async () => {
    expect(await sent([])).toEqual({});
  });

  it('are one JSON object, from the command line or from stdin.', async () => {
    expect(await sent(['{"text": 1, "a=b": [true]}'])).toEqual({ text: 1, 'a=b': [true] });
    expect(await sent(['-'], '\n{"count": 2}\n')).toEqual({ count: 2 });
  });

  it('are pairs whose values are parsed as JSON if possible.', async () => {
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

  it('are lists, objects and null if the schema allows them.', async () => {
    const words = ['textOrList=["a"]', 'maybeText=null', 'text=["a"]'];
    expect(await sent(words)).toEqual({ textOrList: ['a'], maybeText: null, text: '["a"]' });
    expect(await sent(['textOrList=["a"', 'maybeText=nil'])).toEqual({
      textOrList: '["a"',
      maybeText: 'nil',
    });
  });

  it('have a type that every part of allOf allows.', async () => {
    expect(await sent(['whole=7'])).toEqual({ whole: 7 });
  });

  it('stay text if the schema requires text, whatever they look like.', async () => {
    expect(await sent(['text=12', 'maybe=true'])).toEqual({ text: '12', maybe: 'true' });
  });

  it.each([
    ['maybeText=123', '123'],
    ['level=1', '1'],
    ['nested=7', '7'],
    ['nested=true', 'true'],
    ['version=5', '5'],
    ['mixed=3', '3'],
    ['speed=1', '1'],
    ['cycle=1', '1'],
  ])('are text if a choice, a reference or an enum value of the schema is text: %s.', async (word, text) => {
    expect(Object.values(await sent([word]))).toEqual([text]);
  });

  it.each([
    ['maybeCount=3', 3],
    ['maybeCount=null', null],
    ['maybeAny=3', 3],
    ['mixed=2', 2],
    ['countOrAuto=5', 5],
    ['nowhere=1', 1],
  ])('are not text if the schema does not allow text: %s.', async (word, value) => {
    expect(Object.values(await sent([word]))).toEqual([value]);
  });

  it('are parsed as the schema requires, and sent as text if that is impossible.', async () => {
    expect(await sent(['count=12', 'list=[1]'])).toEqual({ count: 12, list: [1] });
    expect(await sent(['count=twelve'])).toEqual({ count: 'twelve' });
  });

  it('keep their quotes and leading zeros.', async () => {
    expect(await sent(['a="quoted"', 'b=007'])).toEqual({ a: '"quoted"', b: '007' });
  });

  it('keep every digit of a number too large for JSON if the schema does not specify a type.', async () => {
    expect(await sent(['id=12345678901234567890', 'any=1e400'])).toEqual({
      id: '12345678901234567890',
      any: '1e400',
    });
  });

  it.each([
    [['count=9007199254740993'], '', "'count'"],
    [['count=-12345678901234567890'], '', "'count'"],
    [['count=1e400'], '', "'count'"],
    [['maybeCount=9007199254740993'], '', "'maybeCount'"],
    [['list=[1,9007199254740993]'], '', "'list'"],
    [['any=[1,9007199254740993]'], '', "'any'"],
    [['{"count":9007199254740993}'], '', 'ARGS'],
    [['{"any":{"deep":["\\"", -9007199254740993]}}'], '', 'ARGS'],
    [['{"any":1e400}'], '', 'ARGS'],
    [['-'], '{"count": 9007199254740993}', 'stdin'],
  ])(
    'are refused if they contain a number that JSON would change: %j with %j on stdin.',
    async (words, stdin, where) => {
      await expect(sent(words, stdin)).rejects.toThrow(new RegExp(`^${where} .*number`));
    },
  );

  it('may contain large numbers that JSON keeps exactly, fractions, and any digits within a text.', async () => {
    const json =
      '{"a":9007199254740992,"b":1e21,"c":0.1000000000000000055,"d":-0,"e":"9007199254740993","f \\" 9007199254740993":1}';
    expect(await sent([json])).toEqual(JSON.parse(json));
    expect(await sent(['count=9007199254740992', 'any="\\"9007199254740993"'])).toEqual({
      count: 9007199254740992,
      any: '"\\"9007199254740993"',
    });
  });

  it('may be long texts.', async () => {
    const args = { text: '\\"1\n'.repeat(3_000_000) };
    expect(await sent([JSON.stringify(args)])).toEqual(args);
  });

  it('may have any name that cannot start a JSON value, alone and among others.', async () => {
    expect(await sent(['a[0]=1'])).toEqual({ 'a[0]': 1 });
    expect(await sent(['a[0]=1', 'b {"c=2'])).toEqual({ 'a[0]': 1, 'b {"c': 2 });
    expect(await sent(['b {"c=2\n3'])).toEqual({ 'b {"c': '2\n3' });
    expect(Object.entries(await sent(['__proto__=1', 'constructor=2']))).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ]);
  });

  it('do not require a valid schema.', async () => {
    expect(await sent(['a=1'], '', { properties: 'none' })).toEqual({ a: 1 });
    expect(await sent(['a=1'], '', { properties: { a: { type: 7 } } })).toEqual({ a: 1 });
  });

  it.each([
    [['{"a":'], '', 'ARGS is not JSON: line 1, column 6: the text ends too early: a value was expected'],
    [['{"a":1,}'], '', 'ARGS is not JSON: it has no comments, and no comma before a closing bracket'],
    [['-'], '{"a": "s3cret",\n "b" 2}', "stdin is not JSON: line 2, column 6: ':' was expected"],
    [['word'], '', 'ARGS is neither JSON nor key=value pairs'],
    [['[1]'], '', 'ARGS must be a JSON object'],
    [['null'], '', 'ARGS must be a JSON object'],
    [['-'], '', 'stdin is neither JSON nor key=value pairs'],
    [['-'], '"text"', 'stdin must be a JSON object'],
    [['a=1', 'word'], '', 'ARGS is one JSON object, -, or key=value pairs'],
    [['a=1', '=2'], '', 'ARGS is one JSON object, -, or key=value pairs'],
    [['{"a":"b=c"'], '', "ARGS is not JSON: line 1, column 11: the text ends too early: '}' was expected"],
    [['{"a":"b=c"}', 'd=1'], '', 'ARGS is one JSON object, -, or key=value pairs'],
    [['a=1', 'a=2'], '', "'a' is given twice"],
  ])('%j with %j on stdin is refused: %s.', async (words, stdin, message) => {
    await expect(sent(words, stdin)).rejects.toThrow(new RegExp(`^${message}$`));
  });
});

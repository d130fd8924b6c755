/** Inputs for the fuzz tests, as hostile servers would send them. */
import fc from 'fast-check';

/** Text that trips parsers, terminals and regular expressions. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '\0',
      '\ufeff',
      '\u2028\u2029\u202e',
      '\u001b[2J\u001b]0;title\u0007',
      '\ud800',
      '__proto__',
      'constructor',
      'toString',
      '../../etc/passwd',
      '${HOME}',
      'x'.repeat(5_000),
    ),
  },
);

/** A value that `String` throws for. */
const NO_TEXT = { toString: null, valueOf: null };

/** Any JSON value, including the names that pollute a prototype if they are assigned. */
export const json: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -0, 1.5, -1, 1e308, 2 ** 53, [], NO_TEXT),
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.oneof(text, fc.constant('__proto__')), tie('value')), { maxLength: 4 })
      .map(asParsed),
  ),
})).value;

/** As `JSON.parse` creates it: `__proto__` is an ordinary name. */
function asParsed(members: readonly (readonly [string, unknown])[]): unknown {
  return Object.fromEntries(members);
}

export const id: fc.Arbitrary<unknown> = fc.oneof(
  fc.nat(6),
  fc.nat(6).map(String),
  fc.constantFrom<unknown>(-1, 0.5, Number.MAX_VALUE, 2 ** 53, '', ' 1 ', '0x1', '1e0', null, true, [1], {}),
  json,
);

const METHODS = [
  'ping',
  'initialize',
  'notifications/progress',
  'notifications/cancelled',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/resources/updated',
  'notifications/tasks/status',
  'sampling/createMessage',
  'roots/list',
  '__proto__',
  'constructor',
];

const method: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...METHODS) },
  { weight: 1, arbitrary: json },
);

const params: fc.Arbitrary<unknown> = fc.oneof(
  json,
  fc.record(
    { progressToken: id, progress: json, requestId: id, reason: json, uri: json, data: json, _meta: json },
    { requiredKeys: [] },
  ),
);

/** A value shaped like a JSON-RPC message, each part of which may be valid or not. */
export const message: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: json }),
        id,
        method,
        params,
        result: json,
        error: fc.oneof(json, fc.record({ code: json, message: json, data: json }, { requiredKeys: [] })),
        extra: json,
      },
      { requiredKeys: ['jsonrpc'] },
    ),
  },
  { weight: 1, arbitrary: json },
);

/** The bytes in chunks of any length, including empty ones. */
export function inChunks(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let from = 0;
  for (let turn = 0; from < bytes.length; turn += 1) {
    const length =
      turn > 2 * lengths.length ? bytes.length : (lengths[turn % lengths.length] ?? bytes.length);
    chunks.push(bytes.subarray(from, from + length));
    from += length;
  }
  return chunks;
}

/** Lengths of chunks. */
export const cuts: fc.Arbitrary<number[]> = fc.array(fc.oneof(fc.nat(4), fc.nat(200)), {
  minLength: 1,
  maxLength: 12,
});

/** JSON text nested to a given depth: `JSON.parse` accepts any depth, recursive code does not. */
export function nested(levels: number, innermost = '1'): string {
  return '{"a":['.repeat(levels / 2) + innermost + ']}'.repeat(levels / 2);
}

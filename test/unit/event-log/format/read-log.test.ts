import { describe, expect, it } from 'vitest';
import { LOG_FORMAT, type LogEntry } from '../../../../src/event-log/format/entry.js';
import { type LogProblem, readLog, type LogPiece } from '../../../../src/event-log/format/read-log.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { SAMPLE_ENTRIES, SAMPLE_HEADER, SAMPLE_LINES, toBytes } from '../../../support/sample-log.js';

useLeakCheck();

async function* inPieces(bytes: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length);
}

async function read(bytes: Buffer, options: { piece?: number; limit?: number } = {}): Promise<LogPiece[]> {
  const { piece = 7, limit } = options;
  const pieces: LogPiece[] = [];
  for await (const each of readLog(inPieces(bytes, piece), {
    ...(limit !== undefined && { maxLineBytes: limit }),
  }))
    pieces.push(each);
  return pieces;
}

const entriesOf = (pieces: readonly LogPiece[]): LogEntry[] =>
  pieces.flatMap((piece) => (piece.type === 'entry' ? [piece.entry] : []));

const problemOf = (pieces: readonly LogPiece[]): LogProblem | undefined => {
  const last = pieces.at(-1);
  return last?.type === 'problem' ? last.problem : undefined;
};

/** The sample with one line replaced or removed. */
const withLine = (number: number, ...lines: readonly string[]): Buffer =>
  toBytes(SAMPLE_LINES.toSpliced(number - 1, 1, ...lines));

const altered = (number: number, change: Record<string, unknown>): Buffer =>
  withLine(number, JSON.stringify({ ...JSON.parse(SAMPLE_LINES[number - 1]!), ...change }));

describe('a complete log', () => {
  it('yields its header and every entry with its line number, however the bytes are split.', async () => {
    for (const piece of [1, 100, 10_000]) {
      const pieces = await read(toBytes(SAMPLE_LINES), { piece });
      expect(pieces[0]).toEqual({ type: 'header', line: 1, header: SAMPLE_HEADER });
      expect(entriesOf(pieces)).toEqual(SAMPLE_ENTRIES);
      expect(pieces.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(problemOf(pieces)).toBeUndefined();
    }
  });

  it('may lack its last line feed, and may have Windows line endings.', async () => {
    expect(entriesOf(await read(Buffer.from(SAMPLE_LINES.join('\r\n'))))).toEqual(SAMPLE_ENTRIES);
  });

  it('may start with a byte order mark.', async () => {
    const marked = Buffer.concat([Buffer.from('\ufeff'), toBytes(SAMPLE_LINES)]);
    const pieces = await read(marked);
    expect(pieces[0]).toEqual({ type: 'header', line: 1, header: SAMPLE_HEADER });
    expect(problemOf(pieces)).toBeUndefined();
  });

  it('keeps unknown fields.', async () => {
    const pieces = await read(altered(3, { later: true }));
    expect(entriesOf(pieces)).toHaveLength(SAMPLE_ENTRIES.length);
  });
});

describe('a log whose last line was cut off', () => {
  it('yields everything before, and names the incomplete line.', async () => {
    const whole = toBytes(SAMPLE_LINES);
    const pieces = await read(whole.subarray(0, whole.length - 10));
    expect(entriesOf(pieces)).toEqual(SAMPLE_ENTRIES.slice(0, -1));
    expect(problemOf(pieces)).toEqual({ code: 'truncated', line: 7, message: expect.any(String) });
  });

  it('is reported if only half of the header was written.', async () => {
    const pieces = await read(toBytes(SAMPLE_LINES).subarray(0, 30));
    expect(problemOf(pieces)).toMatchObject({ code: 'truncated', line: 1 });
  });

  it('is reported if it ends within a snapshot.', async () => {
    const snapshot = JSON.stringify({ ...SAMPLE_ENTRIES[0], left: 1 });
    const pieces = await read(toBytes([SAMPLE_LINES[0]!, snapshot]));
    expect(entriesOf(pieces)).toHaveLength(1);
    expect(problemOf(pieces)).toMatchObject({ code: 'truncated', line: 3 });
  });
});

describe('a file that is not a log', () => {
  it.each([
    ['an empty file', ''],
    ['text', 'hello\n'],
    ['text without a line ending', 'hello'],
    ['binary data', '\0\u0001\u0002'],
    ['JSON of another kind', '{"mcpServers":{}}\n'],
    ['a list', '[1,2]\n'],
    ['a log of version 0', '{"troupeLog":0}\n'],
    ['a header in __proto__', '{"__proto__":{"troupeLog":2}}\n'],
  ])('is reported as such: %s.', async (_, text) => {
    const pieces = await read(Buffer.from(text));
    expect(pieces).toHaveLength(1);
    expect(problemOf(pieces)).toMatchObject({
      code: 'not-a-log',
      line: 1,
      message: expect.stringContaining('Line 1'),
    });
  });

  it.each([
    ['older', LOG_FORMAT - 1],
    ['newer', LOG_FORMAT + 1],
  ])(
    'is distinguished from a log of a version that is %s, and the version is named.',
    async (code, version) => {
      const pieces = await read(altered(1, { troupeLog: version, package: undefined }));
      expect(pieces).toHaveLength(1);
      expect(problemOf(pieces)).toMatchObject({
        code,
        line: 1,
        message: expect.stringContaining(`version ${version}`),
      });
    },
  );
});

describe('a damaged line', () => {
  it.each<[what: string, line: number, bytes: Buffer, message: string]>([
    ['a header without its charts', 1, altered(1, { machines: { connection: 1 } }), "'machines'"],
    ['invalid JSON', 4, withLine(4, '{"seq":3,'), 'JSON'],
    ['an empty line', 4, withLine(4, ''), 'JSON'],
    ['a number', 4, withLine(4, '17'), 'object'],
    ['a missing entry', 4, withLine(4), 'entry 4'],
    ['an entry twice', 5, withLine(4, SAMPLE_LINES[3]!, SAMPLE_LINES[3]!), 'entry 3'],
    ['an unknown kind', 4, altered(4, { kind: 'toString' }), 'kind'],
    ['no kind', 4, altered(4, { kind: undefined }), "'kind'"],
    ['the start of another part', 4, withLine(4, SAMPLE_LINES[0]!), 'another part'],
    ['an impossible time', 4, altered(4, { at: 1e300 }), "'at'"],
    ['an impossible start', 1, altered(1, { startedAt: -1e300 }), "'startedAt'"],
    ['no address', 4, altered(4, { to: 'files' }), "'to'"],
    ['no event', 4, altered(4, { event: { type: 1 } }), "'event'"],
    ['a wildcard as event', 4, altered(4, { event: { type: '*' } }), "'event'"],
    ['no number of the timer', 5, altered(5, { timer: undefined }), "'timer'"],
    ['a state of numbers', 4, altered(4, { state: { ready: 1 } }), 'state'],
    ['a wrong check', 4, altered(4, { check: 'no' }), "'check'"],
    ['invalid derived events', 3, altered(3, { derived: [{}] }), 'derived'],
    [
      'no snapshot at the start',
      2,
      toBytes([SAMPLE_LINES[0]!, SAMPLE_LINES[6]!.replace('6', '1')]),
      'snapshot',
    ],
    ['an interrupted snapshot', 3, altered(2, { left: 2 }), 'snapshot'],
  ])('is named, and the entries before it are yielded: %s.', async (_, line, bytes, message) => {
    const pieces = await read(bytes);
    const problem = problemOf(pieces);
    expect(problem).toMatchObject({ code: 'corrupt', line });
    expect(problem?.message).toContain(`Line ${line} `);
    expect(problem?.message).toContain(message);
    expect(pieces).toHaveLength(line);
  });

  it('ends the reading if it is too long, and is not buffered.', async () => {
    const long = `{"seq":3,"pad":"${'x'.repeat(5_000)}"}`;
    const pieces = await read(withLine(4, long), { limit: 2_000, piece: 100 });
    expect(entriesOf(pieces)).toHaveLength(2);
    expect(problemOf(pieces)).toEqual({
      code: 'too-long',
      line: 4,
      message: expect.stringContaining('2000'),
    });
  });

  it('is the first unread line if the file cannot be read.', async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield toBytes(SAMPLE_LINES.slice(0, 3));
      throw new Error('the disk is gone');
    }
    const pieces: LogPiece[] = [];
    for await (const each of readLog(failing())) pieces.push(each);
    expect(entriesOf(pieces)).toHaveLength(2);
    expect(problemOf(pieces)).toEqual({
      code: 'unreadable',
      line: 4,
      message: expect.stringContaining('the disk is gone'),
    });
  });
});

describe('the reading of a log', () => {
  it('requests no byte after a problem, and closes its source.', async () => {
    const asked: number[] = [];
    let isClosed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (let count = 0; ; count += 1) {
          asked.push(count);
          yield Buffer.from('no log\n');
        }
      } finally {
        isClosed = true;
      }
    }
    const pieces: LogPiece[] = [];
    for await (const each of readLog(endless())) pieces.push(each);
    expect(problemOf(pieces)).toMatchObject({ code: 'not-a-log' });
    expect(asked).toEqual([0]);
    expect(isClosed).toBe(true);
  });
});

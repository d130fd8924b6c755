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
  for await (const each of readLog(inPieces(bytes, piece), limit)) pieces.push(each);
  return pieces;
}

const entriesOf = (pieces: readonly LogPiece[]): LogEntry[] =>
  pieces.flatMap((piece) => (piece.type === 'entry' ? [piece.entry] : []));

const problemOf = (pieces: readonly LogPiece[]): LogProblem | undefined => {
  const last = pieces.at(-1);
  return last?.type === 'problem' ? last.problem : undefined;
};

/** The sample with one line put in the place of another, or taken out. */
const withLine = (number: number, ...lines: readonly string[]): Buffer =>
  toBytes(SAMPLE_LINES.toSpliced(number - 1, 1, ...lines));

const altered = (number: number, change: Record<string, unknown>): Buffer =>
  withLine(number, JSON.stringify({ ...JSON.parse(SAMPLE_LINES[number - 1]!), ...change }));

describe('a whole log', () => {
  it('gives its header and every entry with its line, however the bytes are cut.', async () => {
    for (const piece of [1, 100, 10_000]) {
      const pieces = await read(toBytes(SAMPLE_LINES), { piece });
      expect(pieces[0]).toEqual({ type: 'header', line: 1, header: SAMPLE_HEADER });
      expect(entriesOf(pieces)).toEqual(SAMPLE_ENTRIES);
      expect(pieces.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(problemOf(pieces)).toBeUndefined();
    }
  });

  it('may lack the end of its last line, and may have been saved on Windows.', async () => {
    expect(entriesOf(await read(Buffer.from(SAMPLE_LINES.join('\r\n'))))).toEqual(SAMPLE_ENTRIES);
  });

  it('may begin with the mark that editors on Windows put there.', async () => {
    const marked = Buffer.concat([Buffer.from('\ufeff'), toBytes(SAMPLE_LINES)]);
    const pieces = await read(marked);
    expect(pieces[0]).toEqual({ type: 'header', line: 1, header: SAMPLE_HEADER });
    expect(problemOf(pieces)).toBeUndefined();
  });

  it('keeps fields that it does not know.', async () => {
    const pieces = await read(altered(3, { later: true }));
    expect(entriesOf(pieces)).toHaveLength(SAMPLE_ENTRIES.length);
  });
});

describe('a log whose last line was cut off', () => {
  it('gives everything before, and says which line is not whole.', async () => {
    const whole = toBytes(SAMPLE_LINES);
    const pieces = await read(whole.subarray(0, whole.length - 10));
    expect(entriesOf(pieces)).toEqual(SAMPLE_ENTRIES.slice(0, -1));
    expect(problemOf(pieces)).toEqual({ code: 'truncated', line: 7, message: 'Line 7 was cut off.' });
  });

  it('says so where only half of the header was written.', async () => {
    const pieces = await read(toBytes(SAMPLE_LINES).subarray(0, 30));
    expect(problemOf(pieces)).toMatchObject({ code: 'truncated', line: 1 });
  });

  it('says so where the end lies within a snapshot.', async () => {
    const snapshot = JSON.stringify({ ...SAMPLE_ENTRIES[0], left: 1 });
    const pieces = await read(toBytes([SAMPLE_LINES[0]!, snapshot]));
    expect(entriesOf(pieces)).toHaveLength(1);
    expect(problemOf(pieces)).toMatchObject({ code: 'truncated', line: 3 });
  });
});

describe('a file that is no log', () => {
  it.each([
    ['an empty one', ''],
    ['a text', 'hello\n'],
    ['a text without a line end', 'hello'],
    ['a binary', '\0\u0001\u0002'],
    ['JSON of another kind', '{"mcpServers":{}}\n'],
    ['a list', '[1,2]\n'],
    ['a log of a format that never was', '{"troupeLog":0}\n'],
    ['a prototype', '{"__proto__":{"troupeLog":2}}\n'],
  ])('is told as such: %s.', async (_, text) => {
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
  ])('is told from one of a version that is %s, and the version is named.', async (code, version) => {
    const pieces = await read(altered(1, { troupeLog: version, package: undefined }));
    expect(pieces).toHaveLength(1);
    expect(problemOf(pieces)).toMatchObject({
      code,
      line: 1,
      message: expect.stringContaining(`version ${version}`),
    });
  });
});

describe('a damaged line', () => {
  it.each<[what: string, line: number, bytes: Buffer, message: string]>([
    ['a header without its charts', 1, altered(1, { machines: { connection: 1 } }), "has a 'machines'"],
    ['no JSON', 4, withLine(4, '{"seq":3,'), 'is not JSON'],
    ['an empty line', 4, withLine(4, ''), 'is not JSON'],
    ['a number', 4, withLine(4, '17'), 'is not an object'],
    ['a missing entry', 4, withLine(4), 'is entry 4, where entry 3 should be'],
    ['an entry twice', 5, withLine(4, SAMPLE_LINES[3]!, SAMPLE_LINES[3]!), 'is entry 3, where entry 4'],
    ['an unknown kind', 4, altered(4, { kind: 'toString' }), 'a kind that does not exist'],
    ['no kind', 4, altered(4, { kind: undefined }), "lacks 'kind'"],
    ['the begin of another part', 4, withLine(4, SAMPLE_LINES[0]!), 'begins another part'],
    ['a time that no calendar has', 4, altered(4, { at: 1e300 }), "has a 'at' that is not a time"],
    ['a begin that no calendar has', 1, altered(1, { startedAt: -1e300 }), "'startedAt' that is not a time"],
    ['no address', 4, altered(4, { to: 'files' }), "has a 'to' that is not the address of an actor"],
    ['no event', 4, altered(4, { event: { type: 1 } }), "has a 'event' that is not an event"],
    ['a wildcard as event', 4, altered(4, { event: { type: '*' } }), 'not an event'],
    ['no number of the timer', 5, altered(5, { timer: undefined }), "lacks 'timer'"],
    ['a state of numbers', 4, altered(4, { state: { ready: 1 } }), 'not a state'],
    ['a wrong check', 4, altered(4, { check: 'no' }), "'check' that is not a check"],
    ['nothing derived', 3, altered(3, { derived: [{}] }), 'not a list of what followed'],
    [
      'no snapshot at the begin',
      2,
      toBytes([SAMPLE_LINES[0]!, SAMPLE_LINES[6]!.replace('6', '1')]),
      'is not a snapshot',
    ],
    ['a snapshot that is interrupted', 3, altered(2, { left: 2 }), 'interrupts a snapshot'],
  ])('is named, and what stands before it is given: %s.', async (_, line, bytes, message) => {
    const pieces = await read(bytes);
    const problem = problemOf(pieces);
    expect(problem).toMatchObject({ code: 'corrupt', line });
    expect(problem?.message).toContain(`Line ${line} `);
    expect(problem?.message).toContain(message);
    expect(pieces).toHaveLength(line);
  });

  it('ends the reading where it is longer than any that is written, without being held.', async () => {
    const long = `{"seq":3,"pad":"${'x'.repeat(5_000)}"}`;
    const pieces = await read(withLine(4, long), { limit: 2_000, piece: 100 });
    expect(entriesOf(pieces)).toHaveLength(2);
    expect(problemOf(pieces)).toEqual({
      code: 'too-long',
      line: 4,
      message: 'Line 4 is longer than 2000 bytes.',
    });
  });

  it('is the one that could not be read where the file fails.', async () => {
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
      message: 'Line 4 could not be read: the disk is gone',
    });
  });
});

describe('the reading of a log', () => {
  it('asks for no byte after a problem, and lets go of its source.', async () => {
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

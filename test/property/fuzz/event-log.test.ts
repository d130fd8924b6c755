/** Event logs with any content: no error is thrown, nothing hangs, memory is limited, and intact entries are returned. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../../src/event-log/format/entry.js';
import { LogParser, readLog, type LogPiece } from '../../../src/event-log/format/read-log.js';
import { replayLog } from '../../../src/event-log/replay/replay-log.js';
import { recordRandomRun, step } from '../../support/random-run.js';
import { SAMPLE_ENTRIES, SAMPLE_LINES, toBytes } from '../../support/sample-log.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { cuts, inChunks, json, nested, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';
import { heapKiB } from '../../support/heap.js';

useLeakCheck();
useCrashWatch();

const LIMIT = 4_000;
const CODES = ['not-a-log', 'older', 'newer', 'corrupt', 'too-long', 'truncated', 'unreadable'];

function read(chunks: readonly Uint8Array[], limit = LIMIT): LogPiece[] {
  const parser = new LogParser(limit);
  const pieces = chunks.flatMap((chunk) => parser.push(chunk));
  return [...pieces, ...parser.end()];
}

const entriesOf = (pieces: readonly LogPiece[]): LogEntry[] =>
  pieces.flatMap((piece) => (piece.type === 'entry' ? [piece.entry] : []));

/** The order for any bytes: one header first, then entries in order, and at most one problem, at the end. */
function expectOrder(pieces: readonly LogPiece[]): void {
  const types = pieces.map(({ type }) => type);
  expect(types.slice(1)).not.toContain('header');
  expect(types.slice(0, -1)).not.toContain('problem');
  if (types.includes('entry')) expect(types[0]).toBe('header');
  const numbers = entriesOf(pieces).map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
  const last = pieces.at(-1);
  if (last?.type !== 'problem') return;
  expect(CODES).toContain(last.problem.code);
  const isOfVersion = last.problem.code === 'older' || last.problem.code === 'newer';
  expect(last.problem.message).toContain(isOfVersion ? 'version' : `Line ${last.line} `);
}

const garbage: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map(Buffer.from),
  text.map((value) => Buffer.from(value)),
  json.map((value) => Buffer.from(JSON.stringify(value) ?? '')),
  fc
    .constantFrom('\n', '\r\n', '\0', '\ufeff', '{"troupeLog":1}', '{"troupeLog":2}', '{"troupeLog":3}', '{}')
    .map(Buffer.from),
);

/** A line of the sample in which some fields have other values, including names that pollute prototypes. */
const damagedLine: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...SAMPLE_LINES),
    fc.array(
      fc.tuple(
        fc.oneof(
          {
            weight: 5,
            arbitrary: fc.constantFrom(...['seq', 'kind', 'to', 'from', 'event', 'state', 'check']),
          },
          {
            weight: 2,
            arbitrary: fc.constantFrom('derived', 'left', 'context', 'input', 'timer', 'troupeLog'),
          },
          { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString') },
        ),
        fc.oneof(
          json,
          fc.constantFrom<unknown>('note', 'snapshot', '$', '$/a#1', 1, 2, 3, [], [{}], { type: '*' }),
        ),
      ),
      { maxLength: 3 },
    ),
  )
  .map(([line, changes]) =>
    JSON.stringify(Object.fromEntries([...Object.entries(JSON.parse(line)), ...changes])),
  );

const anyLog: fc.Arbitrary<Buffer> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...SAMPLE_LINES).map((line) => Buffer.from(`${line}\n`)) },
      { weight: 4, arbitrary: damagedLine.map((line) => Buffer.from(`${line}\n`)) },
      { weight: 1, arbitrary: garbage },
      { weight: 1, arbitrary: fc.nat(2 * LIMIT).map((length) => Buffer.alloc(length, '1')) },
    ),
    { maxLength: 12 },
  )
  .map((pieces) => Buffer.concat(pieces));

describe('the bytes of an event log', () => {
  it('give the same result for any chunks, and never throw', () =>
    fuzz(
      500,
      fc.property(fc.oneof(anyLog, garbage), cuts, (bytes, lengths) => {
        const pieces = read(inChunks(bytes, lengths));
        expect(pieces).toEqual(read([bytes]));
        expectOrder(pieces);
      }),
    ));

  it('give every entry before the first invalid line', () =>
    fuzz(
      500,
      fc.property(
        fc.nat(SAMPLE_ENTRIES.length),
        fc.oneof(damagedLine, text),
        cuts,
        (whole, line, lengths) => {
          const before = SAMPLE_LINES.slice(0, whole + 1);
          const bytes = toBytes([...before, line, ...SAMPLE_LINES.slice(whole + 1)]);
          const pieces = read(inChunks(bytes, lengths));
          expectOrder(pieces);
          expect(entriesOf(pieces).slice(0, whole)).toEqual(SAMPLE_ENTRIES.slice(0, whole));
        },
      ),
    ));

  it('that were truncated give the complete entries, and are never reported as corrupt', () =>
    fuzz(
      400,
      fc.property(fc.nat(toBytes(SAMPLE_LINES).length), cuts, (length, lengths) => {
        const bytes = toBytes(SAMPLE_LINES).subarray(0, length);
        const pieces = read(inChunks(bytes, lengths));
        const entries = entriesOf(pieces);
        expect(entries).toEqual(SAMPLE_ENTRIES.slice(0, entries.length));
        const ended = bytes.toString().split('\n').length - 2;
        expect(entries.length).toBeGreaterThanOrEqual(ended);
        const last = pieces.at(-1);
        if (last?.type !== 'problem') return;
        expect(last.problem.code).toBe(length < 13 ? 'not-a-log' : 'truncated');
      }),
    ));

  it('of two logs that were written to one file end with a problem at the line where they differ', () =>
    fuzz(
      300,
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 14 }), (turns) => {
        const writers = [SAMPLE_LINES.values(), SAMPLE_LINES.values()] as const;
        const lines = turns.flatMap((turn) => writers[turn ? 1 : 0].next().value ?? []);
        const pieces = read([toBytes(lines)]);
        expectOrder(pieces);
        const agreed = lines.findIndex((line, index) => line !== SAMPLE_LINES[index]);
        expect(pieces).toHaveLength(agreed === -1 ? lines.length : agreed + 1);
      }),
    ));

  it('do not change the prototypes of this process', () =>
    fuzz(
      200,
      fc.property(anyLog, (bytes) => {
        read([bytes]);
        expect(Object.keys(Object.prototype)).toEqual([]);
        expect('troupeLog' in {}).toBe(false);
      }),
    ));

  it('may nest a hundred thousand levels in any field', () => {
    for (const field of ['event', 'state', 'context', 'derived', 'note', 'check']) {
      for (const line of SAMPLE_LINES.slice(1)) {
        const deep = line.replace(/}$/, `,"${field}":${nested(100_000)}}`);
        const pieces = read([toBytes([SAMPLE_LINES[0]!, deep])], 10_000_000);
        expectOrder(pieces);
      }
    }
  });

  it('are kept only up to the limit of a line if the line never ends', () => {
    const parser = new LogParser(1_024 * 1_024);
    parser.push(toBytes(SAMPLE_LINES));
    const chunk = Buffer.alloc(64 * 1_024, 'x');
    const before = heapKiB();
    let pieces: readonly LogPiece[] = [];
    for (let sent = 0; sent < 256 && pieces.length === 0; sent += 1) pieces = parser.push(chunk);
    expect(pieces).toMatchObject([{ type: 'problem', line: 8, problem: { code: 'too-long' } }]);
    for (let sent = 0; sent < 1_000; sent += 1) parser.push(chunk);
    expect(heapKiB() - before).toBeLessThan(2 * 1_024);
  });

  it('need the memory of one chunk for any number of entries', async () => {
    const entries = 60_000;
    const pad = 'x'.repeat(1_000);
    async function* long(): AsyncGenerator<Uint8Array> {
      yield toBytes(SAMPLE_LINES);
      for (let seq = 7; seq < 7 + entries; seq += 1) {
        yield Buffer.from(`{"seq":${seq},"at":1,"kind":"note","note":{"type":"${pad}"},"check":"0"}\n`);
      }
    }
    const before = heapKiB();
    let read = 0;
    let most = 0;
    for await (const { type } of readLog(long())) {
      expect(type).not.toBe('problem');
      read += 1;
      if (read % 20_000 === 0) most = Math.max(most, heapKiB() - before);
    }
    expect(read).toBe(1 + SAMPLE_ENTRIES.length + entries);
    expect(most).toBeLessThan(4 * 1_024);
  });

  it('are read in time that is linear in their length', () => {
    const lines = [SAMPLE_LINES[0]!, ' '.repeat(2_000_000), '{"kind":"send","to":"$'];
    const slashes = JSON.stringify({ ...SAMPLE_ENTRIES[1], seq: 1, to: `$${'/a#1'.repeat(500_000)}!` });
    const startedAt = performance.now();
    read([toBytes(lines)], 10_000_000);
    read([toBytes([SAMPLE_LINES[0]!, slashes])], 10_000_000);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe('a log that cannot have been recorded', () => {
  /** Any value in any of the fields that a replay reads. */
  const change = fc.record({
    entry: fc.nat(60),
    path: fc.constantFrom(
      ['to'],
      ['from'],
      ['timer'],
      ['state'],
      ['context'],
      ['status'],
      ['check'],
      ['note', 'type'],
      ['event', 'type'],
      ['event', 'specs'],
      ['event', 'output'],
      ['event', 'error'],
      ['event', 'generation'],
      ['context', 'policy'],
      ['context', 'losses'],
      ['derived'],
    ),
    value: fc.oneof(
      json,
      fc.constantFrom<unknown>(
        ...['$', '$/files#1', '$/files#1/handshake#1', 'manager.stop', 'connection.stop', 'xstate.stop'],
        ...['xstate.init', 'xstate.error.actor.files', 'xstate.done.actor.files', 'idle', 'stopped', 'gap'],
        [{ to: '$/files#9', event: { type: 'xstate.init' } }],
        [{ input: { name: '__proto__' } }],
        { ready: { liveness: 'resting' } },
        { $error: { name: {}, message: [] } },
      ),
    ),
  });

  function altered(
    entries: readonly LogEntry[],
    changes: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[],
  ): LogEntry[] {
    const all = structuredClone(entries) as unknown as Record<string, unknown>[];
    for (const { entry, path, value } of changes) {
      const [last = '', ...above] = path.toReversed();
      let target: unknown = all[entry % all.length];
      for (const step of above.toReversed()) target = (target as Record<string, unknown> | undefined)?.[step];
      if (typeof target === 'object' && target !== null) (target as Record<string, unknown>)[last] = value;
    }
    return all as unknown as LogEntry[];
  }

  it('is replayed to its end or to the invalid entry, and nothing is thrown', async () => {
    const steps = fc.sample(step, { numRuns: 60, seed: 7 });
    const recorded = (await recordRandomRun(steps)).read();
    await fuzz(
      300,
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 3 }),
        fc.option(json),
        async (changes, input) => {
          const header = { ...recorded.header, ...(input !== null && { input }) };
          const lines = [header, ...altered(recorded.entries, changes)].map((line) => JSON.stringify(line));
          async function* bytes(): AsyncGenerator<Uint8Array> {
            yield toBytes(lines);
          }
          const report = await replayLog(bytes());
          expect(report.entries).toBeLessThanOrEqual(recorded.entries.length);
          for (const { entry, message } of report.divergences)
            expect(message).toMatch(new RegExp(`^Entry ${entry}[,:]`));
          expect(Object.keys(Object.prototype)).toEqual([]);
        },
      ),
    );
  });
});

describe('a file that fails while it is read', () => {
  it('gives one problem for any thrown value', () =>
    fuzz(
      200,
      fc.asyncProperty(
        fc.nat(SAMPLE_LINES.length),
        fc.oneof(json, fc.constant(new Error('gone'))),
        async (whole, thrown) => {
          async function* failing(): AsyncGenerator<Uint8Array> {
            yield toBytes(SAMPLE_LINES.slice(0, whole));
            throw thrown;
          }
          const pieces: LogPiece[] = [];
          for await (const piece of readLog(failing())) pieces.push(piece);
          expectOrder(pieces);
          expect(pieces).toHaveLength(whole + 1);
          expect(pieces.at(-1)).toMatchObject({ problem: { code: 'unreadable', line: whole + 1 } });
        },
      ),
    ));
});

/** Several recordings on one timeline. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readLog } from '../../../../src/event-log/format/read-log.js';
import type { LogReport } from '../../../../src/event-log/format/report.js';
import { mergeLogs } from '../../../../src/event-log/replay/merge-logs.js';
import { openLog } from '../../../../src/event-log/replay/open-log.js';
import { replayLog } from '../../../../src/event-log/replay/replay-log.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { SAMPLE_ENTRIES, SAMPLE_HEADER } from '../../../support/sample-log.js';

useLeakCheck();

const toText = (lines: readonly object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** The sample, recorded by that host and later by some milliseconds. */
function recordedBy(host: string, laterMs: number, run = host): string {
  const header = { ...SAMPLE_HEADER, run, host, pid: 7, startedAt: SAMPLE_HEADER.startedAt + laterMs };
  return toText([header, ...SAMPLE_ENTRIES.map((entry) => ({ ...entry, at: entry.at + laterMs }))]);
}

const REPORT: LogReport = {
  troupeReport: 1,
  at: 0,
  versions: { troupe: '0', runtime: 'node 0', platform: 'x y', os: 'z' },
  machines: {},
  configuration: null,
  findings: null,
  about: null,
  logs: [],
};

describe('merged logs', () => {
  it('are one timeline in a stable order, on which each server keeps its recording.', async () => {
    const [b, a] = [recordedBy('b', 2), recordedBy('a', 0)];
    const logs = await mergeLogs([b, a]);
    expect(logs.runs.map(({ label }) => label)).toEqual(['a, pid 7', 'b, pid 7']);
    const order = [...logs.entries()].map(({ run, entry }) => `${run.label[0]}${entry.seq}`);
    expect(order).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'a5', 'b3', 'a6', 'b4', 'b5', 'b6']);
    const changes = [...logs.changes()].map(({ run, server, at }) => [run.label[0], server, at - 1_000_000]);
    expect(changes).toEqual([
      ['a', 'files', 2],
      ['a', 'files', 4],
      ['b', 'files', 4],
      ['b', 'files', 6],
    ]);
    expect([...logs.entries(1_000_004, 1_000_004)].map(({ entry }) => entry.seq)).toEqual([5, 3]);
    const moments = logs.at(1_000_001);
    expect([...moments].map(([{ label }, { entry }]) => [label[0], entry?.seq])).toEqual([['a', 2]]);
  });

  it('join the parts of a recording, count a part once, and number equal names.', async () => {
    const first = recordedBy('a', 0);
    const second = toText([
      { ...SAMPLE_HEADER, run: 'a', host: 'a', pid: 7, part: 2, firstSeq: 7 },
      { ...SAMPLE_ENTRIES[0], seq: 7, at: 1_000_050 },
    ]);
    const again = recordedBy('a', 9, 'later');
    const logs = await mergeLogs([second, again, first.slice(0, -200), first]);
    expect(logs.duplicates).toBe(1);
    expect(logs.runs.map(({ label, log }) => [label, log.last, log.problem])).toEqual([
      ['a, pid 7', 7, undefined],
      ['a, pid 7 (2)', 6, undefined],
    ]);
  });

  it('tell older recordings apart, which have no id.', async () => {
    const old = toText([SAMPLE_HEADER, ...SAMPLE_ENTRIES]);
    const other = toText([{ ...SAMPLE_HEADER, seed: 2 }, ...SAMPLE_ENTRIES]);
    const { runs, duplicates } = await mergeLogs([old, other, old]);
    expect([runs.length, duplicates]).toEqual([2, 1]);
  });

  it('name the log that cannot be read.', async () => {
    await expect(mergeLogs([recordedBy('a', 0), '{"x":1}'])).rejects.toThrow('Log 2');
    await expect(mergeLogs([])).rejects.toThrow(TypeError);
  });
});

describe('a report', () => {
  const text = toText([REPORT]) + recordedBy('a', 0) + recordedBy('b', 2);
  const packed = gzipSync(text);

  it('is read by every reader, packed or not, as bytes or as a stream.', async () => {
    for (const bytes of [Buffer.from(text), packed]) {
      const { runs, report } = await mergeLogs([bytes]);
      expect([runs.length, report]).toEqual([2, REPORT]);
      const kinds = [];
      for await (const { type } of readLog(bytes)) kinds.push(type);
      expect(kinds).toEqual([
        'report',
        ...['header', ...SAMPLE_ENTRIES.map(() => 'entry')],
        ...kinds.slice(8),
      ]);
      expect(kinds.filter((kind) => kind === 'header')).toHaveLength(2);
      const single = await openLog(bytes);
      expect([single.last, single.problem?.code, single.problem?.line]).toEqual([6, 'another-run', 9]);
      expect((await replayLog(bytes)).problem?.code).toBe('another-run');
    }
    const byteByByte = async function* () {
      for (const byte of packed) yield Uint8Array.of(byte);
    };
    expect((await mergeLogs([byteByByte()])).runs).toHaveLength(2);
  });

  it('of a later version, without a log, or cut off is refused with a reason.', async () => {
    const codes = [];
    for (const bad of [
      text.replace('"troupeReport":1', '"troupeReport":2'),
      toText([REPORT]),
      packed.subarray(0, 300),
      gzipSync('nothing'),
    ]) {
      const pieces = [];
      for await (const piece of readLog(bad)) pieces.push(piece);
      const last = pieces.at(-1);
      codes.push(last?.type === 'problem' ? last.problem.code : undefined);
    }
    expect(codes).toEqual(['newer', 'not-a-log', 'unreadable', 'not-a-log']);
  });
});

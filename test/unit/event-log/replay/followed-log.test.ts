/** A log that is opened while it is written. */
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLog, type LogPiece } from '../../../../src/event-log/format/read-log.js';
import { openBytes, openLog, type OpenLog } from '../../../../src/event-log/replay/open-log.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { SAMPLE_ENTRIES, SAMPLE_HEADER } from '../../../support/sample-log.js';

useLeakCheck();
useCrashWatch();

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-follow-'));
  path = join(folder, 'log.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const toText = (lines: readonly object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');
const header = { ...SAMPLE_HEADER, run: 'one' };
const END = { seq: 7, at: 1_000_006, kind: 'note', note: { type: 'end' }, check: '0f' };
/** The second part: a snapshot and an end. */
const SECOND = [
  { ...header, part: 2, firstSeq: 7 },
  { ...SAMPLE_ENTRIES[0], seq: 7 },
  { ...END, seq: 8 },
];

const contentOf = (log: OpenLog): unknown => ({
  entries: log.entries(0, Infinity),
  changes: [...log.changes()],
  machines: [...log.at(log.last).machines],
  connections: log.connections,
  times: [log.timeOf(log.last), log.entryAt(1_000_003)],
});

describe('a followed log', () => {
  it('grows with its file, over a rotation, until its recording ends.', async () => {
    const log = await openLog(path, { follow: true });
    expect([log.header, log.first, log.last]).toEqual([undefined, 1, 0]);
    const first = toText([header, ...SAMPLE_ENTRIES]);
    const numbers: number[] = [];
    writeFileSync(path, first.slice(0, -40));
    for await (const { seq } of log) {
      numbers.push(seq);
      if (seq === 5) {
        expect(log.problem).toBeUndefined();
        appendFileSync(path, first.slice(-40));
      }
      if (seq === 6) {
        renameSync(path, `${path}.1`);
        writeFileSync(path, toText(SECOND));
      }
    }
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect([log.isFollowing, log.problem]).toEqual([false, undefined]);
    const whole = openBytes(Buffer.from(first), Buffer.from(toText(SECOND)));
    expect(contentOf(log)).toEqual(contentOf(whole));
  });

  it('ends if its loop is left, if it is closed, and with its signal.', async () => {
    writeFileSync(path, toText([header, ...SAMPLE_ENTRIES]));
    const left = await openLog(pathToFileURL(path), { follow: true });
    for await (const { seq } of left) if (seq === 2) break;
    expect([left.isFollowing, left.last]).toEqual([false, 6]);
    const closed = await openLog([path], { follow: true });
    const rest = (async () => {
      for await (const { seq } of closed) if (seq === 6) void closed.close();
    })();
    await rest;
    const ending = new AbortController();
    const aborted = await openLog(path, { follow: true, signal: ending.signal });
    for await (const { seq } of aborted) if (seq === 6) ending.abort();
    expect(aborted.isFollowing).toBe(false);
  });

  it('ends if another recording takes its place, and says so.', async () => {
    writeFileSync(path, toText([header, ...SAMPLE_ENTRIES]).slice(0, -10));
    const log = await openLog(path, { follow: true });
    renameSync(path, `${path}.1`);
    writeFileSync(path, toText([{ ...header, run: 'two' }, ...SAMPLE_ENTRIES]));
    for await (const _ of log);
    expect([log.last, log.problem?.code]).toEqual([5, 'truncated']);
    const again = await openLog(path, { follow: true });
    renameSync(path, `${path}.2`);
    writeFileSync(path, toText([{ ...header, run: 'three' }, ...SAMPLE_ENTRIES]));
    for await (const _ of again);
    expect([again.last, again.problem?.code]).toEqual([6, 'another-run']);
  });

  it('must be a file.', async () => {
    for (const source of [new Uint8Array(), '{}', new URL('http://127.0.0.1/log')])
      await expect(openLog(source, { follow: true })).rejects.toThrow(TypeError);
    await expect(openLog(path, { folow: true } as never)).rejects.toThrow("'follow'");
    await expect(openLog(folder, { follow: true })).rejects.toThrow('not a file');
  });
});

describe('the pieces of a followed log', () => {
  it('go on with the next recording, after a cut line and after a faulty one.', async () => {
    writeFileSync(path, toText([header, ...SAMPLE_ENTRIES]).slice(0, -10));
    const ending = new AbortController();
    const kinds: string[] = [];
    for await (const piece of readLog(path, { follow: true, signal: ending.signal })) {
      kinds.push(kindOf(piece));
      if (kinds.length === 6) {
        renameSync(path, `${path}.1`);
        writeFileSync(path, `${toText([{ ...header, run: 'two' }, SAMPLE_ENTRIES[0] as object])}{}\n`);
      }
      if (kinds.at(-1) === 'corrupt') {
        rmSync(path);
        writeFileSync(path, toText([{ ...header, run: 'three' }]));
      }
      if (kinds.at(-1) === 'three') ending.abort();
    }
    expect(kinds).toEqual([
      'one',
      ...Array(5).fill('entry'),
      'truncated',
      'two',
      'entry',
      'corrupt',
      'three',
    ]);
  });
});

function kindOf(piece: LogPiece): string {
  if (piece.type === 'header') return piece.header.run ?? '';
  return piece.type === 'problem' ? piece.problem.code : piece.type;
}

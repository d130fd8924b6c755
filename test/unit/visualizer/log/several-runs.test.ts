/** Several recordings in one book of the page. */
import { describe, expect, it } from 'vitest';
import { mergeLines, SO_FAR } from '../../../../src/event-log/format/merge-lines.js';
import { laneTitle } from '../../../../visualizer/src/log/lane-names.js';
import { LogBook } from '../../../../visualizer/src/log/log-book.js';
import { rowsOf } from '../../../../visualizer/src/log/rows.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { SAMPLE_ENTRIES, SAMPLE_HEADER } from '../../../support/sample-log.js';

useLeakCheck();

const bytesOf = (run: string, laterMs = 0): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(
    [
      { ...SAMPLE_HEADER, run, host: run, pid: 7, startedAt: SAMPLE_HEADER.startedAt + laterMs },
      ...SAMPLE_ENTRIES.map((entry) => ({ ...entry, at: entry.at + laterMs })),
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );

describe('a book of several recordings', () => {
  it('is one timeline, on which each recording has its own machines.', () => {
    const book = new LogBook();
    const runs = ['a', 'b'].map((label, index) => ({ label, parts: [bytesOf(label, 2 * index)] }));
    for (const piece of mergeLines(runs)) book.append(piece);
    book.end();
    expect([book.problem, book.missed, book.length, book.runs]).toEqual([undefined, 0, 12, ['a', 'b']]);
    const times = Array.from({ length: 12 }, (_, position) => book.timeOf(position) - 1_000_000);
    expect(times).toEqual([0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7]);
    expect(book.lanes.map(({ name }) => laneTitle(name))).toEqual([
      'manager',
      'files (a)',
      'manager (b)',
      'files (b)',
    ]);
    expect(rowsOf(book.foldedStates(11)).map(({ name }) => laneTitle(name))).toEqual([
      'files (a)',
      'files (b)',
    ]);
    expect(rowsOf(book.foldedStates(3)).map(({ name }) => laneTitle(name))).toEqual(['files (a)']);
    for (const [address, folded] of book.foldedStates(11)) expect(book.stateOf(11, address)).toEqual(folded);
    const again = new LogBook();
    for (const piece of book.pieces()) again.append(piece);
    expect([again.length, again.runs]).toEqual([book.length, book.runs]);
  });

  it('begins another recording if its process was started anew.', () => {
    const book = new LogBook();
    book.append(bytesOf('a'));
    book.append(new TextEncoder().encode(`${SO_FAR}\n`));
    expect(book.isCaughtUp).toBe(true);
    book.append(bytesOf('b', 10));
    expect([book.problem, book.length, book.runs]).toEqual([undefined, 12, ['a, pid 7', 'b, pid 7']]);
    expect(book.lanes.map(({ name }) => laneTitle(name))).toContain('files (b, pid 7)');
  });
});

/** The end of a recording, for late readers and slow readers. */
import { describe, expect, it } from 'vitest';
import { LogHistory, type HistoryReader } from '../../../src/inspector/log-history.js';
import type { LogLines } from '../../../src/inspector/page-protocol.js';

interface Read {
  readonly lines: string;
  readonly missed: readonly number[];
}

function readAll(reader: HistoryReader): Read {
  let lines = '';
  const missed: number[] = [];
  for (let next = reader.next(); next !== undefined; next = reader.next()) {
    if ('missed' in next) missed.push(next.missed);
    else
      for (const text of next.bytes.toString().trimEnd().split('\n'))
        lines += (JSON.parse(text) as LogLines).lines;
  }
  return { lines, missed };
}

function makeHistory(limit = 1_000_000) {
  const calls: string[] = [];
  const heard = { added: () => calls.push('added'), closed: () => calls.push('closed') };
  const history = new LogHistory(heard, limit);
  return { history, calls };
}

/** The size of four such parts as messages, bytes. */
const FOUR_PARTS = 4 * 70;

/** Adds parts with a header and two entries each. */
function fill(history: LogHistory, from: number, to: number): void {
  for (let part = from; part <= to; part += 1) {
    if (part > 1) history.rotate();
    history.write(`header ${part}\n`);
    history.write(`a${part}\nb${part}\n`);
  }
}

describe('the history of a recording', () => {
  it('is read from its start, and continues with new entries.', () => {
    const { history, calls } = makeHistory();
    const early = history.reader();
    expect(early.next()).toBeUndefined();
    fill(history, 1, 2);
    expect(readAll(early)).toEqual({ lines: 'header 1\na1\nb1\nheader 2\na2\nb2\n', missed: [] });
    history.write('c2\n');
    expect(readAll(early)).toEqual({ lines: 'c2\n', missed: [] });
    expect(readAll(history.reader()).lines).toBe('header 1\na1\nb1\nheader 2\na2\nb2\nc2\n');
    expect([...history.texts()].join('')).toBe('header 1\na1\nb1\nheader 2\na2\nb2\nc2\n');
    history.close();
    expect(calls).toEqual(['added', 'added', 'added', 'added', 'added', 'closed']);
  });

  it('is bounded in bytes: it drops the oldest parts, and starts with a header for a late reader.', () => {
    const { history } = makeHistory(FOUR_PARTS);
    for (let part = 1; part <= 7; part += 1) {
      fill(history, part, part);
      expect(history.size).toBeLessThanOrEqual(FOUR_PARTS);
    }
    expect(readAll(history.reader())).toEqual({
      lines: [4, 5, 6, 7].map((part) => `header ${part}\na${part}\nb${part}\n`).join(''),
      missed: [],
    });
  });

  it('keeps the newest part even if it is longer than the limit.', () => {
    const { history } = makeHistory(FOUR_PARTS);
    fill(history, 1, 2);
    history.write(`${'x'.repeat(FOUR_PARTS)}\n`);
    expect(readAll(history.reader()).lines).toMatch(/^header 2\na2\nb2\nx+\n$/);
  });

  it('reports to a reader whose position is gone how many entries it missed, and continues with the newest part.', () => {
    const { history } = makeHistory(FOUR_PARTS);
    const slow = history.reader();
    fill(history, 1, 1);
    expect(readAll(slow).lines).toBe('header 1\na1\nb1\n');
    history.write('c1\n');
    fill(history, 2, 6);
    // The last entry of the first part, and two entries of each part before the newest.
    expect(readAll(slow)).toEqual({ lines: 'header 6\na6\nb6\n', missed: [1 + 4 * 2] });
    history.write('c6\n');
    expect(readAll(slow)).toEqual({ lines: 'c6\n', missed: [] });
  });

  it('returns limited chunks for a page.', () => {
    const { history } = makeHistory();
    history.write('header\n');
    for (let count = 0; count < 40; count += 1) history.write(`${'x'.repeat(50_000)}\n`);
    const reader = history.reader();
    let reads = 0;
    for (let next = reader.next(); next !== undefined && 'bytes' in next; next = reader.next()) {
      expect(next.bytes.length).toBeLessThan(400_000);
      reads += 1;
    }
    expect(reads).toBeGreaterThan(5);
  });
});

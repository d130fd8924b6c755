/** The last of a recording, for readers that come late and readers that are slow. */
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

function makeHistory() {
  const heard: string[] = [];
  const history = new LogHistory({ added: () => heard.push('added'), closed: () => heard.push('closed') });
  return { history, heard };
}

/** Parts with a header and two entries each. */
function fill(history: LogHistory, from: number, to: number): void {
  for (let part = from; part <= to; part += 1) {
    if (part > 1) history.rotate();
    history.write(`header ${part}\n`);
    history.write(`a${part}\nb${part}\n`);
  }
}

describe('the history of a recording', () => {
  it('is read from its beginning, and goes on with what is added.', () => {
    const { history, heard } = makeHistory();
    const early = history.reader();
    expect(early.next()).toBeUndefined();
    fill(history, 1, 2);
    expect(readAll(early)).toEqual({ lines: 'header 1\na1\nb1\nheader 2\na2\nb2\n', missed: [] });
    history.write('c2\n');
    expect(readAll(early)).toEqual({ lines: 'c2\n', missed: [] });
    expect(readAll(history.reader()).lines).toBe('header 1\na1\nb1\nheader 2\na2\nb2\nc2\n');
    expect([...history.texts()].join('')).toBe('header 1\na1\nb1\nheader 2\na2\nb2\nc2\n');
    history.close();
    expect(heard).toEqual(['added', 'added', 'added', 'added', 'added', 'closed']);
  });

  it('keeps four parts, and begins with a header for whoever comes late.', () => {
    const { history } = makeHistory();
    fill(history, 1, 7);
    expect(readAll(history.reader())).toEqual({
      lines: [4, 5, 6, 7].map((part) => `header ${part}\na${part}\nb${part}\n`).join(''),
      missed: [],
    });
  });

  it('tells a reader whose place is gone how many entries it did not get, and goes on with the newest part.', () => {
    const { history } = makeHistory();
    const slow = history.reader();
    fill(history, 1, 1);
    expect(readAll(slow).lines).toBe('header 1\na1\nb1\n');
    history.write('c1\n');
    fill(history, 2, 6);
    // Of the first part the last one, and two of each that came before the newest.
    expect(readAll(slow)).toEqual({ lines: 'header 6\na6\nb6\n', missed: [1 + 4 * 2] });
    history.write('c6\n');
    expect(readAll(slow)).toEqual({ lines: 'c6\n', missed: [] });
  });

  it('hands out no more at once than a page may be sent.', () => {
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

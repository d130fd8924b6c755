/** The log of the page: every moment matches a replay, however the bytes arrive. */
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { openBytes } from '../../../../src/event-log/replay/open-log.js';
import type { LogEntry } from '../../../../src/event-log/format/entry.js';
import { LogBook } from '../../../../visualizer/src/log/log-book.js';
import { readWhole } from '../../../support/memory-log.js';
import { recordRandomRun, step } from '../../../support/random-run.js';
import { fuzz } from '../../../support/fuzz.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { bookOf, longLog, toBytes } from '../../../support/sample-book.js';

useLeakCheck();

const flapping = readFileSync(
  new URL('../../../property/replay/corpus/flaps-forever.jsonl', import.meta.url),
  'utf8',
);

describe('the log of the page', () => {
  let text: string;
  let entries: readonly LogEntry[];

  beforeAll(async () => {
    const { parts } = await recordRandomRun(fc.sample(step, { numRuns: 800, seed: 11 }), {
      partSize: 120_000,
    });
    text = parts.join('');
    entries = parts.flatMap((part) => readWhole(part).entries);
  });

  it('has every entry of every part, however the bytes are split.', async () => {
    const bytes = toBytes(text);
    await fuzz(
      20,
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const book = new LogBook();
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        places.slice(1).forEach((end, index) => book.append(bytes.slice(places[index], end)));
        book.end();
        expect(book.problem).toBeUndefined();
        expect(book.length).toBe(entries.length);
        expect(book.entry(entries.length - 1)).toEqual(entries.at(-1));
      }),
    );
  });

  it('gives the same states as an opened file, forwards and backwards.', async () => {
    const book = bookOf(text);
    const log = openBytes(toBytes(text.slice(0, text.indexOf('{"troupeLog"', 10))));
    await fuzz(
      60,
      fc.property(fc.nat(log.last - log.first), (position) => {
        expect(book.foldedStates(position)).toEqual(log.at(log.first + position).machines);
      }),
    );
  });

  it('has a label for each entry without parsing it completely.', () => {
    const book = bookOf(text);
    entries.forEach((entry, position) => {
      const label = book.labelOf(position);
      expect(label?.kind).toBe(entry.kind);
      if (entry.kind === 'note') expect(label?.type).toBe(entry.note.type);
      else if (entry.kind !== 'snapshot') expect(label?.type).toBe(entry.event.type);
      expect(book.timeOf(position)).toBe(entry.at);
    });
  });

  it('continues after a gap, with the number of missing entries.', () => {
    const [header = '', ...lines] = flapping.trimEnd().split('\n');
    const snapshot = lines[0] ?? '';
    const later = `${header.replace('"firstSeq":1', '"firstSeq":100')}\n${snapshot.replace('"seq":1,', '"seq":100,')}\n`;
    const book = bookOf(`${header}\n${snapshot}\n${lines[1] ?? ''}\n${later}`);
    expect(book.problem).toBeUndefined();
    expect(book.length).toBe(3);
    expect(book.missed).toBe(97);
    expect(book.foldedStates(2).get('$')?.state).toMatchObject({ phase: 'reading' });
  });

  it('ends with a message at an invalid line, and shows the entries before it.', () => {
    const lines = flapping.trimEnd().split('\n');
    const broken = bookOf(`${lines.slice(0, 4).join('\n')}\nnot json\n${lines[4] ?? ''}\n`);
    expect(broken.problem).toMatchObject({ line: 5, code: 'corrupt' });
    expect(broken.length).toBe(3);
    expect(bookOf(flapping.slice(0, -20)).problem?.code).toBe('truncated');
    expect(bookOf('hello\n').problem).toMatchObject({ line: 1, code: 'not-a-log' });
    for (const [version, code] of [
      [1, 'older'],
      [3, 'newer'],
    ])
      expect(bookOf(flapping.replace('"troupeLog":2', `"troupeLog":${version}`)).problem).toMatchObject({
        code,
      });
  });

  it('reads a last line without a line feed, and reports a file that is not a log.', () => {
    const whole = bookOf(flapping);
    const book = bookOf(flapping.trimEnd());
    expect(book.problem).toBeUndefined();
    expect(book.length).toBe(whole.length);
    expect(book.entry(book.length - 1)).toEqual(whole.entry(whole.length - 1));
    expect(bookOf('hello').problem).toMatchObject({ line: 1, code: 'not-a-log' });
  });

  it('reports that a log is empty.', () => {
    expect(bookOf('').problem?.message).toContain('empty');
  });

  it('has increasing times even if the clock was set back, and keeps the recorded ones.', () => {
    const HOUR = 3_600_000;
    const [header = '', ...lines] = flapping.trimEnd().split('\n');
    const half = Math.floor(lines.length / 2);
    const jumped = lines.map((line, index) =>
      index < half ? line : line.replace(/"at":(\d+)/, (_, at) => `"at":${Number(at) - HOUR}`),
    );
    const [before, after] = [bookOf(flapping), bookOf(`${[header, ...jumped].join('\n')}\n`)];
    for (let position = 0; position < after.length; position += 1) {
      expect(after.timeOf(position)).toBeGreaterThanOrEqual(after.timeOf(position - 1) || 0);
      expect(after.positionAt(after.timeOf(position))).toBeGreaterThanOrEqual(position);
    }
    const last = after.length - 1;
    const gap = before.timeOf(half) - before.timeOf(half - 1);
    // The interval in which the clock was set back has become a millisecond.
    expect(after.timeOf(last)).toBe(before.timeOf(last) - gap + 1);
    expect(after.entry(last)?.at).toBe((before.entry(last)?.at ?? 0) - HOUR);
  });

  it('never throws, whatever its input is.', async () => {
    const lines = text.split('\n').slice(0, 60);
    const anything = fc.oneof(fc.constantFrom(...lines), fc.json(), fc.string());
    await fuzz(
      150,
      fc.property(fc.array(anything, { maxLength: 12 }), (given) => {
        const book = bookOf(`${lines[0] ?? ''}\n${given.join('\n')}\n`);
        for (let position = 0; position < book.length; position += 1) book.foldedStates(position);
        expect(book.length).toBeLessThanOrEqual(given.join('\n').split('\n').length);
      }),
    );
  });

  it('opens a hundred thousand entries without parsing them, and finds any moment.', () => {
    const book = new LogBook();
    book.append(longLog(flapping, 100_000));
    expect(book.length).toBe(100_000);
    expect(book.positionAt(1_700_000_000_000 + 55_555 * 10 + 3)).toBe(55_555);
    expect(book.foldedStates(77_777).size).toBeGreaterThan(0);
    expect(book.lane('files')?.changes.length).toBeGreaterThan(1_000);
  });
});

/** What the page gets from a log on request. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { EntryQuery } from '../../../../visualizer/src/log/find-entries.js';
import { LogDesk } from '../../../../visualizer/src/log/log-desk.js';
import { ownCharts } from '../../../../visualizer/src/log/own-charts.js';
import { clockTime } from '../../../../visualizer/src/state/times.js';
import { makeScene, playScene } from '../../../browser/visualizer-scene.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { piecesOf } from '../../../../visualizer/src/worker/file-pieces.js';
import { longLog, toBytes } from '../../../support/sample-book.js';

useLeakCheck();

const flapping = readFileSync(
  new URL('../../../property/replay/corpus/flaps-forever.jsonl', import.meta.url),
  'utf8',
);

const turn = async (): Promise<void> => {};

describe('the queries of the page', () => {
  let desk: LogDesk;
  let last: number;
  let text: string;

  const find = async (query: EntryQuery): Promise<readonly number[]> => [
    ...((await desk.answer('find', query))?.positions ?? []),
  ];

  beforeAll(async () => {
    const scene = makeScene();
    await playScene(scene);
    const closing = scene.troupe.close();
    const log = scene.log();
    await scene.clock.advance(10_000);
    await closing;
    desk = new LogDesk(ownCharts(), turn);
    text = log;
    const file = new Blob([log]);
    const sizes: number[] = [];
    await desk.read(piecesOf(file, 5_000), (size) => sizes.push(size));
    expect(sizes.length).toBeGreaterThan(5);
    expect(sizes.at(-1)).toBe(file.size);
    last = desk.summary().length - 1;
  }, 30_000);

  it('summarize the log.', () => {
    expect(desk.summary()).toMatchObject({
      names: ['files', 'search', 'git', 'weather', 'memory', 'calendar'],
      missed: 0,
      problem: null,
      hasOtherCharts: false,
      isWhole: true,
    });
  });

  it('report that the log was recorded with other charts.', async () => {
    const { connection, manager } = ownCharts();
    const other = new LogDesk(
      { ...(manager && { manager }), ...(connection && { connection: { ...connection, hash: 'x' } }) },
      turn,
    );
    await other.read(piecesOf(new Blob([text])), () => {});
    expect(other.summary().hasOtherCharts).toBe(true);
  });

  it('give the state of every connection at the end, and before.', async () => {
    const { rows, manager } = await desk.answer('moment', { position: last });
    expect(manager).toBe('running');
    const states = Object.fromEntries(rows.map(({ name, state }) => [name, state]));
    expect(states).toEqual({
      files: 'ready',
      search: 'reconnecting',
      git: 'ready',
      weather: 'failed',
      memory: 'ready',
      calendar: 'stopped',
    });
    expect(rows.find(({ name }) => name === 'search')).toMatchObject({
      nextAttemptAt: expect.any(Number),
      error: { code: 'spawn-failed' },
    });
    const start = await desk.answer('moment', { position: 1 });
    expect(start.rows.map(({ state }) => state)).toEqual(Array.from({ length: 6 }, () => 'configuring'));
  });

  it('give the previous state of an actor, its events, and how often it was in each state.', async () => {
    const actor = await desk.answer('actor', { name: 'search', position: last });
    expect(actor).toMatchObject({
      address: '$/search#1',
      state: { reconnecting: 'backingOff' },
      change: { from: { reconnecting: 'releasing' }, events: ['xstate.done.actor.releaseSession'] },
    });
    const visits = actor?.visits.get('reconnecting.backingOff') ?? 0;
    expect(visits).toBeGreaterThan(1);
    const before = await desk.answer('actor', { name: 'search', position: 1 });
    expect(before?.visits.get('reconnecting.backingOff') ?? 0).toBe(0);
    const again = await desk.answer('actor', { name: 'search', position: last });
    expect(again?.visits.get('reconnecting.backingOff')).toBe(visits);
    expect(await desk.answer('actor', { name: 'nobody', position: last })).toBeUndefined();
    expect(await desk.answer('actor', { name: '', position: last })).toMatchObject({
      address: '$',
      state: { phase: 'running' },
    });
  });

  it('give bars without gaps, and marks for failures.', async () => {
    const { firstAt, lastAt } = desk.summary();
    const window = { from: firstAt, to: lastAt, columns: 800 };
    const { stretches, values } = await desk.answer('stretches', {
      names: ['search', 'files', 'nobody'],
      window,
    });
    expect(stretches.map(({ name }) => name)).toEqual(['search', 'files']);
    const bars = stretches[0]?.bars ?? [];
    expect(bars.at(-1)?.to).toBe(lastAt);
    expect(values[bars.at(-1)?.value ?? -1]).toEqual({ reconnecting: 'backingOff' });
    expect(stretches[0]?.marks.flatMap(({ categories }) => categories)).toContain('failure');
    expect(stretches[1]?.marks.flatMap(({ categories }) => categories)).toContain('rejection');
    const narrow = await desk.answer('stretches', { names: ['search'], window: { ...window, columns: 4 } });
    expect(narrow.stretches[0]?.bars.length).toBeLessThanOrEqual(6);
  });

  it('find entries by kind, connection and text, and give each one with its change.', async () => {
    const rejections = await find({ categories: ['rejection'] });
    expect(rejections).toHaveLength(1);
    const entry = await desk.answer('entry', { position: rejections[0] ?? -1 });
    expect(entry).toMatchObject({ category: 'rejection', lane: 'files', type: 'connection.rejected' });
    expect(entry?.words).toBe('retry is not possible while ready');
    const lost = await find({ lane: 'search', text: 'SESSION.LOST' });
    expect(lost).toHaveLength(2);
    const change = await desk.answer('entry', { position: lost[0] ?? -1 });
    expect(change).toMatchObject({
      before: { state: { ready: expect.anything() } },
      after: { state: { reconnecting: 'releasing' } },
    });
    expect(await find({ text: 'no such text' })).toEqual([]);
  });

  it('find entries by what their rows show, and by their fields.', async () => {
    const rows = await desk.answer('lines', { positions: await find({ text: 'answered after' }) });
    expect(rows.map(({ type }) => type)).toEqual(Array.from({ length: 8 }, () => 'call.finished'));
    const [row] = rows;
    const time = clockTime(row?.at ?? 0);
    expect(await find({ text: `call ${time} "${row?.words}"` })).toEqual([row?.position]);
    const among = async (query: string, fits: (line: string) => boolean): Promise<void> => {
      const lines = text.split('\n').slice(1, -1);
      const wanted = lines.flatMap((line, position) => (fits(line) ? position : []));
      expect([query, await find({ text: query })]).toEqual([query, wanted]);
      expect(wanted).not.toEqual([]);
    };
    await among('code:spawn-failed', (line) => line.includes('"code":"spawn-failed"'));
    await among('method:tools/call', (line) => line.includes('"method":"tools/call"'));
    await among('event:session.lost connection:search', (line) => line.includes('"type":"session.lost"'));
    await among('tool:list_directory kind:call', (line) => line.includes('"tool":"list_directory"'));
    const ofCall = await desk.answer('lines', { positions: await find({ text: 'call:6' }) });
    expect(ofCall.map(({ type }) => type)).toEqual(['call.started', 'wire', 'wire', 'call.finished']);
    await among('session:5', (line) => line.includes('"generation":5,'));
    await among('outcome:answered', (line) => line.includes('"outcome":"answered"'));
    await among('entry:72', (line) => line.startsWith('{"seq":72,'));
    await among('json:"licence has" -kind:snapshot', (line) => line.includes('licence has'));
    await among('kind:rejection state:ready', (line) => line.includes('"connection.rejected"'));
    await among('state:exhausted', (line) => line.includes('"state":{"failed":{"exhausted"'));
  });

  it('report a long search before it is done, and continue it.', async () => {
    const long = new LogDesk(ownCharts(), turn);
    long.append(longLog(text, 5_000));
    let now = 0;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += 1_000));
    const shares: number[] = [];
    const founds: number[] = [];
    for (let share = 0; share < 1 && shares.length < 20;) {
      const found = await long.answer('find', { text: 'session.lost' });
      share = found?.share ?? 1;
      shares.push(share);
      founds.push(found?.positions.length ?? 0);
    }
    clock.mockRestore();
    expect(shares.length).toBeGreaterThan(3);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(founds.at(-1)).toBeGreaterThan(founds[0] ?? 0);
    expect(await long.answer('find', { text: 'event:session.lost' })).toMatchObject({
      positions: { length: founds.at(-1) },
      share: 1,
    });
  });

  it('abort a search that a later one has replaced.', async () => {
    const first = desk.answer('find', { text: 'a' });
    const second = desk.answer('find', { text: 'session.lost' });
    expect((await second)?.positions).toHaveLength(2);
    // A short log is searched before the abort is checked.
    expect((await first)?.positions).not.toHaveLength(2);
  });

  it('give the messages between actors, with response times.', async () => {
    const asked = { mostLanes: 9, upTo: last, hasWire: true };
    const { arrows } = await desk.answer('arrows', { ...asked, names: ['files'], most: 500 });
    const messages = arrows.map(({ from, to, text: words }) => `${from} → ${to}: ${words}`);
    expect(messages).toContain('files · work → files: xstate.done.actor.openTransport');
    expect(messages).toContain('files → files · server: initialize');
    expect(messages).toContain('files → host: retry rejected');
    const answer = arrows.find(({ text: words }) => words === 'tools/call ↩');
    expect(answer).toMatchObject({ from: 'files · server', to: 'files', ms: expect.any(Number) });
    const { arrows: few } = await desk.answer('arrows', { ...asked, names: undefined, most: 5 });
    expect(few.length).toBeGreaterThanOrEqual(5);
    expect(few.length).toBeLessThan(12);
  });

  it('give the messages of as many connections as there is room for, each on one line.', async () => {
    const asked = { names: undefined, mostLanes: 2, upTo: last, most: 1_000, hasWire: true };
    const { arrows, leftOut } = await desk.answer('arrows', asked);
    const ends = new Set(arrows.flatMap(({ from, to }) => [from, to]));
    // Those of the latest messages.
    expect(ends).toEqual(new Set(['host', 'timer', 'manager', 'files', 'search']));
    expect(leftOut).toBe(4);
    const chosen = await desk.answer('arrows', { ...asked, names: ['git', 'weather'] });
    expect(new Set(chosen.arrows.flatMap(({ from, to }) => [from, to]))).toEqual(
      new Set(['host', 'timer', 'manager', 'git', 'weather']),
    );
    expect(chosen.leftOut).toBe(0);
  });

  it('give as many messages without those over the wire, however many there are of these.', async () => {
    const lines = text.trimEnd().split('\n');
    const wire = lines.find((line) => line.includes('"type":"wire"')) ?? '';
    const busy = Array.from({ length: 2_000 }, (_, index) =>
      wire.replace(/"seq":\d+/, () => `"seq":${lines.length + index}`),
    );
    const chatty = new LogDesk(ownCharts(), turn);
    await chatty.read(piecesOf(new Blob([`${[...lines, ...busy].join('\n')}\n`])), () => {});
    const { length } = chatty.summary();
    const asked = { names: undefined, mostLanes: 9, upTo: length - 1, most: 40 };
    const { arrows: all } = await chatty.answer('arrows', { ...asked, hasWire: true });
    expect(new Set(all.map(({ tone }) => tone))).toEqual(new Set(['wire']));
    const { arrows: others } = await chatty.answer('arrows', { ...asked, hasWire: false });
    expect(others.length).toBeGreaterThanOrEqual(40);
    expect(others.map(({ tone }) => tone)).not.toContain('wire');
  });

  it('distinguish a connection from its namesake: the host, a timer, the manager.', async () => {
    const named = new LogDesk(ownCharts(), turn);
    const log = text.replaceAll('"files"', '"timer"').replaceAll('$/files#', '$/timer#');
    await named.read(piecesOf(new Blob([log])), () => {});
    const asked = { names: ['timer'], mostLanes: 9, upTo: last, most: 1_000, hasWire: true };
    const { arrows } = await named.answer('arrows', asked);
    const ends = new Set(arrows.flatMap(({ from, to }) => [from, to]));
    expect(ends).toEqual(
      new Set(['host', 'manager', 'timer · connection', 'timer · work', 'timer · server']),
    );
  });

  it('give the number of entries over time.', async () => {
    const { entries, troubles } = await desk.answer('overview', { columns: 50 });
    expect(entries).toHaveLength(50);
    expect(entries.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(last + 1);
    expect(troubles.some((each) => each > 0)).toBe(true);
  });

  it('abort a file when another one is opened, and report one that cannot be read.', async () => {
    const two = new LogDesk(ownCharts(), turn);
    const first = two.read(piecesOf(new Blob([text]), 100), () => {});
    await two.read(piecesOf(new Blob([text])), () => {});
    await first;
    expect(two.summary()).toMatchObject({ length: last + 1, isWhole: true });
    async function* breaking(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
      yield toBytes(text);
      throw new Error('gone');
    }
    await expect(two.read(breaking(), () => {})).rejects.toThrow('gone');
  });

  it('export the page and the log into one file in which no part of the log is markup.', async () => {
    const markup = '</script><!-- <b>\u2028 $& $1';
    const given = text.replace('"files"', () => JSON.stringify(markup));
    const one = new LogDesk(ownCharts(), turn);
    await one.read(piecesOf(new Blob([given])), () => {});
    const template = `<!doctype html><script type="application/x-ndjson" id="log">
  TROUPE-LOG
</script><body></body>`;
    const file = await (await one.answer('share', { template })).text();
    const [before, log = '', after, ...others] = file.split(/<script[^>]*>|<\/script>/);
    expect([before, after, others]).toEqual(['<!doctype html>', '<body></body>', []]);
    expect(log).not.toContain('<');
    const parsed = (lines: string): unknown[] =>
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    expect(parsed(log)).toEqual(parsed(given));
    expect(() => one.answer('share', { template: '<p>' })).toThrow();
  });

  it('give the notes of an edited log, whatever they contain.', async () => {
    const [header = '', snapshot = ''] = flapping.split('\n');
    const odd = { toString: null };
    const notes: readonly (readonly [type: string, fields: object, words: string, arrow?: string])[] = [
      ['call.started', { tool: odd }, '…', 'call …'],
      ['call.finished', { tool: [odd], outcome: odd, durationMs: odd }, '…: … after …', '…: …'],
      [
        'connection.rejected',
        { event: odd, state: odd, reason: null },
        '… is not possible while …',
        '… rejected',
      ],
      ['wire', { direction: odd, method: 'ping' }, '… ping', 'ping'],
      ['gap', { leftOut: odd }, '… entries were left out'],
      ['gap.notes', { leftOut: 7 }, '7 notes were left out'],
    ];
    const lines = notes.map(([type, fields], index) => {
      const note = { type, server: 'files', ...fields };
      return JSON.stringify({
        seq: index + 2,
        at: 1_795_846_385_400,
        kind: 'note',
        note,
        check: '0'.repeat(16),
      });
    });
    const written = new LogDesk(ownCharts(), turn);
    await written.read(piecesOf(new Blob([[header, snapshot, ...lines, ''].join('\n')])), () => {});
    const shown = await written.answer('lines', { positions: notes.map((_, index) => index + 1) });
    expect(shown.map(({ words }) => words)).toEqual(notes.map(([, , words]) => words));
    const asked = { names: undefined, mostLanes: 9, upTo: notes.length, most: 100, hasWire: true };
    const { arrows } = await written.answer('arrows', asked);
    expect(arrows.map(({ text: words }) => words)).toEqual(notes.flatMap(([, , , arrow]) => arrow ?? []));
  });

  it('drop the older half of a long log, up to a snapshot, and count the dropped entries.', async () => {
    const bytes = longLog(flapping, 20_000);
    const kept = bytes.length / 4;
    const live = new LogDesk(ownCharts(), turn, kept);
    const whole = new LogDesk(ownCharts(), turn);
    for (let at = 0; at < bytes.length; at += 10_000) {
      live.append(bytes.slice(at, at + 10_000));
      whole.append(bytes.slice(at, at + 10_000));
    }
    const { length, leftOut, missed, problem } = live.summary();
    expect({ missed, problem }).toEqual({ missed: 0, problem: null });
    expect(length + leftOut).toBe(20_000);
    expect(length).toBeGreaterThan(20_000 / 10);
    expect(length).toBeLessThan(20_000 / 3);
    for (const position of [0, 1, Math.floor(length / 2), length - 1]) {
      const here = await live.answer('moment', { position });
      const there = await whole.answer('moment', { position: position + leftOut });
      // What happened before the first kept entry is no longer known.
      const past = { restarts: expect.any(Number), lastFailure: expect.toSatisfy(() => true) };
      const rows = there.rows.map((row) => ({ ...row, ...past }));
      expect({ ...here, position: 0 }).toEqual({ ...there, position: 0, rows });
    }
    const template = '<script id="log">TROUPE-LOG</script>';
    const exported = await (await live.answer('share', { template })).text();
    const again = new LogDesk(ownCharts(), turn);
    await again.read(piecesOf(new Blob([exported.slice(17, -9)])), () => {});
    expect(again.summary()).toMatchObject({ length, missed: 0, problem: null });
  });
});

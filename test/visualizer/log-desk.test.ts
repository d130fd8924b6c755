/** What the page learns of a log when it asks. */
import { beforeAll, describe, expect, it } from 'vitest';
import { LogDesk } from '../../visualizer/src/log/log-desk.js';
import { ownCharts } from '../../visualizer/src/log/own-charts.js';
import { makeScene, playScene } from '../browser/visualizer-scene.js';
import { useLeakCheck } from '../support/leak-check.js';
import { toBytes } from './sample-book.js';

useLeakCheck();

const turn = async (): Promise<void> => {};

describe('the desk of the page', () => {
  let desk: LogDesk;
  let last: number;

  beforeAll(async () => {
    const scene = makeScene();
    await playScene(scene);
    const closing = scene.troupe.close();
    const log = scene.log();
    await scene.clock.advance(10_000);
    await closing;
    desk = new LogDesk(ownCharts(), turn);
    const shares: number[] = [];
    await desk.read(toBytes(log), (share) => shares.push(share));
    expect(shares.at(-1)).toBe(1);
    last = desk.summary().length - 1;
  }, 30_000);

  it('sums the log up.', () => {
    expect(desk.summary()).toMatchObject({
      names: ['files', 'search', 'git', 'weather', 'memory', 'calendar'],
      missed: 0,
      problem: null,
      hasOtherCharts: false,
      isWhole: true,
    });
  });

  it('says that the log was made by other charts than its own.', async () => {
    const { connection, manager } = ownCharts();
    const other = new LogDesk(
      { ...(manager && { manager }), ...(connection && { connection: { ...connection, hash: 'x' } }) },
      turn,
    );
    await other.read(toBytes(await desk.answer('text', {})), () => {});
    expect(other.summary().hasOtherCharts).toBe(true);
  });

  it('tells how every connection stood at the end, and before.', async () => {
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

  it('tells where an actor came from, by what, and how often it was where.', async () => {
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
      state: 'running',
    });
  });

  it('gives bars without gaps, and marks for what went wrong.', async () => {
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
    expect(stretches[0]?.marks.map(({ category }) => category)).toContain('failure');
    expect(stretches[1]?.marks.map(({ category }) => category)).toContain('rejection');
    const narrow = await desk.answer('stretches', { names: ['search'], window: { ...window, columns: 4 } });
    expect(narrow.stretches[0]?.bars.length).toBeLessThanOrEqual(6);
  });

  it('finds entries by kind, connection and words, and gives each with what it changed.', async () => {
    const rejections = await desk.answer('find', { categories: ['rejection'] });
    expect(rejections).toHaveLength(1);
    const entry = await desk.answer('entry', { position: rejections?.[0] ?? -1 });
    expect(entry).toMatchObject({ category: 'rejection', lane: 'files', type: 'connection.rejected' });
    expect(entry?.words).toBe('connection.retry is not accepted in ready (unhandled)');
    const lost = await desk.answer('find', { lane: 'search', text: 'SESSION.LOST' });
    expect(lost).toHaveLength(2);
    const change = await desk.answer('entry', { position: lost?.[0] ?? -1 });
    expect(change).toMatchObject({
      before: { state: { ready: expect.anything() } },
      after: { state: { reconnecting: 'releasing' } },
    });
    expect(await desk.answer('find', { text: 'no such words' })).toHaveLength(0);
  });

  it('gives up a search that nobody wants any more.', async () => {
    const first = desk.answer('find', { text: 'a' });
    const second = desk.answer('find', { text: 'session.lost' });
    expect(await second).toHaveLength(2);
    // A short log is through before it is asked whether anybody still wants it.
    expect(await first).not.toHaveLength(2);
  });

  it('tells who told whom what, with the time that an answer took.', async () => {
    const arrows = await desk.answer('arrows', { name: 'files', upTo: last, most: 500 });
    const said = arrows.map(({ from, to, text: words }) => `${from} → ${to}: ${words}`);
    expect(said).toContain('files · effects → files: openTransport done');
    expect(said).toContain('files → files · server: initialize');
    expect(said).toContain('files → host: connection.retry rejected');
    const answer = arrows.find(({ text: words }) => words === 'tools/call ↩');
    expect(answer).toMatchObject({ from: 'files · server', to: 'files', ms: expect.any(Number) });
    const few = await desk.answer('arrows', { name: undefined, upTo: last, most: 5 });
    expect(few.length).toBeGreaterThanOrEqual(5);
    expect(few.length).toBeLessThan(12);
  });

  it('tells how much happened when.', async () => {
    const { entries, troubles } = await desk.answer('overview', { columns: 50 });
    expect(entries).toHaveLength(50);
    expect(entries.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(last + 1);
    expect(troubles.some((each) => each > 0)).toBe(true);
  });
});

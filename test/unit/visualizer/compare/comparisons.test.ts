/** Comparisons of moments and of runs. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compareMoments } from '../../../../visualizer/src/compare/moments.js';
import { normalForm } from '../../../../visualizer/src/compare/normal-form.js';
import { compareRuns, startsIn } from '../../../../visualizer/src/compare/runs.js';
import { createControlledClock } from '../../../../src/testing/controlled-clock.js';
import { tool } from '../../../../src/testing/ordinary-answers.js';
import { ScriptedServer } from '../../../../src/testing/scripted-server.js';
import type { ServerScript } from '../../../../src/testing/server-script.js';
import { createTroupe } from '../../../../src/runtime/troupe.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { MemoryLog } from '../../../support/memory-log.js';
import { bookOf } from '../../../support/sample-book.js';

useLeakCheck();

const corpus = (name: string): string =>
  readFileSync(new URL(`../../../property/replay/corpus/${name}.jsonl`, import.meta.url), 'utf8');
const turn = async (): Promise<void> => {};
const whole = (text: string) => ({ book: bookOf(text), start: null });

/** A run on a clock that starts at some time, with another seed, and in which a server is lost once. */
async function run(startAt: number, seed: number, files: ServerScript = {}): Promise<string> {
  const clock = createControlledClock(startAt);
  const log = new MemoryLog();
  const servers = { files: new ScriptedServer(files, clock), other: new ScriptedServer({}, clock) };
  const troupe = createTroupe({ clock, seed, record: { target: log }, cache: false, servers });
  await clock.runUntil(troupe.start(), { troupe });
  await servers.files.die();
  await clock.runUntil(troupe.connection('files')!.ready(), { troupe });
  await clock.runUntil(troupe.close(), { troupe });
  return log.text;
}

describe('two moments', () => {
  const book = bookOf(corpus('dies-in-a-call'));
  const lost = Array.from({ length: book.length }, (_, at) => at).find(
    (at) => book.labelOf(at)?.type === 'session.lost',
  )!;

  it('differ in states, fields and entries, the first difference first.', () => {
    const { from, to, lanes } = compareMoments(book, lost - 1, lost);
    expect([from.seq, to.seq]).toEqual([lost, lost + 1]);
    expect(lanes).toHaveLength(1);
    const [files] = lanes;
    expect(files).toMatchObject({ name: 'files', count: 1 });
    expect(files?.states).toEqual([
      expect.objectContaining({ ready: expect.anything() }),
      expect.objectContaining({ reconnecting: expect.anything() }),
    ]);
    expect(files?.entries).toEqual([
      expect.objectContaining({
        position: lost,
        seq: lost + 1,
        type: 'session.lost',
        state: files?.states[1],
      }),
    ]);
    const failure = files?.changes.find(({ path }) => path === 'failure');
    expect(failure).toMatchObject({ before: null, after: { code: 'process-exited' } });
    const all = compareMoments(book, 0, book.length - 1).lanes;
    const firsts = all.map(({ entries }) => entries[0]?.position ?? Infinity);
    expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
  });

  it('can be compared backwards, and a moment with itself.', () => {
    const forwards = compareMoments(book, 1, lost).lanes;
    const backwards = compareMoments(book, lost, 1).lanes;
    expect(backwards.map(({ states }) => states.toReversed())).toEqual(forwards.map(({ states }) => states));
    expect(compareMoments(book, lost, lost)).toMatchObject({ lanes: [], equal: book.lanes.length });
  });
});

describe('two runs', () => {
  it('do not differ in times, seeds, jitter and processes.', async () => {
    const [a, b] = [await run(0, 1), await run(1_796_068_026_893, 99)];
    const compared = await compareRuns(whole(a), whole(b), turn);
    expect(compared).toEqual({ connections: [], equal: ['files', 'other'] });
  });

  it('differ in what one server did, from the first difference on.', async () => {
    const text = await run(0, 1);
    const noisy = await run(5_000, 2, {
      on: { initialize: [{}, { error: { code: -32_000, message: 'no disk' } }, {}] },
    });
    const { connections, equal } = await compareRuns(whole(text), whole(noisy), turn);
    expect(equal).toEqual(['other']);
    const [files] = connections;
    expect(files?.name).toBe('files');
    expect(files?.differences[0]).toMatchObject({
      b: { type: 'xstate.error.actor.handshake', state: { reconnecting: expect.anything() } },
    });
    expect(files?.states[0]).toEqual(files?.states[1]);
    const back = await compareRuns(whole(noisy), whole(text), turn);
    expect(back.connections[0]?.counts).toEqual(files?.counts.toReversed());
  });

  it('differ in data: each difference is told once.', async () => {
    const [a, b] = [await run(0, 1), await run(0, 1, { tools: [tool('echo'), tool('more')] })];
    const { connections } = await compareRuns(whole(a), whole(b), turn);
    const paths = connections.flatMap(({ differences }) =>
      differences.flatMap(({ changes }) => changes.map(({ path }) => path)),
    );
    expect(paths).toContain('event.xstate.done.actor.adoptTools.output.tools');
    expect(connections).toHaveLength(1);
    expect(connections[0]?.differences.every((each) => each.a !== null && each.b !== null)).toBe(true);
  });

  it('can be two starts in one log, and connections that only one log has.', async () => {
    const restarts = corpus('host-restarts');
    const book = bookOf(restarts);
    expect(startsIn(book)).toBeGreaterThan(1);
    const same = await compareRuns({ book, start: 1 }, { book, start: 1 }, turn);
    expect(same).toEqual({ connections: [], equal: ['files'] });
    const other = await compareRuns({ book, start: 1 }, { book, start: 2 }, turn);
    expect(other.connections[0]?.counts.every((count) => count > 0)).toBe(true);
    const { connections } = await compareRuns(whole(restarts), whole(await run(0, 1)), turn);
    expect(connections.find(({ name }) => name === 'other')).toMatchObject({
      counts: [0, expect.any(Number)],
      states: [null, expect.anything()],
    });
  });
});

describe('what differs in every run', () => {
  const terms = { from: 1_796_068_026_893, to: 1_796_068_030_000, generation: 3 };

  it.each([
    [{ at: 1_796_068_027_000, delayMs: 417 }, { at: 1_796_068_029_000, delayMs: 633 }, true],
    [{ losses: [1_796_068_027_000] }, { losses: [] }, false],
    [
      { pid: 17, message: 'pid 17 at 127.0.0.1:4000' },
      { pid: 18, message: 'pid 18 at 127.0.0.1:4001' },
      true,
    ],
    [{ message: 'exit code 1' }, { message: 'exit code 2' }, false],
    [{ delayMs: 0 }, { delayMs: 5 }, false],
    [{ handshakeTimeoutMs: 10_000 }, { handshakeTimeoutMs: 20_000 }, false],
    [{ generation: 4 }, { generation: 5 }, false],
  ])('is left out of %j and %j: %s.', (a, b, isSame) => {
    const [left, right] = [normalForm(a, terms), normalForm(b, terms)];
    if (isSame) expect(left).toEqual(right);
    else expect(left).not.toEqual(right);
  });

  it('includes the generation that a run began with.', () => {
    expect(normalForm({ generation: 4 }, terms)).toEqual(
      normalForm({ generation: 1 }, { ...terms, generation: 0 }),
    );
  });
});

/** Why a connection is in its state: from the log to the sentences. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { publicState } from '../../../../machines/connection/public-state.js';
import { contextOf, detailsOf } from '../../../../src/event-log/format/by-shape.js';
import { LogDesk } from '../../../../visualizer/src/log/log-desk.js';
import { ownCharts } from '../../../../visualizer/src/log/own-charts.js';
import { whySentences, type Sentence, type WhyFacts } from '../../../../visualizer/src/log/why.js';
import type { Stay, Trouble } from '../../../../visualizer/src/log/story.js';
import { toBytes } from '../../../support/sample-book.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const CORPUS = new URL('../../../property/replay/corpus/', import.meta.url);
const WORDS = { at: (at: number) => `@${at}`, duration: (ms: number) => `${ms} ms`, countdown: String };

function deskOf(name: string): LogDesk {
  const desk = new LogDesk(ownCharts(), async () => {});
  desk.append(toBytes(readFileSync(new URL(`${name}.jsonl`, CORPUS), 'utf8')));
  return desk;
}

/** The sentences about a connection at that position, as the page shows them. */
async function whyAt(desk: LogDesk, name: string, position: number): Promise<readonly Sentence[]> {
  const view = await desk.answer('why', { name, position });
  const actor = await desk.answer('actor', { name, position });
  if (view === undefined || actor === undefined) throw new Error(`'${name}' is not there.`);
  return whySentences(
    {
      ...view,
      server: name,
      present: publicState(actor.state),
      context: contextOf(actor.context),
      stopReason: actor.context['stopReason'],
      nextAt: detailsOf(actor.details)?.nextAttemptAt ?? null,
      authUrl: null,
      outdated: null,
      now: undefined,
    },
    WORDS,
  );
}

const AT = 1_000_000;
const stay = (state: Stay['state'], position: number, more: Partial<Stay> = {}): Stay => ({
  state,
  position,
  at: AT + position,
  isExact: true,
  ...more,
});
const trouble = (position: number, at: number, more: Partial<Trouble> = {}): Trouble => ({
  position,
  at,
  kind: 'loss',
  failure: {
    code: 'process-exited',
    message: 'The server exited with code 3.',
    phase: 'session',
    at,
    exit: { code: 3, signal: null },
    stderrTail: ['starting', 'FATAL: no database', ' '],
  },
  ...more,
});
const FACTS: WhyFacts = {
  server: 'files',
  present: { state: 'ready', substate: '', tags: ['usable', 'attempted'] },
  context: contextOf({}),
  stays: [stay('ready', 9)],
  restarts: 0,
  troubles: [],
  nextAt: null,
  authUrl: null,
  outdated: null,
  stopReason: 'stop',
  now: undefined,
};
const sentences = (more: Partial<WhyFacts>): readonly Sentence[] =>
  whySentences({ ...FACTS, ...more }, WORDS);

describe('the reasons of a state', () => {
  it('name the crashes of a connection that has recovered, with the entry of the last one and its last words.', () => {
    const [present, crashes, cause, ...rest] = sentences({
      restarts: 3,
      troubles: [trouble(8, AT + 3_000), trouble(6, AT + 2_000), trouble(4, AT)],
    });
    expect(present).toMatchObject({ text: expect.stringContaining('3 restarts'), position: 9 });
    expect(crashes).toMatchObject({ text: expect.stringMatching(/3 times in 3000 ms.*code 3/), position: 8 });
    expect(cause?.text).toContain('FATAL: no database');
    expect(rest).toEqual([]);
  });

  it('leave out an older incident.', () => {
    const hour = 3_600_000;
    const [, last] = sentences({ troubles: [trouble(8, AT + hour), trouble(4, AT)] });
    expect(last?.text).not.toContain('times');
    expect(last?.position).toBe(8);
  });

  it('count an attempt that follows, and say when, live and in the past.', () => {
    const waiting: Partial<WhyFacts> = {
      present: { state: 'reconnecting', substate: 'backingOff', tags: ['backingOff'] },
      context: contextOf({ attempt: 3, policy: { maxAttempts: 5 } }),
      troubles: [trouble(8, AT, { kind: 'attempt' })],
      nextAt: AT + 6_000,
    };
    expect(sentences(waiting)[0]).toMatchObject({
      text: expect.stringMatching(/^Attempt 4 of 5 .*@1006000/),
      position: 8,
    });
    expect(sentences({ ...waiting, now: AT })[0]?.text).toContain('in 6000');
  });

  it('give the command or the address if a person is needed.', () => {
    const trust = sentences({ present: { state: 'configuring', substate: '', tags: ['awaitingTrust'] } });
    expect(trust[0]?.command).toBe('troupe trust files');
    const present = { state: 'configuring', substate: '', tags: ['authorizing'] } as const;
    expect(sentences({ present })[0]).toMatchObject({ command: 'troupe login files' });
    expect(sentences({ present, authUrl: 'https://a.example/' })[0]?.href).toBe('https://a.example/');
  });

  it('admit that a state began before the log did.', () => {
    const [first] = sentences({ stays: [stay('ready', 2, { isExact: false })] });
    expect(first?.text).toContain('before @1000002');
    expect(first?.position).toBeUndefined();
  });

  it('say in which state a connection was before the troupe was closed.', () => {
    const [first] = sentences({
      present: { state: 'stopped', substate: '', tags: [] },
      stays: [stay('stopped', 9), stay('shuttingDown', 8), stay('failed', 5)],
      stopReason: 'close',
    });
    expect(first).toMatchObject({ text: expect.stringMatching(/closed at @1000008.*failed since @1000005/) });
    expect(first?.position).toBe(8);
  });

  it('are there for every state of every recorded incident, and each entry that they name is of that connection.', async () => {
    const states = new Set<string>();
    for (const name of ['flaps-forever', 'exit-at-once', 'unknown-command', 'session-404', 'host-restarts']) {
      const desk = deskOf(name);
      const { names, length } = desk.summary();
      for (const lane of names.filter((each) => !each.startsWith('$')))
        for (let position = 0; position < length; position += 7) {
          const actor = await desk.answer('actor', { name: lane, position });
          if (actor === undefined) continue;
          states.add(publicState(actor.state).state);
          const [first, ...others] = await whyAt(desk, lane, position);
          expect(first?.text).not.toMatch(/undefined|NaN/);
          for (const { position: shown = position } of [first!, ...others])
            expect(shown).toBeLessThanOrEqual(position);
        }
    }
    expect(states.size).toBeGreaterThan(4);
  });
});

describe('the past in the rows', () => {
  it('is the number of restarts and the last failure, also at a former moment.', async () => {
    const desk = deskOf('flaps-forever');
    const last = desk.summary().length - 1;
    const rowsAt = async (position: number) => (await desk.answer('moment', { position })).rows;
    const [first] = await rowsAt(5);
    expect(first).toMatchObject({ restarts: 0, lastFailure: null });
    const rows = await rowsAt(last);
    const flapping = rows.find(({ restarts }) => restarts > 1);
    expect(flapping?.lastFailure).toMatchObject({ code: expect.any(String) });
    const { position, at } = flapping!.lastFailure!;
    const entry = await desk.answer('entry', { position });
    expect(entry).toMatchObject({ at, category: 'failure', lane: flapping!.name });
    const before = (await rowsAt(position - 1)).find(({ name }) => name === flapping!.name);
    expect(before?.lastFailure?.position ?? -1).toBeLessThan(position);
  });
});

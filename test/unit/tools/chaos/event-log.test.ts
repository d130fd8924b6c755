/** What a chaos run checks in the events. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Subject } from 'rxjs';
import { useLeakCheck } from '../../../support/leak-check.js';
import { EventLog } from '../../../support/tools/chaos.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-event-log-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function logged(events: readonly object[]) {
  const file = join(folder, `${Math.random()}.jsonl`);
  const log = new EventLog(file, { seed: 7 });
  const events$ = new Subject();
  log.follow({ events$ });
  for (const [index, event] of events.entries()) events$.next({ seq: index + 1, ...event });
  await log.end();
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return { faults: log.faults, outcomes: log.outcomes, lines: lines.map((line) => JSON.parse(line)) };
}

const of = (type: string, generation: number) => ({ type, server: 'a', generation });
const started = (call: number, tool: string, repeats?: number) => ({
  type: 'call.started',
  call,
  tool,
  ...(repeats === undefined ? {} : { repeats }),
});
const finished = (call: number, tool: string, outcome: string) => ({
  type: 'call.finished',
  call,
  tool,
  outcome,
});

useLeakCheck();

describe('The event log of a chaos run', () => {
  it('has a line of JSON for every event, after a first one with the seed.', async () => {
    const { lines, faults } = await logged([of('connection.added', 0), of('connection.ready', 1)]);
    expect(lines[0]).toMatchObject({ type: 'chaos.run', seed: 7 });
    expect(lines.slice(1)).toEqual([
      { seq: 1, ...of('connection.added', 0) },
      { seq: 2, ...of('connection.ready', 1) },
    ]);
    expect(faults).toEqual([]);
  });

  it('permits a diagnostic of a successor before the current session is replaced.', async () => {
    const { faults } = await logged([
      of('connection.ready', 1),
      of('diagnostic', 2),
      of('connection.state', 1),
      of('connection.ready', 2),
    ]);
    expect(faults).toEqual([]);
  });

  it('counts the outcomes of calls, and for a repeated call that of its last attempt.', async () => {
    const { outcomes, faults } = await logged([
      started(1, 'read'),
      finished(1, 'read', 'outcome-unknown'),
      started(2, 'read', 1),
      finished(2, 'read', 'answered'),
    ]);
    expect(outcomes).toEqual({ 'outcome-unknown': 0, answered: 1 });
    expect(faults).toEqual([]);
  });

  it('counts a call as unknown if its repetition was not sent.', async () => {
    const { outcomes } = await logged([
      started(1, 'read'),
      finished(1, 'read', 'outcome-unknown'),
      started(2, 'read', 1),
      finished(2, 'read', 'not-sent'),
    ]);
    expect(outcomes).toEqual({ 'outcome-unknown': 1 });
  });

  it('counts a call once that was lost, then not sent, then answered.', async () => {
    const { outcomes, faults } = await logged([
      started(1, 'read'),
      finished(1, 'read', 'outcome-unknown'),
      started(2, 'read', 1),
      finished(2, 'read', 'not-sent'),
      started(3, 'read', 2),
      finished(3, 'read', 'answered'),
    ]);
    expect(outcomes).toEqual({ 'outcome-unknown': 0, answered: 1 });
    expect(faults).toEqual([]);
  });

  it.each([
    [
      'a repetition that could act twice',
      [
        started(1, 'act'),
        finished(1, 'act', 'outcome-unknown'),
        started(2, 'act', 1),
        finished(2, 'act', 'answered'),
      ],
      'call 2 (act) repeats 1, which was outcome-unknown',
    ],
    ['a call without an end', [started(1, 'act')], 'call 1 (act) has no call.finished event'],
    [
      'the end of an unknown call',
      [finished(1, 'act', 'answered')],
      'call 1 (act) has a call.finished event without a start',
    ],
    [
      'a call that starts twice',
      [started(1, 'act'), started(1, 'act'), finished(1, 'act', 'answered')],
      'call 1 (act) has two call.started events',
    ],
    [
      'an earlier session after a later one',
      [of('connection.ready', 2), of('connection.ready', 1)],
      'event 2: a went from session 2 back to 1 (connection.ready)',
    ],
    [
      'events out of order',
      [{ ...of('connection.ready', 1), seq: 5 }, of('connection.lost', 1)],
      'event 2 (connection.lost) came after 5',
    ],
    [
      'an internal error of a connection',
      [{ ...of('connection.failed', 1), failure: { code: 'internal', message: 'oh' } }],
      'an internal error: oh',
    ],
    ['the end of the manager', [{ type: 'manager.failed', message: 'oh' }], 'the manager failed: oh'],
  ])('reports %s.', async (_, events, fault) => {
    expect((await logged(events)).faults).toEqual([fault]);
  });
});

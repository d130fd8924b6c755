/** Root machines other than the manager, in a recording and in its replay. */
import { setImmediate as turn } from 'node:timers/promises';
import { createActor } from 'xstate';
import { describe, expect, it } from 'vitest';
import { RECORDED_CHARTS } from '../../../machines/charts.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import type { CauseEntry, LogEntry, LogHeader, SnapshotEntry } from '../../../src/event-log/format/entry.js';
import { Fold, type Misfit } from '../../../src/event-log/replay/fold.js';
import { makeRecorder } from '../../../src/event-log/record/make-recorder.js';
import { NumberedClock } from '../../../src/actor-system/numbered-clock.js';
import { Replayer } from '../../../src/event-log/replay/replayer.js';
import { RootSupervisor } from '../../../src/actor-system/root-actors.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { HeldConfiguration } from '../../support/held-configuration.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { MemoryLog } from '../../support/memory-log.js';
import { SAMPLE_HEADER } from '../../support/sample-log.js';

useLeakCheck();
useCrashWatch();

const INPUT = SAMPLE_HEADER.input as never;
const ROOT = '$:configuration#1';
const POLICY = { restMs: 300, mostMs: 2_000, retryAfterMs: [1_000] };

function make() {
  const clock = createControlledClock();
  const timers = new NumberedClock(clock);
  const manager = createActor(managerMachine, { input: INPUT, clock: timers }).start();
  const roots = new RootSupervisor(timers, () => {});
  const held = new HeldConfiguration();
  const record = () => {
    const sink = new MemoryLog();
    const failed = (error: unknown): never => {
      throw error;
    };
    const system = { manager, timers, roots };
    const recorder = makeRecorder({ system, sink, clock, seed: 1, input: INPUT, failed });
    recorder.start();
    const end = async () => {
      await recorder.close();
      return sink.read();
    };
    return { end };
  };
  const begin = () => roots.start('configuration', held.machine, { policy: POLICY, readable: true });
  const stop = (): void => {
    roots.stop();
    manager.stop();
  };
  return { clock, manager, roots, held, record, begin, stop };
}

function replay({ header, entries }: { readonly header: LogHeader; readonly entries: readonly LogEntry[] }) {
  const replayer = new Replayer(header);
  for (const entry of entries) replayer.take(entry);
  replayer.end();
  return replayer;
}

const causes = (entries: readonly LogEntry[]): CauseEntry[] =>
  entries.filter((entry) => entry.kind !== 'snapshot' && entry.kind !== 'note');

describe('a root machine', () => {
  it('is recorded before its first state, with its effects and timers, and can be replayed.', async () => {
    const { clock, held, record, begin, stop } = make();
    const { end } = record();
    begin();
    await turn();
    held.send({ type: 'files.changed', at: clock.now() });
    await clock.advance(300);
    held.succeed({ readable: true, at: clock.now() });
    await turn();
    const log = await end();
    stop();
    expect(
      causes(log.entries).map(({ kind, to, from, event, state, timer }) => [
        kind,
        to,
        from?.slice(ROOT.length),
        event.type,
        state,
        timer,
      ]),
    ).toEqual([
      ['send', ROOT, undefined, 'xstate.init', 'quiet', undefined],
      ['callback', ROOT, '/watchFiles#1', 'files.changed', 'changed', undefined],
      ['timer', ROOT, '', 'xstate.after.rest.configuration.changed', 'applying', 1],
      ['settle', ROOT, '/applyConfiguration#1', 'xstate.done.actor.applyConfiguration', 'quiet', undefined],
    ]);
    const replayer = replay(log);
    expect([replayer.divergences, replayer.whyNoRerun]).toEqual([[], undefined]);
  });

  it('is in the snapshots of a recording that starts later, and in its entries if the machine starts later.', async () => {
    const { clock, manager, roots, held, record, begin, stop } = make();
    begin();
    held.send({ type: 'files.changed', at: clock.now() });
    await turn();
    const { end } = record();
    roots.start('configuration:2', held.machine, { policy: POLICY, readable: false });
    await clock.advance(300);
    const log = await end();
    stop();
    const snapshots = log.entries.filter((entry): entry is SnapshotEntry => entry.kind === 'snapshot');
    expect(snapshots.map(({ to, state }) => [to, state])).toEqual([
      ['$', manager.getSnapshot().value],
      [ROOT, 'changed'],
    ]);
    expect(causes(log.entries).map(({ to }) => to)).toEqual(['$:configuration:2#1', ROOT]);
    expect(replay(log).divergences).toEqual([]);
  });

  it('gets another address after a restart, and the crash as its input.', async () => {
    const { manager, record, begin, stop } = make();
    const { end } = record();
    begin().send(null as never);
    await turn();
    const log = await end();
    stop();
    const [, , again] = causes(log.entries);
    expect(again).toMatchObject({ to: '$:configuration#2', event: { input: { crash: expect.any(String) } } });
    expect(replay(log).divergences).toEqual([]);
    expect(manager.getSnapshot().status).toBe('stopped');
  });

  it('has the hash of its chart in the header.', async () => {
    const { record, stop } = make();
    const { header } = await record().end();
    stop();
    expect(Object.keys(header.machines).toSorted()).toEqual(Object.keys(RECORDED_CHARTS).toSorted());
  });
});

describe('an invalid log', () => {
  const begins = (to: string, input: unknown): CauseEntry => ({
    seq: 2,
    at: 1,
    kind: 'send',
    to,
    event: { type: 'xstate.init', input },
    state: 'quiet',
    check: '00',
  });
  const stands = (to: string, state: string): SnapshotEntry => ({
    seq: 2,
    at: 1,
    kind: 'snapshot',
    to,
    status: 'active',
    state,
    context: {},
    left: 0,
    check: '00',
  });

  it.each<[string, LogEntry]>([
    ['starts a machine of an unknown kind', begins('$:weather#1', {})],
    ['starts an effect as a machine', begins(`${ROOT}/watchFiles#1`, {})],
    ['starts the manager', begins('$', {})],
    ['has a machine of an unknown kind in a snapshot', stands('$:weather#1', 'quiet')],
    ['has a machine in a state that its chart lacks', stands(ROOT, 'elsewhere')],
    ['has a machine with the name of an inherited property', begins('$:constructor#1', {})],
  ])('that %s has a misfit, and its replay has a divergence.', (_, entry) => {
    const misfits: Misfit[] = [];
    new Fold((misfit) => misfits.push(misfit)).take(entry);
    expect(misfits).toMatchObject([{ actor: 'to' in entry ? entry.to : '' }]);
    const begin: LogEntry = { ...stands('$', 'idle'), seq: 1, context: SAMPLE_HEADER.input };
    expect(() => replay({ header: SAMPLE_HEADER, entries: [begin, entry] })).not.toThrow();
    expect(replay({ header: SAMPLE_HEADER, entries: [begin, entry] }).divergenceCount).toBeGreaterThan(0);
  });

  it('that starts a machine without an input leaves it in error.', () => {
    const fold = new Fold();
    fold.take(begins(ROOT, undefined));
    expect(fold.stateOf(ROOT)).toMatchObject({ status: 'error' });
  });
});

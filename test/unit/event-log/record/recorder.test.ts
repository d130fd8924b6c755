/** The recorder with sinks that are too slow and with internal errors; the test controls the machines. */
import { setImmediate as turn } from 'node:timers/promises';
import { createActor, type AnyActorRef } from 'xstate';
import { describe, expect, it } from 'vitest';
import { managerMachine } from '../../../../machines/manager/manager.machine.js';
import { NumberedClock } from '../../../../src/actor-system/numbered-clock.js';
import { Recorder } from '../../../../src/event-log/record/recorder.js';
import { RootSupervisor } from '../../../../src/actor-system/root-actors.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { MemoryLog } from '../../../support/memory-log.js';
import { SAMPLE_HEADER } from '../../../support/sample-log.js';

useLeakCheck();
useCrashWatch();

const { startedAt: _, part: __, firstSeq: ___, ...facts } = SAMPLE_HEADER;
const INPUT = {
  startSlots: 2,
  slotHoldMs: 500,
  startGateMs: 10_000,
  retryBurst: 20,
  retryEveryMs: 100,
};

function make(sink: MemoryLog) {
  const clock = createControlledClock();
  const timers = new NumberedClock(clock);
  const manager: AnyActorRef = createActor(managerMachine, { input: INPUT, clock: timers }).start();
  const errors: unknown[] = [];
  const recorder = new Recorder({
    system: { manager, timers, roots: new RootSupervisor(timers, () => {}) },
    sink,
    clock,
    facts,
    failed: (error) => errors.push(error),
  });
  recorder.start();
  return { manager, recorder, errors };
}

const padded = (length: number) => ({ type: 'test.padded', pad: 'x'.repeat(length) });
const MIB = 1_024 * 1_024;

describe('a recorder', () => {
  it('omits entries instead of buffering them while the sink is slow, records how many, and continues.', async () => {
    const sink = new MemoryLog();
    let release = (): void => {};
    sink.held = new Promise((resolve) => (release = resolve));
    const { manager, recorder } = make(sink);
    for (let count = 0; count < 40; count += 1) {
      manager.send(padded(MIB));
      await turn();
    }
    release();
    await turn();
    await turn();
    manager.send(padded(1));
    await turn();
    manager.send(padded(2));
    await recorder.close();
    const { entries } = sink.read();
    const kinds = entries.map(({ kind }) => kind);
    const gap = entries.find((entry) => entry.kind === 'note');
    const kept = kinds.indexOf('note') - 1;
    expect(kept).toBeLessThan(20);
    expect(gap).toMatchObject({ note: { type: 'gap', leftOut: 41 - kept } });
    expect(kinds.slice(kept + 1)).toEqual(['note', 'snapshot', 'send', 'note']);
  });

  it('omits notes, too, while the sink is slow, and records how many.', async () => {
    const sink = new MemoryLog();
    let release = (): void => {};
    sink.held = new Promise((resolve) => (release = resolve));
    const { recorder } = make(sink);
    for (let count = 0; count < 40; count += 1) recorder.note(padded(MIB));
    sink.held = undefined;
    release();
    await turn();
    recorder.note(padded(1));
    await turn();
    await recorder.close();
    const { entries } = sink.read();
    const notes = entries.flatMap((entry) => (entry.kind === 'note' ? [entry.note] : []));
    const kept = notes.findIndex(({ type }) => type !== 'test.padded');
    expect(kept).toBeLessThan(20);
    expect(notes.slice(kept)).toEqual([
      { type: 'gap.notes', leftOut: 40 - kept },
      padded(1),
      { type: 'end' },
    ]);
  });

  it('records at its end how many notes were omitted until then.', async () => {
    const sink = new MemoryLog();
    let release = (): void => {};
    sink.held = new Promise((resolve) => (release = resolve));
    const { recorder } = make(sink);
    for (let count = 0; count < 40; count += 1) recorder.note(padded(MIB));
    release();
    await recorder.close();
    const [gap, end] = sink.read().entries.slice(-2);
    expect([gap, end]).toMatchObject([{ note: { type: 'gap.notes' } }, { note: { type: 'end' } }]);
  });

  it('stays in one part if the sink cannot rotate, whatever size it reports.', async () => {
    const sink = new MemoryLog(10);
    Object.assign(sink, { rotate: undefined });
    const { manager, recorder } = make(sink);
    for (const length of [1, 2, 3]) {
      manager.send(padded(length));
      await turn();
    }
    await recorder.close();
    expect(sink.read().entries.map(({ kind }) => kind)).toEqual(['snapshot', 'send', 'send', 'send', 'note']);
  });

  it('does not begin a part before the last one is longer than a few snapshots, whatever the limit.', async () => {
    const sink = new MemoryLog(10);
    const { manager, recorder } = make(sink);
    for (let count = 0; count < 60; count += 1) {
      manager.send(padded(10));
      await turn();
    }
    await recorder.close();
    expect(sink.parts.length).toBeGreaterThan(1);
    for (const [part] of sink.parts.slice(0, -1).entries()) {
      const kinds = sink.read(part).entries.map(({ kind }) => kind);
      expect(kinds.length).toBeGreaterThan(4);
      expect(kinds.filter((kind) => kind === 'snapshot')).toHaveLength(1);
    }
  });

  it('omits an entry that is too long for any reader.', async () => {
    const sink = new MemoryLog();
    const { manager, recorder } = make(sink);
    manager.send(padded(6 * MIB));
    await turn();
    manager.send(padded(2));
    await recorder.close();
    expect(sink.read().entries.map(({ kind }) => kind)).toEqual([
      'snapshot',
      'note',
      'snapshot',
      'send',
      'note',
    ]);
  });

  it('records at its end how many entries were omitted until then.', async () => {
    const sink = new MemoryLog();
    const { manager, recorder } = make(sink);
    manager.send(padded(6 * MIB));
    await recorder.close();
    expect(sink.read().entries.map(({ kind }) => kind)).toEqual(['snapshot', 'note', 'snapshot', 'note']);
  });

  it('writes a checksum only with the last of the entries that belong to one turn.', async () => {
    const sink = new MemoryLog();
    const { manager, recorder } = make(sink);
    for (const length of [1, 2, 3]) manager.send(padded(length));
    await turn();
    manager.send(padded(4));
    await recorder.close();
    const checks = sink.read().entries.map(({ check }) => (check === null ? null : 'some'));
    expect(checks).toEqual(['some', null, null, 'some', 'some', 'some']);
  });

  it('that gets an entry it cannot write ends, reports it once, and affects no actor.', async () => {
    const sink = new MemoryLog();
    const { manager, recorder, errors } = make(sink);
    manager.send({ type: 'test.circular', self: manager });
    manager.send({ type: 'test.big', value: 1n });
    await turn();
    manager.send(padded(1));
    await turn();
    expect(errors).toHaveLength(1);
    expect(manager.getSnapshot().status).toBe('active');
    await recorder.close();
    expect(sink.isClosed).toBe(true);
  });
});

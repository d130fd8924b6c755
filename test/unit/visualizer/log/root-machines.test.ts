/** Root machines other than the manager, on the page: in a recorded log and in a live one. */
import { setImmediate as turn } from 'node:timers/promises';
import { createActor } from 'xstate';
import { beforeAll, describe, expect, it } from 'vitest';
import { managerMachine } from '../../../../machines/manager/manager.machine.js';
import { makeRecorder } from '../../../../src/event-log/record/make-recorder.js';
import { NumberedClock } from '../../../../src/actor-system/numbered-clock.js';
import { RootSupervisor } from '../../../../src/actor-system/root-actors.js';
import { chartOf, isConnectionLane, laneAt, laneTitle } from '../../../../visualizer/src/log/lane-names.js';
import { LogDesk } from '../../../../visualizer/src/log/log-desk.js';
import { ownCharts } from '../../../../visualizer/src/log/own-charts.js';
import { piecesOf } from '../../../../visualizer/src/worker/file-pieces.js';
import { MemoryLog } from '../../../support/memory-log.js';
import { SAMPLE_HEADER } from '../../../support/sample-log.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { HeldConfiguration } from '../../../support/held-configuration.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { childSpec } from '../../../support/manager-driver.js';
import { toBytes } from '../../../support/sample-book.js';

useLeakCheck();

const INPUT = SAMPLE_HEADER.input as never;
const POLICY = { restMs: 300, mostMs: 2_000, retryAfterMs: [1_000] };
const LANE = '$:configuration';

/** A configuration whose files change, and a connection with the same name as its lane. */
async function record(): Promise<string> {
  const clock = createControlledClock();
  const timers = new NumberedClock(clock);
  const manager = createActor(managerMachine, { input: INPUT, clock: timers }).start();
  const roots = new RootSupervisor(timers, () => {});
  const held = new HeldConfiguration();
  const sink = new MemoryLog();
  const failed = (error: unknown): never => {
    throw error;
  };
  const recorder = makeRecorder({
    system: { manager, timers, roots },
    sink,
    clock,
    seed: 1,
    input: INPUT,
    failed,
  });
  recorder.start();
  manager.send({ type: 'manager.open' });
  manager.send({ type: 'manager.start', specs: [childSpec(LANE)] });
  await turn();
  roots.start('configuration', held.machine, { policy: POLICY, readable: true });
  held.send({ type: 'files.changed', at: clock.now() });
  await clock.advance(300);
  held.fail({ message: 'a bug', at: clock.now() });
  await turn();
  roots.stop();
  manager.stop();
  await recorder.close();
  return sink.text;
}

describe('a root machine on the page', () => {
  let text: string;
  let desk: LogDesk;
  let last: number;

  beforeAll(async () => {
    text = await record();
    desk = new LogDesk(ownCharts(), async () => {});
    await desk.read(piecesOf(new Blob([text])), () => {});
    last = desk.summary().length - 1;
  });

  it('has its own lane beside the lanes of the connections.', () => {
    const { names, hasOtherCharts } = desk.summary();
    expect(names.map(laneTitle)).toEqual([LANE, 'configuration']);
    expect(names.map(isConnectionLane)).toEqual([true, false]);
    expect(names.map(chartOf)).toEqual(['connection', 'configuration']);
    expect(hasOtherCharts).toBe(false);
  });

  it('is shown in its chart, with the event that led there.', async () => {
    expect(await desk.answer('actor', { name: LANE, position: last })).toMatchObject({
      address: '$:configuration#1',
      state: 'failed',
      change: { from: 'applying', events: ['xstate.error.actor.applyConfiguration'] },
    });
    expect(Object.keys(ownCharts())).toContain(chartOf(LANE));
  });

  it('is listed at each moment, apart from the connections.', async () => {
    const { rows, auxiliaries, manager } = await desk.answer('moment', { position: last });
    expect(rows).toHaveLength(1);
    expect(auxiliaries).toEqual([{ name: LANE, state: 'failed', value: 'failed' }]);
    expect(manager).toBe('running');
    const before = await desk.answer('moment', { position: 0 });
    expect(before.auxiliaries).toEqual([]);
  });

  it('has its entries, its bars and its arrows.', async () => {
    expect((await desk.answer('find', { lane: LANE }))?.positions).toHaveLength(4);
    expect((await desk.answer('find', { lane: '', categories: ['failure'] }))?.positions).toHaveLength(0);
    const { firstAt, lastAt } = desk.summary();
    const window = { from: firstAt, to: lastAt + 1, columns: 800 };
    const { stretches, values } = await desk.answer('stretches', { names: [LANE], window });
    expect(stretches[0]?.bars.map(({ value }) => values[value])).toContain('changed');
    const asked = { names: [LANE], mostLanes: 9, upTo: last, most: 100, hasWire: true };
    const { arrows } = await desk.answer('arrows', asked);
    expect(arrows.map(({ event }) => event?.chart)).toEqual(Array.from({ length: 4 }, () => 'configuration'));
    expect(arrows.map(({ from, to, text: words }) => `${from} → ${to}: ${words}`)).toEqual([
      'host → configuration · machine: xstate.init',
      'configuration · machine · work → configuration · machine: files.changed',
      'timer → configuration · machine: xstate.after.rest.configuration.changed',
      'configuration · machine · work → configuration · machine: xstate.error.actor.applyConfiguration',
    ]);
  });

  it('is the same live as from a file.', async () => {
    const live = new LogDesk(ownCharts(), async () => {});
    for (const line of text.trimEnd().split('\n')) live.append(toBytes(`${line}\n`));
    expect(live.summary().names).toEqual(desk.summary().names);
    const asked = { name: LANE, position: last };
    expect(await live.answer('actor', asked)).toEqual(await desk.answer('actor', asked));
  });
});

describe('a lane', () => {
  it.each([
    ['$', '', 'manager', 'manager'],
    ['$/files#2', 'files', 'files', 'connection'],
    ['$/files#2/probe#1', 'files', 'files', 'connection'],
    ['$:configuration#2', '$:configuration', 'configuration', 'configuration'],
    ['$:signIn:3#1/exchange#1', '$:signIn:3', 'signIn:3', 'signIn'],
    ['$/$:configuration#1', '$:/$:configuration', '$:configuration', 'connection'],
  ])('of %s is %j, called %j, with the chart %j.', (address, lane, title, chart) => {
    expect([laneAt(address), laneTitle(lane), chartOf(lane)]).toEqual([lane, title, chart]);
  });
});

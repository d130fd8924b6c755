/**
 * The configuration chart against its table: every state and every event. At the end every transition that the chart
 * has must have been taken by the rows above.
 */
import { describe, expect, it } from 'vitest';
import { configurationMachine } from '../../../machines/configuration/configuration.machine.js';
import type { TransitionVerdict } from '../../../machines/verdict.js';
import { ChartEdges } from '../../support/chart-edges.js';
import { fillRow, inOrder, leafNodes, stateOf, type Walk as ChartWalk } from '../../support/chart-table.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ConfigurationDriver } from './configuration-driver.js';
import { EVENTS } from './configuration.table.js';

useLeakCheck();

const edges = new ChartEdges(configurationMachine);

type Walk = ChartWalk<ConfigurationDriver>;

const steps = inOrder<ConfigurationDriver>;

const change: Walk = (driver) => driver.change();
const ask: Walk = (driver) => driver.ask();
const read: Walk = (driver) => driver.read();
const readPartly: Walk = (driver) => driver.read(false);
const fail: Walk = (driver) => driver.fail();
const pass =
  (ms: number): Walk =>
  (driver) =>
    driver.clock.advance(ms);

const toApplying = steps(change, pass(300));
const toRetrying = steps(toApplying, readPartly);
const toLastRetry = steps(toRetrying, pass(1_000), readPartly, pass(2_000));

const SITUATIONS: Readonly<Record<string, Walk>> = {
  quiet: async () => {},
  changed: change,
  applying: toApplying,
  'applying (last retry)': toLastRetry,
  'applying (asked)': ask,
  'applying (changed again)': steps(toApplying, change),
  'applying (asked again)': steps(ask, ask),
  'applying (both)': steps(toApplying, change, ask),
  'unreadable.retrying': toRetrying,
  'unreadable.retrying (begun)': async () => {},
  'unreadable.waiting': steps(toLastRetry, readPartly),
  failed: steps(toApplying, fail),
  closed: (driver) => driver.close(),
};

type Happen = (driver: ConfigurationDriver) => Promise<TransitionVerdict>;

/** A timer and the end of an effect have no verdict, only a consequence. */
const happens =
  (happen: Walk): Happen =>
  async (driver) => {
    await happen(driver);
    return 'accepted';
  };

const HAPPEN: Readonly<Record<string, Happen>> = {
  'files.changed': (driver) => driver.change(),
  'reload.asked': (driver) => driver.ask(),
  'watch.failed': (driver) => driver.send({ type: 'watch.failed', message: 'ENOSPC' }),
  'configuration.close': (driver) => driver.close(),
  rested: happens(pass(300)),
  'retry is due': happens(pass(1_000)),
  read: happens(read),
  'read in part': happens(readPartly),
  'not applied': happens(fail),
};

async function outcome(situation: string, event: string): Promise<string> {
  const driver = new ConfigurationDriver({ inspect: edges.count, readable: !situation.endsWith('(begun)') });
  try {
    await SITUATIONS[situation]!(driver);
    expect(driver.path).toBe(stateOf(situation));
    const { path, snapshot, effects } = driver;
    const { reads } = effects;
    const answer = await HAPPEN[event]!(driver);
    expect(driver.snapshot.status).toBe(driver.path === 'closed' ? 'done' : 'active');
    if (answer === 'stopped') {
      expect(driver.snapshot).toBe(snapshot);
      return '-';
    }
    expect(answer).toBe('accepted');
    return driver.path === path && effects.reads === reads ? 'stays' : driver.path;
  } finally {
    driver.stop();
  }
}

describe('the configuration chart', () => {
  const rows = EVENTS.map((row) => [row['situation']!, row] as const);

  it.each(rows)('behaves in %s as the table says.', async (situation, row) => {
    const filled = await fillRow(row, Object.keys(HAPPEN), (event) => outcome(situation, event));
    expect({ situation, ...filled }).toEqual(row);
  });
});

describe('the table of the configuration chart', () => {
  it('has every state of the chart, in every situation that can be reached.', () => {
    const situations = EVENTS.map((row) => row['situation']!);
    expect(situations).toEqual(Object.keys(SITUATIONS));
    const states = new Set(situations.map(stateOf));
    // `begun` is left as soon as it is entered.
    const paths = leafNodes(configurationMachine.root).map(({ path }) => path.join('.'));
    expect([...states, 'begun'].toSorted()).toEqual(paths.toSorted());
  });

  it('has every event of the chart, and every column can be made to happen.', () => {
    expect(Object.keys(EVENTS[0]!)).toEqual(['situation', ...Object.keys(HAPPEN)]);
    const others = [
      'xstate.done.actor.applyConfiguration',
      'xstate.error.actor.applyConfiguration',
      'xstate.after.rest.configuration.changed',
      'xstate.after.retry.configuration.unreadable.retrying',
    ];
    const sent = ['files.changed', 'reload.asked', 'watch.failed', 'configuration.close'];
    expect(configurationMachine.events.toSorted()).toEqual([...sent, ...others].toSorted());
  });
});

describe('the transitions of the configuration chart', () => {
  it('have all been taken by the rows of the table.', () => {
    process.stdout.write(`${edges.summary}\n`);
    expect(edges.total).toBeGreaterThan(20);
    expect(edges.missing).toEqual([]);
  });
});

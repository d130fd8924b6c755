/**
 * The manager chart against its table: every state and every event. At the end every transition that the chart has
 * must have been taken by the rows above.
 */
import { describe, expect, it } from 'vitest';
import { managerMachine, type ManagerEvent } from '../../machines/manager.machine.js';
import type { TransitionVerdict } from '../../machines/verdict.js';
import { ChartEdges } from '../support/chart-edges.js';
import { childSpec, ManagerDriver } from '../support/manager-driver.js';
import { EVENTS } from './manager.table.js';

const edges = new ChartEdges(managerMachine);

const SAYS: Partial<Record<TransitionVerdict, string>> = {
  unhandled: '-',
  guarded: 'guarded',
  ignored: 'ignored',
};

const STATES = ['idle', 'starting.forAll', 'starting.forUncached', 'running', 'stopping', 'stopped'] as const;
type State = (typeof STATES)[number];

/** Two connections that share one start slot; while starting, alpha has it and beta comes later. */
async function reach(state: State): Promise<ManagerDriver> {
  const driver = new ManagerDriver({ startSlots: 1, inspect: edges.count });
  if (state !== 'idle') {
    await driver.start('alpha', 'beta');
    await driver.settle('alpha', 'resolveConfig');
  }
  if (state === 'starting.forUncached') await driver.advance(driver.context.cachedGateMs);
  if (state === 'running' || state === 'stopping' || state === 'stopped') {
    await driver.bringUp('alpha', 'beta');
  }
  if (state === 'stopping' || state === 'stopped') await driver.stop();
  if (state === 'stopped') await driver.bringDown('alpha', 'beta');
  expect(driver.path).toBe(state);
  return driver;
}

type Happen = (driver: ManagerDriver) => Promise<TransitionVerdict>;

const sent =
  (event: ManagerEvent): Happen =>
  (driver) =>
    driver.send(event);

/** Of what children do there is no answer, only a consequence. */
const happens =
  (happen: (driver: ManagerDriver) => Promise<void>): Happen =>
  async (driver) => {
    await happen(driver);
    return 'accepted';
  };

async function end(driver: ManagerDriver, name: string): Promise<void> {
  if (driver.state !== 'stopping') await driver.command(name, { type: 'connection.stop', reason: 'stop' });
  await driver.bringDown(name);
}

const settled = (name: string, cached = false) => ({ type: 'child.settled', name, cached }) as const;

const WANTS_SLOT = { type: 'child.wantsSlot', name: 'beta', slot: true, retry: false } as const;
const WANTS_RETRY = { type: 'child.wantsSlot', name: 'beta', slot: false, retry: true } as const;

const HAPPEN: Readonly<Record<string, Happen>> = {
  'manager.start': sent({ type: 'manager.start', specs: [childSpec('alpha')] }),
  'manager.start (of nobody)': sent({ type: 'manager.start', specs: [] }),
  'manager.add': sent({ type: 'manager.add', spec: childSpec('gamma') }),
  'manager.stop': sent({ type: 'manager.stop' }),
  'network.changed': sent({ type: 'network.changed', online: false, at: 0 }),
  'network.changed (to the same)': sent({ type: 'network.changed', online: true, at: 0 }),
  'child.wantsSlot': sent(WANTS_SLOT),
  'child.wantsSlot (again)': async (driver) => {
    await driver.send(WANTS_SLOT);
    return driver.send(WANTS_SLOT);
  },
  'child.wantsSlot (for a retry)': sent(WANTS_RETRY),
  'child.leftStart': async (driver) => {
    await driver.send(WANTS_SLOT);
    return driver.send({ type: 'child.leftStart', name: 'beta' });
  },
  'child.leftStart (without slot)': sent({ type: 'child.leftStart', name: 'beta' }),
  'child.settled': sent(settled('beta')),
  'child.settled (all but cached)': async (driver) => {
    await driver.add(childSpec('gamma', { cached: true }));
    await driver.send(settled('alpha'));
    return driver.send(settled('beta'));
  },
  'child.settled (the last)': async (driver) => {
    await driver.add(childSpec('gamma', { cached: true }));
    await driver.send(settled('alpha'));
    await driver.send(settled('gamma', true));
    return driver.send(settled('beta'));
  },
  'slot.expired': async (driver) => {
    await driver.send(WANTS_SLOT);
    return driver.send({ type: 'slot.expired', name: 'beta' });
  },
  'budget.refill': async (driver) => {
    await driver.send(WANTS_RETRY);
    await driver.send({ type: 'child.leftStart', name: 'beta' });
    return driver.send({ type: 'budget.refill' });
  },
  'clock.jumped': sent({ type: 'clock.jumped' }),
  'a child ends': happens((driver) => end(driver, 'alpha')),
  'a child ends (the last)': happens(async (driver) => {
    await end(driver, 'alpha');
    await end(driver, 'beta');
  }),
  'a child dies': happens((driver) => driver.crash('alpha')),
  'a child dies (the last)': happens(async (driver) => {
    await driver.crash('alpha');
    await driver.crash('beta');
  }),
  'the cached gate': happens((driver) => driver.advance(driver.context.cachedGateMs)),
  'the start gate': happens((driver) => driver.advance(driver.context.startGateMs)),
};

/** How an event begins that the table tells in words. */
const IN_WORDS: Readonly<Record<string, string>> = {
  'xstate.done.actor.*': 'a child ends',
  'xstate.error.actor.*': 'a child dies',
  'xstate.after.cachedGate.manager.starting.forAll': 'the cached gate',
  'xstate.after.startGate.manager.starting': 'the start gate',
};

async function outcome(state: State, event: string): Promise<string> {
  const driver = await reach(state);
  const answer = await HAPPEN[event]!(driver);
  expect(driver.status).toBe('active');
  if (answer !== 'accepted') return SAYS[answer]!;
  return driver.path === state ? 'stays' : driver.path;
}

describe('the manager chart', () => {
  const rows = EVENTS.map((row) => [row['event']!, row] as const);

  it.each(rows)('takes %s in every state as the table says.', async (event, row) => {
    const filled: Record<string, string> = { event };
    for (const state of STATES) filled[state] = row[state] === '.' ? '.' : await outcome(state, event);
    expect(filled).toEqual(row);
  });
});

describe('the table of the manager chart', () => {
  it('has every state of the chart.', () => {
    const paths = Object.entries(managerMachine.states).flatMap(([name, { states }]) => {
      const below = Object.keys(states);
      return below.length === 0 ? [name] : below.map((each) => `${name}.${each}`);
    });
    expect(paths).toEqual(STATES);
    expect(Object.keys(EVENTS[0]!)).toEqual(['event', ...STATES]);
  });

  it('has every event of the chart, and every row can be made to happen.', () => {
    const told = EVENTS.map((row) => row['event']!);
    expect(told).toEqual(Object.keys(HAPPEN));
    const asWords = managerMachine.events.map((type) => IN_WORDS[type] ?? type);
    expect([...new Set(told.map((event) => event.replace(/ \(.*/, '')))].toSorted()).toEqual(
      asWords.toSorted(),
    );
  });
});

describe('the transitions of the manager chart', () => {
  it('have all been taken by the rows of the table.', () => {
    process.stdout.write(`${edges.summary}\n`);
    expect(edges.total).toBeGreaterThan(20);
    expect(edges.missing).toEqual([]);
  });
});

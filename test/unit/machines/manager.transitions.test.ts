/**
 * The manager chart against its tables: every state of every region and every event. At the end every transition that the
 * chart has must have been taken by the rows above.
 */
import { describe, expect, it } from 'vitest';
import { MANAGER_COMMANDS, type ManagerEvent } from '../../../machines/manager/manager.events.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import type { TransitionVerdict } from '../../../machines/verdict.js';
import { ChartEdges } from '../../support/chart-edges.js';
import { fillRow, REFUSALS } from '../../support/chart-table.js';
import { childSpec, ManagerDriver } from '../../support/manager-driver.js';
import { PHASES, REGIONS } from './manager.table.js';

const edges = new ChartEdges(managerMachine);

const STATES = ['idle', 'reading', 'starting', 'running', 'closing', 'closed'] as const;
type State = (typeof STATES)[number];

/** Two connections that share one start slot; while starting, alpha has it and beta comes later. */
async function reach(state: State): Promise<ManagerDriver> {
  const driver = new ManagerDriver({ startSlots: 1, sharesRetries: true, inspect: edges.count });
  if (state === 'idle') return driver;
  if (state === 'reading') {
    await driver.send({ type: 'manager.open' });
    return driver;
  }
  await driver.start('alpha', 'beta');
  await driver.settle('alpha', 'resolveConfig');
  if (state === 'running' || state === 'closing' || state === 'closed') {
    await driver.bringUp('alpha', 'beta');
  }
  if (state === 'closing' || state === 'closed') await driver.stop();
  if (state === 'closed') await driver.bringDown('alpha', 'beta');
  expect(driver.path).toBe(state);
  return driver;
}

type Happen = (driver: ManagerDriver) => Promise<TransitionVerdict>;

const sent =
  (event: ManagerEvent): Happen =>
  (driver) =>
    driver.send(event);

/** Events of children have no verdict, only a consequence. */
const happens =
  (happen: (driver: ManagerDriver) => Promise<void>): Happen =>
  async (driver) => {
    await happen(driver);
    return 'accepted';
  };

async function end(driver: ManagerDriver, name: string): Promise<void> {
  if (driver.state !== 'closing') await driver.command(name, { type: 'connection.stop', reason: 'stop' });
  await driver.bringDown(name);
}

/** With this policy every shutdown crashes, so that the replacement crashes at the stop as well. */
async function crashForGood(driver: ManagerDriver, name: string): Promise<void> {
  const policy = { ...driver.contextOf(name).policy, stop: null } as never;
  await driver.command(name, { type: 'policy.changed', policy } as never);
  await driver.command(name, { type: 'connection.stop', reason: 'stop' });
}

const settled = (name: string) => ({ type: 'child.settled', name }) as const;

const WANTS_SLOT = { type: 'child.wantsSlot', name: 'beta', slot: true, retry: false } as const;
const WANTS_RETRY = { type: 'child.wantsSlot', name: 'beta', slot: false, retry: true } as const;

/** Spends the budget, in parts. */
async function spend(driver: ManagerDriver, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await driver.send({ ...WANTS_RETRY, name: `remote ${count}` });
  }
}

const HAPPEN: Readonly<Record<string, Happen>> = {
  'manager.open': sent({ type: 'manager.open' }),
  'manager.start': sent({ type: 'manager.start', specs: [childSpec('alpha')] }),
  'manager.start (of nobody)': sent({ type: 'manager.start', specs: [] }),
  'manager.add': sent({ type: 'manager.add', spec: childSpec('gamma') }),
  'manager.stop': sent({ type: 'manager.stop' }),
  'network.changed': (driver) =>
    driver.send({ type: 'network.changed', online: driver.regions.network === 'offline', at: 0 }),
  'network.changed (to the same)': (driver) =>
    driver.send({ type: 'network.changed', online: driver.regions.network === 'online', at: 0 }),
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
  'child.settled (the last)': async (driver) => {
    await driver.send(settled('alpha'));
    return driver.send(settled('beta'));
  },
  'retry.allowed': async (driver) => {
    await driver.send(WANTS_RETRY);
    return driver.send({ type: 'retry.allowed', name: 'beta' });
  },
  'retry.allowed (to nobody)': sent({ type: 'retry.allowed', name: 'beta' }),
  'slot.expired': async (driver) => {
    await driver.send(WANTS_SLOT);
    return driver.send({ type: 'slot.expired', name: 'beta' });
  },
  'cores.idle': async (driver) => {
    await driver.send(WANTS_SLOT);
    return driver.send({ type: 'cores.idle', busyCores: 0 });
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
  'a child dies (for good)': happens((driver) => crashForGood(driver, 'alpha')),
  'the start gate': happens((driver) => driver.advance(driver.context.startGateMs)),
  'the refill': happens(async (driver) => {
    await spend(driver, Number(driver.regions.budget === 'full'));
    await driver.advance(driver.context.retryEveryMs);
  }),
  'the refill (of one of two)': happens(async (driver) => {
    await spend(driver, 2);
    await driver.advance(driver.context.retryEveryMs);
  }),
};

/** The name of an event in the tables, if it is not its type. */
const IN_WORDS: Readonly<Record<string, string>> = {
  'xstate.done.actor.*': 'a child ends',
  'xstate.error.actor.*': 'a child dies',
  'xstate.after.startGate.manager.phase.starting': 'the start gate',
  'xstate.after.refill.manager.budget.refilling': 'the refill',
};

async function outcome(state: State, event: string): Promise<string> {
  const driver = await reach(state);
  const answer = await HAPPEN[event]!(driver);
  expect(driver.status).toBe('active');
  if (answer !== 'accepted') return REFUSALS[answer]!;
  return driver.path === state ? 'stays' : driver.path;
}

type Region = 'starts' | 'budget' | 'network';

const IN_REGIONS = [
  'starts granting',
  'starts over',
  'budget full',
  'budget refilling',
  'network online',
  'network offline',
] as const;

/** A fleet that is starting, with one of its regions in the given state. */
async function reachRegion(place: (typeof IN_REGIONS)[number]): Promise<ManagerDriver> {
  const driver = await reach('starting');
  if (place === 'starts over') await driver.stop();
  if (place === 'budget refilling') await spend(driver, 1);
  if (place === 'network offline') await driver.network(false);
  return driver;
}

async function regionOutcome(place: (typeof IN_REGIONS)[number], event: string): Promise<string> {
  const [region, state] = place.split(' ') as [Region, string];
  const driver = await reachRegion(place);
  expect(driver.regions[region]).toBe(state);
  await HAPPEN[event]!(driver);
  const now = driver.regions[region];
  return now === state ? 'stays' : now;
}

describe('the manager chart', () => {
  const rows = PHASES.map((row) => [row['event']!, row] as const);

  it.each(rows)('takes %s in every phase as the table says.', async (event, row) => {
    const filled = await fillRow(row, STATES, (state) => outcome(state, event));
    expect({ event, ...filled }).toEqual(row);
  });

  const regions = REGIONS.map((row) => [row['event']!, row] as const);

  it.each(regions)('takes %s in every other region as the table says.', async (event, row) => {
    const filled = await fillRow(row, IN_REGIONS, (place) => regionOutcome(place, event));
    expect({ event, ...filled }).toEqual(row);
  });
});

describe('the tags of the manager chart', () => {
  const TAGS: Readonly<Record<State, readonly string[]>> = {
    idle: ['idle', 'unstarted'],
    reading: ['unstarted'],
    starting: [],
    running: ['settled'],
    closing: ['closed', 'settled'],
    closed: ['closed', 'ended', 'settled'],
  };

  it.each(STATES)('are as specified in %s.', async (state) => {
    const { tags } = await reach(state);
    expect(tags).toEqual(TAGS[state]);
  });
});

describe('the tables of the manager chart', () => {
  it('have every state of the chart.', () => {
    const { phase, ...others } = managerMachine.states;
    const paths = Object.entries(phase!.states).flatMap(([name, { states }]) => {
      const below = Object.keys(states);
      return below.length === 0 ? [name] : below.map((each) => `${name}.${each}`);
    });
    expect(paths).toEqual(STATES);
    expect(Object.keys(PHASES[0]!)).toEqual(['event', ...STATES]);
    const places = Object.entries(others).flatMap(([region, { states }]) =>
      Object.keys(states).map((state) => `${region} ${state}`),
    );
    expect(places).toEqual(IN_REGIONS);
    expect(Object.keys(REGIONS[0]!)).toEqual(['event', ...IN_REGIONS]);
  });

  it('have every event of the chart, and every row can be made to happen.', () => {
    const events = [...PHASES, ...REGIONS].map((row) => row['event']!);
    expect([...new Set(events)].toSorted()).toEqual(Object.keys(HAPPEN).toSorted());
    const asWords = managerMachine.events.map((type) => IN_WORDS[type] ?? type);
    expect([...new Set(events.map((event) => event.replace(/ \(.*/, '')))].toSorted()).toEqual(
      asWords.toSorted(),
    );
  });
});

describe('the commands of the manager chart', () => {
  it('are events that it handles.', () => {
    expect(managerMachine.events).toEqual(expect.arrayContaining([...MANAGER_COMMANDS]));
  });
});

describe('the transitions of the manager chart', () => {
  it('have all been taken by the rows of the tables.', () => {
    process.stdout.write(`${edges.summary}\n`);
    expect(edges.total).toBeGreaterThan(30);
    expect(edges.missing).toEqual([]);
  });
});

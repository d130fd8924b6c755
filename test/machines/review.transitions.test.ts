/**
 * The review chart against its table: every state and every event. At the end every transition that the chart has must
 * have been taken by the rows above.
 */
import { describe, expect, it } from 'vitest';
import type { AnyStateNode } from 'xstate';
import { reviewMachine } from '../../machines/review.machine.js';
import type { TransitionVerdict } from '../../machines/verdict.js';
import { ChartEdges } from '../support/chart-edges.js';
import { useLeakCheck } from '../support/leak-check.js';
import { ReviewDriver } from './review-driver.js';
import { EVENTS } from './review.table.js';

useLeakCheck();

const edges = new ChartEdges(reviewMachine);

const SAYS: Partial<Record<TransitionVerdict, string>> = {
  unhandled: '-',
  guarded: 'guarded',
  ignored: 'ignored',
};

/** Of the tool `a`, `1` is what was approved first, `2` the change, and `3` nobody has seen. */
type Walk = (driver: ReviewDriver) => Promise<unknown>;

const steps =
  (...walks: readonly Walk[]): Walk =>
  async (driver) => {
    for (const walk of walks) await walk(driver);
  };

const toRecalling: Walk = (driver) => driver.list('a:1');
const toClear = steps(toRecalling, (driver) => driver.recall());
const toHolding = steps(toClear, (driver) => driver.list('a:2'));
const toBlind = steps(
  (driver) => driver.list('a:2'),
  (driver) => driver.fail(),
);
const toKeeping = steps(toHolding, (driver) => driver.approve('a:2'));
const toKnown = steps(toHolding, (driver) => driver.changeStore());

const SITUATIONS: Readonly<Record<string, Walk>> = {
  unseen: async () => {},
  recalling: toRecalling,
  'recalling (outdated)': steps(toRecalling, (driver) => driver.changeStore()),
  'recalling (after blindness)': steps(toBlind, (driver) => driver.changeStore()),
  'recalling (known)': toKnown,
  'recalling (approved meanwhile)': steps(toKnown, (driver) => driver.approve('a:2')),
  'recalling (could not keep)': steps(
    toKeeping,
    (driver) => driver.fail(),
    (driver) => driver.changeStore(),
  ),
  'judged.clear': toClear,
  'judged.clear (unkept)': steps(toKeeping, (driver) => driver.fail()),
  'judged.holding': toHolding,
  keeping: toKeeping,
  'keeping (outdated)': steps(toKeeping, (driver) => driver.changeStore()),
  'keeping (another is held)': steps(
    toClear,
    (driver) => driver.list('a:2 b:2'),
    (driver) => driver.approve('b:2'),
  ),
  'keeping (more was approved)': steps(
    toClear,
    (driver) => driver.list('a:2 b:2'),
    (driver) => driver.approve('b:2'),
    (driver) => driver.approve('a:2'),
  ),
  blind: toBlind,
  'blind (nothing is listed)': steps(toBlind, (driver) => driver.list('')),
};

type Happen = (driver: ReviewDriver) => Promise<TransitionVerdict>;

/** Of the end of an effect there is no answer, only a consequence. */
const happens =
  (happen: Walk): Happen =>
  async (driver) => {
    await happen(driver);
    return 'accepted';
  };

/** The last approval, or the first list. */
const approved = ({ context }: ReviewDriver): string => {
  const print = context.approved?.at(-1) ?? { tool: 'a', fingerprint: '1' };
  return `${print.tool}:${print.fingerprint}`;
};

const HAPPEN: Readonly<Record<string, Happen>> = {
  'listed: nothing': (driver) => driver.list(''),
  'listed: approved': (driver) => driver.list(approved(driver)),
  'listed: changed': (driver) => driver.list('a:3'),
  'approve: change': (driver) => driver.approve('a:2'),
  'approve: another': (driver) => driver.approve('a:3'),
  'approve: approved': (driver) => driver.approve(approved(driver)),
  'store.changed': (driver) => driver.changeStore(),
  recalled: happens((driver) => driver.recall('a:1')),
  'not recalled': happens((driver) => driver.fail()),
  kept: happens((driver) => driver.keep()),
  'not kept': happens((driver) => driver.fail()),
};

async function outcome(situation: string, event: string): Promise<string> {
  const driver = new ReviewDriver(edges.count);
  await SITUATIONS[situation]!(driver);
  expect(driver.path).toBe(situation.replace(/ \(.*/, ''));
  const { path, snapshot } = driver;
  const answer = await HAPPEN[event]!(driver);
  expect(driver.snapshot.status).toBe('active');
  if (answer !== 'accepted') {
    expect(driver.snapshot).toBe(snapshot);
    return SAYS[answer]!;
  }
  const isEffect = event.includes('recalled') || event.includes('kept');
  return driver.path === path && !isEffect ? 'stays' : driver.path;
}

describe('the review chart', () => {
  const rows = EVENTS.map((row) => [row['situation']!, row] as const);

  it.each(rows)('does in %s what the table says.', async (situation, row) => {
    const filled: Record<string, string> = { situation };
    for (const event of Object.keys(HAPPEN)) {
      filled[event] = row[event] === '.' ? '.' : await outcome(situation, event);
    }
    expect(filled).toEqual(row);
  });
});

function leavesOf(node: AnyStateNode, above = ''): string[] {
  return Object.values(node.states).flatMap((state) => {
    const path = `${above}${state.key}`;
    return state.type === 'atomic' ? [path] : leavesOf(state, `${path}.`);
  });
}

describe('the table of the review chart', () => {
  it('has every state of the chart, in every situation that can be reached.', () => {
    const told = EVENTS.map((row) => row['situation']!);
    expect(told).toEqual(Object.keys(SITUATIONS));
    const states = new Set(told.map((situation) => situation.replace(/ \(.*/, '')));
    expect([...states].toSorted()).toEqual(leavesOf(reviewMachine.root).toSorted());
  });

  it('has every event of the chart, and every column can be made to happen.', () => {
    expect(Object.keys(EVENTS[0]!)).toEqual(['situation', ...Object.keys(HAPPEN)]);
    const ends = ['recallBaseline', 'keepApprovals'].flatMap((id) => [
      `xstate.done.actor.${id}`,
      `xstate.error.actor.${id}`,
    ]);
    const sent = ['tools.listed', 'tool.approve', 'store.changed'];
    expect(reviewMachine.events.toSorted()).toEqual([...sent, ...ends].toSorted());
  });
});

describe('the transitions of the review chart', () => {
  it('have all been taken by the rows of the table.', () => {
    process.stdout.write(`${edges.summary}\n`);
    expect(edges.total).toBeGreaterThan(20);
    expect(edges.missing).toEqual([]);
  });
});

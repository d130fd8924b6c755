/**
 * The review chart against its table: every state and every event. At the end every transition that the chart has must
 * have been taken by the rows above.
 */
import { describe, expect, it } from 'vitest';
import { reviewMachine } from '../../../machines/review/review.machine.js';
import type { TransitionVerdict } from '../../../machines/verdict.js';
import { ChartEdges } from '../../support/chart-edges.js';
import {
  fillRow,
  inOrder,
  leafNodes,
  REFUSALS,
  stateOf,
  type Walk as ChartWalk,
} from '../../support/chart-table.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ReviewDriver } from './review-driver.js';
import { EVENTS } from './review.table.js';

useLeakCheck();

const edges = new ChartEdges(reviewMachine);

/** Versions of the tool `a`: `1` was accepted first, `2` is the change, and `3` is unknown. */
type Walk = ChartWalk<ReviewDriver>;

const steps = inOrder<ReviewDriver>;

const toRecalling: Walk = (driver) => driver.list('a:1');
const toClear = steps(toRecalling, (driver) => driver.recall());
const toHolding = steps(toClear, (driver) => driver.list('a:2'));
const toBlind = steps(
  (driver) => driver.list('a:2'),
  (driver) => driver.fail(),
);
const toKeeping = steps(toHolding, (driver) => driver.accept('a:2'));
const toKnown = steps(toHolding, (driver) => driver.changeStore());

const SITUATIONS: Readonly<Record<string, Walk>> = {
  unseen: async () => {},
  recalling: toRecalling,
  'recalling (outdated)': steps(toRecalling, (driver) => driver.changeStore()),
  'recalling (after blindness)': steps(toBlind, (driver) => driver.changeStore()),
  'recalling (known)': toKnown,
  'recalling (accepted meanwhile)': steps(toKnown, (driver) => driver.accept('a:2')),
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
    (driver) => driver.accept('b:2'),
  ),
  'keeping (more was accepted)': steps(
    toClear,
    (driver) => driver.list('a:2 b:2'),
    (driver) => driver.accept('b:2'),
    (driver) => driver.accept('a:2'),
  ),
  blind: toBlind,
  'blind (nothing is listed)': steps(toBlind, (driver) => driver.list('')),
};

type Happen = (driver: ReviewDriver) => Promise<TransitionVerdict>;

/** The end of an effect has no verdict, only a consequence. */
const happens =
  (happen: Walk): Happen =>
  async (driver) => {
    await happen(driver);
    return 'accepted';
  };

/** The last acceptance, or the first list. */
const accepted = ({ context }: ReviewDriver): string => {
  const print = context.accepted?.at(-1) ?? { tool: 'a', fingerprint: '1' };
  return `${print.tool}:${print.fingerprint}`;
};

const HAPPEN: Readonly<Record<string, Happen>> = {
  'listed: nothing': (driver) => driver.list(''),
  'listed: accepted': (driver) => driver.list(accepted(driver)),
  'listed: changed': (driver) => driver.list('a:3'),
  'accept: change': (driver) => driver.accept('a:2'),
  'accept: another': (driver) => driver.accept('a:3'),
  'accept: accepted': (driver) => driver.accept(accepted(driver)),
  'store.changed': (driver) => driver.changeStore(),
  recalled: happens((driver) => driver.recall('a:1')),
  'not recalled': happens((driver) => driver.fail()),
  kept: happens((driver) => driver.keep()),
  'not kept': happens((driver) => driver.fail()),
};

async function outcome(situation: string, event: string): Promise<string> {
  const driver = new ReviewDriver(edges.count);
  await SITUATIONS[situation]!(driver);
  expect(driver.path).toBe(stateOf(situation));
  const { path, snapshot } = driver;
  const answer = await HAPPEN[event]!(driver);
  expect(driver.snapshot.status).toBe('active');
  if (answer !== 'accepted') {
    expect(driver.snapshot).toBe(snapshot);
    return REFUSALS[answer]!;
  }
  const isEffect = event.includes('recalled') || event.includes('kept');
  return driver.path === path && !isEffect ? 'stays' : driver.path;
}

describe('the review chart', () => {
  const rows = EVENTS.map((row) => [row['situation']!, row] as const);

  it.each(rows)('behaves in %s as the table says.', async (situation, row) => {
    const filled = await fillRow(row, Object.keys(HAPPEN), (event) => outcome(situation, event));
    expect({ situation, ...filled }).toEqual(row);
  });
});

describe('the tags of the review chart', () => {
  const TAGS: Readonly<Record<string, readonly string[]>> = {
    unseen: [],
    recalling: ['recalling', 'working'],
    'judged.clear': ['judged'],
    'judged.holding': ['judged'],
    keeping: ['working'],
    blind: [],
  };

  it.each(Object.keys(SITUATIONS))('are as specified in %s.', async (situation) => {
    const driver = new ReviewDriver(edges.count);
    await SITUATIONS[situation]!(driver);
    expect([...driver.snapshot.tags].toSorted()).toEqual(TAGS[driver.path]);
  });
});

describe('the table of the review chart', () => {
  it('has every state of the chart, in every situation that can be reached.', () => {
    const situations = EVENTS.map((row) => row['situation']!);
    expect(situations).toEqual(Object.keys(SITUATIONS));
    const states = new Set(situations.map(stateOf));
    const paths = leafNodes(reviewMachine.root).map(({ path }) => path.join('.'));
    expect([...states].toSorted()).toEqual(paths.toSorted());
  });

  it('has every event of the chart, and every column can be made to happen.', () => {
    expect(Object.keys(EVENTS[0]!)).toEqual(['situation', ...Object.keys(HAPPEN)]);
    const ends = ['recallBaseline', 'keepAccepted'].flatMap((id) => [
      `xstate.done.actor.${id}`,
      `xstate.error.actor.${id}`,
    ]);
    const sent = ['tools.listed', 'tool.accept', 'store.changed'];
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

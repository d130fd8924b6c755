/**
 * The sign-in chart against its table: every state, every event, every way in which an effect can end. At the end every
 * transition that the chart has must have been taken by the rows above.
 */
import { describe, expect, it } from 'vitest';
import type { SignInEvent } from '../../../machines/sign-in/sign-in.events.js';
import { signInMachine } from '../../../machines/sign-in/sign-in.machine.js';
import { ChartEdges } from '../../support/chart-edges.js';
import { fillRow, leafNodes, REFUSALS, stateOf } from '../../support/chart-table.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { facts, failureAt, SignInDriver, type PromiseSlot } from './sign-in-driver.js';
import { SITUATIONS } from './sign-in.situations.js';
import { EFFECTS, FACTS } from './sign-in.table.js';

useLeakCheck();

const edges = new ChartEdges(signInMachine);

/** The columns of the table of facts. */
const EVENTS: Readonly<Record<string, SignInEvent>> = {
  outdated: { type: 'tokens.outdated' },
  'wanted: early': { type: 'token.wanted', at: 1 },
  'wanted: due': { type: 'token.wanted', at: 3_500_000 },
  'refused: 1': { type: 'token.refused', token: 1, scopes: [] },
  'refused: 2': { type: 'token.refused', token: 2, scopes: [] },
  'refused: none': { type: 'token.refused', token: 0, scopes: [] },
  'refused again': { type: 'token.refusedAgain', token: 1 },
  'demanded: sail': { type: 'scope.demanded', token: 1, scopes: ['sail'] },
  'demanded: look': { type: 'scope.demanded', token: 1, scopes: ['look'] },
  joined: { type: 'signIn.joined' },
  left: { type: 'signIn.left' },
  other: { type: 'other.signedIn' },
  opened: { type: 'redirect.opened' },
  'not opened': { type: 'redirect.failed', failure: failureAt(0) },
  'answer 1': { type: 'answer.given', answer: 1 },
  'answer 3': { type: 'answer.given', answer: 3 },
  declined: { type: 'answer.refused', failure: failureAt(0) },
  closing: { type: 'account.closing' },
  hurried: { type: 'account.hurried' },
};

/** The ends of effects that have more than one. */
const OUTPUTS: Readonly<Record<string, object>> = {
  'readTokens (1)': { found: facts(1), at: 0 },
  'readTokens (ended)': { found: facts(2, { expiresInMs: 0 }), at: 0 },
  'readTokens (none)': { found: null, at: 0 },
  'renewToken (2)': { found: facts(2), adopted: false, at: 0 },
  'renewToken (none)': { found: null, adopted: false, at: 0 },
  'lookForOther (found)': { found: true },
  'lookForOther (nobody)': { found: false },
  'beginSignIn (asked)': { kind: 'asked' },
  'beginSignIn (granted)': { kind: 'granted' },
  'exchangeCode (exchanged)': { kind: 'exchanged' },
  'exchangeCode (client refused)': { kind: 'clientRefused', failure: failureAt(0) },
};

async function reach(situation: string): Promise<SignInDriver> {
  const { input, reach: walk } = SITUATIONS[situation]!;
  const driver = new SignInDriver(input, edges.count);
  await walk(driver);
  expect(driver.path).toBe(stateOf(situation));
  return driver;
}

async function outcome(situation: string, event: SignInEvent): Promise<string> {
  const driver = await reach(situation);
  const { path, snapshot } = driver;
  const answer = await driver.send(event);
  if (answer === 'accepted') return driver.path === path ? 'stays' : driver.path;
  expect(driver.snapshot).toBe(snapshot);
  return REFUSALS[answer]!;
}

describe('the sign-in chart', () => {
  it.each(FACTS.map((row) => [row['situation']!, row] as const))(
    'behaves in %s as the table says.',
    async (situation, row) => {
      const filled = await fillRow(row, Object.keys(EVENTS), (column) => outcome(situation, EVENTS[column]!));
      expect({ situation, ...filled }).toEqual(row);
    },
  );

  it.each(EFFECTS.map((row) => [row['situation']!, row['end']!, row['next']!] as const))(
    'continues from %s after %s as the table says.',
    async (situation, end, next) => {
      const driver = await reach(situation);
      const slot = end.replace(/ .*/, '') as PromiseSlot;
      if (end.endsWith('fails')) await driver.fail(slot);
      else await driver.settle(slot, OUTPUTS[end] ?? {});
      expect(driver.path).toBe(next);
    },
  );
});

describe('the table of the sign-in chart', () => {
  it('has every state of the chart, in every situation that can be reached.', () => {
    const situations = FACTS.map((row) => row['situation']!);
    expect(situations).toEqual(Object.keys(SITUATIONS));
    const leaves = situations.map((situation) => stateOf(situation).split('+'));
    const { token, signIn } = signInMachine.root.states;
    expect(new Set(leaves.map(([leaf]) => leaf))).toEqual(new Set(leafNodes(token!).map(({ key }) => key)));
    expect(new Set(leaves.map(([, leaf]) => leaf))).toEqual(
      new Set(leafNodes(signIn!).map(({ key }) => key)),
    );
  });

  it('has every event of the chart that is not raised within it.', () => {
    expect(Object.keys(FACTS[0]!)).toEqual(['situation', ...Object.keys(EVENTS)]);
    const sent = new Set(Object.values(EVENTS).map(({ type }) => type as string));
    const others = signInMachine.events.filter((type) => !type.startsWith('xstate.') && !sent.has(type));
    expect(others.toSorted()).toEqual(['renewal.done', 'renewal.failed', 'renewal.wanted']);
  });
});

describe('the transitions of the sign-in chart', () => {
  it('have all been taken by the rows of the table.', () => {
    process.stdout.write(`${edges.summary}\n`);
    expect(edges.total).toBeGreaterThan(60);
    expect(edges.missing).toEqual([]);
  });
});

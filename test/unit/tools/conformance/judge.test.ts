import { describe, expect, it } from 'vitest';
import { judge, type Found } from '../../../support/tools/conformance.js';

const PART = {
  leg: 'client',
  scenarios: {
    fine: { checks: 2 },
    refused: { checks: 1, ends: 'AUTH_REQUIRED' },
    beyond: { lacks: 'flying' },
  },
} as const;

const scenario = (name: string, about: Partial<Found> = {}): Found => ({
  name,
  passed: 2,
  complaints: [],
  ended: 'done',
  ...about,
});

const judged = (scenarios: readonly Found[], { code = 0, isWhole = true } = {}) =>
  judge(
    PART,
    scenarios.map(({ name }) => name),
    { code, scenarios, output: 'what it said' },
    { isWhole },
  );

describe('the judgement on a conformance run', () => {
  it('has nothing to say where everything is as expected.', () => {
    const refused = scenario('refused', { ended: 'AUTH_REQUIRED' });
    const beyond = scenario('beyond', { passed: 0, complaints: ['failure flies: no wings'] });
    expect(judged([scenario('fine'), refused, beyond])).toEqual([]);
  });

  it.each<readonly [string, Found, string]>([
    ['a check that failed', scenario('fine', { complaints: ['failure a: b'] }), 'fine: failure a: b'],
    [
      'a pass of hardly any checks',
      scenario('fine', { passed: 1 }),
      'fine: only 1 of at least 2 checks passed',
    ],
    [
      'a client that has given up',
      scenario('fine', { ended: 'HANDSHAKE_FAILED' }),
      "fine: the client has ended with 'HANDSHAKE_FAILED', not with 'done'",
    ],
    [
      'a client that should have given up',
      scenario('refused'),
      "refused: the client has ended with 'done', not with 'AUTH_REQUIRED'",
    ],
    [
      'what passes against all expectation',
      scenario('beyond'),
      'beyond: passes now; expected.mjs expects that it fails',
    ],
    ['a scenario that nobody knows', scenario('new'), 'new: is not expected; add it to expected.mjs'],
  ])('tells of %s.', (_, found, problem) => {
    expect(judged([found])).toEqual([problem]);
  });

  it('tells of a scenario that was not run, and what the suite said where none was.', () => {
    const nothing = { code: 0, scenarios: [], output: 'what it said' };
    expect(judge(PART, ['fine'], nothing, { isWhole: false })).toEqual(['fine: was not run', 'what it said']);
  });

  it('tells where the whole suite has failed by its own count.', () => {
    expect(judged([scenario('fine')], { code: 1 })).toEqual(['the suite itself has failed (exit code 1)']);
    expect(judged([scenario('fine')], { code: 1, isWhole: false })).toEqual([]);
  });
});

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
    { code, scenarios, output: 'its output' },
    { isWhole },
  );

describe('the verdict on a conformance run', () => {
  it('is empty if everything is as expected.', () => {
    const refused = scenario('refused', { ended: 'AUTH_REQUIRED' });
    const beyond = scenario('beyond', { passed: 0, complaints: ['failure flies: no wings'] });
    expect(judged([scenario('fine'), refused, beyond])).toEqual([]);
  });

  it.each<readonly [string, Found, string]>([
    ['a check that failed', scenario('fine', { complaints: ['failure a: b'] }), 'fine: failure a: b'],
    [
      'a pass with too few checks',
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
      'a pass that was not expected',
      scenario('beyond'),
      'beyond: passes now; expected.mjs expects that it fails',
    ],
    ['an unknown scenario', scenario('new'), 'new: is not expected; add it to expected.mjs'],
  ])('reports %s.', (_, found, problem) => {
    expect(judged([found])).toEqual([problem]);
  });

  it('reports a scenario that was not run, and the output of the suite if none was.', () => {
    const nothing = { code: 0, scenarios: [], output: 'its output' };
    expect(judge(PART, ['fine'], nothing, { isWhole: false })).toEqual(['fine: was not run', 'its output']);
  });

  it('reports that the whole suite has failed by its own count.', () => {
    expect(judged([scenario('fine')], { code: 1 })).toEqual(['the suite itself has failed (exit code 1)']);
    expect(judged([scenario('fine')], { code: 1, isWhole: false })).toEqual([]);
  });
});

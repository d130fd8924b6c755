/** The verdict on a run with replicas: every forbidden result is found, and nothing else. */
import { describe, expect, it } from 'vitest';
import { judgeCalls, judgeRound, type Call, type Terms } from '../../../../../tools/chaos/replicas/judge.mjs';
import { useLeakCheck } from '../../../../support/leak-check.js';

useLeakCheck();

const LIMIT_MS = 1_000;

const call = (id: string, outcome: Call['outcome'], more: Partial<Call> = {}): Call => ({
  ...{ id, client: 'v1', server: 'plain', startedAt: 0, settledAt: 10, about: 'said' },
  ...(outcome !== undefined && { outcome }),
  ...more,
});

describe('The verdict on calls', () => {
  it('accepts outcomes that agree with the journal', () => {
    const calls = [
      call('a', 'succeeded'),
      call('b', 'not-delivered'),
      call('c', 'unknown'),
      call('d', 'unknown'),
      call('e', 'gave-up'),
    ];
    expect(judgeCalls(calls, ['a', 'c', 'e'], LIMIT_MS)).toEqual([]);
  });

  it.each<[string, Call['outcome'], readonly string[]]>([
    ['a success that was not carried out', 'succeeded', []],
    ['a success that was carried out twice', 'succeeded', ['a', 'a']],
    ['a call that was carried out and is said not to have been sent', 'not-delivered', ['a']],
    ['an unknown outcome that happened twice', 'unknown', ['a', 'a']],
    ['a call that was given up and happened twice', 'gave-up', ['a', 'a']],
  ])('reports %s', (_, outcome, journal) => {
    const [problem, ...others] = judgeCalls([call('a', outcome)], journal, LIMIT_MS);
    expect(problem).toContain(`a (${outcome}) was carried out ${journal.length} times`);
    expect(others).toEqual([]);
  });

  it('reports a call without an end, a late one, an outcome that nobody understands, and a call that nobody made', () => {
    const { settledAt: _, ...open } = call('a', undefined);
    const calls = [open, call('b', 'unknown', { settledAt: LIMIT_MS + 1 }), call('c', 'unclear')];
    expect(judgeCalls(calls, ['d'], LIMIT_MS)).toEqual([
      'a never settled',
      `b (unknown) took ${LIMIT_MS + 1} ms`,
      'c has no clear outcome: said',
      'd was carried out and never called',
    ]);
  });
});

describe('The verdict on a round', () => {
  const round = { since: 100, until: 200, lost: 0 };
  const strict: Terms = { mayFail: () => false, mayGiveUp: () => false, losesSessions: false };
  const lenient: Terms = { mayFail: () => true, mayGiveUp: () => true, losesSessions: true };

  it('counts the calls that were open, and the longest time without a success for each caller', () => {
    const calls = [
      call('before', 'unknown', { startedAt: 0, settledAt: 90 }),
      call('a', 'succeeded', { startedAt: 90, settledAt: 120 }),
      call('b', 'unknown', { startedAt: 125, settledAt: 150 }),
      call('c', 'succeeded', { startedAt: 160, settledAt: 180 }),
      call('d', 'succeeded', { startedAt: 110, settledAt: 130, client: 'v2' }),
      call('e', 'not-delivered', { startedAt: 110, settledAt: 130, server: 'once' }),
      call('after', 'unknown', { startedAt: 201, settledAt: 210 }),
    ];
    expect(judgeRound(calls, { ...round, lost: 1 }, lenient)).toMatchObject({
      problems: [],
      calls: 5,
      succeeded: 3,
      unknown: 1,
      'not-delivered': 1,
      lost: 1,
      pausesMs: { plain: [60, 70], once: [100] },
    });
  });

  it('reports what the fault may not do', () => {
    const calls = [
      call('a', 'unknown', { startedAt: 110, settledAt: 120 }),
      call('b', 'gave-up', { startedAt: 110, settledAt: 120, server: 'once' }),
      call('c', 'succeeded', { startedAt: 110, settledAt: 120 }),
    ];
    const terms = { ...strict, mayFail: ({ server }: Call) => server === 'once' };
    expect(judgeRound(calls, { ...round, lost: 1 }, terms).problems).toEqual([
      'a failed (unknown): said',
      'b got no answer',
      '1 session(s) were lost',
    ]);
  });
});

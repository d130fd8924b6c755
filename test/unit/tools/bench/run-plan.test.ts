import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadScript, type Run } from '../../../support/tools/bench.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

interface Case {
  readonly scenario: { readonly name: string };
  readonly name: string;
  readonly contenders: readonly { readonly name: string; readonly runs: number }[];
}
interface Scenario {
  readonly name: string;
  cases(size: { isQuick: boolean }): readonly object[];
}

const { runPlan } = await loadScript<{
  runPlan(plan: readonly Case[], ports: object): Promise<boolean>;
}>('run-plan.mjs');
const { makePlan, expectedMs, SCENARIOS, CHECKED } = await loadScript<{
  CHECKED: readonly string[];
  makePlan(options: object, scenarios?: readonly Scenario[]): readonly Case[];
  expectedMs(plan: readonly object[]): number;
  SCENARIOS: readonly Scenario[];
}>('plan.mjs');
const { keptRuns } = await loadScript<{
  keptRuns(
    goesOn: boolean,
    kind: string,
    file: string,
  ): { of(key: string): readonly Run[]; keep(key: string, runs: readonly Run[]): void };
}>('kept-runs.mjs');
const { readOptions } = await loadScript<{ readOptions(args: readonly string[]): Record<string, unknown> }>(
  'options.mjs',
);

const QUIET: Run = { values: { ms: 1 }, otherLoad: 0, isNoisy: false, tookMs: 1_000 };
const NOISY: Run = { values: { ms: 2 }, otherLoad: 0.8, isNoisy: true, tookMs: 1_000 };
const FAILED: Run = { error: 'not done within 1 s', otherLoad: 0, isNoisy: false };

const planOf = (...runs: (readonly [string, number])[]): Case[] => [
  {
    scenario: { name: 'calls' },
    name: 'stdio',
    contenders: runs.map(([name, count]) => ({ name, runs: count })),
  },
];

/** Runs a plan with the given measurements of each contender. */
async function ran(
  plan: readonly Case[],
  script: Readonly<Record<string, readonly Run[]>>,
  {
    kept = {},
    mostRetakeMs,
    mostRuns = Infinity,
  }: {
    readonly kept?: Readonly<Record<string, readonly Run[]>>;
    readonly mostRetakeMs?: number;
    readonly mostRuns?: number;
  } = {},
): Promise<{ order: string[]; runs: Record<string, readonly Run[]>; isWhole: boolean }> {
  const order: string[] = [];
  const runs: Record<string, readonly Run[]> = { ...kept };
  const left = Object.fromEntries(Object.entries(script).map(([name, list]) => [name, [...list]]));
  const isWhole = await runPlan(plan, {
    ...{ mostRetakeMs, isOver: () => order.length >= mostRuns },
    runs: {
      of: (key: string) => runs[key] ?? [],
      keep: (key: string, list: readonly Run[]) => (runs[key] = list),
    },
    tell: () => {},
    take: async (_: Case, name: string) => {
      order.push(name);
      return left[name]?.shift() ?? QUIET;
    },
  });
  return { order, runs, isWhole };
}

describe('the plan of a check', () => {
  it('has the chosen cases, and takes less than five minutes with the repeated runs.', () => {
    const plan = makePlan({ check: true });
    expect(plan.map(({ scenario, name }) => `${scenario.name}/${name}`).toSorted()).toEqual(
      CHECKED.toSorted(),
    );
    expect(expectedMs(plan)).toBeLessThan(3 * 60_000);
  });
});

describe('a benchmark run', () => {
  it('alternates between the contenders, and starts each round with another one.', async () => {
    const { order } = await ran(planOf(['a', 3], ['b', 3], ['c', 1]), {});
    expect(order.join('')).toBe('abcbaab');
  });

  it('repeats disturbed measurements, at most as many as planned, and keeps the quieter ones.', async () => {
    const { order, runs } = await ran(planOf(['a', 2]), { a: [NOISY, QUIET, QUIET] });
    expect(order).toHaveLength(3);
    expect(runs['calls/stdio/a']).toEqual([QUIET, QUIET]);
    const always = await ran(planOf(['a', 2]), { a: Array.from({ length: 9 }, () => NOISY) });
    expect(always.order).toHaveLength(4);
    expect(always.runs['calls/stdio/a']).toEqual([NOISY, NOISY]);
  });

  it('repeats no more once the repetitions have taken their maximum time, for all cases together.', async () => {
    const always = { a: Array.from({ length: 9 }, () => NOISY), b: Array.from({ length: 9 }, () => NOISY) };
    const { order, isWhole } = await ran(planOf(['a', 2], ['b', 2]), always, { mostRetakeMs: 2_500 });
    expect(order.join('')).toBe('abbaaab');
    expect(isWhole).toBe(true);
  });

  it('starts nothing after its time is over, and reports that it is incomplete.', async () => {
    const { order, isWhole } = await ran(planOf(['a', 2], ['b', 2]), { b: [NOISY] }, { mostRuns: 3 });
    expect(order.join('')).toBe('abb');
    expect(isWhole).toBe(false);
    expect(await ran(planOf(['a', 2]), { a: [NOISY] }, { mostRuns: 2 })).toMatchObject({
      order: ['a', 'a'],
      isWhole: true,
    });
  });

  it('does not measure a contender again that has failed twice.', async () => {
    const { order } = await ran(planOf(['a', 5], ['b', 3]), { a: [FAILED, FAILED] });
    expect(order.filter((name) => name === 'a')).toHaveLength(2);
    expect(order.filter((name) => name === 'b')).toHaveLength(3);
  });

  it('continues where it was interrupted.', async () => {
    const { order, runs } = await ran(
      planOf(['a', 2], ['b', 2]),
      {},
      { kept: { 'calls/stdio/a': [QUIET, QUIET], 'calls/stdio/b': [QUIET] } },
    );
    expect(order).toEqual(['b']);
    expect(runs['calls/stdio/b']).toHaveLength(2);
  });
});

describe('stored measurements', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'kept-runs-')), 'deep', 'runs.json');
  afterAll(() => rmSync(join(file, '../..'), { recursive: true }));

  it('are used by a run that continues and measures the same, and by no other.', () => {
    keptRuns(false, 'full', file).keep('calls/stdio/a', [QUIET]);
    expect(keptRuns(true, 'full', file).of('calls/stdio/a')).toEqual([QUIET]);
    expect(keptRuns(false, 'full', file).of('calls/stdio/a')).toEqual([]);
    expect(keptRuns(true, 'quick', file).of('calls/stdio/a')).toEqual([]);
    expect(keptRuns(true, 'full', join(file, '../none.json')).of('calls/stdio/a')).toEqual([]);
  });
});

describe('the plan of a benchmark', () => {
  it('has every scenario, with known contenders and distinct names of cases.', () => {
    const plan = makePlan({});
    expect(new Set(plan.map(({ scenario }) => scenario.name)).size).toBe(SCENARIOS.length);
    const keys = plan.map(({ scenario, name }) => `${scenario.name}/${name}`);
    expect(new Set(keys).size).toBe(keys.length);
    const everybody = new Set(plan.flatMap(({ contenders }) => contenders.map(({ name }) => name)));
    expect([...everybody].toSorted()).toEqual(
      [
        'ai-sdk',
        'client-v2',
        'floor',
        'langchain',
        'mastra',
        'mcp-use',
        'openai-agents',
        'protocol-client',
        'sdk',
        'troupe',
      ].toSorted(),
    );
  });

  it('is small in quick mode: no peers, one run.', () => {
    const contenders = makePlan({ quick: true }).flatMap((kase) => kase.contenders);
    expect(new Set(contenders.map(({ name }) => name))).toEqual(new Set(['troupe', 'sdk', 'floor']));
    expect(contenders.every(({ runs }) => runs === 1)).toBe(true);
  });

  it('is finished in time: a quick one in two minutes, two runs of everything in 25.', () => {
    const minutes = (options: object) => expectedMs(makePlan(options)) / 60_000;
    expect(minutes({ quick: true })).toBeLessThan(2);
    expect(minutes({ mostRuns: 2 })).toBeLessThan(25);
    expect(minutes({ mostRuns: 1 })).toBeGreaterThan(5);
  });

  it('has only one run of a case without comparison, however many are requested.', () => {
    const once = makePlan({ mostRuns: 5, only: ['scripts', 'scale'] });
    expect(once.flatMap(({ contenders }) => contenders).every(({ runs }) => runs === 1)).toBe(true);
  });

  it('can be limited to one scenario, one case of it or some contenders, and can include another build.', () => {
    const options = readOptions([
      '--only',
      'calls/stdio, 64,import',
      '--clients',
      'troupe,sdk,before',
      '--runs',
      '2',
    ]);
    const plan = makePlan({ ...options, against: 'elsewhere' });
    expect(plan.map(({ scenario, name }) => `${scenario.name}/${name}`)).toEqual([
      'import/stdio',
      'calls/stdio, 64',
    ]);
    expect(plan[0]!.contenders).toEqual([
      { name: 'troupe', runs: 2 },
      { name: 'before', runs: 2 },
      { name: 'sdk', runs: 2 },
    ]);
  });

  it('refuses unknown names, and lists the known ones.', () => {
    expect(() => makePlan({ only: ['speed'] })).toThrow(/import, start-up/);
    expect(() => readOptions(['--runs', 'none'])).toThrow(/--runs/);
    expect(() => readOptions(['--minutes', 'soon'])).toThrow(/--minutes/);
    expect(() => readOptions(['--faster'])).toThrow(/--faster/);
  });
});

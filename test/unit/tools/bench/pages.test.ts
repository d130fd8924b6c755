import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { figures, loadScript, measured, type Results } from '../../../support/tools/bench.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly plot?: object;
}

const { benchmarkPage, table, unexplained } = await loadScript<{
  unexplained(results: Results, reasons?: Readonly<Record<string, string>>): readonly string[];
  benchmarkPage(results: Results, scenarios: readonly Scenario[], more?: object): string;
  table(header: readonly string[], rows: readonly (readonly string[])[]): string;
}>('benchmark-page.mjs');
const { plot } = await loadScript<{ plot(scenario: Scenario, results: Results): string | undefined }>(
  'plot.mjs',
);
const { fillMarkers } = await loadScript<{
  fillMarkers(page: string, blocks: Readonly<Record<string, string>>): string;
}>('fill-markers.mjs');
const { scaleBlocks } = await loadScript<{
  scaleBlocks(scenario: Scenario, results: Results): Record<string, string> | undefined;
}>('scale-blocks.mjs');
const { reportedFigures } = await loadScript<{ reportedFigures(text: string): Record<string, number> }>(
  'reported-figures.mjs',
);
const { committedResults, pagesOf } = await loadScript<{
  committedResults(): Promise<Results>;
  pagesOf(results: Results, scenarios: readonly Scenario[]): Promise<Record<string, string>>;
}>('write-pages.mjs');
const { TARGETS } = await loadScript<{ TARGETS: readonly { what: string }[] }>('targets.mjs');
const { REASONS } = await loadScript<{ REASONS: Readonly<Record<string, string>> }>('why-not-met.mjs');
const { SCENARIOS } = await loadScript<{ SCENARIOS: readonly Scenario[] }>('plan.mjs');

const scenarioOf = (name: string) => SCENARIOS.find((scenario) => scenario.name === name)!;
const RESULTS: Results = {
  scenarios: {
    'start-up': measured({
      '1 server': {
        troupe: figures({ totalMs: 200, readyMs: 80, firstMs: 80, importMs: 90, cpuMs: 100, rssMiB: 60 }),
        sdk: figures({ totalMs: 160, readyMs: 90, firstMs: 90, importMs: 150, cpuMs: 110, rssMiB: 70 }),
        mastra: { metrics: {}, isRough: false, runs: 2, counted: 0, error: 'not done within 60 s' },
      },
    }),
    scripts: measured({ 'event log': { troupe: figures({ 'Replaying: fold': 400_000 }) } }),
    scale: measured({ '100 connections in memory': { troupe: figures({ startMs: 321, callUs: 12 }) } }),
  },
};
const WHAT = 'process start to all tools listed, 1 stdio server, import included';

describe('the page of the benchmarks', () => {
  const text = benchmarkPage(RESULTS, SCENARIOS, {
    reasons: { [WHAT]: 'the charts are loaded first.' },
    pictures: ['start-up'],
  });

  it('says of every target what was measured, and of those that are not met why.', () => {
    expect(text).toContain(`| ${WHAT} | ≤ 1.00 × SDK client | 1.25 × | **not met** |`);
    expect(text).toContain(`- ${WHAT} (1.25 ×, wanted ≤ 1.00 × SDK client): the charts are loaded first.`);
    expect(text).toContain(
      '| cold start of 10 stdio servers, from the call | ≤ 1.00 × SDK client | – | not measured |',
    );
    expect(benchmarkPage(RESULTS, SCENARIOS, { reasons: {} })).toContain(': not explained yet.');
  });

  it('lacks a reason where a target is not met and nobody says why, and nowhere else.', () => {
    expect(unexplained(RESULTS, {})).toEqual([WHAT]);
    expect(unexplained(RESULTS, { [WHAT]: 'the charts are loaded first.' })).not.toContain(WHAT);
  });

  it('has reasons for targets that there are.', () => {
    const all = TARGETS.map(({ what }) => what);
    expect(Object.keys(REASONS).filter((what) => !all.includes(what))).toEqual([]);
  });

  it('has a table with ratios, who failed and how, the picture, the machine and the versions.', () => {
    expect(text).toMatch(/\| Troupe \| 1 \| 200 \| 1\.25 \| 80 \| 0\.89 \|/);
    expect(text).toContain('- @mastra/mcp: not done within 60 s');
    expect(text).toContain('](images/bench-start-up.svg)');
    expect(text).toContain('2 × a processor, 8 GiB, Linux 6, Node 20.20.2');
    expect(text).toContain('| mcp-troupe | 1.2.3 |');
    expect(text).toContain('| Replaying: fold | 400,000 |');
    expect(text).toContain('## What is not measured');
  });

  it('says first what was taken on a busy machine.', () => {
    expect(text).not.toContain('can be relied on');
    const busy = {
      ...RESULTS.scenarios['scripts']!,
      otherLoad: { median: 1.2, most: 1.5, noisy: 9, runs: 9 },
    };
    const rough = benchmarkPage({ scenarios: { ...RESULTS.scenarios, scripts: busy } }, SCENARIOS);
    expect(rough).toMatch(
      /\*\*Taken while .* can be relied on: What the scripts of single parts report\.\*\*\n\n## Targets/,
    );
  });

  it('keeps a bar within a cell where it belongs.', () => {
    expect(table(['a'], [['b | c']])).toBe('| a |\n| --- |\n| b \\| c |');
  });
});

describe('the committed pages', () => {
  it('are what the committed results say; else run: node tools/bench/main.mjs --pages', async () => {
    const results = await committedResults();
    const pages = Object.entries(await pagesOf(results, SCENARIOS));
    const different = pages.filter(([path, text]) => readFileSync(join(ROOT, path), 'utf8') !== text);
    expect(different.map(([path]) => path)).toEqual([]);
    expect(pages.map(([path]) => path)).toContain('docs/benchmarks.md');
  });
});

describe('a plot', () => {
  it('has a bar for each contender with a figure, the shortest first, and no script.', () => {
    const picture = plot(scenarioOf('start-up'), RESULTS)!;
    expect(picture.match(/<rect class="(?:ours|sdk|floor|peer)"/g)).toEqual([
      '<rect class="sdk"',
      '<rect class="ours"',
    ]);
    expect(picture).toMatch(/^<svg [^>]*viewBox/);
    expect(picture).not.toMatch(/<script|NaN|undefined/);
    expect(plot(scenarioOf('start-up'), { scenarios: {} })).toBeUndefined();
  });
});

describe('the scale plan', () => {
  it('has a place for every table that the bench makes.', () => {
    const page = readFileSync(new URL('../../../../docs/explanation/scale.md', import.meta.url), 'utf8');
    const blocks = scaleBlocks(scenarioOf('scale'), RESULTS)!;
    const filled = fillMarkers(page, blocks);
    expect(filled).toContain('| 100 connections in memory | 321 |');
    expect(filled).toContain('Measured on 2026-01-02');
    expect(fillMarkers(filled, blocks)).toBe(filled);
    expect(scaleBlocks(scenarioOf('scale'), { scenarios: {} })).toBeUndefined();
  });

  it('is refused figures for which it has no place, and keeps what it is given none for.', () => {
    const page =
      'a\n<!-- bench:one -->\nold\n<!-- /bench -->\nb\n<!-- bench:two -->\nkept\n<!-- /bench -->\n';
    const filled = fillMarkers(page, { one: 'new $& $1' });
    expect(filled).toBe(
      'a\n<!-- bench:one -->\n\nnew $& $1\n\n<!-- /bench -->\nb\n<!-- bench:two -->\nkept\n<!-- /bench -->\n',
    );
    expect(() => fillMarkers(page, { three: 'x' })).toThrow('three');
  });
});

describe('what a script prints', () => {
  it('is read as figures under their headings, also where a heading is long.', () => {
    const text = [
      'Recording, microseconds an event',
      '  off                  11.2',
      'Replaying (median of 5 rounds, 30,000 entries',
      '  with 2.10 events each)',
      '  fold              123,456',
      '  start   600  stop   80',
      '',
    ].join('\n');
    expect(reportedFigures(text)).toMatchObject({
      'Recording, microseconds an event: off': 11.2,
      'Replaying (median of 5 rounds, 30,000 entries with 2.10 events each): fold': 123_456,
    });
    expect(reportedFigures('nothing\n')).toEqual({});
  });
});

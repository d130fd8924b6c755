import { expect, it } from 'vitest';
import { readFiles } from '../../../../tools/import-graph.mjs';
import { loadScript } from '../../../support/tools/bench.js';

const { byPhase, PHASES } = await loadScript<{
  byPhase(profile: object): Readonly<Record<string, number>>;
  PHASES: Readonly<Record<string, readonly string[]>>;
}>('phases.mjs');

const BUNDLE = 'file:///host/node_modules/mcp-troupe/dist/bundle/chunks/troupe.js';

it('counts each sample for the innermost function that belongs to a phase', () => {
  const node = (id: number, functionName: string, url: string, children: readonly number[] = []) => ({
    id,
    callFrame: { functionName, url },
    children,
  });
  const profile = {
    nodes: [
      node(1, '(root)', '', [2, 6, 7]),
      node(2, 'transition', 'file:///host/node_modules/xstate/dist/xstate.js', [3]),
      node(3, 'publish', BUNDLE, [4, 5]),
      node(4, 'map', BUNDLE),
      node(5, 'macrostep', 'file:///host/node_modules/xstate/dist/xstate.js'),
      node(6, '(idle)', ''),
      node(7, 'publish', 'file:///host/other.js'),
    ],
    samples: [2, 3, 4, 5, 6, 7],
    timeDeltas: [1_000, 2_000, 3_000, 4_000, 50_000, 6_000],
  };
  expect(byPhase(profile)).toEqual({ other: 6, publish: 5, chart: 5 });
});

it('names functions that the package has', () => {
  const text = [...readFiles(['src'], '.ts').values()].join('\n');
  const isDefined = (name: string): boolean =>
    new RegExp(`(?:function |^  (?:readonly |static |async )*)${name}[(<=: ]`, 'm').test(text);
  expect(
    Object.values(PHASES)
      .flat()
      .filter((name) => !isDefined(name)),
  ).toEqual([]);
});

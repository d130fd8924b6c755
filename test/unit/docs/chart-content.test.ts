import { describe, expect, it, vi } from 'vitest';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { allStates, chartModel, transitionsOf, type ChartModel } from '../../../src/charts/index.js';
import { elevatorMachine } from '../../support/elevator.machine.js';

type Spans = readonly (readonly [string, string])[];

interface Content {
  readonly rows: ReadonlyMap<string, readonly Spans[]>;
  readonly lines: readonly {
    readonly container: string;
    readonly source: string;
    readonly target: string;
    readonly labels: readonly Spans[];
  }[];
}

// Mocked because the script imports the built package, and this test uses the sources.
vi.mock('mcp-troupe/charts', () => import('../../../src/charts/index.js'));

/** Not a literal, because the module has no types. */
const MODULE: string = '../../../docs/generate/chart-content.mjs';
const { chartContent, wordsOf } = (await import(MODULE)) as {
  chartContent: (model: ChartModel, options: { unlabelled: ReadonlySet<string> }) => Content;
  wordsOf: (spans: Spans) => string;
};

const elevator = chartContent(chartModel(elevatorMachine), { unlabelled: new Set() });
const rowsOf = (id: string) => (elevator.rows.get(`elevator.${id}`) ?? []).map(wordsOf);
const labelsBetween = (source: string, target: string) =>
  elevator.lines
    .find((line) => line.source === `elevator.${source}` && line.target === `elevator.${target}`)
    ?.labels.map(wordsOf);

describe('the picture of a chart', () => {
  it.each([connectionMachine, managerMachine, elevatorMachine])(
    'of machine %# shows every transition that does something.',
    (machine) => {
      const model = chartModel(machine);
      const { rows, lines } = chartContent(model, { unlabelled: new Set() });
      const effective = allStates(model)
        .flatMap((state) => transitionsOf(model, state))
        .flatMap(({ targets, actions }) => (targets.length > 0 ? targets : actions.slice(0, 1)));
      const invokes = allStates(model).flatMap((state) => state.invokes);
      const shown = [...rows.values()].flat().length + lines.flatMap(({ labels }) => labels).length;
      expect(shown).toBe(effective.length + invokes.length);
    },
  );

  it('labels a line between neighbors.', () => {
    expect(labelsBetween('idle', 'moving')).toEqual([
      'floor.called [isNear]',
      'floor.called [isUp and (not isFull or in idle)]',
    ]);
    expect(labelsBetween('sleeping', 'idle')).toEqual(['done', 'always [isAwake]']);
  });

  it('writes a transition that enters or leaves a box as a row, and joins the boxes without a label.', () => {
    expect(rowsOf('halted')).toEqual([
      'power.back [wasMoving] → down',
      'power.back [wasMoving] → blocked',
      'any actor done / count',
    ]);
    expect(labelsBetween('halted', 'moving')).toEqual([]);
  });

  it('writes all transitions of a level as rows if its lines have no labels.', () => {
    const bare = chartContent(chartModel(elevatorMachine), { unlabelled: new Set(['elevator']) });
    expect((bare.rows.get('elevator.sleeping') ?? []).map(wordsOf)).toEqual([
      'runs listen',
      'done → idle',
      'error → halted',
      'always [isAwake] → idle',
      'listen snapshot / note',
    ]);
    expect(
      bare.lines.filter(({ container }) => container === 'elevator').flatMap(({ labels }) => labels),
    ).toEqual([]);
  });
});

/**
 * The content of a picture of a chart: the rows in each box and the lines between boxes. Knows nothing of coordinates.
 *
 * 1. Every transition that does something is either a label on a line between neighbours or a row in its own box.
 * 2. A line joins two children of the same box. A transition that crosses the borders of boxes becomes a row, and a line
 *    without a label joins the two boxes on the way.
 */
import { allStates, shortId, transitionsOf, type ChartBranch } from '../../../src/charts/chart-lookup.js';
import type { ChartModel, ChartState } from '../../../src/charts/chart-model.js';
import type { Names } from '../words/names.js';

/** Words, and the class that they are drawn in. */
export type Span = readonly [name: string, words: string];

export interface ChartText {
  readonly spans: readonly Span[];
  /** The transition that it shows; undefined for an action or effect of a state. */
  readonly transition: ChartBranch | undefined;
}

export interface ChartLine {
  readonly key: string;
  /** Ids of its box and of the boxes that it joins. */
  readonly container: string;
  readonly source: string;
  readonly target: string;
  readonly labels: ChartText[];
}

export interface ChartContent {
  readonly states: ReadonlyMap<string, ChartState>;
  /** By id of the box. */
  readonly rows: ReadonlyMap<string, readonly ChartText[]>;
  readonly lines: readonly ChartLine[];
  /** Key of the line on the way from one state to another; undefined if one is inside the other. */
  readonly lineOf: (source: string, target: string) => string | undefined;
  /** Key of the large box that a state is in. */
  readonly topOf: (id: string) => string;
}

/** `unlabelled` are ids of the boxes whose lines get no label. */
export function chartContent(model: ChartModel, unlabelled: ReadonlySet<string>, names: Names): ChartContent {
  const states = allStates(model);
  const byId = new Map(states.map((state) => [state.id, state]));
  const lineage = lineages(model.root);
  const way = (id: string): readonly string[] => lineage.get(id) ?? [];
  const rows = new Map<string, ChartText[]>(
    states.map((state) => [state.id, state.invokes.map((actor) => runs(names.actor(actor)))]),
  );
  const lines = new Map<string, ChartLine>();

  function add(state: ChartState, transition: ChartBranch): void {
    const event = eventSpans(state, transition, names);
    const inBox = rows.get(state.id) ?? [];
    const { targets, actions } = transition;
    if (targets.length === 0 && actions.length > 0)
      inBox.push({
        spans: [...event, ['muted', ` / ${actions.map((action) => names.action(action)).join(', ')}`]],
        transition,
      });
    for (const target of targets) {
      const line = lineBetween(way(state.id), way(target));
      const joinsNeighbours = line?.source === state.id && line.target === target;
      const isLabel = joinsNeighbours && !unlabelled.has(line.container);
      if (!isLabel) inBox.push({ spans: [...event, ...targetSpans(state.id, target)], transition });
      if (line === undefined) continue;
      const key = keyOf(line);
      const known = lines.get(key) ?? { ...line, key, labels: [] };
      lines.set(key, known);
      if (isLabel) known.labels.push({ spans: event, transition });
    }
  }

  function targetSpans(source: string, target: string): readonly Span[] {
    if (source === target) return [['muted', ' ↺']];
    const state = byId.get(target);
    const words = state === undefined ? '' : names.state(state);
    const isUnique = states.filter((each) => names.state(each) === words).length === 1;
    return [
      ['muted', ' → '],
      [`to ${topOf(target)}`, isUnique ? words : placeOf(target)],
    ];
  }

  /** A state whose name is not unique. */
  function placeOf(id: string): string {
    if (names.isRaw) return shortId(model, id);
    return way(id)
      .slice(1)
      .map((each) => byId.get(each))
      .flatMap((state) => (state === undefined ? [] : names.state(state)))
      .join(': ');
  }

  function topOf(id: string): string {
    return byId.get(way(id)[1] ?? id)?.key ?? '';
  }

  for (const state of states) for (const transition of transitionsOf(model, state)) add(state, transition);
  return {
    states: byId,
    rows,
    lines: [...lines.values()],
    topOf,
    lineOf: (source, target) => {
      const line = lineBetween(way(source), way(target));
      return line === undefined ? undefined : keyOf(line);
    },
  };
}

/** The words of a text without their classes. */
export function wordsOf({ spans }: ChartText): string {
  return spans.map(([, words]) => words).join('');
}

function runs(actor: string): ChartText {
  return {
    spans: [
      ['muted', 'runs '],
      ['plain', actor],
    ],
    transition: undefined,
  };
}

function eventSpans(state: ChartState, transition: ChartBranch, names: Names): readonly Span[] {
  const { kind, guard } = transition;
  const event: Span = [kind, names.transition(state, transition)];
  return guard === null ? [event] : [event, ['muted', ` [${names.guard(guard)}]`]];
}

/** Ids from the root down to each state, itself included. */
function lineages(root: ChartState): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const visit = (state: ChartState, above: readonly string[]): void => {
    const way = [...above, state.id];
    found.set(state.id, way);
    for (const child of state.states) visit(child, way);
  };
  visit(root, []);
  return found;
}

type Ends = Pick<ChartLine, 'container' | 'source' | 'target'>;

const keyOf = ({ source, target }: Ends): string => `${source}>${target}`;

/** The two neighbours that a line must join; undefined if one state is inside the other. */
function lineBetween(from: readonly string[], to: readonly string[]): Ends | undefined {
  const depth = from.findIndex((id, index) => id !== to[index]);
  const [container, source, target] = [from[depth - 1], from[depth], to[depth]];
  if (container === undefined || source === undefined || target === undefined) return undefined;
  return { container, source, target };
}

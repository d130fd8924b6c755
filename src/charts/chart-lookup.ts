/** Queries on a chart model, for drawings, tables and viewers. Plain JSON in, plain JSON out. */
import type { StateValue } from 'xstate';
import type { ChartEdge, ChartModel, ChartState, ChartTransition } from './chart-model.js';

/**
 * All states of the chart, parents before children, in document order.
 *
 * @param model The chart, from `chartModel`.
 *
 * @example
 * ```ts
 * import { connectionMachine } from 'mcp-troupe/machines';
 * import { allStates, chartModel } from 'mcp-troupe/charts';
 *
 * const finals = allStates(chartModel(connectionMachine)).filter(({ type }) => type === 'final');
 * ```
 */
export function allStates(model: ChartModel): ChartState[] {
  const withChildren = (state: ChartState): ChartState[] => [state, ...state.states.flatMap(withChildren)];
  return withChildren(model.root);
}

/**
 * The id of a state without the name of the machine, such as `ready.catalog.current`.
 *
 * @param model The chart, from `chartModel`.
 * @param id Id of a state. Any other text is returned unchanged, and so is the id of the machine itself.
 *
 * @example
 * ```ts
 * import { connectionMachine } from 'mcp-troupe/machines';
 * import { chartModel, shortId } from 'mcp-troupe/charts';
 *
 * const model = chartModel(connectionMachine);
 * console.log(shortId(model, 'connection.ready')); // ready
 * ```
 */
export function shortId(model: ChartModel, id: string): string {
  const prefix = `${model.root.id}.`;
  return id.startsWith(prefix) ? id.slice(prefix.length) : id;
}

/**
 * Ids of the states in a state value, including the machine itself. Unknown keys are skipped.
 *
 * @param model The chart, from `chartModel`.
 * @param value The `value` of a snapshot, or a state in a log.
 *
 * @example
 * ```ts
 * import { connectionMachine } from 'mcp-troupe/machines';
 * import { chartModel, stateIdsOf } from 'mcp-troupe/charts';
 *
 * console.log(stateIdsOf(chartModel(connectionMachine), { starting: 'launching' }));
 * ```
 */
export function stateIdsOf(model: ChartModel, value: StateValue): string[] {
  function activeIn(state: ChartState, inner: StateValue): string[] {
    const below = typeof inner === 'string' ? { [inner]: {} } : inner;
    const children = state.states.filter((child) => below[child.key] !== undefined);
    return [state.id, ...children.flatMap((child) => activeIn(child, below[child.key] ?? {}))];
  }
  return activeIn(model.root, value);
}

/** A transition with all its targets. */
export interface ChartBranch extends ChartTransition {
  /** Ids of the states it leads to; empty if it is internal. */
  readonly targets: readonly string[];
}

/**
 * All transitions of one state, including internal ones. The branches of an event stand in the order in which
 * they are tried.
 *
 * @param model The chart, from `chartModel`.
 * @param state A state of that chart; the transitions of states below it are not included.
 *
 * @example
 * ```ts
 * import { connectionMachine } from 'mcp-troupe/machines';
 * import { chartModel, transitionsOf } from 'mcp-troupe/charts';
 *
 * const model = chartModel(connectionMachine);
 * for (const state of model.root.states) {
 *   console.log(state.key, transitionsOf(model, state).map(({ text }) => text));
 * }
 * ```
 */
export function transitionsOf(model: ChartModel, state: ChartState): ChartBranch[] {
  const leaving = model.edges.filter((edge) => edge.source === state.id);
  const targetsOf = (id: string): string[] =>
    leaving.filter((edge) => edge.id === id).map(({ target }) => target);
  const byId = new Map([...leaving, ...state.internal].map((transition) => [transition.id, transition]));
  const transitions = [...byId.values()];
  const events = transitions.map(({ eventType }) => eventType);
  return transitions
    .toSorted((a, b) => events.indexOf(a.eventType) - events.indexOf(b.eventType) || a.branch - b.branch)
    .map((transition) => ({ ...transition, targets: targetsOf(transition.id) }));
}

/** All transitions from one state to another: one line in a picture, with a label for each edge. */
export interface ChartArrow {
  /** Id of the state where the line starts. */
  readonly source: string;
  /** Id of the state where the line ends. */
  readonly target: string;
  /** Transitions between the two states in this direction; at least one. */
  readonly edges: readonly ChartEdge[];
}

/**
 * The arrows of a picture: edges between the same two states, in the same direction, share one.
 *
 * @param model The chart, from `chartModel`.
 *
 * @example
 * ```ts
 * import { connectionMachine } from 'mcp-troupe/machines';
 * import { chartArrows, chartModel } from 'mcp-troupe/charts';
 *
 * for (const { source, target, edges } of chartArrows(chartModel(connectionMachine))) {
 *   console.log(source, target, edges.map(({ text }) => text));
 * }
 * ```
 */
export function chartArrows(model: ChartModel): ChartArrow[] {
  const arrows = new Map<string, { source: string; target: string; edges: ChartEdge[] }>();
  for (const edge of model.edges) {
    const { source, target } = edge;
    const pair = JSON.stringify([source, target]);
    const arrow = arrows.get(pair);
    if (arrow === undefined) arrows.set(pair, { source, target, edges: [edge] });
    else arrow.edges.push(edge);
  }
  return [...arrows.values()];
}

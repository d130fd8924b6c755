/**
 * What a drawing, a table or a viewer asks of a chart model. Plain JSON in, plain JSON out.
 */
import type { StateValue } from 'xstate';
import type { ChartEdge, ChartModel, ChartState, ChartTransition } from './chart-model.js';

/** Every state of the chart, parents before children, in document order. */
export function allStates(model: ChartModel): ChartState[] {
  const withChildren = (state: ChartState): ChartState[] => [state, ...state.states.flatMap(withChildren)];
  return withChildren(model.root);
}

/** A state's id without the machine's name in front: `ready.catalog.current`. */
export function shortId(model: ChartModel, id: string): string {
  const prefix = `${model.root.id}.`;
  return id.startsWith(prefix) ? id.slice(prefix.length) : id;
}

/** Ids of the states that a state value names, the root's included. Keys that the chart does not know are skipped. */
export function stateIdsOf(model: ChartModel, value: StateValue): string[] {
  function activeIn(state: ChartState, inner: StateValue): string[] {
    const below = typeof inner === 'string' ? { [inner]: {} } : inner;
    const children = state.states.filter((child) => below[child.key] !== undefined);
    return [state.id, ...children.flatMap((child) => activeIn(child, below[child.key] ?? {}))];
  }
  return activeIn(model.root, value);
}

/** A transition with all its targets; none where it is internal. */
export interface ChartBranch extends ChartTransition {
  readonly targets: readonly string[];
}

/** All transitions of one state, internal ones included, the branches of an event in the order they are tried. */
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

/** Everything that leads from one state to another: one line in a picture, with a label for each edge. */
export interface ChartArrow {
  readonly source: string;
  readonly target: string;
  readonly edges: readonly ChartEdge[];
}

/** Edges between the same two states, in the same direction, brought together. */
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

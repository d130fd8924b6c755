/** Which transitions of a chart are possible in an actor's state, and which one led to it. */
import type { StateValue } from 'xstate';
import { allStates, stateIdsOf, transitionsOf, type ChartBranch } from '../../../src/charts/chart-lookup.js';
import type { ChartModel } from '../../../src/charts/chart-model.js';

/** Transitions of every active state. Guards are not evaluated: a person reads them. */
export function possibleFrom(model: ChartModel, active: ReadonlySet<string>): ChartBranch[] {
  return allStates(model)
    .filter(({ id }) => active.has(id))
    .flatMap((state) => transitionsOf(model, state));
}

export interface Step {
  readonly from: StateValue;
  readonly to: StateValue;
  /** Types of the events that the actor received in this step. */
  readonly events: readonly string[];
}

/**
 * The transitions that fit: the actor was in their source, received their event, and is in their target. One entry may
 * take several, and a log does not show which of several branches with the same target was taken.
 */
export function takenBy(model: ChartModel, { from, to, events }: Step): ChartBranch[] {
  const before = new Set(stateIdsOf(model, from));
  const after = new Set(stateIdsOf(model, to));
  const isReceived = new Set(events);
  const fits = possibleFrom(model, before).filter(
    ({ eventType, targets, source }) =>
      targets.some((target) => after.has(target)) &&
      (isReceived.has(eventType) || eventType === '') &&
      (targets.some((target) => !before.has(target)) || !after.has(source)),
  );
  return [...new Map(fits.map((each) => [each.targets.join(), each])).values()];
}

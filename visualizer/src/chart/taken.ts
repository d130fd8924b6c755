/** Which of a chart's transitions are possible where an actor stands, and which one brought it there. */
import type { StateValue } from 'xstate';
import {
  allStates,
  stateIdsOf,
  transitionsOf,
  type ChartBranch,
} from '../../../src/inspection/chart-lookup.js';
import type { ChartModel } from '../../../src/inspection/chart-model.js';

/** Transitions of every active state. Guards are not asked: a person reads them. */
export function possibleFrom(model: ChartModel, active: ReadonlySet<string>): ChartBranch[] {
  return allStates(model)
    .filter(({ id }) => active.has(id))
    .flatMap((state) => transitionsOf(model, state));
}

export interface Step {
  readonly from: StateValue;
  readonly to: StateValue;
  /** Types of the events that the actor was told with it. */
  readonly events: readonly string[];
}

/**
 * The transitions that fit: the actor was where they begin and was told what they wait for, and is where they lead. One
 * entry may take several, and of branches with the same target no log tells which.
 */
export function takenBy(model: ChartModel, { from, to, events }: Step): ChartBranch[] {
  const before = new Set(stateIdsOf(model, from));
  const after = new Set(stateIdsOf(model, to));
  const isTold = new Set(events);
  const fits = possibleFrom(model, before).filter(
    ({ eventType, targets, source }) =>
      targets.some((target) => after.has(target)) &&
      (isTold.has(eventType) || eventType === '') &&
      (targets.some((target) => !before.has(target)) || !after.has(source)),
  );
  return [...new Map(fits.map((each) => [each.targets.join(), each])).values()];
}

/**
 * The chart of a connection alone, for a log that was recorded with another chart: its guards, actions and contexts may mean
 * something else, so any transition of an active state can be tried. Pure.
 */
import type { AnyTransitionDefinition } from 'xstate';
import { guardName } from '../../../src/charts/chart-labels.js';
import { transitionId } from '../../../src/charts/chart-model.js';
import { ChartSteps, type ActiveStates } from '../../../src/event-log/replay/chart-steps.js';
import { CURRENT_MACHINES } from '../../../src/event-log/replay/replay-machines.js';
import type { Choice, ChoiceKind, SimulatedStep, SimulationAsk, SimulationView } from './messages.js';

const machine = CURRENT_MACHINES.connection;
const chart = new ChartSteps(machine);

/** Throws for a state that the chart does not have. */
export function simulateBare({ start, tries }: SimulationAsk): SimulationView {
  let place = chart.place(machine.resolveState({ value: start.state, context: {} } as never)._nodes);
  const steps: SimulatedStep[] = [];
  for (const each of tries) {
    const taken = transitionsFrom(place).find(
      (found) => 'transition' in each && transitionId(found) === each.transition,
    );
    if (taken === undefined) continue;
    const { to } = chart.step(place, [taken]);
    const [was, is] = [effectsOf(place), effectsOf(to)];
    steps.push({
      event: String(taken.eventType),
      data: '',
      state: to.value,
      changes: [],
      starts: is.filter((effect) => !was.includes(effect)),
      ends: was.filter((effect) => !is.includes(effect)),
      timers: [],
      emits: [],
    });
    place = to;
  }
  return {
    isBare: true,
    steps,
    state: place.value,
    isOver: place.isEnd,
    running: effectsOf(place),
    choices: place.isEnd ? [] : transitionsFrom(place).map((taken) => choiceOf(place, taken)),
    guarded: [],
  };
}

function transitionsFrom({ nodes }: ActiveStates): readonly AnyTransitionDefinition[] {
  return [...nodes].flatMap((node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])]);
}

function choiceOf(place: ActiveStates, taken: AnyTransitionDefinition): Choice {
  return {
    try: { transition: transitionId(taken) },
    kind: kindOf(taken),
    event: String(taken.eventType),
    data: '',
    guards: taken.guard === undefined ? [] : [guardName(taken.guard)],
    leadsTo: chart.step(place, [taken]).to.value,
  };
}

function kindOf({ eventType }: AnyTransitionDefinition): ChoiceKind {
  if (String(eventType).startsWith('xstate.after.')) return 'timer';
  return String(eventType).startsWith('xstate.') ? 'effect' : 'fact';
}

function effectsOf({ nodes }: ActiveStates): readonly string[] {
  return [...nodes].flatMap((node) => node.invoke.map(({ id }) => id));
}

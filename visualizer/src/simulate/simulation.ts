/**
 * What would happen to a copy of a connection: its chart takes events, with its guards and the changes of its context. No
 * effect runs, no timer is set and nothing is sent. Pure.
 *
 * It computes with XState itself (`PureMachine`), so that what it says is what a connection would do. The same events from the
 * same start lead to the same end: to undo one, leave it out.
 */
import type { AnyMachineSnapshot, AnyTransitionDefinition, EventObject, StateValue } from 'xstate';
import { CONNECTION_COMMANDS } from '../../../machines/connection/connection.events.js';
import { verdict } from '../../../machines/verdict.js';
import { guardName } from '../../../src/charts/chart-labels.js';
import { transitionId } from '../../../src/charts/chart-model.js';
import { CURRENT_MACHINES } from '../../../src/event-log/replay/replay-machines.js';
import { isJsonObject } from '../../../src/json/json-object.js';
import { PureMachine, type Answer, type PureAction } from '../../../src/testing/asked-machine.js';
import { connectionEvents } from '../../../src/testing/connection-model.js';
import { differences } from '../state/difference.js';
import type { Choice, ChoiceKind, SimulatedStep, SimulationAsk, SimulationView } from './messages.js';

const machine = CURRENT_MACHINES.connection;

/** Throws for a state that the chart does not have. */
export function simulate({ start, tries }: SimulationAsk): SimulationView {
  const asked = new PureMachine(machine);
  let snapshot = asked.resume(start.state, start.context);
  const steps: SimulatedStep[] = [];
  for (const each of tries) {
    if (!('event' in each)) continue;
    const answer = asked.ask(snapshot, each.event);
    steps.push(stepOf(each.event, snapshot, answer));
    snapshot = answer.snapshot;
  }
  return {
    isBare: false,
    steps,
    state: snapshot.value as StateValue,
    isOver: snapshot.status !== 'active',
    running: effectsOf(snapshot),
    ...choicesIn(asked, snapshot, start.at),
  };
}

function choicesIn(
  asked: PureMachine,
  snapshot: AnyMachineSnapshot,
  at: number,
): Pick<SimulationView, 'choices' | 'guarded'> {
  const choices = new Map<string, Choice>();
  const guarded = new Map<string, SimulationView['guarded'][number]>();
  for (const event of snapshot.status === 'active' ? connectionEvents(snapshot, at) : []) {
    const found = verdict(snapshot, event);
    const owners = ownersOf(snapshot, event.type);
    const { type } = event;
    if (found === 'guarded') guarded.set(type, { event: type, guards: guardsOf(owners) });
    if (found !== 'accepted') continue;
    const { snapshot: after, taken } = asked.ask(snapshot, event);
    // Samples that lead the same way are one choice.
    const key = [event.type, ...taken.map(transitionId)].join(' ');
    if (choices.has(key)) continue;
    choices.set(key, {
      try: { event },
      kind: kindOf(event),
      event: type,
      data: dataOf(event),
      guards: guardsOf(taken),
      leadsTo: after.value as StateValue,
    });
  }
  const possible = new Set([...choices.values()].map(({ event }) => event));
  return {
    choices: [...choices.values()],
    guarded: [...guarded.values()].filter(({ event }) => !possible.has(event)),
  };
}

function stepOf(
  event: EventObject,
  before: AnyMachineSnapshot,
  { snapshot, actions }: Answer,
): SimulatedStep {
  const [was, is] = [effectsOf(before), effectsOf(snapshot)];
  return {
    event: event.type,
    data: dataOf(event),
    state: snapshot.value as StateValue,
    changes: differences(before.context, snapshot.context),
    starts: actions.flatMap((action) => startedBy(action)),
    ends: was.filter((effect) => !is.includes(effect)),
    timers: actions.flatMap((action) => timerOf(action)),
    emits: actions.flatMap((action) => emittedBy(action)),
  };
}

function startedBy({ type, params }: PureAction): readonly string[] {
  return type === 'xstate.spawnChild' && isJsonObject(params) ? [String(params['id'])] : [];
}

function timerOf({ type, params }: PureAction): readonly string[] {
  if (type !== 'xstate.raise' || !isJsonObject(params)) return [];
  const { delay } = params;
  return typeof delay === 'number' ? [`${Math.round(delay)} ms`] : [];
}

function emittedBy({ type, params }: PureAction): readonly string[] {
  const event = type === 'xstate.emit' && isJsonObject(params) ? params['event'] : undefined;
  return isJsonObject(event) ? [String(event['type'])] : [];
}

function effectsOf({ _nodes: nodes }: AnyMachineSnapshot): readonly string[] {
  return nodes.flatMap((node) => node.invoke.map(({ id }) => id));
}

/** The transitions of active states for events of that type. */
function ownersOf({ _nodes: nodes }: AnyMachineSnapshot, type: string): readonly AnyTransitionDefinition[] {
  return nodes.flatMap((node) => node.transitions.get(type) ?? []);
}

function guardsOf(transitions: readonly AnyTransitionDefinition[]): readonly string[] {
  const names = transitions.flatMap(({ guard }) => (guard === undefined ? [] : [guardName(guard)]));
  return [...new Set(names)];
}

const COMMANDS: ReadonlySet<string> = new Set(CONNECTION_COMMANDS);

function kindOf({ type }: EventObject): ChoiceKind {
  if (type.startsWith('xstate.after.')) return 'timer';
  if (type.startsWith('xstate.')) return 'effect';
  return COMMANDS.has(type) ? 'command' : 'fact';
}

/** Times, and what every event of the connection has, make no difference. */
const USUAL: ReadonlySet<string> = new Set([
  'type',
  'actorId',
  'at',
  'startedAt',
  'generation',
  'policy',
  'message',
  'phase',
]);

function dataOf(event: object): string {
  const parts = Object.entries(event).flatMap(([name, value]): string[] => {
    if (USUAL.has(name)) return [];
    if (isJsonObject(value)) return dataOf(value) === '' ? [] : [dataOf(value)];
    return [`${name}: ${String(value)}`];
  });
  return parts.join(', ');
}

/**
 * Paths through a machine, one for each of its transitions: the shortest list of events after which that transition is
 * taken. A driver then walks them through whatever the machine describes: a host's own actors, its window, its service.
 *
 * Owns the search and the walk; does not own how an event is made to happen, which is the driver's.
 *
 * 1. The machine is only asked, never run: nothing is invoked, no timer is set. So effects end, and timers fire, as
 *    events like any other (`xstate.done.actor.ID`, `xstate.error.actor.ID`, `xstate.after.DELAY.STATE`).
 * 2. A chart cannot be its own judge: what a walk compares is the state, and a driver adds what has to hold besides.
 */
import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  EventObject,
  StateValue,
} from 'xstate';
import { canonicalJson } from '../canonical-json.js';
import { transitionId } from '../inspection/chart-model.js';
import { messageOf } from '../thrown.js';
import { AskedMachine, type Answer } from './asked-machine.js';

export interface EdgeOptions {
  /** What the machine is started with; one start for each. Default: one, without input. */
  readonly inputs?: readonly unknown[];
  /** What can happen now. Default: `possibleEvents`, every event of the chart without anything in it. */
  readonly events?: (snapshot: AnyMachineSnapshot) => readonly EventObject[];
  /**
   * What of a snapshot makes it another one; the less it takes, the quicker the search. Default: the state alone, so a
   * chart whose guards ask for its context needs one that takes what they ask for.
   */
  readonly key?: (snapshot: AnyMachineSnapshot) => string;
  /** Most snapshots that are looked at. Default 5,000. */
  readonly limit?: number;
}

/** Events that lead from a start of the machine over one of its transitions. */
export interface EdgePath {
  /** Names the transition: its state, event and branch. */
  readonly edge: string;
  /** For a person and the title of a test. */
  readonly title: string;
  /** What the machine was started with. */
  readonly input: unknown;
  /** The state that it starts in. */
  readonly start: StateValue;
  /** In order; the last one takes the transition, where none is needed the start. Each with the state that follows. */
  readonly steps: readonly { readonly event: EventObject; readonly state: StateValue }[];
}

export interface EdgeSearch {
  readonly paths: readonly EdgePath[];
  /** Names of the transitions that no path was found for: not reachable by these events, or the limit was too low. */
  readonly missing: readonly string[];
}

/** What walks a path. */
export interface EdgeDriver {
  /** Makes it happen, and resolves when everything that follows from it has happened. */
  perform(event: EventObject): Promise<void> | void;
  /** The state that the system under test is in, as the machine would say it. */
  state(): StateValue;
}

interface Visit {
  readonly snapshot: AnyMachineSnapshot;
  readonly input: unknown;
  readonly start: StateValue;
  readonly steps: EdgePath['steps'];
}

/**
 * Finds for every transition of the machine the shortest way over it, breadth first from every start. Throws a
 * `TypeError` for what is no machine, and an `Error` where a guard or an action does, as it does for an event or an input
 * that lacks what it reads.
 */
export function edgePaths(machine: AnyStateMachine, options: EdgeOptions = {}): EdgeSearch {
  const { inputs = [undefined], events = possibleEvents, limit = 5_000 } = options;
  const { key = (snapshot) => canonicalJson(stateOf(snapshot)) } = options;
  if (!isMachine(machine))
    throw new TypeError('edgePaths takes an XState machine, as createMachine makes it.');
  const asked = new AskedMachine(machine);
  const left = new Set(transitionsOf(machine.root).map(transitionId));
  const paths: EdgePath[] = [];
  const seen = new Set<string>();
  const queue: Visit[] = [];

  const visit = (reached: Visit, taken: Answer['taken']): void => {
    const { snapshot, ...way } = reached;
    for (const edge of taken) {
      const id = transitionId(edge);
      if (left.delete(id)) paths.push({ edge: id, title: titleOf(edge, way.steps), ...way });
    }
    const name = key(snapshot);
    if (seen.has(name)) return;
    seen.add(name);
    queue.push(reached);
  };
  for (const input of inputs) {
    const { snapshot, taken } = begun(asked, input);
    visit({ snapshot, input, start: stateOf(snapshot), steps: [] }, taken);
  }

  for (const [at, { snapshot, steps, ...from }] of queue.entries()) {
    if (at >= limit || left.size === 0) break;
    if (snapshot.status !== 'active') continue;
    for (const event of events(snapshot)) {
      const { snapshot: next, taken } = answered(asked, snapshot, event);
      visit({ snapshot: next, ...from, steps: [...steps, { event, state: stateOf(next) }] }, taken);
    }
  }
  return { paths, missing: [...left] };
}

/** Performs the steps one by one. Throws where a state, that of the start included, is not the one the machine says. */
export async function walkEdgePath(path: EdgePath, driver: EdgeDriver): Promise<void> {
  const compare = (when: string, state: StateValue): void => {
    const found = driver.state();
    if (canonicalJson(found) === canonicalJson(state)) return;
    throw new Error(`${when} the state is ${JSON.stringify(found)}, and should be ${JSON.stringify(state)}.`);
  };
  compare('At the start', path.start);
  for (const [index, { event, state }] of path.steps.entries()) {
    await driver.perform(event);
    const told = path.steps.slice(0, index + 1).map((step) => step.event.type);
    compare(`After ${told.join(', ')}`, state);
  }
}

/**
 * Everything the chart has a transition for now: the events of the active states by their type alone, both ends of
 * every running actor, and every timer. A wildcard stands for the word `anything`: `mouse.*` is tried by
 * `mouse.anything`.
 */
export function possibleEvents(snapshot: AnyMachineSnapshot): EventObject[] {
  const types = new Set(snapshot._nodes.flatMap((node) => node.ownEvents.map(String)));
  return [...types]
    .filter((type) => !type.startsWith(RAISED_BY_ITSELF))
    .map((type) => ({ type: type.replace('*', 'anything') }));
}

/** What a machine tells itself when the children of a state have come to their end: nobody else can. */
const RAISED_BY_ITSELF = 'xstate.done.state.';

/** An invoked or spawned actor has ended well. */
export function doneEvent(actorId: string, output: unknown): EventObject {
  return { type: `xstate.done.actor.${actorId}`, actorId, output } as EventObject;
}

/** It has failed. */
export function errorEvent(actorId: string, error: unknown): EventObject {
  return { type: `xstate.error.actor.${actorId}`, actorId, error } as EventObject;
}

function transitionsOf(node: AnyStateNode): AnyTransitionDefinition[] {
  const own = [...[...node.transitions.values()].flat(), ...(node.always ?? [])];
  return [...own, ...Object.values(node.states).flatMap(transitionsOf)];
}

function isMachine(machine: unknown): machine is AnyStateMachine {
  return typeof machine === 'object' && machine !== null && 'root' in machine;
}

function begun(asked: AskedMachine, input: unknown): Answer {
  try {
    return asked.begin(input);
  } catch (cause) {
    const message = `The machine does not start: ${reasonOf(cause)} What it reads belongs into \`inputs\`.`;
    throw new Error(message, { cause });
  }
}

function answered(asked: AskedMachine, snapshot: AnyMachineSnapshot, event: EventObject): Answer {
  try {
    return asked.ask(snapshot, event);
  } catch (cause) {
    const where = JSON.stringify(stateOf(snapshot));
    const message = `The machine does not bear '${event.type}' in ${where}: ${reasonOf(cause)} What it reads of an event belongs into \`events\`.`;
    throw new Error(message, { cause });
  }
}

function reasonOf(cause: unknown): string {
  const text = messageOf(cause);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Declared as `any`. */
function stateOf({ value }: AnyMachineSnapshot): StateValue {
  return value as StateValue;
}

function titleOf({ source, target }: AnyTransitionDefinition, steps: EdgePath['steps']): string {
  const to = target?.map(({ id }) => id).join(', ') ?? source.id;
  const told = steps.map(({ event }) => event.type);
  return `${source.id} to ${to}, ${told.length === 0 ? 'at the start' : `after ${told.join(', ')}`}`;
}

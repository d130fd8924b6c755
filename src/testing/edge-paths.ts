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
import { transitionId } from '../inspection/chart-model.js';
import { AskedMachine } from './asked-machine.js';

export interface EdgeOptions {
  /** What the machine is started with; one start for each. Default: one, without input. */
  readonly inputs?: readonly unknown[];
  /** What can happen now. Default: `possibleEvents`, every event of the chart without anything in it. */
  readonly events?: (snapshot: AnyMachineSnapshot) => readonly EventObject[];
  /** What of a snapshot makes it another one; the less it takes, the quicker the search. Default: the state alone. */
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
  /** In order; the last one takes the transition. Each with the state that follows. */
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
  readonly steps: EdgePath['steps'];
}

/** Finds for every transition of the machine the shortest way over it, breadth first from every start. */
export function edgePaths(machine: AnyStateMachine, options: EdgeOptions = {}): EdgeSearch {
  const { inputs = [undefined], events = possibleEvents, limit = 5_000 } = options;
  const { key = (snapshot) => JSON.stringify(stateOf(snapshot)) } = options;
  const asked = new AskedMachine(machine);
  const left = new Set(transitionsOf(machine.root).map(transitionId));
  const paths: EdgePath[] = [];
  const seen = new Set<string>();
  const queue: Visit[] = [];

  const visit = (reached: Visit): void => {
    const name = key(reached.snapshot);
    if (seen.has(name)) return;
    seen.add(name);
    queue.push(reached);
  };
  for (const input of inputs) {
    visit({ snapshot: asked.begin(input), input, steps: [] });
  }

  for (const [at, { snapshot, input, steps }] of queue.entries()) {
    if (at >= limit || left.size === 0) break;
    if (snapshot.status !== 'active') continue;
    for (const event of events(snapshot)) {
      const { snapshot: next, taken } = asked.ask(snapshot, event);
      const walked: EdgePath['steps'] = [...steps, { event, state: stateOf(next) }];
      for (const edge of taken) {
        const id = transitionId(edge);
        if (left.delete(id)) paths.push({ edge: id, title: titleOf(edge, walked), input, steps: walked });
      }
      visit({ snapshot: next, input, steps: walked });
    }
  }
  return { paths, missing: [...left] };
}

/** Performs the steps one by one. Throws where the state that follows is not the one the machine says. */
export async function walkEdgePath(path: EdgePath, driver: EdgeDriver): Promise<void> {
  for (const [index, { event, state }] of path.steps.entries()) {
    await driver.perform(event);
    const found = JSON.stringify(driver.state());
    if (found === JSON.stringify(state)) continue;
    const told = path.steps.slice(0, index + 1).map((step) => step.event.type);
    throw new Error(
      `After ${told.join(', ')} the state is ${found}, and should be ${JSON.stringify(state)}.`,
    );
  }
}

/**
 * Everything the chart has a transition for now: the events of the active states by their type alone, both ends of
 * every running actor, and every timer.
 */
export function possibleEvents(snapshot: AnyMachineSnapshot): EventObject[] {
  const types = new Set(snapshot._nodes.flatMap((node) => node.ownEvents.map(String)));
  return [...types].filter((type) => !type.includes('*')).map((type) => ({ type }));
}

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

/** Declared as `any`. */
function stateOf({ value }: AnyMachineSnapshot): StateValue {
  return value as StateValue;
}

function titleOf({ source, target }: AnyTransitionDefinition, steps: EdgePath['steps']): string {
  const to = target?.map(({ id }) => id).join(', ') ?? source.id;
  return `${source.id} to ${to}, after ${steps.map(({ event }) => event.type).join(', ')}`;
}

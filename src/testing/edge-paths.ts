/**
 * Paths through a machine, one for each of its transitions: a short list of events after which that transition is
 * taken. A driver then walks them through the system that the machine describes: a host's own actors, its window, its
 * service.
 *
 * Owns the search and the walk. The driver makes the events happen. Longer than 300 lines because half of them document the
 * public types.
 *
 * 1. The machine never runs: nothing is invoked, no timer is set. So the end of an effect and a timer are ordinary events
 *    (`xstate.done.actor.ID`, `xstate.error.actor.ID`, `xstate.after.DELAY.STATE`).
 * 2. A chart cannot judge itself: a walk compares only the state, and a driver checks everything else.
 */
import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyTransitionDefinition,
  EventFrom,
  EventObject,
  InputFrom,
  StateValue,
} from 'xstate';
import { canonicalJson } from '../json/write-json.js';
import { transitionId } from '../charts/chart-model.js';
import { messageOf } from '../text/error-message.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';
import { PureMachine, type Answer } from './asked-machine.js';
import { transitionsOf } from './transition-coverage.js';

/** Options of `edgePaths`. */
export interface EdgeOptions {
  /** Inputs of the machine; the search starts once with each. Default: one start without input. */
  readonly inputs?: readonly unknown[];
  /**
   * Events that can occur in a snapshot. Default: `possibleEvents`, every event of the chart without data.
   */
  readonly events?: (snapshot: AnyMachineSnapshot) => readonly EventObject[];
  /**
   * Identifies a snapshot; snapshots with the same key count as one. The less it includes, the faster the
   * search. Default: the state alone. If guards read the context, the key must include what they read. A list of
   * keys counts as seen if each of them was: with pairs of facts instead of all facts together, the search of a chart
   * with parallel regions takes a tenth of the time. The same list object again counts as seen at once.
   */
  readonly key?: (snapshot: AnyMachineSnapshot) => string | readonly string[];
  /** Maximum number of snapshots to visit. Default 5,000. */
  readonly maxSnapshots?: number;
}

/**
 * An event of a path: one that the machine declares, the end or failure of an effect, or a timer.
 *
 * @typeParam TMachine The machine.
 */
export type EdgeEvent<TMachine extends AnyStateMachine = AnyStateMachine> =
  /** An event that the machine declares. */
  | EventFrom<TMachine>
  /** An effect has ended. */
  | {
      /** The id of the effect is its last part. */
      readonly type: `xstate.done.actor.${string}`;
      /** Id of the effect. */
      readonly actorId: string;
      /** What it gives. */
      readonly output: unknown;
    }
  /** An effect has failed. */
  | {
      /** The id of the effect is its last part. */
      readonly type: `xstate.error.actor.${string}`;
      /** Id of the effect. */
      readonly actorId: string;
      /** Why it failed. */
      readonly error: unknown;
    }
  /** A delay is over. */
  | {
      /** Names the delay and its state. */
      readonly type: `xstate.after.${string}`;
    };

/**
 * Events that lead from a start of the machine over one of its transitions.
 *
 * @typeParam TMachine The machine.
 */
export interface EdgePath<TMachine extends AnyStateMachine = AnyStateMachine> {
  /** Name of the transition: its state, event and branch. */
  readonly edge: string;
  /** For a person and the title of a test; no two paths have the same. */
  readonly title: string;
  /** Input of the machine. */
  readonly input: InputFrom<TMachine>;
  /** The state that it starts in. */
  readonly start: StateValue;
  /**
   * Events of the path in order, each with the state that follows. The last one takes the transition; empty
   * if the start takes it.
   */
  readonly steps: readonly {
    /** What happens. */
    readonly event: EdgeEvent<TMachine>;
    /** The state after it. */
    readonly state: StateValue;
  }[];
}

/**
 * The result of `edgePaths`.
 *
 * @typeParam TMachine The machine.
 */
export interface EdgeSearch<TMachine extends AnyStateMachine = AnyStateMachine> {
  /** One path for each transition that was reached. */
  readonly paths: readonly EdgePath<TMachine>[];
  /** Names of the transitions without a path: these events do not reach them, or the limit was too low. */
  readonly missing: readonly string[];
}

/**
 * What walks a path.
 *
 * @typeParam TMachine The machine.
 */
export interface EdgeDriver<TMachine extends AnyStateMachine = AnyStateMachine> {
  /**
   * Makes the event happen; resolves once all its consequences have happened.
   *
   * @param event The next event of the path.
   */
  perform(event: EdgeEvent<TMachine>): Promise<void> | void;
  /** The present state of the system under test, as a state value of the machine. */
  state(): StateValue;
}

interface Visit {
  readonly snapshot: AnyMachineSnapshot;
  readonly input: unknown;
  readonly start: StateValue;
  readonly steps: EdgePath['steps'];
}

/**
 * Finds a path over every transition of a machine, breadth first from every start: the shortest one, unless a `key` of the
 * options treats different snapshots as one, as the `key` of `connectionModel` does.
 *
 * @typeParam TMachine The machine.
 * @param machine The machine. It is never started: effects and timers count as events.
 * @param options Inputs, events, and limits of the search. Default: one start without input, and events without data.
 *
 * @throws `TypeError` if `machine` is not an XState machine, or for an unknown option.
 * @throws `Error` if a guard or an action throws, for instance because an event or an input lacks a field.
 *
 * @example
 * ```ts
 * import { connectionModel, edgePaths } from 'mcp-troupe/testing';
 *
 * const model = connectionModel();
 * const { paths, missing } = edgePaths(model.machine, model);
 * console.log(paths.map(({ title }) => title), missing);
 * ```
 */
export function edgePaths<TMachine extends AnyStateMachine>(
  machine: TMachine,
  options: EdgeOptions = {},
): EdgeSearch<TMachine> {
  const { inputs = [undefined], events = possibleEvents, maxSnapshots = 5_000 } = options;
  const { key = (snapshot) => canonicalJson(stateOf(snapshot)) } = options;
  requireKnown('edgePaths', options, OPTIONS);
  if (!isMachine(machine))
    throw new TypeError('edgePaths takes an XState machine, as createMachine makes it.');
  const asked = new PureMachine(machine);
  const left = new Set(transitionsOf(machine.root).map(transitionId));
  const paths: EdgePath[] = [];
  const seen = new Set<string>();
  const lists = new Set<readonly string[]>();
  const queue: Visit[] = [];

  const visit = (reached: Visit, taken: Answer['taken']): void => {
    const { snapshot, ...way } = reached;
    for (const edge of taken) {
      const id = transitionId(edge);
      if (left.delete(id)) paths.push({ edge: id, title: titleOf(edge, way.steps), ...way });
    }
    const known = seen.size;
    const names = key(snapshot);
    if (typeof names === 'string') seen.add(names);
    else if (!lists.has(names)) {
      lists.add(names);
      for (const name of names) seen.add(name);
    }
    if (seen.size > known) queue.push(reached);
  };
  for (const input of inputs) {
    const { snapshot, taken } = begun(asked, input);
    visit({ snapshot, input, start: stateOf(snapshot), steps: [] }, taken);
  }

  for (const [at, { snapshot, steps, ...from }] of queue.entries()) {
    if (at >= maxSnapshots || left.size === 0) break;
    if (snapshot.status !== 'active') continue;
    for (const event of events(snapshot)) {
      const { snapshot: after, taken } = answered(asked, snapshot, event);
      visit({ snapshot: after, ...from, steps: [...steps, { event, state: stateOf(after) }] }, taken);
    }
  }
  return { paths: withOwnTitles(paths) as readonly EdgePath<TMachine>[], missing: [...left] };
}

/** `machine` is part of `connectionModel()`. */
const OPTIONS: OptionNames<EdgeOptions & { readonly machine?: unknown }> = {
  inputs: true,
  events: true,
  key: true,
  maxSnapshots: true,
  machine: true,
};

/** Branches of the same event with the same target differ by their names. */
function withOwnTitles(paths: readonly EdgePath[]): readonly EdgePath[] {
  const counts = new Map<string, number>();
  for (const { title } of paths) counts.set(title, (counts.get(title) ?? 0) + 1);
  return paths.map((path) =>
    counts.get(path.title) === 1 ? path : { ...path, title: `${path.title} (${path.edge})` },
  );
}

/**
 * Performs the steps of a path one by one and compares the state after each.
 *
 * @typeParam TMachine The machine.
 * @param path One of `paths` of `edgePaths`.
 * @param driver The system under test, in the state in which the path starts.
 *
 * @throws `Error` if the state at the start or after a step differs from the path.
 *
 * @example
 * ```ts
 * import { createActor, createMachine } from 'xstate';
 * import { edgePaths, walkEdgePath } from 'mcp-troupe/testing';
 *
 * const press = (target: string) => ({ on: { press: target } });
 * const lamp = createMachine({ initial: 'off', states: { off: press('on'), on: press('off') } });
 * for (const path of edgePaths(lamp).paths) {
 *   const actor = createActor(lamp).start();
 *   await walkEdgePath(path, {
 *     perform: (event) => actor.send(event),
 *     state: () => actor.getSnapshot().value,
 *   });
 * }
 * ```
 */
export async function walkEdgePath<TMachine extends AnyStateMachine>(
  path: EdgePath<TMachine>,
  driver: EdgeDriver<TMachine>,
): Promise<void> {
  const compare = (when: string, state: StateValue): void => {
    const found = driver.state();
    if (canonicalJson(found) === canonicalJson(state)) return;
    throw new Error(`${when} the state is ${JSON.stringify(found)}, and should be ${JSON.stringify(state)}.`);
  };
  compare('At the start', path.start);
  for (const [index, { event, state }] of path.steps.entries()) {
    await driver.perform(event);
    const events = path.steps.slice(0, index + 1).map((step) => step.event.type);
    compare(`After ${events.join(', ')}`, state);
  }
}

/**
 * Every event for which the chart has a transition now: events of the active states without data, the end and
 * the failure of each running actor, and each delay. For a wildcard such as `mouse.*`, it gives
 * `mouse.anything`.
 *
 * @param snapshot A snapshot of any machine.
 *
 * @example
 * ```ts
 * import { createActor, createMachine } from 'xstate';
 * import { possibleEvents } from 'mcp-troupe/testing';
 *
 * const lamp = createMachine({ initial: 'off', states: { off: { on: { press: 'on' } }, on: {} } });
 * console.log(possibleEvents(createActor(lamp).getSnapshot()));
 * ```
 */
export function possibleEvents(snapshot: AnyMachineSnapshot): EventObject[] {
  const types = new Set(snapshot._nodes.flatMap((node) => node.ownEvents.map(String)));
  return [...types]
    .filter((type) => !type.startsWith(RAISED_BY_ITSELF))
    .map((type) => ({ type: type.replace('*', 'anything') }));
}

/** Events that a machine raises itself when the children of a state have ended. Nothing else can send them. */
const RAISED_BY_ITSELF = 'xstate.done.state.';

/**
 * The event of an invoked or spawned actor that has completed.
 *
 * @param actorId Id of the actor within its machine: `id` of the invoke.
 * @param output Output of the actor.
 *
 * @example
 * ```ts
 * import { doneEvent } from 'mcp-troupe/testing';
 *
 * const event = doneEvent('handshake', { startedAt: 0, at: 10 });
 * ```
 */
export function doneEvent(actorId: string, output: unknown): EventObject {
  return { type: `xstate.done.actor.${actorId}`, actorId, output } as EventObject;
}

/**
 * The event of an invoked or spawned actor that has failed.
 *
 * @param actorId Id of the actor within its machine: `id` of the invoke.
 * @param error What the actor threw.
 *
 * @example
 * ```ts
 * import { errorEvent } from 'mcp-troupe/testing';
 *
 * const event = errorEvent('handshake', new Error('refused'));
 * ```
 */
export function errorEvent(actorId: string, error: unknown): EventObject {
  return { type: `xstate.error.actor.${actorId}`, actorId, error } as EventObject;
}

function isMachine(machine: unknown): machine is AnyStateMachine {
  return typeof machine === 'object' && machine !== null && 'root' in machine;
}

function begun(asked: PureMachine, input: unknown): Answer {
  try {
    return asked.begin(input);
  } catch (cause) {
    const message = `The machine does not start: ${reasonOf(cause)} Put everything that it reads into \`inputs\`.`;
    throw new Error(message, { cause });
  }
}

function answered(asked: PureMachine, snapshot: AnyMachineSnapshot, event: EventObject): Answer {
  try {
    return asked.ask(snapshot, event);
  } catch (cause) {
    const where = JSON.stringify(stateOf(snapshot));
    const message = `The machine fails at '${event.type}' in ${where}: ${reasonOf(cause)} Put everything that it reads of an event into \`events\`.`;
    throw new Error(message, { cause });
  }
}

function reasonOf(cause: unknown): string {
  const text = messageOf(cause);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** XState declares the value as `any`. */
function stateOf({ value }: AnyMachineSnapshot): StateValue {
  return value as StateValue;
}

function titleOf({ source, target }: AnyTransitionDefinition, steps: EdgePath['steps']): string {
  const to = target?.map(({ id }) => id).join(', ') ?? source.id;
  const events = steps.map(({ event }) => (event as EventObject).type);
  return `${source.id} to ${to}, ${events.length === 0 ? 'at the start' : `after ${events.join(', ')}`}`;
}

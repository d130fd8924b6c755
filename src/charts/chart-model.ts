/**
 * A machine as plain JSON: the source of the visualizer, the pictures, the tables and the hash in a log.
 *
 * Owns the walk over a machine's nodes. Does not lay out, draw or format. Runs in a browser.
 *
 * 1. The same machine always gives the same model; order is the order of the source.
 * 2. It holds everything that has a name and decides behaviour, but no implementations or parameters.
 * 3. It holds only what the author wrote, not the hidden actions with which XState runs `after`.
 */
import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { actionName, eventLabel, guardName, type ChartEventKind } from './chart-labels.js';

/** The chart of one machine. Plain JSON. */
export interface ChartModel {
  /** The machine itself, with every state below it. */
  readonly root: ChartState;
  /** Transitions that lead somewhere, in document order of their source. */
  readonly edges: readonly ChartEdge[];
}

/** One state of a chart, with the states below it. */
export interface ChartState {
  /** Path from the machine, such as `connection.ready.catalog`. */
  readonly id: string;
  /** Name within the parent state: the last part of `id`. */
  readonly key: string;
  /** Kind of state in the terms of XState. Only `compound` and `parallel` states have states below them. */
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  /** How much a history state restores; null for any other state. */
  readonly history: 'shallow' | 'deep' | null;
  /** Tags of the state itself, sorted by name. Those of its parents are not repeated. */
  readonly tags: readonly string[];
  /** One sentence for people; null if the chart has none. */
  readonly description: string | null;
  /** Id of the child that a compound state enters first. */
  readonly initial: string | null;
  /** Names of the actions that run when the state is entered, in order. An unnamed action is `inline`. */
  readonly entry: readonly string[];
  /** Names of the actions that run when the state is left, in order. An unnamed action is `inline`. */
  readonly exit: readonly string[];
  /** Actors that run while the state is active; empty if there are none. */
  readonly invokes: readonly ChartInvoke[];
  /** Transitions without a target: they run actions, or only say that an event is known here. */
  readonly internal: readonly ChartTransition[];
  /** Child states in document order; empty for an atomic, final or history state. */
  readonly states: readonly ChartState[];
}

/** An actor that a state runs while it is active. */
export interface ChartInvoke {
  /**
   * Id of the actor within its machine. XState generates one, such as `0.connection.launching`, if the chart
   * has none.
   */
  readonly id: string;
  /** Name of the actor slot, or `inline`. */
  readonly src: string;
}

/** A transition without its targets. */
export interface ChartTransition {
  /** Names the transition; see `transitionId`. */
  readonly id: string;
  /** Id of the state that owns it. */
  readonly source: string;
  /** As XState spells it; empty for `always`. */
  readonly eventType: string;
  /**
   * Position among the state's transitions for this event. The first transition with a passing guard is
   * taken.
   */
  readonly branch: number;
  /** What makes it happen: an event by name, or an occasion of XState's own, such as a delay. */
  readonly kind: ChartEventKind;
  /** The event in words. */
  readonly text: string;
  /** The guard as an expression, such as `isRemote and not isOnline`; null if there is none. */
  readonly guard: string | null;
  /** Names of the actions it runs, in order. An unnamed action is `inline`. */
  readonly actions: readonly string[];
  /** True if it leaves and enters its source state again even if its target is within that state. */
  readonly reenter: boolean;
  /** One sentence for people; null if the chart has none. */
  readonly description: string | null;
}

/** One arrow. The arrows of a transition with several targets share their `id`. */
export interface ChartEdge extends ChartTransition {
  /** Id of the state that the arrow points to. */
  readonly target: string;
}

/**
 * Describes the chart of a machine as plain JSON.
 *
 * @param machine Any XState machine, whether or not it ever runs.
 *
 * @example
 * ```ts
 * import { connectionMachine } from 'mcp-troupe/machines';
 * import { chartModel } from 'mcp-troupe/charts';
 *
 * const { root } = chartModel(connectionMachine);
 * console.log(root.states.map(({ key }) => key));
 * ```
 */
export function chartModel(machine: AnyStateMachine): ChartModel {
  const edges: ChartEdge[] = [];

  function describe(node: AnyStateNode): ChartState {
    const internal: ChartTransition[] = [];
    for (const definition of [...[...node.transitions.values()].flat(), ...(node.always ?? [])]) {
      const transition = describeTransition(definition);
      if (definition.target === undefined || definition.target.length === 0) internal.push(transition);
      else edges.push(...definition.target.map((target) => ({ ...transition, target: target.id })));
    }
    return {
      id: node.id,
      key: node.key,
      type: node.type,
      history: node.history || null,
      tags: node.tags.toSorted(),
      description: node.description ?? null,
      initial: node.type === 'compound' ? (node.initial.target[0]?.id ?? null) : null,
      entry: listed(node.config.entry).map(actionName),
      exit: listed(node.config.exit).map(actionName),
      invokes: node.invoke.map(({ id, src }) => ({ id, src: slotName(src) })),
      internal,
      states: Object.values(node.states).map(describe),
    };
  }

  return { root: describe(machine.root), edges };
}

/**
 * Identifies a transition within its machine by its state, its event and its position among the branches of
 * that event. The id is the same for every instance of the machine, so it can be sent to another process.
 *
 * @param definition One of the machine's own transitions, as `getTransitionData` returns them.
 *
 * @example
 * ```ts
 * import type { AnyMachineSnapshot, EventObject } from 'xstate';
 * import { transitionId } from 'mcp-troupe/charts';
 *
 * function taken(snapshot: AnyMachineSnapshot, event: EventObject): string[] {
 *   return snapshot.machine.getTransitionData(snapshot, event).map(transitionId);
 * }
 * ```
 */
export function transitionId(definition: AnyTransitionDefinition): string {
  return `${definition.source.id}|${descriptorOf(definition)}|${branchOf(definition)}`;
}

/** XState declares it as `any`. It is the empty string for `always`. */
function descriptorOf(definition: AnyTransitionDefinition): string {
  return String(definition.eventType);
}

function branchOf(definition: AnyTransitionDefinition): number {
  const { source } = definition;
  const descriptor = descriptorOf(definition);
  const branches = descriptor === '' ? source.always : source.transitions.get(descriptor);
  return branches?.indexOf(definition) ?? -1;
}

/**
 * Ids of the active states of a running machine, including the machine itself.
 *
 * @param snapshot A snapshot of an actor of the machine, running or ended.
 *
 * @example
 * ```ts
 * import { createActor } from 'xstate';
 * import { configurationMachine } from 'mcp-troupe/machines';
 * import { activeStateIds } from 'mcp-troupe/charts';
 *
 * const policy = { restMs: 100, mostMs: 1_000, retryAfterMs: [1_000] };
 * const actor = createActor(configurationMachine, { input: { policy, readable: true } });
 * console.log(activeStateIds(actor.getSnapshot()));
 * ```
 */
export function activeStateIds(snapshot: AnyMachineSnapshot): string[] {
  return snapshot._nodes.map((node) => node.id);
}

function describeTransition(definition: AnyTransitionDefinition): ChartTransition {
  const { source, guard, actions, reenter, description } = definition;
  const eventType = descriptorOf(definition);
  const invokedAs = (id: string): string => {
    const invoke = source.invoke.find((candidate) => candidate.id === id);
    return invoke !== undefined && isGeneratedId(id, source.id) ? slotName(invoke.src) : id;
  };
  return {
    id: transitionId(definition),
    source: source.id,
    eventType,
    branch: branchOf(definition),
    ...eventLabel(eventType, source.id, invokedAs),
    guard: guard === undefined ? null : guardName(guard),
    actions: actions.map(actionName),
    reenter,
    description: description ?? null,
  };
}

/** XState numbers the invokes without an id: `0.connection.launching`. */
function isGeneratedId(id: string, stateId: string): boolean {
  return /^\d+$/.test(id.slice(0, -`.${stateId}`.length)) && id.endsWith(`.${stateId}`);
}

function slotName(src: unknown): string {
  return typeof src === 'string' && !src.startsWith('xstate.invoke.') ? src : 'inline';
}

function listed(config: unknown): readonly unknown[] {
  if (config === undefined) return [];
  return Array.isArray(config) ? config : [config];
}

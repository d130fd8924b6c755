/**
 * A machine as plain JSON: what the visualizer, the pictures and the tables draw, and what a log's hash is of.
 *
 * Owns the walk over a machine's nodes. Does not lay out, draw or format. Runs in a browser.
 *
 * 1. The same machine always gives the same model; order is the order of the source.
 * 2. Everything that decides behaviour and has a name is in it; implementations and parameters are not.
 * 3. Only what the author wrote: the hidden actions by which XState runs `after` are left out.
 */
import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { actionName, eventLabel, guardName, type ChartEventKind } from './chart-labels.js';

export interface ChartModel {
  readonly root: ChartState;
  /** Transitions that lead somewhere, in document order of their source. */
  readonly edges: readonly ChartEdge[];
}

export interface ChartState {
  readonly id: string;
  readonly key: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly history: 'shallow' | 'deep' | null;
  readonly tags: readonly string[];
  readonly description: string | null;
  /** Id of the child that a compound state enters first. */
  readonly initial: string | null;
  readonly entry: readonly string[];
  readonly exit: readonly string[];
  readonly invokes: readonly ChartInvoke[];
  /** Transitions without a target: they run actions, or only say that an event is known here. */
  readonly internal: readonly ChartTransition[];
  readonly states: readonly ChartState[];
}

export interface ChartInvoke {
  readonly id: string;
  /** Name of the actor slot, or `inline`. */
  readonly src: string;
}

export interface ChartTransition {
  /** Names the transition; see `transitionId`. */
  readonly id: string;
  /** Id of the state that owns it. */
  readonly source: string;
  /** As XState spells it; empty for `always`. */
  readonly eventType: string;
  /** Position among the state's transitions for this event: the first whose guard passes is taken. */
  readonly branch: number;
  readonly kind: ChartEventKind;
  /** The event in words. */
  readonly text: string;
  readonly guard: string | null;
  readonly actions: readonly string[];
  readonly reenter: boolean;
  readonly description: string | null;
}

/** One arrow. Arrows share their `id` where one transition has several targets. */
export interface ChartEdge extends ChartTransition {
  readonly target: string;
}

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
 * Names a transition within its machine: owning state, event and position among that event's branches. It is the
 * same for every instance of the machine, so it can cross a wire.
 */
export function transitionId(definition: AnyTransitionDefinition): string {
  return `${definition.source.id}|${descriptorOf(definition)}|${branchOf(definition)}`;
}

/** Declared as `any`; the empty string for `always`. */
function descriptorOf(definition: AnyTransitionDefinition): string {
  return String(definition.eventType);
}

function branchOf(definition: AnyTransitionDefinition): number {
  const { source } = definition;
  const descriptor = descriptorOf(definition);
  const branches = descriptor === '' ? source.always : source.transitions.get(descriptor);
  return branches?.indexOf(definition) ?? -1;
}

/** Ids of the active states of a running machine, the root's included. */
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

/** XState numbers the invokes that were given no id: `0.connection.launching`. */
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

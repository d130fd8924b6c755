/**
 * Which transitions of a chart were taken: every branch of every event, `always`, `after`, done and error, by name.
 */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition, InspectionEvent } from 'xstate';
import { transitionId } from '../../src/charts/chart-model.js';

function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap(nodesOf)];
}

function transitionsOf(node: AnyStateNode): AnyTransitionDefinition[] {
  return [...[...node.transitions.values()].flat(), ...(node.always ?? [])];
}

/** In words: source, event, branch, target. */
function inWords(transition: AnyTransitionDefinition): string {
  const [source, eventType, branch] = transitionId(transition).split('|');
  const target = transition.target?.map(({ id }) => id).join(', ') ?? 'no other state';
  return `${source}: ${eventType === '' ? 'always' : eventType}, branch ${branch}, to ${target}`;
}

export class ChartEdges {
  readonly #taken = new Map<string, number>();
  readonly #words: ReadonlyMap<string, string>;
  readonly #machineId: string;

  constructor(machine: AnyStateMachine) {
    this.#machineId = machine.id;
    const transitions = nodesOf(machine.root).flatMap(transitionsOf);
    this.#words = new Map(transitions.map((transition) => [transitionId(transition), inWords(transition)]));
  }

  /** Counts transitions; pass it to an actor as `inspect`. */
  readonly count = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.microstep') return;
    for (const transition of event._transitions) {
      if (transition.source.machine.id !== this.#machineId) continue;
      const id = transitionId(transition);
      this.#taken.set(id, (this.#taken.get(id) ?? 0) + 1);
    }
  };

  get total(): number {
    return this.#words.size;
  }

  /** The transitions that were not taken, in words and in the order of the chart. */
  get missing(): string[] {
    return [...this.#words].filter(([id]) => !this.#taken.has(id)).map(([, words]) => words);
  }

  /** One line for the output of a test run. */
  get summary(): string {
    const taken = this.total - this.missing.length;
    const percent = ((100 * taken) / this.total).toFixed(1);
    return `${this.#machineId} chart: ${taken} of ${this.total} transitions taken (${percent} %)`;
  }
}

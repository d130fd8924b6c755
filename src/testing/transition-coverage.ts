/** Which transitions of the connection chart were taken: every branch of every event, delay, and end of an effect. */
import type { AnyActorRef, AnyStateNode, AnyTransitionDefinition, InspectionEvent } from 'xstate';
import { connectionMachine, type ConnectionMachine } from '../../machines/connection/connection.machine.js';
import { transitionId } from '../charts/chart-model.js';

/** Counts the transitions of the connections of any number of troupes, whatever their servers are. */
export interface TransitionCoverage {
  /**
   * For `machines.connection` of `createTroupe`.
   *
   * @param machine The machine to watch.
   */
  readonly connection: (machine: ConnectionMachine) => ConnectionMachine;
  /** Number of transitions of the chart. */
  readonly total: number;
  /** Names of the transitions that no connection has taken, in the order of the chart: state, event and branch. */
  readonly missing: readonly string[];
  /** One line for the output of a test run. */
  readonly summary: string;
}

/**
 * Begins to count, from nothing.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { createScriptedServer, transitionCoverage } from 'mcp-troupe/testing';
 *
 * const coverage = transitionCoverage();
 * const troupe = createTroupe({
 *   servers: { files: createScriptedServer() },
 *   machines: { connection: coverage.connection },
 * });
 * await troupe.start();
 * await troupe.close();
 * console.log(coverage.summary, coverage.missing);
 * ```
 */
export function transitionCoverage(): TransitionCoverage {
  const all = transitionsOf(connectionMachine.root).map(transitionId);
  const taken = new Set<string>();
  const watched = new WeakSet<AnyActorRef['system']>();
  const count = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.microstep') return;
    for (const each of event._transitions)
      if (each.source.machine.id === connectionMachine.id) taken.add(transitionId(each));
  };
  const missing = (): string[] => all.filter((id) => !taken.has(id));
  return {
    connection: (machine) => {
      const counted = Object.create(machine) as ConnectionMachine;
      counted.getInitialSnapshot = (scope, input) => {
        if (!watched.has(scope.system)) scope.system.inspect(count);
        watched.add(scope.system);
        return machine.getInitialSnapshot(scope, input);
      };
      return counted;
    },
    total: all.length,
    get missing() {
      return missing();
    },
    get summary() {
      const done = all.length - missing().length;
      return `connection chart: ${done} of ${all.length} transitions taken (${((100 * done) / all.length).toFixed(1)} %)`;
    },
  };
}

export function transitionsOf(node: AnyStateNode): AnyTransitionDefinition[] {
  const own = [...[...node.transitions.values()].flat(), ...(node.always ?? [])];
  return [...own, ...Object.values(node.states).flatMap(transitionsOf)];
}

/** Counts the transitions of the manager chart that the tests of one file take, and finds the actors of both charts. */
import type { ActorRefFrom, AnyActorRef, AnyStateMachine, InspectionEvent } from 'xstate';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { ChartEdges } from '../../support/chart-edges.js';

/** The name of the server in these tests. */
export const SERVER = 'files';

const MACHINES = { connection: connectionMachine, manager: managerMachine };

type Chart = keyof typeof MACHINES;

const edges = new ChartEdges(managerMachine);
const latest = new Map<string, AnyActorRef>();
/** Checks of pending waits, which run after every transition. */
const waiting = new Set<() => void>();

/** Pass it to every actor as `inspect`. */
export function count(event: InspectionEvent): void {
  if (event.type === '@xstate.actor') note(event.actorRef as AnyActorRef & { readonly logic: unknown });
  edges.count(event);
  for (const look of waiting) look();
}

function note(actor: AnyActorRef & { readonly logic: unknown }): void {
  const { id } = actor.logic as Partial<AnyStateMachine>;
  if (id === undefined || (id === 'connection' && actor.id !== SERVER)) return;
  latest.set(id, actor);
}

/** The latest actor of a chart. Throws if there is none. */
export function actorOf<Of extends Chart>(chart: Of): ActorRefFrom<(typeof MACHINES)[Of]> {
  const actor = latest.get(chart);
  if (actor === undefined) throw new Error(`There is no ${chart} yet.`);
  return actor as ActorRefFrom<(typeof MACHINES)[Of]>;
}

/** The transitions that have not been taken, in words. */
export function missing(): string[] {
  return edges.missing;
}

function isTaken(words: string): boolean {
  return !missing().some((each) => each.includes(words));
}

/** Resolves when every transition whose description contains these words has been taken. */
export function whenTaken(words: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isTaken(words)) return;
      waiting.delete(look);
      resolve();
    };
    waiting.add(look);
    look();
  });
}

/** A line for the output of the run. */
export function summary(): string {
  return edges.summary;
}

/** What of the connection's chart was taken, by every server of one test file. */
import type { ActorRefFrom, AnyActorRef, InspectionEvent } from 'xstate';
import { connectionMachine } from '../../../machines/connection.machine.js';
import { ChartEdges } from '../../support/chart-edges.js';

export const edges = new ChartEdges(connectionMachine);

/** The name of every server here. */
export const SERVER = 'files';

type Chart = ActorRefFrom<typeof connectionMachine>;

let latest: Chart | undefined;

/** To be given to every actor as `inspect`. */
export function count(event: InspectionEvent): void {
  if (event.type === '@xstate.actor') {
    const actor = event.actorRef as AnyActorRef;
    if (actor.id === SERVER) latest = actor as Chart;
  }
  edges.count(event);
}

/** The chart of the connection that came last. */
export function chart(): Chart | undefined {
  return latest;
}

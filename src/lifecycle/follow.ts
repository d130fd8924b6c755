/**
 * Turns what a connection actor does into lifecycle events: every change of its state, and what its chart emits.
 * A state is told before what was emitted on the way into it.
 */
import type { ActorRefFrom } from 'xstate';
import type { ConnectionContext, ConnectionEmitted } from '../../machines/connection.events.js';
import type { connectionMachine } from '../../machines/connection.machine.js';
import type { LifecycleEventBody } from './event.js';
import { isListing, statePath, type StatePath } from './state-path.js';

export type ConnectionRef = ActorRefFrom<typeof connectionMachine>;

/** `moved` is called for what whoever waits has to look at, and no event tells. */
export function follow(
  ref: ConnectionRef,
  publish: (event: LifecycleEventBody) => void,
  moved: () => void,
): void {
  const name = ref.id;
  let before: StatePath | undefined;
  let wasListing = false;
  const emitted: ConnectionEmitted[] = [];
  const tell = (): void => {
    const snapshot = ref.getSnapshot();
    const now = statePath(snapshot.value);
    const { context } = snapshot;
    if (now.state !== before?.state || now.substate !== before.substate) {
      const from = before?.state ?? null;
      before = now;
      publish({
        type: 'connection.state',
        connection: name,
        generation: context.generation,
        from,
        to: now.state,
        substate: now.substate,
      });
    }
    for (const event of emitted.splice(0)) publish(toLifecycle(event, name, context));
    if (wasListing === isListing(snapshot.value)) return;
    wasListing = !wasListing;
    moved();
  };
  ref.on('*', (event) => emitted.push(event));
  ref.subscribe({ next: tell, error: () => emitted.splice(0) });
}

function toLifecycle(
  event: ConnectionEmitted,
  connection: string,
  context: ConnectionContext,
): LifecycleEventBody {
  const { generation } = context;
  switch (event.type) {
    case 'ready':
      return { type: 'connection.ready', connection, generation, toolCount: event.toolCount };
    case 'lost':
      return { type: 'connection.lost', connection, generation, failure: event.failure };
    case 'retrying':
      return {
        type: 'connection.retrying',
        connection,
        generation,
        attempt: event.attempt,
        maxAttempts: event.maxAttempts,
        delayMs: event.delayMs,
        failure: event.failure,
      };
    case 'failed':
      return {
        type: 'connection.failed',
        connection,
        generation,
        failure: event.failure,
        attempt: event.attempt,
        maxAttempts: event.maxAttempts,
      };
    case 'trustRequired':
      return { type: 'connection.trustRequired', connection, generation };
    case 'authRequired':
      return { type: 'connection.authRequired', connection, generation };
    case 'outdated':
      return { type: 'diagnostic', connection, generation, kind: 'entry-outdated', message: outdated(event) };
  }
}

function outdated({ failure }: Extract<ConnectionEmitted, { type: 'outdated' }>): string {
  return `The changed entry does not work, and the session of the entry before goes on: ${failure.message}`;
}

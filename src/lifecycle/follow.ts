/**
 * Turns what a connection actor does into lifecycle events, and keeps the details for its status. A state is published
 * before the events that were emitted on the way into it.
 */
import type { ActorRefFrom } from 'xstate';
import type { ConnectionEmitted } from '../../machines/connection/connection.events.js';
import type { connectionMachine } from '../../machines/connection/connection.machine.js';
import { publicState } from '../../machines/connection/public-state.js';
import type { PublicState } from '../../machines/connection/connection.states.js';
import type { LifecycleEventBody, ConnectionScoped } from './event.js';
import { detailsAfter, NO_DETAILS, type StatusDetails } from './status-details.js';

export type ConnectionRef = ActorRefFrom<typeof connectionMachine>;

const details = new WeakMap<object, StatusDetails>();

/** What is known of the sessions of a followed actor. */
export function detailsOf(ref: object): StatusDetails {
  return knownDetailsOf(ref) ?? NO_DETAILS;
}

/** Undefined if it is not followed, or has emitted nothing. */
export function knownDetailsOf(ref: object): StatusDetails | undefined {
  return details.get(ref);
}

/**
 * `moved` is called when the state has changed in a way that no event reports. `from` is the state of the incarnation
 * that this one replaces.
 */
export function follow(
  ref: ConnectionRef,
  publish: (event: LifecycleEventBody) => void,
  moved: () => void,
  from?: PublicState,
): void {
  const name = ref.id;
  let before = from;
  const emitted: ConnectionEmitted[] = [];
  const report = (): void => {
    const { value, context } = ref.getSnapshot();
    const now = publicState(value);
    const isPublished = now.state !== before?.state || now.substate !== before.substate;
    if (isPublished) {
      publish({
        type: 'connection.state',
        server: name,
        generation: context.generation,
        from: before?.state ?? null,
        to: now.state,
        substate: now.substate,
      });
    } else if (now !== before) moved();
    before = now;
    for (const event of emitted.splice(0)) {
      details.set(ref, detailsAfter(detailsOf(ref), event));
      const body = toLifecycle(event, { server: name, generation: context.generation }, detailsOf(ref));
      if (body !== undefined) publish(body);
    }
  };
  ref.on('*', (event) => emitted.push(event));
  ref.subscribe({ next: report, error: () => emitted.splice(0) });
}

/** Undefined for an event that only changes the status. */
function toLifecycle(
  event: ConnectionEmitted,
  about: ConnectionScoped,
  { tools }: StatusDetails,
): LifecycleEventBody | undefined {
  switch (event.type) {
    case 'ready':
      return { type: 'connection.ready', ...about, toolCount: tools };
    case 'lost':
      return { type: 'connection.lost', ...about, failure: event.failure };
    case 'retrying': {
      const { attempt, maxAttempts, delayMs, failure } = event;
      return { type: 'connection.retrying', ...about, attempt, maxAttempts, delayMs, failure };
    }
    case 'failed': {
      const { failure, attempt, maxAttempts } = event;
      return { type: 'connection.failed', ...about, failure, attempt, maxAttempts };
    }
    case 'trustRequired':
      return { type: 'connection.trustRequired', ...about };
    case 'outdated':
      return {
        type: 'diagnostic',
        ...about,
        kind: 'entry-outdated',
        message: `The changed entry does not work, so the session of the former entry continues: ${event.failure.message}`,
      };
    default:
      return undefined;
  }
}

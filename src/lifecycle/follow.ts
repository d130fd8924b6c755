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
  const follower = new Follower(ref, publish, moved, from);
  ref.on('*', (event) => follower.emitted.push(event));
  ref.subscribe(follower);
}

class Follower {
  /** What the actor has emitted since its last snapshot. */
  readonly emitted: ConnectionEmitted[] = [];

  constructor(
    private readonly ref: ConnectionRef,
    private readonly publish: (event: LifecycleEventBody) => void,
    private readonly moved: () => void,
    private before: PublicState | undefined,
  ) {}

  next(): void {
    const { ref, before } = this;
    const server = ref.id;
    const { value, context } = ref.getSnapshot();
    const { generation } = context;
    const now = publicState(value);
    this.before = now;
    if (now.state !== before?.state || now.substate !== before.substate) {
      const { state: to, substate } = now;
      const from = before?.state ?? null;
      this.publish({ type: 'connection.state', server, generation, from, to, substate });
    } else if (now !== before) this.moved();
    for (const event of this.emitted.splice(0)) {
      details.set(ref, detailsAfter(detailsOf(ref), event));
      const body = toLifecycle(event, { server, generation }, detailsOf(ref));
      if (body !== undefined) this.publish(body);
    }
  }

  error(): void {
    this.emitted.length = 0;
  }
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

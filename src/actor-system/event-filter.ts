/**
 * The door of a chart: every event passes through it.
 *
 * D1. A fact about any generation but the present one never reaches a connection; it is reported as a diagnostic.
 * D2. An event that the state does not accept is reported: a command as a rejection, a fact as a diagnostic. XState's own
 *     events are not.
 * D3. The context of a connection has the layout of `laidOut` between events.
 * D4. An error that ends a connection is rethrown with a record of the actor, from which its manager can replace it.
 */
import type { AnyActorScope, AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { remainsOf, remainsOfNothing, type Crash } from '../../machines/connection/connection.crash.js';
import {
  CONNECTION_COMMANDS,
  type ConnectionContext,
  type ConnectionInput,
} from '../../machines/connection/connection.events.js';
import type { connectionMachine } from '../../machines/connection/connection.machine.js';
import { laidOut } from '../../machines/connection/connection.update.js';
import { MANAGER_COMMANDS } from '../../machines/manager/manager.events.js';
import type { managerMachine } from '../../machines/manager/manager.machine.js';
import { verdict } from '../../machines/verdict.js';
import type { RejectionReason } from '../errors.js';
import { messageOf } from '../text/error-message.js';

export type Dropped =
  | { readonly kind: 'stale'; readonly event: string; readonly generation: number }
  | { readonly kind: 'command' | 'fact'; readonly event: string; readonly verdict: RejectionReason };

export type OnDropped = (snapshot: AnyMachineSnapshot, dropped: Dropped) => void;

/** The error that ended an actor, with the record from which its manager replaces it. */
class ActorCrash extends Error {
  override readonly name = 'ActorCrash';

  constructor(
    readonly crash: Crash,
    cause: unknown,
  ) {
    super(crash.message, { cause });
  }
}

const OF_CONNECTIONS: ReadonlySet<string> = new Set(CONNECTION_COMMANDS);
const OF_THE_MANAGER: ReadonlySet<string> = new Set(MANAGER_COMMANDS);

/** Whether events of that type are commands to a connection. */
export function isCommand(type: string): boolean {
  return OF_CONNECTIONS.has(type);
}

export function withConnectionFilter(
  machine: typeof connectionMachine,
  onDropped: OnDropped,
): typeof connectionMachine {
  const door = Object.create(machine) as typeof connectionMachine;
  door.getInitialSnapshot = (scope, input) => {
    try {
      return machine.getInitialSnapshot(scope, input);
    } catch (error) {
      throw crashOf(error, remainsOfNothing(input as ConnectionInput), true);
    }
  };
  door.transition = (snapshot, event, scope) => {
    try {
      if (isStale(snapshot.context, event)) {
        onDropped(snapshot, { kind: 'stale', event: event.type, generation: event.generation });
        return snapshot;
      }
      const next = pass(machine, { snapshot, event, scope }, OF_CONNECTIONS, onDropped) as typeof snapshot;
      if (next.status === 'error') throw next.error;
      if (next.context !== snapshot.context) next.context = laidOut(next.context);
      return next;
    } catch (error) {
      throw crashOf(error, remainsOf(snapshot.context, event, snapshot.hasTag('ending')), false);
    }
  };
  return door;
}

export function withManagerFilter(
  machine: typeof managerMachine,
  onDropped: OnDropped,
): typeof managerMachine {
  const door = Object.create(machine) as typeof managerMachine;
  door.transition = (snapshot, event, scope) =>
    pass(machine, { snapshot, event, scope }, OF_THE_MANAGER, onDropped) as typeof snapshot;
  return door;
}

/** One event on its way to a chart. */
interface Passing {
  readonly snapshot: AnyMachineSnapshot;
  readonly event: EventObject;
  readonly scope: AnyActorScope;
}

function pass(
  machine: AnyStateMachine,
  { snapshot, event, scope }: Passing,
  commands: ReadonlySet<string>,
  onDropped: OnDropped,
): AnyMachineSnapshot {
  const next = machine.transition(snapshot, event, scope) as AnyMachineSnapshot;
  if (next !== snapshot || event.type.startsWith('xstate.')) return next;
  const why = verdict(snapshot, event);
  if (why !== 'ignored' && why !== 'accepted') {
    const kind = commands.has(event.type) ? 'command' : 'fact';
    onDropped(snapshot, { kind, event: event.type, verdict: why });
  }
  return next;
}

function crashOf(error: unknown, remains: Crash['remains'], isStillborn: boolean): ActorCrash {
  return new ActorCrash({ message: messageOf(error), remains, isStillborn }, error);
}

/** Whether the event is a fact about another generation than the present one. */
export function isStale(
  context: ConnectionContext,
  event: EventObject,
): event is EventObject & { readonly generation: number } {
  return (
    'generation' in event &&
    typeof event['generation'] === 'number' &&
    event['generation'] !== context.generation
  );
}

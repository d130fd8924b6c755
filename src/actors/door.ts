/**
 * The door of the connection chart: every event passes it, whoever sent it.
 *
 * D1. A fact about another generation than the present one never reaches the machine; it is counted and told.
 * D2. An event that changed nothing because nobody wanted it is told: a command as a rejection, a fact as a
 *     diagnostic. Events of XState's own are not.
 */
import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { CONNECTION_COMMANDS, type ConnectionContext } from '../../machines/connection.events.js';
import type { connectionMachine } from '../../machines/connection.machine.js';
import { verdict, type TransitionVerdict } from '../../machines/verdict.js';

export type Dropped =
  | { readonly kind: 'stale'; readonly event: string; readonly generation: number }
  | { readonly kind: 'command' | 'fact'; readonly event: string; readonly verdict: TransitionVerdict };

export type OnDropped = (snapshot: AnyMachineSnapshot, dropped: Dropped) => void;

const COMMANDS: ReadonlySet<string> = new Set(CONNECTION_COMMANDS);

export function isCommand(type: string): boolean {
  return COMMANDS.has(type);
}

export function withDoor(machine: typeof connectionMachine, onDropped: OnDropped): typeof connectionMachine {
  const door = Object.create(machine) as typeof connectionMachine;
  door.transition = (snapshot, event, scope) => {
    if (isStale(snapshot.context, event)) {
      onDropped(snapshot, { kind: 'stale', event: event.type, generation: event.generation });
      return snapshot;
    }
    const next = machine.transition(snapshot, event, scope);
    if (next === snapshot && !event.type.startsWith('xstate.')) {
      const why = verdict(snapshot, event);
      if (why !== 'ignored' && why !== 'accepted') {
        onDropped(snapshot, {
          kind: isCommand(event.type) ? 'command' : 'fact',
          event: event.type,
          verdict: why,
        });
      }
    }
    return next;
  };
  return door;
}

/** Whether it is a fact about another generation than the present one. */
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

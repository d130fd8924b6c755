/**
 * The slots by which a connection talks to a manager: it asks for its start, gives the slot back, and reports the end of its
 * first attempt. Alone, a connection starts without asking and reports to nobody.
 */
import { sendParent } from 'xstate';
import type { ConnectionContext, ConnectionEvent, ConnectionReport } from './connection.events.js';
import { connectionMachine, type ConnectionMachine } from './connection.machine.js';
import { connection, needsNetwork } from './connection.setup.js';
import type { StartClaim } from '../policy/start-queue.js';

const tell = sendParent<ConnectionContext, ConnectionEvent, undefined, ConnectionReport, ConnectionEvent>;

function claimOf(context: ConnectionContext): StartClaim {
  return { slot: context.transport === 'stdio', retry: context.unasked && needsNetwork(context) };
}

function needNotQueue(context: ConnectionContext): boolean {
  return !claimOf(context).slot && !claimOf(context).retry;
}

const FILLED = {
  guards: {
    needNotQueue: ({ context }: { readonly context: ConnectionContext }) => needNotQueue(context),
  },
  actions: {
    claimStart: connection.enqueueActions(({ enqueue, context }) => {
      if (needNotQueue(context)) return;
      enqueue(tell({ type: 'child.wantsSlot', name: context.name, ...claimOf(context) }));
    }),
    leaveStart: connection.enqueueActions(({ enqueue, context }) => {
      enqueue(tell({ type: 'child.leftStart', name: context.name }));
    }),
    reportSettled: connection.enqueueActions(({ enqueue, context }) => {
      if (context.isAttempted) return;
      enqueue.assign({ isAttempted: true });
      enqueue(tell({ type: 'child.settled', name: context.name }));
    }),
  },
};

type Slots = Pick<Parameters<ConnectionMachine['provide']>[0], 'guards' | 'actions'>;

/** What fills the slots. XState infers no parameters for these actions, and wants unknown ones. */
export const MANAGED = FILLED as unknown as Slots;

type AnySlots = Readonly<Record<string, unknown>>;

/** Those of the slots that the machine has not filled itself. */
function unfilled<T extends object>(slots: T | undefined, present: AnySlots, initial: AnySlots): T {
  return Object.fromEntries(
    Object.entries(slots ?? {}).filter(([name]) => present[name] === initial[name]),
  ) as T;
}

/**
 * The same connection chart for a parent that grants starts, as `managerMachine` does: it gets `child.wantsSlot` and answers
 * with `slot.granted`, `child.leftStart` when the start is over, and `child.settled` after the first attempt
 * ({@link ConnectionReport}). Slots that the machine has filled itself stay.
 *
 * @param machine The chart. Default: `connectionMachine`, whose effects are not provided yet.
 *
 * @example
 * ```ts
 * import { connectionMachine, managed, managerMachine } from 'mcp-troupe/machines';
 *
 * const patient = connectionMachine.provide({ delays: { backoffDelay: 60_000 } });
 * const manager = managerMachine.provide({ actors: { connection: managed(patient) } });
 * ```
 */
export function managed(machine: ConnectionMachine = connectionMachine): ConnectionMachine {
  const { guards, actions } = machine.implementations;
  const initial = connectionMachine.implementations;
  return machine.provide({
    guards: unfilled(MANAGED.guards, guards, initial.guards),
    actions: unfilled(MANAGED.actions, actions, initial.actions),
  });
}

/** Where the machines of a running system stand, as far as a log tells it. */
import type { AnyActorRef, AnyMachineSnapshot, StateValue } from 'xstate';
import type { AddressBook } from './address-book.js';

/** A machine, as it stands. */
export interface MachineState {
  readonly to: string;
  readonly status: AnyMachineSnapshot['status'];
  readonly state: StateValue;
  readonly context: Readonly<Record<string, unknown>>;
}

/** What is read of a machine's snapshot. One that died of its very first state has no more than a status. */
interface Standing {
  readonly status: AnyMachineSnapshot['status'];
  readonly value?: StateValue;
  readonly context?: Readonly<Record<string, unknown>>;
}

const NOTHING = {};

/** The machine at that address. */
export function machineState(to: string, ref: AnyActorRef): MachineState {
  const { status, value = '', context = NOTHING } = ref.getSnapshot() as Standing;
  return { to, status, state: value, context };
}

/** Every machine, the manager first. */
export function machineStates(manager: AnyActorRef, book: AddressBook): MachineState[] {
  const { children } = manager.getSnapshot() as { readonly children: Record<string, AnyActorRef> };
  return [manager, ...Object.values(children)].map((ref) => machineState(book.of(ref).address, ref));
}

/** Gives every actor of one system its address, in the order in which the actors come. */
import type { AnyActorRef } from 'xstate';
import { isMachineAddress, MANAGER, slotAddress } from './address.js';

export interface Place {
  readonly address: string;
  /** Whether it is the manager or a connection, and no effect. */
  readonly isMachine: boolean;
  /** By the id of what is started below it; undefined where nothing was. */
  slots: Map<string, Slot> | undefined;
}

interface Slot {
  /** See `slotAddress`. */
  readonly address: string;
  incarnations: number;
}

export class AddressBook {
  readonly #places = new WeakMap<AnyActorRef, Place>();

  of(ref: AnyActorRef): Place {
    const known = this.#places.get(ref);
    if (known !== undefined) return known;
    const address = this.next(ref);
    const place = { address, isMachine: isMachineAddress(address), slots: undefined };
    this.#places.set(ref, place);
    return place;
  }

  /** The address of an actor that has none yet, and of which nobody will ask again. */
  next({ id, _parent: parent }: AnyActorRef): string {
    if (parent === undefined) return MANAGER;
    const slot = slotOf(this.of(parent), id);
    slot.incarnations += 1;
    return `${slot.address}${slot.incarnations}`;
  }
}

function slotOf(place: Place, id: string): Slot {
  place.slots ??= new Map();
  let slot = place.slots.get(id);
  if (slot === undefined) {
    slot = { address: slotAddress(place.address, id), incarnations: 0 };
    place.slots.set(id, slot);
  }
  return slot;
}

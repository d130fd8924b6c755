/** Gives every actor of one system its address, in the order in which the actors come. */
import type { AnyActorRef } from 'xstate';
import { childAddress, isMachineAddress, MANAGER } from './address.js';

export interface Place {
  readonly address: string;
  /** Whether it is the manager or a connection, and no effect. */
  readonly isMachine: boolean;
  /** How often each id was given away below it; undefined where none was. */
  incarnations: Map<string, number> | undefined;
}

export class AddressBook {
  readonly #places = new WeakMap<AnyActorRef, Place>();

  of(ref: AnyActorRef): Place {
    const known = this.#places.get(ref);
    if (known !== undefined) return known;
    const address = this.next(ref);
    const place = { address, isMachine: isMachineAddress(address), incarnations: undefined };
    this.#places.set(ref, place);
    return place;
  }

  /** The address of an actor that has none yet, and of which nobody will ask again. */
  next({ id, _parent: parent }: AnyActorRef): string {
    if (parent === undefined) return MANAGER;
    const place = this.of(parent);
    place.incarnations ??= new Map();
    const incarnation = (place.incarnations.get(id) ?? 0) + 1;
    place.incarnations.set(id, incarnation);
    return childAddress(place.address, id, incarnation);
  }
}

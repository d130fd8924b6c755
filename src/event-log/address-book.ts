/** Gives every actor of one system its address, in the order in which the actors come. */
import type { AnyActorRef } from 'xstate';
import { childAddress, MANAGER } from './address.js';

interface Place {
  readonly address: string;
  /** How often each id was given away below it; undefined where none was. */
  incarnations: Map<string, number> | undefined;
}

export class AddressBook {
  readonly #places = new WeakMap<AnyActorRef, Place>();

  of(ref: AnyActorRef): string {
    return this.#placeOf(ref).address;
  }

  #placeOf(ref: AnyActorRef): Place {
    const known = this.#places.get(ref);
    if (known !== undefined) return known;
    const place = { address: this.#newAddress(ref), incarnations: undefined };
    this.#places.set(ref, place);
    return place;
  }

  #newAddress({ id, _parent: parent }: AnyActorRef): string {
    if (parent === undefined) return MANAGER;
    const place = this.#placeOf(parent);
    place.incarnations ??= new Map();
    const incarnation = (place.incarnations.get(id) ?? 0) + 1;
    place.incarnations.set(id, incarnation);
    return childAddress(place.address, id, incarnation);
  }
}

/** The manager and the connections are machines; what is below a connection is an effect of it. */
export function isMachineAddress(address: string): boolean {
  return address.indexOf('/', MANAGER.length + 1) === -1;
}

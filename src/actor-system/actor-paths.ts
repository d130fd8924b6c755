/** Gives every actor of one troupe its address, in the order in which the actors appear. */
import type { AnyActorRef } from 'xstate';
import { childAddress, isMachineAddress, MANAGER, rootAddress } from './actor-path.js';

export interface ActorPath {
  readonly address: string;
  /** Whether it is a machine and not an effect. */
  readonly isMachine: boolean;
  /** How often each id was given away below it; undefined if none was. */
  incarnations: Map<string, number> | undefined;
}

export class AddressBook {
  readonly #places = new WeakMap<AnyActorRef, ActorPath>();
  /** Counts the incarnations of the auxiliary machines. */
  readonly #roots: Pick<ActorPath, 'incarnations'> = { incarnations: undefined };

  constructor(manager: AnyActorRef) {
    this.enter(manager, MANAGER);
  }

  of(ref: AnyActorRef): ActorPath {
    return this.#places.get(ref) ?? this.enter(ref, this.next(ref));
  }

  /** Gives the actor that address. */
  enter(ref: AnyActorRef, address: string): ActorPath {
    const place = { address, isMachine: isMachineAddress(address), incarnations: undefined };
    this.#places.set(ref, place);
    return place;
  }

  /** The address of an actor that has none yet, and of which nobody will ask again. */
  next({ id, _parent: parent }: AnyActorRef): string {
    if (parent === undefined) return rootAddress(id, nextOf(this.#roots, id));
    const place = this.of(parent);
    return childAddress(place.address, id, nextOf(place, id));
  }
}

function nextOf(place: Pick<ActorPath, 'incarnations'>, id: string): number {
  place.incarnations ??= new Map();
  const incarnation = (place.incarnations.get(id) ?? 0) + 1;
  place.incarnations.set(id, incarnation);
  return incarnation;
}

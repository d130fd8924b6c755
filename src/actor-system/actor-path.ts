/**
 * How a log names an actor: its path from a machine without a parent, each step with the number of its incarnation.
 * XState's session ids cannot serve as names: they differ in every run.
 *
 * `$` is the manager, `$/files#2` the second connection of that name, `$/files#2/openTransport#3` the third effect in
 * that slot. `$:configuration#1` is an auxiliary machine, by its id, and `$:configuration#1/watchFiles#1` an
 * effect of it.
 */
import type { AnyActorRef } from 'xstate';

/** The address of the manager. */
export const MANAGER = '$';

/** The actor at that address, for a sentence. */
export function actorInWords(address: string): string {
  return address === MANAGER ? 'the manager' : address;
}

const BESIDE = `${MANAGER}:`;

/** An entry without a name is refused, and has a connection nevertheless. */
const ADDRESS = /^\$(?::[^/#]+#[1-9]\d{0,14})?(?:\/[^/#]*#[1-9]\d{0,14})*$/;
const RESERVED = /[%/#]/g;

/** The address of an auxiliary machine. */
export function rootAddress(id: string, incarnation: number): string {
  return `${BESIDE}${escaped(id)}#${incarnation}`;
}

/** The address of a child; `id` may be any text. */
export function childAddress(parent: string, id: string, incarnation: number): string {
  return `${parent}/${escaped(id)}#${incarnation}`;
}

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && ADDRESS.test(value);
}

/**
 * The name of the connection in an address, also of one of its effects; undefined for any other address.
 *
 * @param address The address of an actor in a log. Any other text gives undefined.
 *
 * @example
 * ```ts
 * import { connectionName } from 'mcp-troupe/event-log';
 *
 * console.log(connectionName('$/files#2/openTransport#3')); // files
 * ```
 */
export function connectionName(address: string): string | undefined {
  if (address.startsWith(BESIDE)) return undefined;
  const [, step] = address.split('/');
  return step === undefined ? undefined : idOf(step);
}

/** The id of the auxiliary machine at that address, or above it; undefined for any other. */
export function rootId(address: string): string | undefined {
  if (!address.startsWith(BESIDE)) return undefined;
  const [step = ''] = address.slice(BESIDE.length).split('/');
  return idOf(step);
}

/** The start of an id, which identifies the chart: `signIn` of `signIn:2`. */
export function rootKind(id: string): string {
  const end = id.indexOf(':');
  return end === -1 ? id : id.slice(0, end);
}

/** The manager, the auxiliary machines and the connections are machines; anything below them is an effect. */
export function isMachineAddress(address: string): boolean {
  return address.indexOf('/', MANAGER.length + 1) === -1;
}

function escaped(id: string): string {
  return id.replace(RESERVED, encodeURIComponent);
}

function idOf(step: string): string {
  return step.slice(0, step.lastIndexOf('#')).replaceAll(/%(?:25|2F|23)/g, decodeURIComponent);
}

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

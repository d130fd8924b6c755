/**
 * What XState's inspection tells, as copies: they look like it to whoever reads it, and nothing in them leads back to a
 * running actor or holds a secret.
 *
 * C1. Actors are known by their address, which is the same in every run.
 * C2. An error in here, or of the listener, never reaches an actor.
 */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { AddressBook } from '../event-log/address-book.js';
import { connectionName } from '../event-log/address.js';
import { isObject } from '../event-log/entry.js';
import { toLogged } from '../event-log/logged-event.js';
import type { ObservableSystem } from '../event-log/observed-system.js';
import { maskJson, NO_MASK, type Mask } from '../secrets.js';

/** As much of an actor as an inspector reads. */
export interface ActorCopy {
  readonly sessionId: string;
  readonly id: string;
  readonly _parent: ActorCopy | undefined;
  /** `config` is the chart, of a machine. */
  readonly logic: { readonly config: object | undefined };
  getSnapshot(): SnapshotCopy;
}

export interface SnapshotCopy {
  readonly status: string;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly tags?: readonly string[];
  readonly children?: Readonly<Record<string, unknown>>;
}

interface Copied {
  readonly actorRef: ActorCopy;
  readonly rootId: string;
}

export type InspectionCopy =
  | (Copied & { readonly type: '@xstate.actor' })
  | (Copied & {
      readonly type: '@xstate.event';
      readonly event: { readonly type: string };
      readonly sourceRef: ActorCopy | undefined;
    })
  | (Copied & {
      readonly type: '@xstate.snapshot';
      readonly event: { readonly type: string };
      readonly snapshot: SnapshotCopy;
    });

export interface CopiesOptions {
  readonly system: ObservableSystem;
  /** Of the connection of that name. */
  readonly mask: (connection: string) => Mask;
  /** Called while the machines are at work. */
  readonly next: (copy: InspectionCopy) => void;
  /** An error in here, or of `next`. */
  readonly failed: (error: unknown) => void;
}

export interface CopiedSystem {
  /** Tells every actor that there is. To be called while none is processing. */
  introduce(): void;
  detach(): void;
}

/** Tells what happens from now on. */
export function observeCopies({ system, mask, next, failed }: CopiesOptions): CopiedSystem {
  const { manager } = system;
  const copies = new Copies(mask);
  const rootId = copies.actor(manager).sessionId;
  const guard = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      failed(error);
    }
  };
  const introduce = (): void =>
    guard(() => {
      for (const ref of actorsBelow(manager))
        next({ type: '@xstate.actor', actorRef: copies.actor(ref), rootId });
    });
  const subscription = manager.system.inspect((event) =>
    guard(() => {
      const copy = copies.event(event, rootId);
      if (copy !== undefined) next(copy);
    }),
  );
  return { introduce, detach: () => subscription.unsubscribe() };
}

class Copies {
  readonly #book = new AddressBook();
  readonly #actors = new WeakMap<AnyActorRef, ActorCopy>();

  constructor(private readonly maskOf: (connection: string) => Mask) {}

  actor(ref: AnyActorRef): ActorCopy {
    const known = this.#actors.get(ref);
    if (known !== undefined) return known;
    const { address: sessionId } = this.#book.of(ref);
    const { id, _parent: parent } = ref;
    const { logic } = ref as AnyActorRef & { readonly logic?: { readonly config?: unknown } };
    const mask = this.#mask(sessionId);
    const copy: ActorCopy = {
      sessionId,
      id,
      _parent: parent && this.actor(parent),
      logic: { config: isObject(logic?.config) ? logic.config : undefined },
      getSnapshot: () => toSnapshot(standing(ref), mask),
    };
    this.#actors.set(ref, copy);
    return copy;
  }

  event(inspected: InspectionEvent, rootId: string): InspectionCopy | undefined {
    const { type } = inspected;
    if (type !== '@xstate.actor' && type !== '@xstate.event' && type !== '@xstate.snapshot') return undefined;
    const actorRef = this.actor(inspected.actorRef as AnyActorRef);
    if (type === '@xstate.actor') return { type, actorRef, rootId };
    const mask = this.#mask(actorRef.sessionId);
    const event = maskJson(toLogged(inspected.event), mask);
    if (type === '@xstate.snapshot')
      return { type, actorRef, rootId, event, snapshot: toSnapshot(inspected.snapshot, mask) };
    const source = inspected.sourceRef as AnyActorRef | undefined;
    return { type, actorRef, rootId, event, sourceRef: source && this.actor(source) };
  }

  #mask(address: string): Mask {
    const name = connectionName(address);
    return name === undefined ? NO_MASK : this.maskOf(name);
  }
}

/** The manager, its connections, and their effects. */
function* actorsBelow(ref: AnyActorRef): Generator<AnyActorRef, void, undefined> {
  yield ref;
  const { children = {} } = ref.getSnapshot() as { readonly children?: Record<string, AnyActorRef> };
  for (const child of Object.values(children)) yield* actorsBelow(child);
}

/** Undefined while the actor is being made: XState's development build throws then. */
function standing(ref: AnyActorRef): unknown {
  try {
    return ref.getSnapshot();
  } catch {
    return undefined;
  }
}

interface AnySnapshot {
  readonly status: string;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly tags?: Iterable<string>;
  readonly children?: Readonly<Record<string, { readonly id: string }>>;
}

/** An actor that is being made has none. */
function toSnapshot(snapshot: unknown, mask: Mask): SnapshotCopy {
  if (!isObject(snapshot)) return { status: 'active' };
  const { status, value, context, output, error, tags, children } = snapshot as unknown as AnySnapshot;
  const told = {
    ...(value !== undefined && { value }),
    ...(context !== undefined && { context }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error: error instanceof Error ? { message: error.message } : error }),
  };
  return {
    status,
    ...maskJson(told, mask),
    ...(tags !== undefined && { tags: [...tags] }),
    ...(children !== undefined && { children: idsOf(children) }),
  };
}

/** As XState itself writes them down. */
function idsOf(children: Readonly<Record<string, { readonly id: string }>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(children).map(([key, { id }]) => [key, { xstate$$type: 1, id }]));
}

/**
 * Copies of XState's inspection events. They look the same to an inspector, but do not lead to a running actor and hold
 * no secret.
 *
 * C1. Actors are identified by their address, which is the same in every run.
 * C2. An error in here, or of the listener, never reaches an actor.
 */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { AddressBook, connectionName } from '../actor-system/actor-path.js';
import { isJsonObject } from '../json/json-object.js';
import { toLogged } from '../event-log/format/entry.js';
import type { ObservableSystem } from '../event-log/record/observed-system.js';
import { maskJson, NO_MASK, type Mask } from '../secrets/secrets.js';

/** The part of an actor that an inspector reads. */
export interface ActorCopy {
  readonly sessionId: string;
  readonly id: string;
  readonly _parent: ActorCopy | undefined;
  /** For a machine, `config` is its chart. */
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
  /** The mask for a connection, by its name. */
  readonly mask: (connection: string) => Mask;
  /** Called while the machines are processing. */
  readonly next: (copy: InspectionCopy) => void;
  /** Called with an error in here, or of `next`. */
  readonly failed: (error: unknown) => void;
}

export interface CopiedSystem {
  /** Announces every existing actor. Must not be called while an actor is processing. */
  introduce(): void;
  detach(): void;
}

/** Reports every event from now on. */
export function observeCopies({ system, mask, next, failed }: CopiesOptions): CopiedSystem {
  const { manager, roots } = system;
  const copies = new Copies(manager, mask);
  const guard = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      failed(error);
    }
  };
  const announce = (root: AnyActorRef): void =>
    guard(() => {
      const rootId = copies.actor(root).sessionId;
      for (const ref of actorsBelow(root))
        next({ type: '@xstate.actor', actorRef: copies.actor(ref), rootId });
    });
  const subscriptions: { unsubscribe(): void }[] = [];
  const listenTo = (root: AnyActorRef): void => {
    const rootId = copies.actor(root).sessionId;
    const forward = (event: InspectionEvent): void =>
      guard(() => {
        const copy = copies.event(event, rootId);
        if (copy !== undefined) next(copy);
      });
    subscriptions.push(root.system.inspect(forward));
  };
  for (const root of [manager, ...roots.all]) listenTo(root);
  const unfollow = roots.follow((root) => {
    listenTo(root);
    announce(root);
  });
  const introduce = (): void => {
    for (const root of [manager, ...roots.all]) announce(root);
  };
  const detach = (): void => {
    unfollow();
    for (const subscription of subscriptions) subscription.unsubscribe();
  };
  return { introduce, detach };
}

class Copies {
  readonly #book: AddressBook;
  readonly #actors = new WeakMap<AnyActorRef, ActorCopy>();

  constructor(
    manager: AnyActorRef,
    private readonly maskOf: (connection: string) => Mask,
  ) {
    this.#book = new AddressBook(manager);
  }

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
      logic: { config: isJsonObject(logic?.config) ? logic.config : undefined },
      getSnapshot: () => toSnapshot(snapshotOf(ref), mask),
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

/** A machine, and every machine below it. */
function* actorsBelow(ref: AnyActorRef): Generator<AnyActorRef, void, undefined> {
  yield ref;
  const { children = {} } = ref.getSnapshot() as { readonly children?: Record<string, AnyActorRef> };
  for (const child of Object.values(children)) yield* actorsBelow(child);
}

/** Undefined while the actor is being created: XState's development build throws then. */
function snapshotOf(ref: AnyActorRef): unknown {
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

/** An actor that is being created has no snapshot. */
function toSnapshot(snapshot: unknown, mask: Mask): SnapshotCopy {
  if (!isJsonObject(snapshot)) return { status: 'active' };
  const { status, value, context, output, error, tags, children } = snapshot as unknown as AnySnapshot;
  const shown = {
    ...(value !== undefined && { value }),
    ...(context !== undefined && { context }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error: error instanceof Error ? { message: error.message } : error }),
  };
  return {
    status,
    ...maskJson(shown, mask),
    ...(tags !== undefined && { tags: [...tags] }),
    ...(children !== undefined && { children: idsOf(children) }),
  };
}

/** In the form of XState's own persisted snapshots. */
function idsOf(children: Readonly<Record<string, { readonly id: string }>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(children).map(([key, { id }]) => [key, { xstate$$type: 1, id }]));
}

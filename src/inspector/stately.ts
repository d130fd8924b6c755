/**
 * Events as messages of `@statelyai/inspect` 0.7, for a viewer of that protocol.
 *
 * Y1. They are made from copies (`inspection-copies.ts`): charts and outputs, which that package would pass on
 *     unchanged, are masked as well.
 * Y2. Nothing is queued for a viewer that does not read: once it reads again, every actor is announced again in its
 *     present state.
 */
import type { Writable } from 'node:stream';
import type { Clock } from '../ports.js';
import {
  observeCopies,
  type CopiesOptions,
  type InspectionCopy,
  type SnapshotCopy,
} from './inspection-copies.js';

/** The version of the package that defines these messages. */
const STATELY_VERSION = '0.7.2';
/** Maximum size of unread messages of a viewer, bytes. */
const MAX_WAITING = 4 * 1_024 * 1_024;

interface StatelyBase {
  readonly sessionId: string;
  readonly rootId: string;
  readonly createdAt: string;
  readonly id: null;
  readonly _version: string;
}

export type StatelyMessage =
  | (StatelyBase & {
      readonly type: '@xstate.actor';
      readonly name: string;
      readonly parentId: string | undefined;
      /** The chart as JSON; for an effect, only its name. */
      readonly definition: string;
      readonly snapshot: SnapshotCopy;
    })
  | (StatelyBase & {
      readonly type: '@xstate.event';
      readonly event: { readonly type: string };
      readonly sourceId: string | undefined;
    })
  | (StatelyBase & {
      readonly type: '@xstate.snapshot';
      readonly event: { readonly type: string };
      readonly snapshot: SnapshotCopy;
    });

export function toStately(copy: InspectionCopy, at: number): StatelyMessage {
  const { actorRef, rootId } = copy;
  const base: StatelyBase = {
    sessionId: actorRef.sessionId,
    rootId,
    createdAt: String(at),
    id: null,
    _version: STATELY_VERSION,
  };
  if (copy.type === '@xstate.event')
    return { type: copy.type, event: copy.event, sourceId: copy.sourceRef?.sessionId, ...base };
  if (copy.type === '@xstate.snapshot')
    return { type: copy.type, event: copy.event, snapshot: copy.snapshot, ...base };
  const { id, logic, _parent: parent } = actorRef;
  return {
    type: copy.type,
    name: id,
    parentId: parent?.sessionId,
    definition: JSON.stringify(logic.config ?? { id }, named),
    snapshot: actorRef.getSnapshot(),
    ...base,
  };
}

/** A function becomes its name, as in the package. */
function named(_: string, value: unknown): unknown {
  return typeof value === 'function' ? { type: value.name } : value;
}

/** Writes one message a line until the stream is closed. */
export function streamStately(
  viewer: Writable,
  clock: Pick<Clock, 'now'>,
  { system, mask }: Pick<CopiesOptions, 'system' | 'mask'>,
): void {
  let isBehind = false;
  const copied = observeCopies({
    system,
    mask,
    next: (copy) => {
      isBehind ||= viewer.writableLength > MAX_WAITING;
      if (isBehind || !viewer.writable) return;
      viewer.write(`${JSON.stringify(toStately(copy, clock.now()))}\n`);
    },
    failed: () => viewer.destroy(),
  });
  copied.introduce();
  viewer.on('error', () => {});
  viewer.on('drain', () => {
    if (!isBehind) return;
    isBehind = false;
    copied.introduce();
  });
  viewer.once('close', () => copied.detach());
}

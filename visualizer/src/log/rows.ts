/** The list of connections at some moment, from the states of the machines. */
import { contextOf, detailsOf } from '../../../src/event-log/format/by-shape.js';
import type { FoldedState } from '../../../src/event-log/replay/folded-actor.js';
import { publicState } from '../../../machines/connection/public-state.js';
import {
  hasTag,
  type ConnectionState,
  type ConnectionTag,
} from '../../../machines/connection/connection.states.js';
import { stateText } from '../../../src/event-log/replay/divergence.js';
import type { StateValue } from 'xstate';
import { isAuxiliaryLane, isConnectionLane, laneAt } from './lane-names.js';

/** What happened to a connection before, also if it has recovered. */
export interface PastOfRow {
  /** How often it became ready again. */
  readonly restarts: number;
  readonly lastFailure: {
    /** Milliseconds since the epoch. */
    readonly at: number;
    /** Of its entry. */
    readonly position: number;
    readonly code: string;
    readonly message: string;
  } | null;
}

/** The facts that the state at one moment gives. */
export interface PresentRow {
  readonly name: string;
  readonly address: string;
  readonly state: ConnectionState;
  readonly substate: string;
  readonly tags: readonly ConnectionTag[];
  readonly transport: string;
  readonly tools: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Milliseconds since the epoch; null if no attempt is planned. */
  readonly nextAttemptAt: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface Row extends PresentRow, PastOfRow {}

/** An auxiliary machine. */
export interface AuxiliaryRow {
  /** The name of its lane. */
  readonly name: string;
  readonly state: string;
  readonly value: StateValue;
}

/** The latest incarnation of each connection, in the order of appearance. */
export function rowsOf(foldedStates: ReadonlyMap<string, FoldedState>): PresentRow[] {
  const rows = new Map<string, PresentRow>();
  for (const [address, folded] of foldedStates) {
    const name = laneAt(address);
    if (isConnectionLane(name)) rows.set(name, rowOf(name, address, folded));
  }
  return [...rows.values()];
}

/** The latest incarnation of each auxiliary machine, in the order of appearance. */
export function auxiliaryRowsOf(foldedStates: ReadonlyMap<string, FoldedState>): AuxiliaryRow[] {
  const rows = new Map<string, AuxiliaryRow>();
  for (const [address, { state }] of foldedStates) {
    const name = laneAt(address);
    if (isAuxiliaryLane(name)) rows.set(name, { name, state: stateText(state), value: state });
  }
  return [...rows.values()];
}

/** Address of the latest incarnation of the machine in that lane. */
export function addressOf(lane: string, foldedStates: ReadonlyMap<string, FoldedState>): string | undefined {
  return [...foldedStates.keys()].findLast((address) => laneAt(address) === lane);
}

function rowOf(name: string, address: string, { state, context, details }: FoldedState): PresentRow {
  const present = publicState(state);
  const known = contextOf(context);
  const shown = detailsOf(details);
  const isWaiting = hasTag(present, 'backingOff') || hasTag(present, 'retryingSlowly');
  return {
    name,
    address,
    state: present.state,
    substate: present.substate,
    tags: present.tags,
    transport: shown?.transport ?? known.transport ?? '',
    tools: shown?.tools ?? 0,
    attempt: known.attempt,
    maxAttempts: known.maxAttempts ?? 0,
    nextAttemptAt: isWaiting ? (shown?.nextAttemptAt ?? null) : null,
    error: known.failure === undefined ? null : { code: known.failure.code, message: known.failure.message },
  };
}

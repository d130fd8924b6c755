/** The list of connections at some moment, from the states of the machines. */
import type { ConnectionContext } from '../../../machines/connection/connection.events.js';
import { attemptLimit } from '../../../machines/connection/connection.update.js';
import { connectionName, rootId } from '../../../src/actor-system/actor-path.js';
import type { Standing } from '../../../src/event-log/replay/folded-actor.js';
import { publicState } from '../../../machines/connection/public-state.js';
import {
  hasTag,
  type ConnectionState,
  type ConnectionTag,
} from '../../../machines/connection/connection.states.js';
import { stateText } from '../../../src/event-log/replay/divergence.js';
import { laneAt, laneOfConnection } from './lane-names.js';

export interface Row {
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

/** An auxiliary machine. */
export interface AuxiliaryRow {
  /** The name of its lane. */
  readonly name: string;
  readonly state: string;
}

/** The latest incarnation of each connection, in the order of appearance. */
export function rowsOf(standings: ReadonlyMap<string, Standing>): Row[] {
  const rows = new Map<string, Row>();
  for (const [address, standing] of standings) {
    const name = connectionName(address);
    if (name !== undefined) rows.set(name, rowOf(laneOfConnection(name), address, standing));
  }
  return [...rows.values()];
}

/** The latest incarnation of each auxiliary machine, in the order of appearance. */
export function auxiliaryRowsOf(standings: ReadonlyMap<string, Standing>): AuxiliaryRow[] {
  const rows = new Map<string, AuxiliaryRow>();
  for (const [address, { state }] of standings) {
    const name = laneAt(address);
    if (rootId(address) !== undefined) rows.set(name, { name, state: stateText(state) });
  }
  return [...rows.values()];
}

/** Address of the latest incarnation of the machine in that lane. */
export function addressOf(lane: string, standings: ReadonlyMap<string, Standing>): string | undefined {
  return [...standings.keys()].findLast((address) => laneAt(address) === lane);
}

function rowOf(name: string, address: string, { state, context, details }: Standing): Row {
  const present = publicState(state);
  const known = context as unknown as Partial<ConnectionContext>;
  const isWaiting = hasTag(present, 'backingOff') || hasTag(present, 'retryingSlowly');
  return {
    name,
    address,
    state: present.state,
    substate: present.substate,
    tags: present.tags,
    transport: details?.transport ?? known.transport ?? '',
    tools: details?.tools ?? 0,
    attempt: known.attempt ?? 0,
    maxAttempts: limitOf(known) ?? 0,
    nextAttemptAt: isWaiting ? (details?.nextAttemptAt ?? null) : null,
    error: errorOf(known.failure),
  };
}

/** Attempts in a round; undefined if the policy is unknown. */
export function limitOf({ policy, provenUrl = null }: Partial<ConnectionContext>): number | undefined {
  return policy === undefined ? undefined : attemptLimit({ policy, provenUrl });
}

function errorOf(failure: ConnectionContext['failure'] | undefined): Row['error'] {
  if (failure === null || failure === undefined) return null;
  return { code: failure.code, message: failure.message };
}

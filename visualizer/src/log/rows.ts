/** What the list of connections shows of each at some moment, read from where the machines stand. */
import type { ConnectionContext } from '../../../machines/connection.events.js';
import { connectionName } from '../../../src/event-log/address.js';
import type { Standing } from '../../../src/event-log/folded-actor.js';
import { statePath } from '../../../src/lifecycle/state-path.js';

export interface Row {
  /** Empty for the manager. */
  readonly name: string;
  readonly address: string;
  readonly state: string;
  readonly substate: string;
  readonly transport: string;
  readonly tools: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Milliseconds since the epoch; null where no try is planned. */
  readonly nextAttemptAt: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The latest incarnation of each, in the order in which they came; the manager is not among them. */
export function rowsOf(standings: ReadonlyMap<string, Standing>): Row[] {
  const rows = new Map<string, Row>();
  for (const [address, standing] of standings) {
    const name = connectionName(address);
    if (name !== undefined) rows.set(name, rowOf(name, address, standing));
  }
  return [...rows.values()];
}

/** Address of the latest incarnation; the manager's for an empty name. */
export function addressOf(name: string, standings: ReadonlyMap<string, Standing>): string | undefined {
  const wanted = name === '' ? undefined : name;
  return [...standings.keys()].findLast((address) => connectionName(address) === wanted);
}

function rowOf(name: string, address: string, { state, context }: Standing): Row {
  const path = statePath(state);
  const known = context as unknown as Partial<ConnectionContext>;
  const isWaiting = path.substate === 'backingOff' || path.substate === 'retryingSlowly';
  return {
    name,
    address,
    ...path,
    transport: known.transport ?? '',
    tools: known.counts?.tools ?? 0,
    attempt: known.attempt ?? 0,
    maxAttempts: known.policy?.maxAttempts ?? 0,
    nextAttemptAt: isWaiting ? (known.nextAttemptAt ?? null) : null,
    error: errorOf(known.failure),
  };
}

function errorOf(failure: ConnectionContext['failure'] | undefined): Row['error'] {
  if (failure === null || failure === undefined) return null;
  return { code: failure.code, message: failure.message };
}

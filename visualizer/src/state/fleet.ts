/** The rows of the fleet: the states from the log, and facts that only a running troupe knows. */
import type { InspectedStatus } from '../../../src/inspector/page-protocol.js';
import type { Row } from '../log/rows.js';

export interface FleetRow extends Row {
  readonly url: string | null;
  readonly pid: number | null;
  readonly authUrl: string | null;
  /** Null if it is unknown: in the past, and in a file. */
  readonly allowed: readonly string[] | null;
}

/**
 * `statuses` is undefined unless the present of a running troupe is shown. The states come from the log, so that the
 * list and the chart agree.
 */
export function fleetRows(
  rows: readonly Row[],
  statuses: ReadonlyMap<string, InspectedStatus> | undefined,
): FleetRow[] {
  if (statuses === undefined || statuses.size === 0)
    return rows.map((row) => ({ ...row, url: null, pid: null, authUrl: null, allowed: null }));
  const known = new Map(rows.map((row) => [row.name, row]));
  return [...statuses.values()].map((status) => withStatus(known.get(status.server), status));
}

function withStatus(row: Row | undefined, status: InspectedStatus): FleetRow {
  const { server, state, substate, tags, transport, toolCount } = status;
  const { attempt, maxAttempts, nextAttemptAt, error } = status;
  return {
    address: '',
    name: server,
    state,
    substate,
    tags,
    transport,
    attempt,
    maxAttempts,
    nextAttemptAt,
    restarts: 0,
    lastFailure: null,
    ...row,
    tools: toolCount,
    error: error ?? row?.error ?? null,
    url: status.url,
    pid: status.pid,
    authUrl: status.authUrl,
    allowed: status.allowed,
  };
}

/** Filters rows: by words in the name or the error, and by state. */
export function chosenRows(
  rows: readonly FleetRow[],
  text: string,
  states: ReadonlySet<string>,
): readonly FleetRow[] {
  const words = text.trim().toLowerCase();
  return rows.filter(
    ({ name, state, error }) =>
      (states.size === 0 || states.has(state)) &&
      (words === '' ||
        name.toLowerCase().includes(words) ||
        (error !== null && `${error.code} ${error.message}`.toLowerCase().includes(words))),
  );
}

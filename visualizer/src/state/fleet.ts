/** The rows of the fleet: where the machines stand by the log, and what only a running troupe knows. */
import type { InspectedStatus } from '../../../src/inspection/protocol.js';
import type { Row } from '../log/rows.js';

export interface FleetRow extends Row {
  readonly url: string | null;
  readonly pid: number | null;
  readonly authUrl: string | null;
  /** Null where nobody can tell: in the past, and in a file. */
  readonly allowed: readonly string[] | null;
}

/**
 * `statuses` is undefined unless what is shown is the present of a running troupe. Of both the log has the word on
 * states, so that the list and the chart say the same.
 */
export function fleetRows(
  rows: readonly Row[],
  statuses: ReadonlyMap<string, InspectedStatus> | undefined,
): FleetRow[] {
  if (statuses === undefined || statuses.size === 0)
    return rows.map((row) => ({ ...row, url: null, pid: null, authUrl: null, allowed: null }));
  const known = new Map(rows.map((row) => [row.name, row]));
  return [...statuses.values()].map((status) => withStatus(known.get(status.name), status));
}

function withStatus(row: Row | undefined, status: InspectedStatus): FleetRow {
  const { name, state, substate, transport, toolCount, attempt, maxAttempts, nextAttemptAt, error } = status;
  return {
    address: '',
    name,
    state,
    substate,
    transport,
    attempt,
    maxAttempts,
    nextAttemptAt,
    ...row,
    tools: toolCount,
    error: error ?? row?.error ?? null,
    url: status.url,
    pid: status.pid,
    authUrl: status.authUrl,
    allowed: status.allowed,
  };
}

/** Rows that a person looks for: by words in the name or the error, and by state. */
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

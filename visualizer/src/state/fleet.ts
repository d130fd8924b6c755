/** The rows of the fleet: the states from the log, and facts that only a running troupe knows. */
import type { InspectedStatus } from '../../../src/inspector/page-protocol.js';
import { toneOf, type Tone } from '../chart/arrangements.js';
import { laneTitle } from '../log/lane-names.js';
import type { Row } from '../log/rows.js';
import { stateWords } from '../log/state-words.js';
import { fitting, parseQuery, type PartFields, type Subject } from '../search/query.js';
import type { FleetChoice, FleetOrder } from './page.js';

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

export const FLEET_FIELDS = ['connection', 'state', 'code', 'transport'] as const;
const PARTS: PartFields = new Set(['state']);
/** Most urgent first. */
const URGENCY: readonly Tone[] = ['bad', 'warn', 'work', 'plain', 'good', 'rest'];

const COMPARE: Readonly<Record<FleetOrder, (a: FleetRow, b: FleetRow) => number>> = {
  added: () => 0,
  name: (a, b) => (a.name < b.name ? -1 : 1),
  trouble: (a, b) => URGENCY.indexOf(toneOf(a.state)) - URGENCY.indexOf(toneOf(b.state)),
  tools: (a, b) => b.tools - a.tools,
  attempt: (a, b) => b.attempt - a.attempt,
};

/** The rows that fit a search (`search/query.ts`) and are in one of the states, in some order. */
export function chosenRows(
  rows: readonly FleetRow[],
  { text, states, order }: FleetChoice,
): readonly FleetRow[] {
  const query = parseQuery(text, FLEET_FIELDS);
  const fits = fitting(query, FLEET_FIELDS, PARTS);
  const found = rows.filter(
    (row) =>
      (states.length === 0 || states.includes(row.state)) &&
      (query.terms.length === 0 || fits(subjectOf(row))),
  );
  return order === 'added' ? found : found.toSorted(COMPARE[order]);
}

function subjectOf(row: FleetRow): Subject {
  const { name, state, transport, restarts } = row;
  const failure = row.error ?? row.lastFailure;
  const words = stateWords(name, row);
  const trouble = [restarts > 0 ? 'restarts' : '', failure?.code, failure?.message, row.authUrl];
  const shown = [laneTitle(name), transport, words, ...trouble].join(' ').toLowerCase();
  const values: Readonly<Record<string, readonly string[]>> = {
    connection: [laneTitle(name)],
    state: [state, words],
    code: failure === null ? [] : [failure.code],
    transport: [transport],
  };
  return { shows: (word) => shown.includes(word), valuesOf: (field) => values[field] ?? [] };
}

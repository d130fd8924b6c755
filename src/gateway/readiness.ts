/** Whether a gateway should get clients: what a load balancer or a container platform asks. Pure. */
import {
  hasTag,
  type ConnectionState,
  type PublicState,
} from '../../machines/connection/connection.states.js';
import type { ServerStatus } from '../lifecycle/status.js';

/** A server that should be ready and is not. */
export interface MissingServer {
  /** Name of the server. */
  readonly server: string;
  /** State of its connection; null if no server has that name. */
  readonly state: ConnectionState | null;
}

/**
 * Whether a gateway should get clients.
 *
 * - `starting`: the first attempts of the servers are not over.
 * - `ready`: at least one server works, or none is configured; and so does every server that is required.
 * - `unavailable`: anything else. `missing` has the reasons.
 */
export interface Readiness {
  /** The verdict. */
  readonly status: 'starting' | 'ready' | 'unavailable';
  /** Servers that do not work and would have to; empty while the gateway is ready. */
  readonly missing: readonly MissingServer[];
}

/** `required` undefined: all servers, as with `failClosed`. */
export function readinessOf(
  rows: readonly Pick<ServerStatus, 'server' | 'state' | 'reason' | 'tags'>[],
  hasStarted: boolean,
  required: readonly string[] | undefined,
): Readiness {
  const enabled = rows.filter(({ reason }) => reason !== 'disabled');
  const broken = enabled.filter((row) => !works(row)).map(({ server, state }) => ({ server, state }));
  const unknown = (required ?? [])
    .filter((name) => !enabled.some(({ server }) => server === name))
    .map((server) => ({ server, state: null }));
  const isEveryNeeded = required === undefined || broken.length === enabled.length;
  const needed = isEveryNeeded ? broken : broken.filter(({ server }) => required.includes(server));
  const missing = [...needed, ...unknown];
  if (!hasStarted) return { status: 'starting', missing };
  return { status: missing.length === 0 ? 'ready' : 'unavailable', missing };
}

/** A dormant server starts with the first call. */
function works(row: Pick<PublicState, 'state' | 'tags'>): boolean {
  return hasTag(row, 'usable') || hasTag(row, 'dormant');
}

/** Which connections a client shares with others, by its capabilities and the entry of the server. Pure. */
import { isOnlyOnce, type Isolation } from '../../config/entry/server-config.js';
import type { ServerRow } from '../../config/entry/server-spec.js';
import type { Answers } from './client-capabilities.js';
import { randomUUID } from 'node:crypto';
import { eraOf } from '../../../machines/policy/protocol-era.js';
import type { Connection } from '../../servers/connection.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';

/** Whether a client has its own connection to a server. A server that cannot or may not start has none. */
export function isOwn(row: ServerRow, answers: Answers): boolean {
  if ('failure' in row || !isEnabled(row)) return false;
  const isolation = isolationOf(row);
  return isolation === undefined ? Object.keys(answers).length > 0 : isolation === 'per-session';
}

/** A server that cannot start counts as enabled, as its entry intends. */
export function isEnabled(row: ServerRow): boolean {
  return 'failure' in row || row.config.enabled !== false;
}

/** A server that runs once in the fleet is shared by all clients as well. */
export function isolationOf(row: ServerRow | undefined): Isolation | undefined {
  if (row === undefined || 'failure' in row) return undefined;
  return isOnlyOnce(row.config) ? 'shared' : row.config.isolation;
}

/** Whether the server names the request that each of its questions is about. */
export function isExact(connection: Pick<Connection, 'status'> | undefined): boolean {
  return eraOf(connection?.status.protocolVersion) === 'new';
}

/**
 * Recognises the gateway as its own client, for example if a file names its own address. Otherwise it would offer its
 * tools to itself under longer names, and those again, without end.
 */
const NAME = 'mcp-troupe/gateway';

export class GatewayId {
  readonly #id = randomUUID();
  /** Sent to every server in the handshake. It contains no personal data. */
  readonly meta: JsonObject = { [NAME]: this.#id };

  isIn(meta: unknown): boolean {
    return isJsonObject(meta) && meta[NAME] === this.#id;
  }
}

/** The outcome of each server in short: for the `_meta` of lists, and for clients that need all servers. */
import { hasTag } from '../../../machines/connection/connection.states.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import type { JsonObject } from '../../json/json-object.js';
import { RpcError } from '../../protocol/protocol-client.js';
import { RPC } from './client-message.js';
import type { Resource } from '../../mcp/content.js';

/** The key in the `_meta` of a list. */
export const SERVERS_META = 'mcp-troupe/servers';

export interface ServerOutcome {
  readonly state: ServerStatus['state'];
  /** Code of the failure: stable, for programs. */
  readonly code?: string;
  /** Message of the failure: for people. */
  readonly message?: string;
  /** The server's instructions for a model, if they came after the answer to `initialize`. */
  readonly instructions?: string;
}

export function outcomesOf(statuses: readonly ServerStatus[]): Readonly<Record<string, ServerOutcome>> {
  return Object.fromEntries(statuses.map((status) => [status.server, outcomeOf(status)]));
}

/** The servers that do not work. A dormant or disabled server is none of them. */
export function notWorking(statuses: readonly ServerStatus[]): readonly ServerStatus[] {
  return statuses.filter(
    (status) => status.state !== 'stopped' && !hasTag(status, 'usable') && !hasTag(status, 'dormant'),
  );
}

/** An error that names the servers that do not work; undefined if all work. */
export function whyNotAll(statuses: readonly ServerStatus[]): RpcError | undefined {
  const missing = notWorking(statuses);
  if (missing.length === 0) return undefined;
  const names = missing.map(({ server }) => server).join(', ');
  return new RpcError(RPC.serverError, `Not every server works: ${names}.`, { servers: outcomesOf(missing) });
}

function outcomeOf(status: ServerStatus): ServerOutcome {
  const { state, error } = status;
  if (hasTag(status, 'usable')) return { state };
  if (error !== null) return { state, code: error.code, message: error.message };
  if (hasTag(status, 'awaitingTrust')) return { state, code: 'trust-required' };
  return hasTag(status, 'authorizing') ? { state, code: 'sign-in-needed' } : { state };
}

/** The resource with the status of the servers, as the client sees them. */
export const STATUS_URI = 'troupe://status';

const MIME_TYPE = 'application/json';

export const STATUS_RESOURCE: Resource = {
  uri: STATUS_URI,
  name: 'troupe-status',
  title: 'Status of the servers',
  description:
    'One row per server behind this gateway: its state, the cause of a failure, and the time of the next attempt.',
  mimeType: MIME_TYPE,
};

export function readStatus(servers: readonly ServerStatus[]): JsonObject {
  return { contents: [{ uri: STATUS_URI, mimeType: MIME_TYPE, text: JSON.stringify({ servers }) }] };
}

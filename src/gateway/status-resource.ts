/** The resource that tells how the servers are, as the client sees them. */
import type { Resource } from '@modelcontextprotocol/sdk/types.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { JsonObject } from '../protocol/protocol-client.js';

export const STATUS_URI = 'troupe://status';

const MIME_TYPE = 'application/json';

export const STATUS_RESOURCE: Resource = {
  uri: STATUS_URI,
  name: 'troupe-status',
  title: 'Status of the servers',
  description:
    'One row per server behind this gateway: its state, the cause of a failure, and when it is tried again.',
  mimeType: MIME_TYPE,
};

export function readStatus(servers: readonly ServerStatus[]): JsonObject {
  return { contents: [{ uri: STATUS_URI, mimeType: MIME_TYPE, text: JSON.stringify({ servers }) }] };
}

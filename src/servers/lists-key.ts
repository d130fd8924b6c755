/** The key under which the lists of a server are cached: see C1 of `catalog/cache.ts`. */
import type { ClientCapabilities, Implementation } from '../mcp/session.js';
import { targetOf } from '../config/diff.js';
import type { ServerSpec } from '../config/entry/server-spec.js';
import { hashOf } from '../json/json-hash.js';

/** What the host says about itself in a handshake. */
export interface Declared {
  readonly clientInfo: Implementation;
  readonly capabilities: ClientCapabilities;
}

/** A hash of the server's name and of its unexpanded command or address. */
export function targetHash(spec: ServerSpec): string {
  return hashOf({ name: spec.name, target: targetOf(spec) });
}

export function listsKey(target: string, client: Declared): string {
  return hashOf({ target, client });
}

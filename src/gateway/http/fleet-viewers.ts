/** Shows the stream of this host to viewers with the key of the fleet. Anybody else gets 404. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { INSPECTION_PATH } from '../../fleet/inspection-request.js';
import type { FleetMembership } from '../../runtime/fleet-membership.js';

/** Other hosts cannot reach a service under the name of all its addresses. */
const WILDCARD = /^(0\.0\.0\.0|\[::\])$/;

export class FleetViewers {
  readonly #membership: FleetMembership | undefined;
  readonly #open = new Set<ServerResponse>();

  /** Without a fleet, nothing is answered. `own` is where the service listens. */
  constructor(membership: FleetMembership | undefined, own: URL) {
    this.#membership = membership;
    if (!WILDCARD.test(own.hostname)) membership?.serves(own.origin);
  }

  /** Whether it has answered. */
  answer({ method = '', url: path = '', headers }: IncomingMessage, response: ServerResponse): boolean {
    if (path !== INSPECTION_PATH || this.#membership?.admits({ method, path, headers }) !== true)
      return false;
    response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
    void this.#membership.watch(response);
    return true;
  }

  drain(): void {
    this.#membership?.drains();
  }

  close(): void {
    for (const response of this.#open) response.destroy();
  }
}

/**
 * The connections that clients share. They declare no client capabilities, except to servers whose entry says
 * `isolation: 'shared'`.
 */
import type { ClientCapabilities } from '../mcp/session.js';
import type { ServerNotice } from '../actors/effect-ports.js';
import type { LoadedConfig } from '../servers/load-config.js';
import type { TroupeOptions } from '../options.js';
import type { Clock } from '../ports.js';
import type { Responders } from '../server-requests/server-requests.js';
import { Troupe } from '../runtime/troupe.js';
import type { GatewayClient } from './client/client-request.js';
import type { Answers } from './upstream/client-capabilities.js';
import { isExact, isolationOf, type GatewayId } from './upstream/isolation.js';
import { exactResponders, ownResponders, requestBehind, sharedResponders } from './client/questions.js';
import { restingEntry } from './upstream/own-connections.js';
import { ClientLock } from './upstream/client-lock.js';

export interface CommonConnectionsParts {
  readonly options: TroupeOptions;
  /** The capabilities that shared servers see. */
  readonly shared: Answers;
  readonly mark: GatewayId;
  /** There is only ever one client, and the connections are its own. */
  readonly isSingle: boolean;
  /** Milliseconds, for connections that only serve to learn a server's offer. */
  readonly idleStopMs: number;
  readonly clock: Clock;
  /** Time limit for a client's answer, milliseconds. */
  readonly questionTimeoutMs: number;
  readonly clients: () => Iterable<GatewayClient>;
  /** The client, if there has been only one. */
  readonly onlyClient: () => GatewayClient | undefined;
  readonly onchanged: () => void;
}

const NOBODY: Responders = new Map();

export class CommonConnections {
  readonly troupe: Troupe;
  readonly #parts: CommonConnectionsParts;
  readonly #turns: ClientLock;
  readonly #inTurns: Responders;
  readonly #exactly: Responders;

  constructor(parts: CommonConnectionsParts) {
    this.#parts = parts;
    this.#turns = new ClientLock({
      clock: parts.clock,
      limitMs: parts.questionTimeoutMs,
      renew: async (server, signal) => this.troupe.connection(server)?.restart({ signal }),
    });
    this.#inTurns = sharedResponders(parts.shared, this.#turns);
    this.#exactly = exactResponders(parts.shared);
    this.troupe = new Troupe(parts.options, {
      declares: (server) => this.#declares(server),
      handshakeMeta: parts.mark.meta,
      responders: (server) => this.#respondersOf(server),
      onnotification: (notice) => this.#receive(notice),
      onchanged: parts.onchanged,
      load: async (read) => (parts.isSingle ? read() : resting(await read(), parts.idleStopMs)),
    });
  }

  /** The lock of a server that may ask its clients; undefined if it asks nobody, only one client, or says whom. */
  turnsOf(server: string): ClientLock | undefined {
    const isNeeded = this.#isAsking(server) && !isExact(this.troupe.connection(server));
    return isNeeded ? this.#turns : undefined;
  }

  /** Whether it is shared and sees client capabilities. */
  #isAsking(server: string): boolean {
    const { isSingle, shared } = this.#parts;
    if (isSingle || Object.keys(shared).length === 0) return false;
    return isolationOf(this.troupe.inside.rows.find(({ name }) => name === server)) === 'shared';
  }

  #declares(server: string): ClientCapabilities {
    if (this.#parts.isSingle) return this.#parts.onlyClient()?.answers ?? {};
    return this.#isAsking(server) ? this.#parts.shared : {};
  }

  #respondersOf(server: string): Responders {
    const { isSingle, onlyClient } = this.#parts;
    if (!isSingle) {
      if (!this.#isAsking(server)) return NOBODY;
      return isExact(this.troupe.connection(server)) ? this.#exactly : this.#inTurns;
    }
    const client = onlyClient();
    return client === undefined ? NOBODY : ownResponders(client);
  }

  /** A notification that belongs to no certain client is dropped, unless there has been only one client. */
  #receive({ server, method, params, origin }: ServerNotice): void {
    const { clients, onlyClient } = this.#parts;
    switch (method) {
      case 'notifications/message': {
        const request = requestBehind(origin);
        (request?.client ?? onlyClient())?.notifyLog(params, request?.id);
        break;
      }
      case 'notifications/resources/updated':
        for (const client of clients()) client.notifyUpdated(server, false, params);
        break;
      case 'notifications/elicitation/complete':
        for (const client of clients()) client.notifyElicited(server, params);
    }
  }
}

/** If no client shares a server, the shared connection only learns its offer, and is dormant otherwise. */
function resting(loaded: LoadedConfig, idleStopMs: number): LoadedConfig {
  const servers = loaded.servers.map((spec) =>
    isolationOf(spec) === 'per-session' ? restingEntry(spec, idleStopMs) : spec,
  );
  return { ...loaded, servers };
}

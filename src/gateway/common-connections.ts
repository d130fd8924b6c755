/**
 * The connections that clients have in common. Servers on them are told that nobody answers what they ask, except those
 * whose entry says that they are to be shared all the same.
 */
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { ServerNotice } from '../actors/effect-ports.js';
import type { LoadedConfig } from '../config/load.js';
import type { TroupeOptions } from '../options.js';
import type { Clock } from '../ports.js';
import type { Responders } from '../server-requests/server-requests.js';
import { Troupe } from '../troupe.js';
import type { ClientSession } from './client-session.js';
import type { Answers } from './answers.js';
import { isolationOf } from './isolation.js';
import type { OwnMark } from './own-mark.js';
import { ownResponders, requestBehind, sharedResponders } from './questions.js';
import { restingEntry } from './resting-entry.js';
import { SharedTurns } from './shared-turns.js';

export interface CommonConnectionsParts {
  readonly options: TroupeOptions;
  /** Declared to servers that are shared. */
  readonly shared: Answers;
  readonly mark: OwnMark;
  /** There is one client ever, and the connections are its own. */
  readonly isSingle: boolean;
  /** Milliseconds, for connections that are there to tell what the server offers. */
  readonly idleStopMs: number;
  readonly clock: Clock;
  /** Longest that a client may take to answer, milliseconds. */
  readonly questionTimeoutMs: number;
  readonly clients: () => Iterable<ClientSession>;
  /** The only client that there has been. */
  readonly onlyClient: () => ClientSession | undefined;
  readonly onchanged: () => void;
}

const NOBODY: Responders = new Map();

export class CommonConnections {
  readonly troupe: Troupe;
  readonly #parts: CommonConnectionsParts;
  readonly #turns: SharedTurns;
  readonly #responders: Responders;

  constructor(parts: CommonConnectionsParts) {
    this.#parts = parts;
    this.#turns = new SharedTurns({
      clock: parts.clock,
      limitMs: parts.questionTimeoutMs,
      renew: async (server, signal) => this.troupe.connection(server)?.restart({ signal }),
    });
    this.#responders = sharedResponders(parts.shared, this.#turns);
    this.troupe = new Troupe(parts.options, {
      declares: (server) => this.#declares(server),
      handshakeMeta: parts.mark.meta,
      responders: (server) => this.#respondersOf(server),
      onnotification: (notice) => this.#hear(notice),
      onchanged: parts.onchanged,
      load: async (read) => (parts.isSingle ? read() : resting(await read(), parts.idleStopMs)),
    });
  }

  /** Whose turn it is at a server that may ask its clients; undefined where it asks nobody, or only one. */
  turnsOf(server: string): SharedTurns | undefined {
    return this.#isAsking(server) ? this.#turns : undefined;
  }

  /** It is shared, and is told that clients answer. */
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
    if (!isSingle) return this.#isAsking(server) ? this.#responders : NOBODY;
    const client = onlyClient();
    return client === undefined ? NOBODY : ownResponders(client);
  }

  /** What cannot be said to be for one client is for nobody, unless there has never been another. */
  #hear({ server, method, params, origin }: ServerNotice): void {
    const { clients, onlyClient } = this.#parts;
    switch (method) {
      case 'notifications/message': {
        const request = requestBehind(origin);
        (request?.client ?? onlyClient())?.tellLog(params, request?.id);
        break;
      }
      case 'notifications/resources/updated':
        for (const client of clients()) client.tellUpdated(server, false, params);
        break;
      case 'notifications/elicitation/complete':
        for (const client of clients()) client.tellElicited(server, params);
    }
  }
}

/** Of a server that no client uses in common, the common connection tells what it offers, and rests. */
function resting(loaded: LoadedConfig, idleStopMs: number): LoadedConfig {
  const servers = loaded.servers.map((spec) =>
    isolationOf(spec) === 'per-session' ? restingEntry(spec, idleStopMs) : spec,
  );
  return { ...loaded, servers };
}

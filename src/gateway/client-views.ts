/**
 * Gives each client its view: the shared connections, and own connections if it needs them.
 *
 * V1. The number of clients with own connections is limited. To admit another one, the client that has been unreachable
 *     for longest, and for at least five minutes, is ended as if it had left; if there is none, the new client is
 *     refused.
 * V2. Clients without own connections that are connected to the same servers share one view and its lists. A server
 *     that becomes isolated is not in it: those clients get it with their next session.
 */
import type { LoggingLevel } from '../mcp/session.js';
import type { ServerNotice } from '../actors/effect-ports.js';
import type { TroupeOptions } from '../options.js';
import { DEFAULT_NAMING } from '../config/entry/server-config.js';
import type { Clock } from '../ports.js';
import { RpcError } from '../protocol/protocol-client.js';
import type { ServerRow } from '../config/entry/server-spec.js';
import type { Troupe } from '../runtime/troupe.js';
import { RPC } from './client/client-message.js';
import type { ClientSession, Opened } from './client/client-session.js';
import { secondaryOptions } from './gateway-options.js';
import type { Answers } from './upstream/client-capabilities.js';
import { isolationOf, isOwn, type GatewayId } from './upstream/isolation.js';
import { ClientCatalog } from './client/client-catalog.js';
import { OwnConnections } from './upstream/own-connections.js';
import { ownResponders, requestBehind } from './client/questions.js';
import { ServerView, type ServerViewParts } from './upstream/server-view.js';
import { SharedLevels } from './upstream/shared-preferences.js';
import { createMemoryCatalogStore, type CatalogStore } from '../catalog/cache-store.js';

export interface ClientViewsParts {
  readonly common: Troupe;
  /** Resolves when the shared connections have had their first attempt, or at the time limit. */
  readonly whenCommonListed: () => Promise<unknown>;
  readonly options: TroupeOptions;
  readonly mark: GatewayId;
  readonly isBare: boolean;
  /** There is only ever one client, and the shared connections are its own. */
  readonly isSingle: boolean;
  readonly maxIsolatedClients: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly idleStopMs: number;
  /** Called when a client gets own connections. */
  readonly onown: (client: ClientSession, troupe: Troupe) => void;
}

type Seen = Pick<Opened, 'view' | 'offering'>;

/** Milliseconds after which an unreachable client gives way to another. */
const GIVES_WAY_MS = 5 * 60 * 1_000;

export class ClientViews {
  readonly #parts: ClientViewsParts;
  readonly #own = new Map<OwnConnections, ClientSession>();
  readonly #declarations = new Declarations();
  readonly #levels = new SharedLevels();
  /** By the only visible server. */
  readonly #common = new Map<string | undefined, Seen>();

  constructor(parts: ClientViewsParts) {
    this.#parts = parts;
  }

  /** Rejects with an `RpcError` if there is no room. */
  async open(client: ClientSession, answers: Answers, only: string | undefined): Promise<Opened> {
    const { common, isSingle } = this.#parts;
    const owns = (row: ServerRow): boolean => !isSingle && isOwn(row, answers);
    const rows = common.inside.rows.filter(({ name }) => only === undefined || name === only);
    // A client that answers questions may get an own connection later, when entries change.
    const mayOwn = !isSingle && Object.keys(answers).length > 0;
    if (!mayOwn && !rows.some(owns)) return this.#openCommon(client, only);
    if (this.#own.size >= this.#parts.maxIsolatedClients) await this.#makeRoom();
    return this.#openOwn(client, answers, only, owns);
  }

  /** The entries may have changed. */
  follow(): void {
    for (const own of this.#own.keys()) own.follow();
  }

  /** Kills every client's own connections. */
  async kill(): Promise<void> {
    await Promise.all([...this.#own.keys()].map(({ troupe }) => troupe.kill()));
  }

  /** Ends the client that has been unreachable for longest, if that is long enough. */
  async #makeRoom(): Promise<void> {
    const now = this.#parts.clock.now();
    const sinceWhen = (client: ClientSession): number => client.disconnectedSince ?? now;
    const [longest] = [...this.#own.values()].toSorted((a, b) => sinceWhen(a) - sinceWhen(b));
    if (longest !== undefined && now - sinceWhen(longest) >= GIVES_WAY_MS) await longest.close();
  }

  #openCommon(client: ClientSession, only: string | undefined): Opened {
    const { common, isSingle } = this.#parts;
    // An entry may become isolated while the client is there.
    const isSeen = (row: ServerRow): boolean => isSingle || isolationOf(row) !== 'per-session';
    const seen = this.#common.get(only) ?? this.#see({ only, isOwn: () => false, isSeen });
    this.#common.set(only, seen);
    return {
      ...seen,
      setLevel: (level) => this.#requestLevel(client, level),
      rootsChanged: async () => {
        if (this.#parts.isSingle) await common.inside.notifyServers(ROOTS_CHANGED);
      },
      close: async () => this.#forget(client),
    };
  }

  #openOwn(
    client: ClientSession,
    answers: Answers,
    only: string | undefined,
    owns: (row: ServerRow) => boolean,
  ): Opened {
    const { common, options, mark, idleStopMs, maxIsolatedClients, onown } = this.#parts;
    if (this.#own.size >= maxIsolatedClients) throw full(maxIsolatedClients);
    const own = new OwnConnections({
      options: secondaryOptions(options),
      rows: () => common.inside.rows.filter((row) => (only === undefined || row.name === only) && owns(row)),
      cache: this.#declarations.of(answers),
      idleStopMs,
      seams: {
        declares: () => answers,
        handshakeMeta: mark.meta,
        responders: () => ownResponders(client),
        onnotification: (notice) => notifyOwner(client, notice),
      },
    });
    this.#own.set(own, client);
    onown(client, own.troupe);
    const isOwnServer = (server: string): boolean => {
      const row = common.inside.rows.find(({ name }) => name === server);
      return row !== undefined && owns(row);
    };
    return {
      ...this.#see({ own, only, isOwn: isOwnServer, isSeen: () => true }),
      setLevel: async (level) => {
        await Promise.all([own.troupe.setLogLevel(level), this.#requestLevel(client, level)]);
      },
      rootsChanged: () => own.troupe.inside.notifyServers(ROOTS_CHANGED),
      close: async () => {
        this.#forget(client);
        await own.close();
        this.#own.delete(own);
      },
    };
  }

  #see(seen: Pick<ServerViewParts, 'own' | 'only' | 'isOwn' | 'isSeen'>): Seen {
    const { common, whenCommonListed, options, isBare } = this.#parts;
    const view = new ServerView({ common, whenCommonListed, ...seen });
    const { naming = DEFAULT_NAMING } = options;
    // A second server may appear while a bare gateway runs.
    const isAlone = (): boolean => seen.only !== undefined || (isBare && view.servers.length <= 1);
    return { view, offering: new ClientCatalog(view, () => (isAlone() ? undefined : naming)) };
  }

  async #requestLevel(client: ClientSession, level: LoggingLevel): Promise<void> {
    const changed = this.#levels.setLevel(client, level);
    if (changed !== undefined) await this.#parts.common.setLogLevel(changed);
  }

  #forget(client: ClientSession): void {
    const changed = this.#levels.forget(client);
    if (changed !== undefined) this.#parts.common.setLogLevel(changed).catch(() => {});
  }
}

const ROOTS_CHANGED = 'notifications/roots/list_changed';

/** Every notification over a client's own connection is for that client. */
function notifyOwner(client: ClientSession, { server, method, params, origin }: ServerNotice): void {
  switch (method) {
    case 'notifications/message':
      client.notifyLog(params, requestBehind(origin)?.id);
      break;
    case 'notifications/resources/updated':
      client.notifyUpdated(server, true, params);
      break;
    case 'notifications/elicitation/complete':
      client.notifyElicited(server, params);
  }
}

function full(maxIsolatedClients: number): RpcError {
  const message = `The gateway has reached its limit of ${maxIsolatedClients} clients with their own connections.`;
  return new RpcError(RPC.serverError, message, { reason: 'too-many-isolated-clients', maxIsolatedClients });
}

// Remembers what the servers offer to clients of one kind: a server may offer different things to clients with different
// capabilities. With that, the connections of a further client of the kind can stay dormant until they are used.

/** Clients choose what they declare, so the number of kinds is limited. */
const MAX_KINDS = 32;

export class Declarations {
  /** In the order of their last use. */
  readonly #byAnswers = new Map<string, CatalogStore>();

  /** The lists of the servers for clients that declare that. */
  of(answers: Answers): CatalogStore {
    const key = JSON.stringify(answers);
    const known = this.#byAnswers.get(key) ?? createMemoryCatalogStore();
    this.#byAnswers.delete(key);
    this.#byAnswers.set(key, known);
    for (const oldest of this.#byAnswers.keys()) {
      if (this.#byAnswers.size <= MAX_KINDS) break;
      this.#byAnswers.delete(oldest);
    }
    return known;
  }
}

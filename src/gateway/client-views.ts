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
import type { ServerStatus } from '../lifecycle/status.js';
import type { TroupeOptions } from '../options.js';
import { DEFAULT_NAMING } from '../config/entry/server-config.js';
import type { Clock } from '../ports.js';
import type { Connection } from '../servers/connection.js';
import { settlesWithin } from '../async/timers.js';
import type { JsonObject } from '../json/json-object.js';
import { RpcError, type Cause } from '../protocol/protocol-client.js';
import type { ServerRow } from '../config/entry/server-spec.js';
import type { Troupe } from '../runtime/troupe.js';
import { RPC } from './client/client-message.js';
import type { GatewayClient } from './client/client-request.js';
import type { Opened } from './client/serving.js';
import { ofSession } from './gateway-options.js';
import type { Answers } from './upstream/client-capabilities.js';
import { isExact, isolationOf, isOwn, type GatewayId } from './upstream/isolation.js';
import { ClientCatalog, instructionsBy, toInstructions } from './client/client-catalog.js';
import { ClientLock } from './upstream/client-lock.js';
import { OwnConnections } from './upstream/own-connections.js';
import { exactResponders, ownResponders, requestBehind, sharedResponders } from './client/questions.js';
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
  readonly clock: Clock;
  /** Milliseconds for a client to answer. */
  readonly questionTimeoutMs: number;
  /** The lock of a shared server; undefined if it takes any number of requests at the same time. */
  readonly turnsOf: (server: string) => ClientLock | undefined;
  readonly idleStopMs: number;
  /** Called when a client gets own connections. */
  readonly onown: (client: GatewayClient, troupe: Troupe) => void;
}

/** What kind of client opens a view. */
export interface ViewTerms {
  /** The only visible server. */
  readonly only: string | undefined;
  /** Who it acts for; undefined if nobody knows. */
  readonly subject: string | undefined;
  /** Several programs may be behind it, so a server can ask only during a request of certain cause. */
  readonly isMany: boolean;
  /** It may use servers that keep state for each client. */
  readonly keepsState: boolean;
}

type Seen = Pick<Opened, 'view' | 'offering'>;

/** Maximum time that an answer waits for the servers' instructions, milliseconds. */
const INSTRUCTIONS_MS = 1_000;
/** Milliseconds after which an unreachable client gives way to another. */
const GIVES_WAY_MS = 5 * 60 * 1_000;

export class ClientViews {
  readonly #parts: ClientViewsParts;
  readonly #own = new Map<OwnConnections, GatewayClient>();
  readonly #declarations = new Declarations();
  readonly #levels = new SharedLevels();
  /** By the only visible server. */
  readonly #common = new Map<string | undefined, Seen>();

  constructor(parts: ClientViewsParts) {
    this.#parts = parts;
  }

  /** Rejects with an `RpcError` if there is no room. */
  async open(client: GatewayClient, answers: Answers, terms: ViewTerms): Promise<Opened> {
    const { common, isSingle } = this.#parts;
    const isMine = (row: ServerRow): boolean =>
      terms.keepsState || isolationOf(row) !== 'per-session' || isSingle;
    const owns = (row: ServerRow): boolean => !isSingle && isMine(row) && isOwn(row, answers);
    const rows = common.inside.rows.filter(({ name }) => terms.only === undefined || name === terms.only);
    // A client that answers questions may get an own connection later, when entries change.
    const mayOwn = !isSingle && Object.keys(answers).length > 0;
    if (!mayOwn && !rows.some(owns)) return this.#openCommon(client, terms.only);
    if (this.#own.size >= this.#parts.maxIsolatedClients) await this.#makeRoom();
    return this.#openOwn(client, answers, terms, { owns, isMine });
  }

  /** The instructions of the servers as far as they are known, for a client that has no view yet. */
  async instructions(only: string | undefined): Promise<string> {
    const { view } = this.#commonly(only);
    await settlesWithin(this.#parts.clock, INSTRUCTIONS_MS, view.whenToolsKnown());
    return toInstructions(instructionsBy(view), view);
  }

  /** The entries may have changed. */
  follow(): void {
    for (const own of this.#own.keys()) own.follow();
  }

  /** The state of every client's own connections. */
  get status(): readonly ServerStatus[] {
    return [...this.#own.keys()].flatMap(({ troupe }) => troupe.status);
  }

  /** Kills every client's own connections. */
  async kill(): Promise<void> {
    await Promise.all([...this.#own.keys()].map(({ troupe }) => troupe.kill()));
  }

  /** Ends the client that has been unreachable for longest, if that is long enough. */
  async #makeRoom(): Promise<void> {
    const now = this.#parts.clock.now();
    const sinceWhen = (client: GatewayClient): number => client.disconnectedSince ?? now;
    const [longest] = [...this.#own.values()].toSorted((a, b) => sinceWhen(a) - sinceWhen(b));
    if (longest !== undefined && now - sinceWhen(longest) >= GIVES_WAY_MS) await longest.close();
  }

  #openCommon(client: GatewayClient, only: string | undefined): Opened {
    const { common, isSingle } = this.#parts;
    return {
      ...this.#commonly(only),
      turnsOf: this.#parts.turnsOf,
      setLevel: (level) => this.#requestLevel(client, level),
      rootsChanged: async () => {
        if (isSingle) await common.inside.notifyServers(ROOTS_CHANGED);
      },
      close: async () => this.#forget(client),
    };
  }

  #commonly(only: string | undefined): Seen {
    // An entry may become isolated while the client is there.
    const isSeen = (row: ServerRow): boolean => this.#parts.isSingle || isolationOf(row) !== 'per-session';
    const seen = this.#common.get(only) ?? this.#see({ only, isOwn: () => false, isSeen });
    this.#common.set(only, seen);
    return seen;
  }

  #openOwn(
    client: GatewayClient,
    answers: Answers,
    { only, subject, isMany }: ViewTerms,
    { owns, isMine }: Record<'owns' | 'isMine', (row: ServerRow) => boolean>,
  ): Opened {
    const { common, options, mark, idleStopMs, maxIsolatedClients, onown } = this.#parts;
    const { clock, questionTimeoutMs, turnsOf } = this.#parts;
    if (this.#own.size >= maxIsolatedClients) throw full(maxIsolatedClients);
    const connectionOf = (server: string): Connection | undefined => own.troupe.connection(server);
    const own: OwnConnections = new OwnConnections({
      options: ofSession(options, client.id),
      rows: () => common.inside.rows.filter((row) => (only === undefined || row.name === only) && owns(row)),
      cache: this.#declarations.of(answers, subject),
      idleStopMs,
      seams: {
        declares: () => answers,
        handshakeMeta: mark.meta,
        responders: (server) => {
          if (!isMany) return ownResponders(client);
          return isExact(connectionOf(server)) ? exactly : inTurns;
        },
        onnotification: (notice) => notifyOwner(client, notice),
      },
    });
    const turns = new ClientLock({
      clock,
      limitMs: questionTimeoutMs,
      renew: async (server, signal) => connectionOf(server)?.restart({ signal }),
    });
    const exactly = exactResponders(answers);
    const inTurns = sharedResponders(answers, turns);
    this.#own.set(own, client);
    onown(client, own.troupe);
    const isOwnServer = (server: string): boolean => {
      const row = common.inside.rows.find(({ name }) => name === server);
      return row !== undefined && owns(row);
    };
    return {
      ...this.#see({ own, only, isOwn: isOwnServer, isSeen: isMine }),
      turnsOf: (server) => {
        if (!isOwnServer(server)) return turnsOf(server);
        return isMany && !isExact(connectionOf(server)) ? turns : undefined;
      },
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

  async #requestLevel(client: GatewayClient, level: LoggingLevel): Promise<void> {
    const changed = this.#levels.setLevel(client, level);
    if (changed !== undefined) await this.#parts.common.setLogLevel(changed);
  }

  #forget(client: GatewayClient): void {
    const changed = this.#levels.forget(client);
    if (changed !== undefined) this.#parts.common.setLogLevel(changed).catch(() => {});
  }
}

const ROOTS_CHANGED = 'notifications/roots/list_changed';

/** Every notification over a client's own connection is for that client. */
function notifyOwner(client: GatewayClient, { server, method, params, origin }: ServerNotice): void {
  switch (method) {
    case 'notifications/message':
      notifyLog(client, params, origin);
      break;
    case 'notifications/resources/updated':
      client.notifyUpdated(server, true, params);
      break;
    case 'notifications/elicitation/complete':
      client.notifyElicited(server, params);
  }
}

function notifyLog(client: GatewayClient, params: JsonObject, origin: Cause): void {
  const request = requestBehind(origin);
  (request?.client ?? client).notifyLog(params, request?.id);
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

  /** The lists of the servers for clients of that subject that declare that. Lists may be private (MCP 2026-07-28, "Caching"). */
  of(answers: Answers, subject: string | undefined): CatalogStore {
    const key = JSON.stringify([subject ?? null, answers]);
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

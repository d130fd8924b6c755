/**
 * Gives each client what it sees: the common connections, and connections of its own where it is to have some.
 *
 * V1. There are at most so many clients with connections of their own. For a further one, a client that nothing has reached
 *     for five minutes gives way, as one that went without a word does; where there is none, the further one is refused.
 * V2. Clients that have none of their own, and are connected to the same, share one view and its lists. A server that comes
 *     to be for each client alone is none of it: they have it with their next session.
 */
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { ServerNotice } from '../actors/effect-ports.js';
import { DEFAULT_NAMING, type TroupeOptions } from '../options.js';
import type { Clock } from '../ports.js';
import { RpcError } from '../protocol/protocol-client.js';
import type { ServerRow } from '../server-table.js';
import type { Troupe } from '../troupe.js';
import { RPC } from './client-message.js';
import type { ClientSession, Opened } from './client-session.js';
import { Declarations } from './declarations.js';
import { besideTheFirst } from './gateway-options.js';
import type { Answers } from './answers.js';
import { isolationOf, isOwn } from './isolation.js';
import { Offering } from './offering.js';
import { OwnConnections } from './own-connections.js';
import type { OwnMark } from './own-mark.js';
import { ownResponders, requestBehind } from './questions.js';
import { ServerView, type ServerViewParts } from './server-view.js';
import { SharedLevels } from './shared-wishes.js';

export interface ClientViewsParts {
  readonly common: Troupe;
  /** Resolves when the common connections have had their first attempt, or the time for that is over. */
  readonly whenCommonStarted: () => Promise<unknown>;
  readonly options: TroupeOptions;
  readonly mark: OwnMark;
  readonly isBare: boolean;
  /** There is one client ever, and the common connections are its own. */
  readonly isSingle: boolean;
  readonly maxSessions: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly idleStopMs: number;
  /** A client has connections of its own from here on. */
  readonly onown: (client: ClientSession, troupe: Troupe) => void;
}

type Seen = Pick<Opened, 'view' | 'offering'>;

/** Milliseconds for which a client has been away when it gives way to another. */
const GIVES_WAY_MS = 5 * 60 * 1_000;

export class ClientViews {
  readonly #parts: ClientViewsParts;
  readonly #own = new Map<OwnConnections, ClientSession>();
  readonly #declarations = new Declarations();
  readonly #levels = new SharedLevels();
  /** By the only server that is seen. */
  readonly #common = new Map<string | undefined, Seen>();

  constructor(parts: ClientViewsParts) {
    this.#parts = parts;
  }

  /** Rejects with an `RpcError` where there is no room. */
  async open(client: ClientSession, answers: Answers, only: string | undefined): Promise<Opened> {
    const { common, isSingle } = this.#parts;
    const owns = (row: ServerRow): boolean => !isSingle && isOwn(row, answers);
    const rows = common.inside.rows.filter(({ name }) => only === undefined || name === only);
    // One that answers questions may get a server of its own later, when the entries become others.
    const mayOwn = !isSingle && Object.keys(answers).length > 0;
    if (!mayOwn && !rows.some(owns)) return this.#openCommon(client, only);
    if (this.#own.size >= this.#parts.maxSessions) await this.#makeRoom();
    return this.#openOwn(client, answers, only, owns);
  }

  /** The entries may be others. */
  follow(): void {
    for (const own of this.#own.keys()) own.follow();
  }

  /** Ends every client's own connections without courtesy. */
  async kill(): Promise<void> {
    await Promise.all([...this.#own.keys()].map(({ troupe }) => troupe.kill()));
  }

  /** Ends the client that has been away for longest, where one has been for long. */
  async #makeRoom(): Promise<void> {
    const now = this.#parts.clock.now();
    const sinceWhen = (client: ClientSession): number => client.awaySince ?? now;
    const [longest] = [...this.#own.values()].toSorted((a, b) => sinceWhen(a) - sinceWhen(b));
    if (longest !== undefined && now - sinceWhen(longest) >= GIVES_WAY_MS) await longest.close();
  }

  #openCommon(client: ClientSession, only: string | undefined): Opened {
    const { common, isSingle } = this.#parts;
    // An entry may have come to be so while the client is there.
    const isSeen = (row: ServerRow): boolean => isSingle || isolationOf(row) !== 'per-session';
    const seen = this.#common.get(only) ?? this.#see({ only, isOwn: () => false, isSeen });
    this.#common.set(only, seen);
    return {
      ...seen,
      setLevel: (level) => this.#wishLevel(client, level),
      rootsChanged: async () => {
        if (this.#parts.isSingle) await common.inside.tellServers(ROOTS_CHANGED);
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
    const { common, options, mark, idleStopMs, maxSessions, onown } = this.#parts;
    if (this.#own.size >= maxSessions) throw full(maxSessions);
    const own = new OwnConnections({
      options: besideTheFirst(options),
      rows: () => common.inside.rows.filter((row) => (only === undefined || row.name === only) && owns(row)),
      declaration: this.#declarations.of(answers),
      idleStopMs,
      seams: {
        declares: () => answers,
        handshakeMeta: mark.meta,
        responders: () => ownResponders(client),
        onnotification: (notice) => tellOwner(client, notice),
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
        await Promise.all([own.troupe.setLogLevel(level), this.#wishLevel(client, level)]);
      },
      rootsChanged: () => own.troupe.inside.tellServers(ROOTS_CHANGED),
      close: async () => {
        this.#forget(client);
        await own.close();
        this.#own.delete(own);
      },
    };
  }

  #see(seen: Pick<ServerViewParts, 'own' | 'only' | 'isOwn' | 'isSeen'>): Seen {
    const { common, whenCommonStarted, options, isBare } = this.#parts;
    const view = new ServerView({ common, whenCommonStarted, ...seen });
    const { naming = DEFAULT_NAMING } = options;
    // A second server may come while a bare gateway runs.
    const isAlone = (): boolean => seen.only !== undefined || (isBare && view.servers.length <= 1);
    return { view, offering: new Offering(view, () => (isAlone() ? undefined : naming)) };
  }

  async #wishLevel(client: ClientSession, level: LoggingLevel): Promise<void> {
    const told = this.#levels.wish(client, level);
    if (told !== undefined) await this.#parts.common.setLogLevel(told);
  }

  #forget(client: ClientSession): void {
    const told = this.#levels.forget(client);
    if (told !== undefined) this.#parts.common.setLogLevel(told).catch(() => {});
  }
}

const ROOTS_CHANGED = 'notifications/roots/list_changed';

/** Whatever comes over a client's own connection is for that client. */
function tellOwner(client: ClientSession, { server, method, params, origin }: ServerNotice): void {
  switch (method) {
    case 'notifications/message':
      client.tellLog(params, requestBehind(origin)?.id);
      break;
    case 'notifications/resources/updated':
      client.tellUpdated(server, true, params);
      break;
    case 'notifications/elicitation/complete':
      client.tellElicited(server, params);
  }
}

function full(maxSessions: number): RpcError {
  const message = `The gateway has as many clients with connections of their own as it may: ${maxSessions}.`;
  return new RpcError(RPC.serverError, message, { reason: 'too-many-sessions', maxSessions });
}

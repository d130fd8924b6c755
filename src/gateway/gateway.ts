/**
 * The gateway: all servers as one MCP server, for any number of clients.
 *
 * G1. A client that answers what servers ask has connections of its own, which declare what it answers; the others share
 *     the common ones. See `isolation`.
 * G2. What a server asks or tells reaches the client that it is for, or nobody.
 * G3. `close` ends requests in work within its limit, then every session, then every connection. Nothing is left.
 */
import type { Observable, Subscriber } from 'rxjs';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ConfigError, NotReadyError } from '../errors.js';
import type { LifecycleEvent } from '../lifecycle/event.js';
import { SafeObservable } from '../lifecycle/safe-observable.js';
import { DEFAULT_START_GATE_MS } from '../options.js';
import { guardedLogger } from '../guarded-logger.js';
import { systemClock, type Clock, type Logger } from '../ports.js';
import { doneWithin } from '../release.js';
import type { StartReport } from '../start-report.js';
import { messageOf } from '../thrown.js';
import type { Troupe } from '../troupe.js';
import { ClientSession, type Opened } from './client-session.js';
import { ClientViews } from './client-views.js';
import { CommonConnections } from './common-connections.js';
import { invalidParams } from './error-answer.js';
import {
  checkGatewayOptions,
  DEFAULT_DRAIN_MS,
  DEFAULT_IDLE_STOP_MS,
  DEFAULT_MAX_SESSIONS,
  DEFAULT_PAGE_SIZE,
  DEFAULT_QUESTION_TIMEOUT_MS,
  DEFAULT_SESSION_IDLE_MS,
  toServerInfo,
  toShared,
  toTroupeOptions,
  type GatewayOptions,
} from './gateway-options.js';
import type { Answers } from './answers.js';
import { isEnabled } from './isolation.js';
import { OwnMark } from './own-mark.js';
import { SharedSubscriptions } from './shared-wishes.js';

/** One client of the gateway. */
export interface GatewaySession {
  readonly id: string;
  /** Resolves when nothing of the session is left. Never rejects. */
  readonly closed: Promise<void>;
  /** Ends the session; what is in work is answered with an error. Never rejects. */
  close(): Promise<void>;
}

/** What a client is connected to. */
export interface ConnectOptions {
  /** Only that server, by its own names. Default: all of them. */
  readonly server?: string;
  /** Whether the session ends when nothing came from the client for `sessionIdleMs`. Default false. */
  readonly endsWhenIdle?: boolean;
}

/** An event of a connection of the gateway. */
export type GatewayEvent = LifecycleEvent & {
  /** Id of the session whose own connection it is about; none for the common ones. */
  readonly session?: string;
};

export class Gateway {
  /** The connections that clients have in common. */
  readonly troupe: Troupe;
  /** What happens to every connection, those of single clients included. Hot; never replays. Completes when it is closed. */
  readonly events$: Observable<GatewayEvent>;
  readonly #options: GatewayOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #questionTimeoutMs: number;
  readonly #common: CommonConnections;
  readonly #views: ClientViews;
  readonly #mark = new OwnMark();
  readonly #subscriptions = new SharedSubscriptions();
  readonly #clients = new Set<ClientSession>();
  readonly #observers = new Set<Subscriber<GatewayEvent>>();
  /** The client that came last of those that have said what they answer, and how many did. */
  #lastClient: ClientSession | undefined;
  #opened = 0;
  #connected = 0;
  #tellFirst: () => void = () => {};
  readonly #first = new Promise<void>((resolve) => (this.#tellFirst = resolve));
  #tellRead: () => void = () => {};
  /** Resolves when it is known which servers there are. */
  readonly #read = new Promise<void>((resolve) => (this.#tellRead = resolve));
  #started: Promise<StartReport> | undefined;
  #closed: Promise<void> | undefined;
  /** Whether nothing happens any more. */
  #isOver = false;

  constructor(options: GatewayOptions) {
    checkGatewayOptions(options);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = guardedLogger(options.logger);
    const troupeOptions = toTroupeOptions(options);
    const isSingle = options.singleClient === true;
    const idleStopMs = options.idleStopMs ?? DEFAULT_IDLE_STOP_MS;
    this.#questionTimeoutMs = options.questionTimeoutMs ?? DEFAULT_QUESTION_TIMEOUT_MS;
    this.#common = new CommonConnections({
      options: troupeOptions,
      shared: toShared(options),
      mark: this.#mark,
      isSingle,
      idleStopMs,
      clock: this.#clock,
      questionTimeoutMs: this.#questionTimeoutMs,
      clients: () => this.#clients,
      onlyClient: () => (this.#opened === 1 ? this.#lastClient : undefined),
      onchanged: () => this.#views.follow(),
    });
    this.troupe = this.#common.troupe;
    this.#views = new ClientViews({
      common: this.troupe,
      whenCommonStarted: () => this.start(),
      options: troupeOptions,
      mark: this.#mark,
      isBare: options.bare === true,
      isSingle,
      maxSessions: options.maxSessions ?? DEFAULT_MAX_SESSIONS,
      clock: this.#clock,
      idleStopMs,
      onown: ({ id }, troupe) => this.#follow(troupe, id),
    });
    this.events$ = new SafeObservable<GatewayEvent>(
      (subscriber) => {
        if (this.#isOver) subscriber.complete();
        else this.#observers.add(subscriber);
        return () => this.#observers.delete(subscriber);
      },
      (error) => this.#logger.error('an observer threw', { message: messageOf(error) }),
    );
    this.#follow(this.troupe);
  }

  /**
   * Starts the servers; with `singleClient`, once the client has said what it answers. Resolves and rejects as the `start`
   * of a troupe; with `bare`, it rejects with a `ConfigError` where there is not exactly one server.
   */
  start(): Promise<StartReport> {
    if (this.#closed !== undefined) return Promise.reject(closedError());
    this.#started ??= this.#start();
    this.#started.catch(() => {});
    return this.#started;
  }

  /**
   * Names of the servers that a client can be connected to alone, once the configuration is read; undefined where a
   * `singleClient` has not come yet. Rejects as `start`.
   */
  async serverNames(): Promise<readonly string[] | undefined> {
    if (this.#options.singleClient === true && this.#opened === 0) return undefined;
    await Promise.race([this.start(), this.#read]);
    return this.troupe.inside.rows.filter(isEnabled).map(({ name }) => name);
  }

  /** Speaks with one client over a transport that was not started. Rejects where the transport cannot be started. */
  async connect(
    transport: Transport,
    { server, endsWhenIdle = false }: ConnectOptions = {},
  ): Promise<GatewaySession> {
    if (this.#closed !== undefined) throw closedError();
    const { singleClient, adminTools, failClosed, bare, sessionIdleMs, startGateMs, pageSize } =
      this.#options;
    if (singleClient === true && this.#connected > 0) {
      throw new NotReadyError("The gateway has had its client ('singleClient').");
    }
    this.#connected += 1;
    const client = new ClientSession({
      id: `client-${this.#connected}`,
      transport,
      clock: this.#clock,
      logger: this.#logger,
      serverInfo: toServerInfo(this.#options),
      isItself: (meta) => this.#mark.isIn(meta),
      open: (who, answers) => this.#open(who, answers, server),
      turnsOf: (name) => this.#common.turnsOf(name),
      subscriptions: this.#subscriptions,
      hasAdminTools: adminTools === true,
      isFailClosed: failClosed === true,
      isStartAwaited: bare === true,
      listGateMs: startGateMs ?? DEFAULT_START_GATE_MS,
      questionTimeoutMs: this.#questionTimeoutMs,
      pageSize: pageSize ?? DEFAULT_PAGE_SIZE,
      idleMs: endsWhenIdle ? (sessionIdleMs ?? DEFAULT_SESSION_IDLE_MS) : 0,
    });
    this.#clients.add(client);
    void client.closed.then(() => this.#clients.delete(client));
    await client.start();
    return client;
  }

  /**
   * Ends every session and every connection; bounded and idempotent. Requests in work may take `drainMs` milliseconds
   * (default 1,000); what is not answered by then is answered with an error.
   */
  close({ drainMs = DEFAULT_DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    return (this.#closed ??= this.#close(drainMs));
  }

  /** Lets `close` hurry: what is in work is given up, and servers are ended without courtesy. */
  async kill(): Promise<void> {
    const closed = this.close({ drainMs: 0 });
    await Promise.all([this.troupe.kill(), this.#views.kill(), closed]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #start(): Promise<StartReport> {
    if (this.#options.singleClient === true) await this.#first;
    if (this.#closed !== undefined) throw closedError();
    const starting = this.troupe.start();
    starting.catch(() => {});
    await this.troupe.inside.whenRead();
    const names = this.troupe.inside.rows.filter(isEnabled).map(({ name }) => name);
    if (this.#options.bare === true && names.length !== 1) {
      const found = names.length === 0 ? 'none' : names.join(', ');
      throw new ConfigError(`'bare' needs exactly one server; found: ${found}.`);
    }
    this.#tellRead();
    return starting;
  }

  async #open(client: ClientSession, answers: Answers, only: string | undefined): Promise<Opened> {
    // One that was refused may try again.
    if (client !== this.#lastClient) this.#opened += 1;
    this.#lastClient = client;
    this.#tellFirst();
    await Promise.race([this.start(), this.#read]);
    if (only !== undefined && this.troupe.connection(only) === undefined) {
      throw invalidParams('there is no server of that name');
    }
    return this.#views.open(client, answers, only);
  }

  #follow({ events$ }: Troupe, session?: string): void {
    events$.subscribe((event) => {
      const told = session === undefined ? event : { ...event, session };
      for (const observer of [...this.#observers]) observer.next(told);
    });
  }

  async #close(drainMs: number): Promise<void> {
    const clients = [...this.#clients];
    await doneWithin(this.#clock, drainMs, Promise.all(clients.map((client) => client.drain())));
    await Promise.all(clients.map((client) => client.close()));
    this.#tellFirst();
    await this.troupe.close();
    this.#isOver = true;
    for (const observer of [...this.#observers]) observer.complete();
  }
}

function closedError(): NotReadyError {
  return new NotReadyError('The gateway is closed.');
}

/** Makes a gateway; starts nothing. Throws a `ConfigError` for an option that makes no sense. */
export function createGateway(options: GatewayOptions): Gateway {
  return new Gateway(options);
}

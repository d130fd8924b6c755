/**
 * The gateway: all servers as one MCP server, for any number of clients. Longer than 300 lines because its public methods have
 * examples.
 *
 * G1. A client that answers requests of servers has its own connections, which declare its capabilities; the others
 *     share connections. See `isolation`.
 * G2. A server's request or notification reaches the client that it is for, or nobody.
 * G3. `close` ends requests in flight within its limit, then every session, then every connection. Nothing is left.
 */
import { randomUUID } from 'node:crypto';
import type { Subscriber } from 'rxjs';
import type { Fleet } from '../fleet/stores.js';
import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResponse } from '../mcp/messages.js';
import type { Transport } from '../mcp/transport.js';
import { RpcError } from '../protocol/protocol-client.js';
import type { RequestHeaders } from '../transports/session-transport.js';
import { messageOf } from '../text/error-message.js';
import { RPC, toErrorAnswer } from './client/client-message.js';
import { ConfigError, NotReadyError } from '../errors.js';
import type { LifecycleEvent } from '../lifecycle/event.js';
import type { JsonObject } from '../json/json-object.js';
import type { ServerStatus } from '../lifecycle/status.js';
import { freezeInDevelopment } from '../json/freeze.js';
import { Observable } from '../lifecycle/rx.js';
import type { Stream } from '../lifecycle/stream.js';
import { SafeObservable } from '../lifecycle/safe-observable.js';
import { DEFAULT_START_GATE_MS } from '../runtime/manager-input.js';
import { guardedLogger, systemClock, type Clock, type Logger } from '../ports.js';
import { settlesWithin } from '../async/timers.js';
import type { StartReport } from '../runtime/start-report.js';
import type { Troupe } from '../runtime/troupe.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';
import { ClientSession } from './client/client-session.js';
import type { ClientSettings, Opened } from './client/serving.js';
import { ClientTelemetry } from './client/client-telemetry.js';
import { SubjectClient } from './client/subject-client.js';
import type { GatewayClient } from './client/client-request.js';
import { envelopeOf } from './client/envelope.js';
import { sealedState } from './client/request-state.js';
import { SubjectClients, type Subject } from './subject-clients.js';
import { ClientViews, type ViewTerms } from './client-views.js';
import { CommonConnections } from './shared-connections.js';
import { CLOSED, invalidParams, toRpcError } from './client/error-answer.js';
import {
  checkGatewayOptions,
  DEFAULT_REQUEST_DRAIN_MS,
  DEFAULT_IDLE_STOP_MS,
  DEFAULT_MAX_ISOLATED_CLIENTS,
  DEFAULT_PAGE_SIZE,
  DEFAULT_QUESTION_TIMEOUT_MS,
  DEFAULT_SESSION_IDLE_MS,
  toServerInfo,
  toShared,
  toTroupeOptions,
  type GatewayOptions,
} from './gateway-options.js';
import type { Answers } from './upstream/client-capabilities.js';
import { isEnabled, GatewayId } from './upstream/isolation.js';
import { readinessOf, type Readiness } from './readiness.js';
import { SharedSubscriptions } from './upstream/shared-preferences.js';

/** One client of the gateway. */
export interface GatewaySession {
  /** Id of the client within the gateway, such as `client-1`. */
  readonly id: string;
  /** Resolves when nothing of the session is left. Never rejects. */
  readonly closed: Promise<void>;
  /**
   * Ends the session; requests in flight are answered with an error. Never rejects.
   *
   * @example
   * ```ts
   * import type { GatewaySession } from 'mcp-troupe/gateway';
   *
   * declare const session: GatewaySession;
   * await session.close();
   * ```
   */
  close(): Promise<void>;
}

/** The servers for a client. */
export interface ConnectOptions {
  /** Only this server, with its own names. Default: all servers. */
  readonly server?: string;
  /** Whether the session ends after `sessionIdleMs` without a message from the client. Default false. */
  readonly endsWhenIdle?: boolean;
  /** Who it acts for. What a server lists for one subject is not shown to another before it is listed again. Default: nobody knows. */
  readonly subject?: string;
}

const CONNECT_OPTIONS: OptionNames<ConnectOptions> = { server: true, endsWhenIdle: true, subject: true };

/** What is known of a request without a session besides its message. */
export interface RequestTerms {
  /** Aborts when the client is gone or cancels the request: it is given up then. */
  readonly signal: AbortSignal;
  /** Sends a notification before the answer. */
  readonly notify: (notification: JSONRPCNotification) => void;
  /** The headers of its HTTP request. Servers get those that their entry names. Default: none. */
  readonly headers?: RequestHeaders;
  /** Only this server, with its own names. Default: all servers. */
  readonly server?: string;
  /** Who sends it. Requests of different subjects share no connection over which servers may ask. Default: nobody knows. */
  readonly subject?: string;
}

/** An event of a connection of the gateway. */
export type GatewayEvent = LifecycleEvent & {
  /** Id of the session whose own connection the event is about; absent for shared connections. */
  readonly session?: string;
};

/** All servers of a troupe as one MCP server, for any number of clients. Made by `createGateway`. */
export class Gateway {
  /** The connections that clients share. */
  readonly troupe: Troupe;
  /**
   * Events of all connections, including those of single clients. Hot; never replays. Completes when the
   * gateway is closed.
   */
  readonly events$: Stream<GatewayEvent>;
  /** What it shares with other hosts; undefined without the option `fleet`. */
  readonly fleet: Fleet | undefined;
  readonly #options: GatewayOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #questionTimeoutMs: number;
  readonly #common: CommonConnections;
  readonly #views: ClientViews;
  readonly #mark = new GatewayId();
  readonly #clients = new Set<ClientSession>();
  readonly #subjects: SubjectClients;
  readonly #settings: ClientSettings;
  readonly #observers = new Set<Subscriber<GatewayEvent>>();
  /** The last client that declared its capabilities, and the number of such clients. */
  #lastClient: GatewayClient | undefined;
  #opened = 0;
  /** Whether requests came without a session: several programs may have sent them. */
  #hasSubjects = false;
  #connected = 0;
  #resolveFirst: () => void = () => {};
  readonly #first = new Promise<void>((resolve) => (this.#resolveFirst = resolve));
  #resolveRead: () => void = () => {};
  /** Resolves when the set of servers is known. */
  readonly #read = new Promise<void>((resolve) => (this.#resolveRead = resolve));
  #started: Promise<StartReport> | undefined;
  #closed: Promise<void> | undefined;
  /** The first attempts of the servers are over. */
  #hasStarted = false;
  /** Whether the gateway has ended. */
  #isOver = false;

  /** @param options As in `createGateway`. */
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
      clients: () => [...this.#clients, ...this.#subjects.all],
      onlyClient: () => (this.#opened === 1 && !this.#hasSubjects ? this.#lastClient : undefined),
      onchanged: () => this.#views.follow(),
    });
    this.troupe = this.#common.troupe;
    this.#views = new ClientViews({
      common: this.troupe,
      whenCommonListed: () => this.#listed(),
      options: troupeOptions,
      mark: this.#mark,
      isBare: options.bare === true,
      isSingle,
      maxIsolatedClients: options.maxIsolatedClients ?? DEFAULT_MAX_ISOLATED_CLIENTS,
      clock: this.#clock,
      questionTimeoutMs: this.#questionTimeoutMs,
      turnsOf: (name) => this.#common.turnsOf(name),
      idleStopMs,
      onown: ({ id }, troupe) => this.#follow(troupe, id),
    });
    const { adminTools, offer, failClosed, bare, startGateMs, pageSize, fleet } = options;
    this.fleet = fleet;
    this.#settings = {
      clock: this.#clock,
      telemetry: options.telemetry && new ClientTelemetry(options.telemetry),
      serverInfo: toServerInfo(options),
      isSelf: (meta) => this.#mark.isIn(meta),
      subscriptions: new SharedSubscriptions(),
      hasAdminTools: adminTools === true,
      offer,
      isFailClosed: failClosed === true,
      isStartAwaited: bare === true,
      listGateMs: startGateMs ?? DEFAULT_START_GATE_MS,
      questionTimeoutMs: this.#questionTimeoutMs,
      newState: fleet === undefined ? randomUUID : () => sealedState(fleet.key, fleet.hosts.self),
      pageSize: pageSize ?? DEFAULT_PAGE_SIZE,
    };
    this.#subjects = new SubjectClients((answers, about) => this.#subjectClient(answers, about));
    const events = new Observable<GatewayEvent>((subscriber) => {
      if (this.#isOver) subscriber.complete();
      else this.#observers.add(subscriber);
      return () => this.#observers.delete(subscriber);
    });
    this.events$ = new SafeObservable(events, this.troupe.inside.observerFailed);
    this.#follow(this.troupe);
  }

  /**
   * Starts the servers. With `singleClient`, it first waits until the client has declared its capabilities.
   *
   * @throws {@link ConfigError} with `bare`, if there is not exactly one server.
   * @throws {@link NotReadyError} after `close`.
   * @throws What `Troupe.start` throws otherwise.
   *
   * @example
   * ```ts
   * import { createGateway } from 'mcp-troupe/gateway';
   *
   * const gateway = createGateway({ config: '.mcp.json' });
   * const { ready, failed } = await gateway.start();
   * ```
   */
  start(): Promise<StartReport> {
    if (this.#closed !== undefined) return Promise.reject(closedError());
    this.#started ??= this.#start();
    this.#started.then(
      () => (this.#hasStarted = true),
      () => {},
    );
    return this.#started;
  }

  /**
   * Names of the enabled servers, once the configuration is read. A client can be connected to each of them
   * alone. Undefined if a `singleClient` has not connected yet.
   *
   * @throws What `start` throws.
   *
   * @example
   * ```ts
   * import { createGateway } from 'mcp-troupe/gateway';
   *
   * const gateway = createGateway({ config: '.mcp.json' });
   * console.log(await gateway.serverNames());
   * ```
   */
  async serverNames(): Promise<readonly string[] | undefined> {
    if (this.#options.singleClient === true && this.#opened === 0) return undefined;
    await Promise.race([this.start(), this.#read]);
    return this.troupe.inside.rows.filter(isEnabled).map(({ name }) => name);
  }

  /**
   * Whether the gateway should get clients. With `failClosed`, every server is required.
   *
   * @param required Names of servers that must work. Default: one server that works is enough.
   *
   * @example
   * ```ts
   * import { createGateway } from 'mcp-troupe/gateway';
   *
   * const gateway = createGateway({ config: '.mcp.json' });
   * await gateway.start();
   * const { status, missing } = gateway.readiness(['github']);
   * ```
   */
  readiness(required: readonly string[] = []): Readiness {
    const isClosedOnFailure = this.#options.failClosed === true;
    return readinessOf(this.troupe.status, this.#hasStarted, isClosedOnFailure ? undefined : required);
  }

  /** The connections of all clients now: the shared ones, and each client's own. */
  get status(): readonly ServerStatus[] {
    return [...this.troupe.status, ...this.#views.status];
  }

  /**
   * Serves one client over a transport that has not been started.
   *
   * @param transport A transport for the server side, not started yet. The session starts and closes it.
   * @param options The servers for this client, and whether an idle session ends. Default: all servers, and an idle
   *   session does not end.
   *
   * @throws {@link NotReadyError} after `close`, or if a `singleClient` was connected before.
   * @throws What the transport throws if it cannot be started.
   *
   * @example
   * ```ts
   * import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
   * import { createGateway } from 'mcp-troupe/gateway';
   *
   * const gateway = createGateway({ config: '.mcp.json' });
   * const [clientSide, gatewaySide] = InMemoryTransport.createLinkedPair();
   * const session = await gateway.connect(gatewaySide);
   * ```
   */
  async connect(transport: Transport, options: ConnectOptions = {}): Promise<GatewaySession> {
    requireKnown('connect', options, CONNECT_OPTIONS);
    const { server, endsWhenIdle = false, subject } = options;
    if (this.#closed !== undefined) throw closedError();
    if (this.#options.singleClient === true && this.#connected > 0) {
      throw new NotReadyError("A client was connected before, and 'singleClient' allows only one.");
    }
    this.#connected += 1;
    const client = new ClientSession({
      id: `client-${this.#connected}`,
      transport,
      settings: this.#settings,
      logger: this.#logger,
      open: (who, answers) =>
        this.#open(who, answers, { only: server, subject, isMany: false, keepsState: true }),
      instructions: () => this.#instructions(server),
      idleMs: endsWhenIdle ? this.#sessionIdleMs : 0,
    });
    this.#clients.add(client);
    void client.closed.then(() => this.#clients.delete(client));
    await client.start();
    return client;
  }

  /**
   * Answers a request that belongs to no session (MCP 2026-07-28). Never rejects: an error is part of the answer. For a
   * transport of your own; `serveHttp` and `serveStdio` use it already, and `connect` takes such requests as well.
   *
   * @param message The request.
   * @param terms Its signal, where its notifications go, and who sends it.
   *
   * @example
   * ```ts
   * import { createGateway } from 'mcp-troupe/gateway';
   *
   * const gateway = createGateway({ config: '.mcp.json' });
   * const _meta = {
   *   'io.modelcontextprotocol/protocolVersion': '2026-07-28',
   *   'io.modelcontextprotocol/clientCapabilities': {},
   * };
   * const answer = await gateway.answer(
   *   { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta } },
   *   { signal: AbortSignal.timeout(10_000), notify: () => {} },
   * );
   * ```
   */
  async answer(message: JSONRPCRequest, terms: RequestTerms): Promise<JSONRPCResponse> {
    const { id, method, params = {} } = message;
    const { signal, notify, headers, server, subject } = terms;
    const { telemetry } = this.#settings;
    const answer = async (): Promise<JsonObject> => {
      if (this.#closed !== undefined) throw CLOSED;
      if (this.#options.singleClient === true) throw ONLY_CONNECTED;
      const client = this.#subjects.of(envelopeOf(params).answers, { subject, server });
      return client.answer({
        id,
        method,
        params,
        headers,
        givenUp: signal,
        signal,
        notify: (name, about) => notify({ jsonrpc: '2.0', method: name, params: about }),
      });
    };
    try {
      const result = await (telemetry?.answer({ id, method, params, headers }, undefined, answer) ??
        answer());
      return { jsonrpc: '2.0', id, result };
    } catch (error) {
      return toErrorAnswer(id, this.#toRpcError(error));
    }
  }

  /**
   * Ends every session and every connection. Bounded and idempotent; never rejects. A request in flight that is
   * unanswered after `requestDrainMs` is answered with an error.
   *
   * @param options How long requests in flight may take.
   *
   * @example
   * ```ts
   * import { createGateway } from 'mcp-troupe/gateway';
   *
   * const gateway = createGateway({ config: '.mcp.json' });
   * await gateway.close({ requestDrainMs: 5_000 });
   * ```
   */
  close({
    requestDrainMs = DEFAULT_REQUEST_DRAIN_MS,
  }: {
    /** Maximum time for requests in flight, in milliseconds. 0 aborts them at once. Default 1,000. */
    readonly requestDrainMs?: number;
  } = {}): Promise<void> {
    return (this.#closed ??= this.#close(requestDrainMs));
  }

  /**
   * Speeds up `close`: requests in flight are aborted, and servers are killed.
   *
   * @example
   * ```ts
   * import { createGateway } from 'mcp-troupe/gateway';
   *
   * const gateway = createGateway({ config: '.mcp.json' });
   * process.once('SIGTERM', () => void gateway.kill());
   * ```
   */
  async kill(): Promise<void> {
    const closed = this.close({ requestDrainMs: 0 });
    await Promise.all([this.troupe.kill(), this.#views.kill(), closed]);
  }

  /** Calls `close`, so that `await using` ends the gateway. */
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
    this.#resolveRead();
    return starting;
  }

  /** Resolves when the shared connections have something to offer for each server. */
  async #listed(): Promise<void> {
    await Promise.race([this.start(), this.#read]);
    await this.troupe.listed();
  }

  async #open(client: GatewayClient, answers: Answers, terms: ViewTerms): Promise<Opened> {
    // A refused client may try again.
    if (client !== this.#lastClient) this.#opened += 1;
    this.#lastClient = client;
    this.#resolveFirst();
    await Promise.race([this.start(), this.#read]);
    if (terms.only !== undefined && this.troupe.connection(terms.only) === undefined) {
      throw invalidParams('there is no server with that name');
    }
    return this.#views.open(client, answers, terms);
  }

  #subjectClient(answers: Answers, { subject, server }: Subject): SubjectClient {
    this.#hasSubjects = true;
    this.#connected += 1;
    const terms = { only: server, subject, isMany: true, keepsState: subject !== undefined };
    return new SubjectClient({
      id: `client-${this.#connected}`,
      answers,
      settings: this.#settings,
      open: (client) => this.#open(client, answers, terms),
      instructions: () => this.#instructions(server),
      idleMs: this.#sessionIdleMs,
    });
  }

  /** Starts nothing. */
  async #instructions(only: string | undefined): Promise<string> {
    const isClientAwaited = this.#options.singleClient === true && this.#opened === 0;
    return isClientAwaited || this.#started === undefined ? '' : this.#views.instructions(only);
  }

  get #sessionIdleMs(): number {
    return this.#options.sessionIdleMs ?? DEFAULT_SESSION_IDLE_MS;
  }

  #toRpcError(error: unknown): RpcError {
    const known = toRpcError(error);
    if (known !== undefined) return known;
    this.#logger.error('A request could not be answered.', { reason: messageOf(error) });
    return new RpcError(RPC.internalError, 'Internal error', undefined);
  }

  #follow({ events$ }: Troupe, session?: string): void {
    events$.subscribe((event) => {
      const published = session === undefined ? event : freezeInDevelopment({ ...event, session });
      for (const observer of [...this.#observers]) observer.next(published);
    });
  }

  async #close(requestDrainMs: number): Promise<void> {
    const clients = [...this.#clients, ...this.#subjects.all];
    await settlesWithin(this.#clock, requestDrainMs, Promise.all(clients.map((client) => client.drain())));
    await Promise.all(clients.map((client) => client.close()));
    this.#resolveFirst();
    await this.troupe.close();
    this.#isOver = true;
    for (const observer of [...this.#observers]) observer.complete();
  }
}

const ONLY_CONNECTED = new RpcError(
  RPC.serverError,
  "'singleClient' allows only one client: connect its transport.",
  { reason: 'single-client' },
);

function closedError(): NotReadyError {
  return new NotReadyError('The gateway is closed.');
}

/**
 * Makes a gateway: all servers of a troupe as one MCP server. Starts nothing.
 *
 * @param options Options of the troupe, and of the gateway itself. An empty object has no servers.
 *
 * @throws {@link ConfigError} for an option that makes no sense.
 *
 * @example
 * ```ts
 * import { createGateway } from 'mcp-troupe/gateway';
 *
 * await using gateway = createGateway({ config: '.mcp.json' });
 * await gateway.start();
 * ```
 */
export function createGateway(options: GatewayOptions): Gateway {
  return new Gateway(options);
}

/**
 * One client of the gateway, from its first message until its own connections have ended.
 *
 * C1. No request goes to a server before the client has declared its capabilities.
 * C2. A message from a server reaches this client only if it belongs to it: by its own connection, its request, or its
 *     subscription.
 * C3. When the client is gone, its requests are abandoned, the server requests that it was to answer fail, its
 *     subscriptions end, and `closed` resolves once its own connections have ended.
 *
 * Longer than 300 lines because it holds the whole life of a client session; its requests are in `client-requests.ts`.
 */
import type { Implementation, LoggingLevel } from '../../mcp/session.js';
import type { RequestId } from '../../mcp/messages.js';
import type { Transport } from '../../mcp/transport.js';
import type { Clock, Logger } from '../../ports.js';
import { KNOWN_VERSIONS, LATEST_PROTOCOL_VERSION } from '../../protocol/server-identity.js';
import type { JsonObject } from '../../json/json-object.js';
import { RpcError, type Progress } from '../../protocol/protocol-client.js';
import { settlesWithin, whenStill } from '../../async/timers.js';
import { LOG_LEVELS } from '../../requests/connection-requests.js';
import { ClientRequests } from './client-requests.js';
import { RPC } from './client-message.js';
import { invalidParams, toRpcError } from './error-answer.js';
import { answersOf, type Answers } from '../upstream/client-capabilities.js';
import {
  CAPABILITIES,
  instructionsBy,
  toInstructions,
  type ClientCatalog,
  type NotifiedList,
} from './client-catalog.js';
import type { AskedClient } from './questions.js';
import { RpcLink, type AskOptions, type ClientRequest } from './rpc-link.js';
import { whyNotAll, STATUS_URI } from './server-outcomes.js';
import type { ServerView } from '../upstream/server-view.js';
import type { ClientLock } from '../upstream/client-lock.js';
import type { SharedSubscriptions } from '../upstream/shared-preferences.js';
import { Subscriptions } from './subscriptions.js';
import { watchAnswer } from './answer-limit.js';
import { asText } from '../../text/as-text.js';

/** Maximum time that the first answer waits for the servers' instructions, milliseconds. */
const INSTRUCTIONS_MS = 1_000;
/** Changes of the status within this time become one notification, milliseconds. */
const STATUS_PAUSE_MS = 200;
/** Maximum number of addresses that a person was sent to and that are not done. */
const MAX_AWAITED = 1_000;

/** The view and the connections of a client. */
export interface Opened {
  readonly view: ServerView;
  readonly offering: ClientCatalog;
  /** Sets the lowest level of log messages from the visible servers. */
  readonly setLevel: (level: LoggingLevel) => Promise<void>;
  /** The client's roots have changed. */
  readonly rootsChanged: () => Promise<void>;
  /** Ends the parts that belong to this client alone. Never rejects. */
  readonly close: () => Promise<void>;
}

/** A transport that may report whether anything can be sent. */
export interface ClientTransport extends Transport {
  /**
   * Since when the client is unreachable, milliseconds since the epoch; undefined if it can be reached, or if that is
   * unknown.
   */
  readonly disconnectedSince?: number | undefined;
}

export interface ClientSessionParts {
  readonly id: string;
  readonly transport: ClientTransport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly serverInfo: Implementation;
  /** Whether a client with this `_meta` is the gateway itself. */
  readonly isSelf: (meta: unknown) => boolean;
  /** Rejects with an `RpcError` if there is no room, or no such server. */
  readonly open: (client: ClientSession, answers: Answers) => Promise<Opened>;
  /** The lock of a server; undefined if it takes any number of requests at the same time. */
  readonly turnsOf: (server: string) => ClientLock | undefined;
  readonly subscriptions: SharedSubscriptions;
  readonly hasAdminTools: boolean;
  readonly isSearched: boolean;
  readonly isFailClosed: boolean;
  /** The first answer waits for the start of the servers, however long that takes. */
  readonly isStartAwaited: boolean;
  readonly listGateMs: number;
  /** Maximum time for the client to answer, milliseconds; 0 = no limit. */
  readonly questionTimeoutMs: number;
  /** Maximum number of list entries in one answer. */
  readonly pageSize: number;
  /** Milliseconds without a message after which the session ends; 0 = never. */
  readonly idleMs: number;
}

const CLOSED = new RpcError(RPC.serverError, 'The gateway is ending this session.', { reason: 'closing' });
const TOO_EARLY = new RpcError(RPC.invalidRequest, "The first request must be 'initialize'.", undefined);
const ITSELF = new RpcError(
  RPC.invalidRequest,
  'The client is this gateway itself: its own address is among its servers. Put it into a file that the gateway does not read.',
  undefined,
);
const TOO_LATE = new RpcError(RPC.invalidRequest, 'The session is initialized already.', undefined);

export class ClientSession implements AskedClient {
  readonly id: string;
  /** Resolves when nothing of the session is left. Never rejects. */
  readonly closed: Promise<void>;
  answers: Answers = {};
  readonly #parts: ClientSessionParts;
  readonly #link: RpcLink;
  readonly #ends: (() => void)[] = [];
  readonly #awaited = new Set<string>();
  #opening: Promise<Opened> | undefined;
  #beginning: Promise<Opened> | undefined;
  #requests: ClientRequests | undefined;
  #subscriptions: Subscriptions | undefined;
  #view: ServerView | undefined;
  #level: LoggingLevel | undefined;
  #isInitialized = false;
  /** By server: the instructions in the answer to `initialize`. */
  #instructions: ReadonlyMap<string, string> = new Map();
  #usedAt: number;
  #statusTimer: unknown;
  #resolveClosed: () => void = () => {};

  constructor(parts: ClientSessionParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.#usedAt = parts.clock.now();
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#link = new RpcLink(parts.transport, {
      answer: (request) => this.#answer(request),
      heard: (method) => this.#onMessage(method),
      failed: (error) => parts.logger.warn('gateway session', { session: parts.id, problem: error.message }),
      closed: () => void this.#end(),
    });
  }

  get isOver(): boolean {
    return this.#link.isOver;
  }

  /** Rejects if the transport cannot be started. */
  async start(): Promise<void> {
    const { clock, idleMs } = this.#parts;
    const isBusy = (): boolean =>
      this.disconnectedSince === undefined && (this.#link.inWork > 0 || this.#link.asked > 0);
    const endIfIdle = (): void => {
      if (!isBusy()) void this.close();
    };
    this.#ends.push(whenStill(clock, idleMs, () => this.#usedAt, endIfIdle));
    try {
      await this.#link.start();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Ends the session: requests in flight are answered with an error. */
  async close(): Promise<void> {
    await this.#link.close(CLOSED);
    await this.closed;
  }

  /** Refuses requests from now on. Resolves when those in flight are answered. */
  async drain(): Promise<void> {
    this.#link.refuse(CLOSED);
    await this.#link.idle();
  }

  async ask(method: string, params: JsonObject, { signal, relatedTo }: AskOptions): Promise<JsonObject> {
    const isKnown = relatedTo !== undefined && this.#link.isInWork(relatedTo);
    const { clock, questionTimeoutMs: limitMs } = this.#parts;
    const over = new AbortController();
    const both = AbortSignal.any([signal, over.signal]);
    const wait = { method, limitMs, disconnectedSince: () => this.disconnectedSince };
    const stop = watchAnswer(clock, wait, (why) => over.abort(why));
    try {
      return await this.#link.ask(method, params, isKnown ? { signal: both, relatedTo } : { signal: both });
    } finally {
      stop();
    }
  }

  /**
   * Since when the client is unreachable, milliseconds since the epoch; undefined if it can be reached, or if that is
   * unknown. A message from the client shows that it is there.
   */
  get disconnectedSince(): number | undefined {
    const { disconnectedSince } = this.#parts.transport;
    return disconnectedSince === undefined ? undefined : Math.max(disconnectedSince, this.#usedAt);
  }

  awaits(server: string, elicitationId: string): void {
    this.#awaited.add(`${server}\0${elicitationId}`);
    for (const oldest of this.#awaited) {
      if (this.#awaited.size <= MAX_AWAITED) break;
      this.#awaited.delete(oldest);
    }
  }

  /** Passes on a server's log message. `request` is the client's request during which it came. */
  notifyLog(params: JsonObject, request: RequestId | undefined): void {
    const level = LOG_LEVELS.indexOf(params['level'] as LoggingLevel);
    const isWanted = this.#level === undefined || level >= LOG_LEVELS.indexOf(this.#level);
    if (isWanted) this.#notify('notifications/message', params, request);
  }

  /** Passes on the change of a resource, which came over this client's own connection or the shared one. */
  notifyUpdated(server: string, isOwn: boolean, params: JsonObject): void {
    const { uri } = params;
    if (typeof uri !== 'string' || this.#view?.isOwn(server) !== isOwn) return;
    const address = this.#subscriptions?.addressOf(server, uri);
    if (address !== undefined) this.#notify('notifications/resources/updated', { ...params, uri: address });
  }

  /** Reports that the person has finished at an address. */
  notifyElicited(server: string, params: JsonObject): void {
    const id = asText(params['elicitationId']);
    if (this.#awaited.delete(`${server}\0${id}`)) this.#notify('notifications/elicitation/complete', params);
  }

  #notify(method: string, params?: JsonObject, request?: RequestId): void {
    if (!this.#isInitialized) return;
    const isKnown = request !== undefined && this.#link.isInWork(request);
    this.#link.notify(method, params, isKnown ? request : undefined);
  }

  #answer(request: ClientRequest): Promise<JsonObject> {
    this.#usedAt = this.#parts.clock.now();
    return this.#dispatch(request).catch((error: unknown) => {
      throw toRpcError(error) ?? error;
    });
  }

  async #dispatch(request: ClientRequest): Promise<JsonObject> {
    if (request.method === 'ping') return {};
    if (request.method === 'initialize') return this.#initialize(request.params, request.signal);
    const requests = this.#requests ?? (await this.#whenBegun());
    if (requests === undefined) throw TOO_EARLY;
    // A client that sends a request is initialized.
    this.#isInitialized = true;
    if (request.method === 'logging/setLevel') return this.#setLevel(request.params['level']);
    return requests.answer(request);
  }

  /** A script that is piped in does not wait for the first answer. */
  async #whenBegun(): Promise<ClientRequests | undefined> {
    await this.#beginning?.catch(() => {});
    return this.#requests;
  }

  #onMessage(method: string): void {
    this.#usedAt = this.#parts.clock.now();
    if (method === 'notifications/initialized') this.#isInitialized = true;
    if (method === 'notifications/roots/list_changed') {
      void this.#opening?.then(({ rootsChanged }) => rootsChanged()).catch(() => {});
    }
  }

  async #initialize(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { protocolVersion, capabilities, _meta: meta } = params;
    if (typeof protocolVersion !== 'string') throw invalidParams("'protocolVersion' is not a string");
    if (this.#opening !== undefined) throw TOO_LATE;
    if (this.#parts.isSelf(meta)) throw ITSELF;
    this.answers = answersOf(capabilities);
    this.#opening = this.#parts.open(this, this.answers);
    this.#beginning = this.#begin(this.#opening, signal);
    const { view } = await this.#beginning;
    const version = KNOWN_VERSIONS.includes(protocolVersion) ? protocolVersion : LATEST_PROTOCOL_VERSION;
    this.#parts.transport.setProtocolVersion?.(version);
    this.#instructions = instructionsBy(view);
    const instructions = toInstructions(this.#instructions, view);
    return {
      protocolVersion: version,
      capabilities: CAPABILITIES,
      serverInfo: this.#parts.serverInfo,
      ...(instructions === '' ? {} : { instructions }),
    };
  }

  /** A refused client may try again. */
  async #begin(opening: Promise<Opened>, signal: AbortSignal): Promise<Opened> {
    let opened: Opened | undefined;
    try {
      opened = await opening;
      await this.#whenStarted(opened.view, signal);
      const why = this.#parts.isFailClosed ? whyNotAll(opened.view.statuses) : undefined;
      if (why !== undefined) throw why;
      if (!this.isOver) this.#serve(opened);
      return opened;
    } catch (error) {
      this.#opening = undefined;
      await opened?.close();
      throw error;
    }
  }

  /** By default, a slow server is not waited for: clients are notified when the lists change. */
  async #whenStarted(view: ServerView, signal: AbortSignal): Promise<void> {
    const { clock, isFailClosed, isStartAwaited } = this.#parts;
    if (isFailClosed) await view.whenTried(signal);
    else if (isStartAwaited) await view.whenToolsKnown();
    else await settlesWithin(clock, INSTRUCTIONS_MS, view.whenToolsKnown());
  }

  #serve({ view, offering }: Opened): void {
    this.#view = view;
    const { clock, turnsOf, subscriptions, listGateMs, pageSize } = this.#parts;
    const { hasAdminTools, isSearched, isFailClosed } = this.#parts;
    this.#subscriptions = new Subscriptions(view, subscriptions);
    this.#requests = new ClientRequests({
      clock,
      client: this,
      view,
      offering,
      subscriptions: this.#subscriptions,
      turnsOf,
      reportProgress: (token, progress, request) => this.#reportProgress(token, progress, request),
      hasAdminTools,
      isSearched,
      isFailClosed,
      listGateMs,
      pageSize,
      instructed: (server) => this.#instructions.get(server),
    });
    this.#ends.push(offering.follow((changed) => this.#serversMoved(changed)));
  }

  #reportProgress(
    progressToken: string | number,
    { progress, total, message }: Progress,
    request: ClientRequest,
  ): void {
    // The client has forgotten the progress token of a finished request.
    if (!this.#link.isInWork(request.id)) return;
    const params = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    this.#notify('notifications/progress', params, request.id);
  }

  async #setLevel(level: unknown): Promise<JsonObject> {
    if (!LOG_LEVELS.includes(level as LoggingLevel)) {
      throw invalidParams(`'level' must be one of ${LOG_LEVELS.join(', ')}`);
    }
    this.#level = level as LoggingLevel;
    const opened = await this.#opening;
    await opened?.setLevel(this.#level);
    return {};
  }

  #serversMoved(changed: readonly NotifiedList[]): void {
    for (const list of changed) this.#notify(`notifications/${list}/list_changed`);
    if (this.#subscriptions?.toStatus !== true || this.#statusTimer !== undefined) return;
    this.#statusTimer = this.#parts.clock.setTimeout(() => {
      this.#statusTimer = undefined;
      this.#notify('notifications/resources/updated', { uri: STATUS_URI });
    }, STATUS_PAUSE_MS);
  }

  async #end(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    if (this.#statusTimer !== undefined) this.#parts.clock.clearTimeout(this.#statusTimer);
    this.#subscriptions?.close();
    try {
      const opened = await this.#opening;
      await opened?.close();
    } catch {
      // The server refused it, so no subscription is left.
    }
    this.#resolveClosed();
  }
}

/**
 * One client of the gateway, from its first message to the end of what it had to itself.
 *
 * C1. Nothing is asked of a server before the client has said what it answers.
 * C2. Whatever a server tells reaches this client only where it is this client's: by its own connection, by its request,
 *     or by its subscription.
 * C3. When the client is gone, its requests are given up, its questions are answered with an error, its subscriptions end,
 *     and `closed` resolves once its own connections are ended.
 *
 * Longer than most because the whole life of a session is here; what it asks of servers is elsewhere.
 */
import type { Implementation, LoggingLevel, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock, Logger } from '../ports.js';
import { KNOWN_VERSIONS, LATEST_PROTOCOL_VERSION } from '../protocol/initialize-result.js';
import { RpcError, type JsonObject, type Progress } from '../protocol/protocol-client.js';
import { doneWithin } from '../release.js';
import { LOG_LEVELS } from '../requests/connection-requests.js';
import { whenStill } from '../when-still.js';
import { ClientRequests } from './client-requests.js';
import { RPC } from './client-message.js';
import { invalidParams, toRpcError } from './error-answer.js';
import { answersOf, type Answers } from './answers.js';
import { CAPABILITIES, instructionsOf } from './introduction.js';
import type { Offering, ToldList } from './offering.js';
import type { AskedClient } from './questions.js';
import { RpcLink, type AskOptions, type ClientRequest } from './rpc-link.js';
import { whyNotAll } from './server-outcomes.js';
import type { ServerView } from './server-view.js';
import type { SharedTurns } from './shared-turns.js';
import type { SharedSubscriptions } from './shared-wishes.js';
import { STATUS_URI } from './status-resource.js';
import { Subscriptions } from './subscriptions.js';
import { watchAnswer } from './unanswered.js';

/** Longest that the first answer waits for what servers say of themselves, milliseconds. */
const INSTRUCTIONS_MS = 1_000;
/** Changes of the status within this time are told as one, milliseconds. */
const STATUS_PAUSE_MS = 200;
/** Addresses that a person was sent to and that are not done. */
const MOST_AWAITED = 1_000;

/** What a client is given to see, and to itself. */
export interface Opened {
  readonly view: ServerView;
  readonly offering: Offering;
  /** Sets from which level on the servers that are seen tell what they log. */
  readonly setLevel: (level: LoggingLevel) => Promise<void>;
  /** The roots of the client are other ones. */
  readonly rootsChanged: () => Promise<void>;
  /** Ends what is the client's alone. Never rejects. */
  readonly close: () => Promise<void>;
}

/** A transport that may say whether anything can be sent. */
export interface ClientTransport extends Transport {
  /** Since when nothing reaches the client, milliseconds since the epoch; undefined where it does, or nobody can tell. */
  readonly awaySince?: number | undefined;
}

export interface ClientSessionParts {
  readonly id: string;
  readonly transport: ClientTransport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly serverInfo: Implementation;
  /** Whether a client with this `_meta` is the gateway. */
  readonly isItself: (meta: unknown) => boolean;
  /** Rejects with an `RpcError` where there is no room, or nothing of that kind. */
  readonly open: (client: ClientSession, answers: Answers) => Promise<Opened>;
  /** Whose turn it is at a server; undefined where any number of requests may be in work. */
  readonly turnsOf: (server: string) => SharedTurns | undefined;
  readonly subscriptions: SharedSubscriptions;
  readonly hasAdminTools: boolean;
  readonly isFailClosed: boolean;
  /** The first answer waits for the servers' start, however long that takes. */
  readonly isStartAwaited: boolean;
  readonly listGateMs: number;
  /** Longest that the client may take to answer, milliseconds; 0 = no limit. */
  readonly questionTimeoutMs: number;
  /** Entries of a list in one answer. */
  readonly pageSize: number;
  /** Milliseconds without a message after which it ends; 0 = never. */
  readonly idleMs: number;
}

const CLOSED = new RpcError(RPC.serverError, 'The gateway ends this session.', { reason: 'closing' });
const TOO_EARLY = new RpcError(RPC.invalidRequest, "The first request must be 'initialize'.", undefined);
const ITSELF = new RpcError(
  RPC.invalidRequest,
  'This is the gateway that asks: its own address is among its servers. Name it in a file that the gateway does not read.',
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
  #usedAt: number;
  #statusTimer: unknown;
  #tellClosed: () => void = () => {};

  constructor(parts: ClientSessionParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.#usedAt = parts.clock.now();
    this.closed = new Promise((resolve) => (this.#tellClosed = resolve));
    this.#link = new RpcLink(parts.transport, {
      answer: (request) => this.#answer(request),
      heard: (method) => this.#heard(method),
      failed: (error) => parts.logger.warn('gateway session', { session: parts.id, problem: error.message }),
      closed: () => void this.#end(),
    });
  }

  get isOver(): boolean {
    return this.#link.isOver;
  }

  /** Rejects where the transport cannot be started. */
  async start(): Promise<void> {
    const { clock, idleMs } = this.#parts;
    const isBusy = (): boolean =>
      this.awaySince === undefined && (this.#link.inWork > 0 || this.#link.asked > 0);
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

  /** Ends the session: what is in work is answered with an error. */
  async close(): Promise<void> {
    await this.#link.close(CLOSED);
    await this.closed;
  }

  /** From here on, requests are refused; resolves when those in work are answered. */
  async drain(): Promise<void> {
    this.#link.refuse(CLOSED);
    await this.#link.idle();
  }

  async ask(method: string, params: JsonObject, { signal, relatedTo }: AskOptions): Promise<JsonObject> {
    const isKnown = relatedTo !== undefined && this.#link.isInWork(relatedTo);
    const { clock, questionTimeoutMs: limitMs } = this.#parts;
    const over = new AbortController();
    const both = AbortSignal.any([signal, over.signal]);
    const wait = { method, limitMs, awaySince: () => this.awaySince };
    const stop = watchAnswer(clock, wait, (why) => over.abort(why));
    try {
      return await this.#link.ask(method, params, isKnown ? { signal: both, relatedTo } : { signal: both });
    } finally {
      stop();
    }
  }

  /**
   * Since when nothing reaches the client, milliseconds since the epoch; undefined where it does, or nobody can tell. One
   * that says something is there.
   */
  get awaySince(): number | undefined {
    const { awaySince } = this.#parts.transport;
    return awaySince === undefined ? undefined : Math.max(awaySince, this.#usedAt);
  }

  awaits(server: string, elicitationId: string): void {
    this.#awaited.add(`${server}\0${elicitationId}`);
    for (const oldest of this.#awaited) {
      if (this.#awaited.size <= MOST_AWAITED) break;
      this.#awaited.delete(oldest);
    }
  }

  /** A server's message to its client. `request` is the client's own in whose course it came. */
  tellLog(params: JsonObject, request: RequestId | undefined): void {
    const level = LOG_LEVELS.indexOf(params['level'] as LoggingLevel);
    const isWanted = this.#level === undefined || level >= LOG_LEVELS.indexOf(this.#level);
    if (isWanted) this.#tell('notifications/message', params, request);
  }

  /** A resource of a server has changed, as was told over this client's own connection or the common one. */
  tellUpdated(server: string, isOwn: boolean, params: JsonObject): void {
    const { uri } = params;
    if (typeof uri !== 'string' || this.#view?.isOwn(server) !== isOwn) return;
    if (this.#subscriptions?.covers(server, uri) !== true) return;
    this.#tell('notifications/resources/updated', params);
  }

  /** What a person was sent to an address for is done. */
  tellElicited(server: string, params: JsonObject): void {
    const id = String(params['elicitationId']);
    if (this.#awaited.delete(`${server}\0${id}`)) this.#tell('notifications/elicitation/complete', params);
  }

  #tell(method: string, params?: JsonObject, request?: RequestId): void {
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
    // Whoever asks something listens.
    this.#isInitialized = true;
    if (request.method === 'logging/setLevel') return this.#setLevel(request.params['level']);
    return requests.answer(request);
  }

  /** Whoever pipes a script in does not wait for the first answer. */
  async #whenBegun(): Promise<ClientRequests | undefined> {
    await this.#beginning?.catch(() => {});
    return this.#requests;
  }

  #heard(method: string): void {
    this.#usedAt = this.#parts.clock.now();
    if (method === 'notifications/initialized') this.#isInitialized = true;
    if (method === 'notifications/roots/list_changed') {
      void this.#opening?.then(({ rootsChanged }) => rootsChanged()).catch(() => {});
    }
  }

  async #initialize(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { protocolVersion, capabilities, _meta: meta } = params;
    if (typeof protocolVersion !== 'string') throw invalidParams("'protocolVersion' is not a text");
    if (this.#opening !== undefined) throw TOO_LATE;
    if (this.#parts.isItself(meta)) throw ITSELF;
    this.answers = answersOf(capabilities);
    this.#opening = this.#parts.open(this, this.answers);
    this.#beginning = this.#begin(this.#opening, signal);
    const { view } = await this.#beginning;
    const version = KNOWN_VERSIONS.includes(protocolVersion) ? protocolVersion : LATEST_PROTOCOL_VERSION;
    this.#parts.transport.setProtocolVersion?.(version);
    const instructions = instructionsOf(view);
    return {
      protocolVersion: version,
      capabilities: CAPABILITIES,
      serverInfo: this.#parts.serverInfo,
      ...(instructions === '' ? {} : { instructions }),
    };
  }

  /** A client that is refused may try again. */
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

  /** Where nobody wants it otherwise, a slow server is not waited for: the lists are told again when they change. */
  async #whenStarted(view: ServerView, signal: AbortSignal): Promise<void> {
    const { clock, isFailClosed, isStartAwaited } = this.#parts;
    if (isFailClosed) await view.whenTried(signal);
    else if (isStartAwaited) await view.whenStarted();
    else await doneWithin(clock, INSTRUCTIONS_MS, view.whenStarted());
  }

  #serve({ view, offering }: Opened): void {
    this.#view = view;
    const { clock, turnsOf, subscriptions, hasAdminTools, isFailClosed, listGateMs, pageSize } = this.#parts;
    this.#subscriptions = new Subscriptions(view, subscriptions);
    this.#requests = new ClientRequests({
      clock,
      client: this,
      view,
      offering,
      subscriptions: this.#subscriptions,
      turnsOf,
      tellProgress: (token, progress, request) => this.#tellProgress(token, progress, request),
      hasAdminTools,
      isFailClosed,
      listGateMs,
      pageSize,
    });
    this.#ends.push(offering.follow((changed) => this.#serversMoved(changed)));
  }

  #tellProgress(
    progressToken: string | number,
    { progress, total, message }: Progress,
    request: ClientRequest,
  ): void {
    // The client no longer knows the token of what is over.
    if (!this.#link.isInWork(request.id)) return;
    const told = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    this.#tell('notifications/progress', told, request.id);
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

  #serversMoved(changed: readonly ToldList[]): void {
    for (const list of changed) this.#tell(`notifications/${list}/list_changed`);
    if (this.#subscriptions?.toStatus !== true || this.#statusTimer !== undefined) return;
    this.#statusTimer = this.#parts.clock.setTimeout(() => {
      this.#statusTimer = undefined;
      this.#tell('notifications/resources/updated', { uri: STATUS_URI });
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
      // It was refused, so there is nothing of it.
    }
    this.#tellClosed();
  }
}

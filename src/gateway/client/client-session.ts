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
import { randomUUID } from 'node:crypto';
import type { LoggingLevel } from '../../mcp/session.js';
import type { RequestId } from '../../mcp/messages.js';
import type { Transport } from '../../mcp/transport.js';
import type { Logger } from '../../ports.js';
import { KNOWN_VERSIONS, LATEST_PROTOCOL_VERSION } from '../../protocol/server-identity.js';
import type { JsonObject } from '../../json/json-object.js';
import { RpcError, type Progress } from '../../protocol/protocol-client.js';
import { LOG_LEVELS } from '../../requests/connection-requests.js';
import { Stillness } from '../../async/timers.js';
import { RPC } from './client-message.js';
import { versionIn, toSessionResult } from './envelope.js';
import { CLOSED, invalidParams, ITSELF, NO_REQUEST, toSessionError } from './error-answer.js';
import { answersOf, type Answers } from '../upstream/client-capabilities.js';
import { CAPABILITIES, instructionsBy, toInstructions, type NotifiedList } from './client-catalog.js';
import type { ClientRequest, GatewayClient } from './client-request.js';
import { RpcLink, type AskOptions } from './rpc-link.js';
import { STATUS_URI } from './server-outcomes.js';
import { beginServing, type ClientSettings, type Opened, type Serving } from './serving.js';
import { StatelessFront } from './stateless-front.js';
import { watchAnswer } from './answer-limit.js';
import { asText } from '../../text/as-text.js';

/** Maximum number of addresses that a person was sent to and that are not done. */
const MAX_AWAITED = 1_000;

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
  readonly settings: ClientSettings;
  readonly logger: Logger;
  /** Rejects with an `RpcError` if there is no room, or no such server. */
  readonly open: (client: ClientSession, answers: Answers) => Promise<Opened>;
  /** The instructions that are known without starting anything; may be empty. */
  readonly instructions: () => Promise<string>;
  /** Milliseconds without a message after which the session ends; 0 = never. */
  readonly idleMs: number;
}

const TOO_EARLY = new RpcError(RPC.invalidRequest, "The first request must be 'initialize'.", undefined);
const TOO_LATE = new RpcError(RPC.invalidRequest, 'The session is initialized already.', undefined);

export class ClientSession implements GatewayClient {
  readonly id: string;
  /** Resolves when nothing of the session is left. Never rejects. */
  readonly closed: Promise<void>;
  answers: Answers = {};
  readonly #parts: ClientSessionParts;
  readonly #link: RpcLink;
  readonly #front: StatelessFront;
  readonly #ends: (() => void)[] = [];
  readonly #awaited = new Set<string>();
  readonly #over = new AbortController();
  #serving: Promise<Serving> | undefined;
  #served: Serving | undefined;
  #hasSession = false;
  /** The version that was agreed on; undefined before. */
  #version: string | undefined;
  readonly #beganAt = performance.now();
  #level: LoggingLevel | undefined;
  #isInitialized = false;
  /** By server: the instructions in the answer to `initialize`. */
  #instructions: ReadonlyMap<string, string> = new Map();
  #usedAt: number;
  #resolveClosed: () => void = () => {};

  constructor(parts: ClientSessionParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.#usedAt = parts.settings.clock.now();
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#link = new RpcLink(parts.transport, {
      answer: (request) => this.#answer(request),
      heard: (method) => this.#onMessage(method),
      failed: (error) => parts.logger.warn('gateway session', { session: parts.id, problem: error.message }),
      closed: () => void this.#end(),
    });
    const { clock, serverInfo, isSelf, questionTimeoutMs, newState } = parts.settings;
    this.#front = new StatelessFront({
      clock,
      serverInfo,
      isSelf,
      questionTimeoutMs,
      newState,
      open: (answers) => this.#serve(answers),
      instructions: parts.instructions,
    });
  }

  get isOver(): boolean {
    return this.#link.isOver;
  }

  /** Rejects if the transport cannot be started. */
  async start(): Promise<void> {
    const { settings, idleMs } = this.#parts;
    const isBusy = (): boolean =>
      this.disconnectedSince === undefined && (this.#link.inWork > 0 || this.#link.asked > 0);
    const endIfIdle = (): void => {
      if (!isBusy()) void this.close();
    };
    const stillness = new Stillness(settings.clock, idleMs, () => this.#usedAt, endIfIdle);
    this.#ends.push(() => stillness.end());
    try {
      await this.#link.start();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Ends the session: requests in flight are answered with an error. */
  async close(): Promise<void> {
    await this.#endStreams();
    await this.#link.close(CLOSED);
    await this.closed;
  }

  /** Refuses requests from now on. Resolves when those in flight are answered. */
  async drain(): Promise<void> {
    this.#link.refuse(CLOSED);
    await this.#endStreams();
    await this.#link.idle();
  }

  /** Resolves when the answers are sent. */
  async #endStreams(): Promise<void> {
    this.#front.endStreams();
    if (this.#link.inWork > 0) await new Promise((resolve) => void setImmediate(resolve));
  }

  async ask(method: string, params: JsonObject, { signal, relatedTo }: AskOptions): Promise<JsonObject> {
    if (!this.#hasSession) throw NO_REQUEST;
    const isKnown = relatedTo !== undefined && this.#link.isInWork(relatedTo);
    const { clock, telemetry, questionTimeoutMs: limitMs } = this.#parts.settings;
    const over = new AbortController();
    const both = AbortSignal.any([signal, over.signal]);
    const wait = { method, limitMs, disconnectedSince: () => this.disconnectedSince };
    const stop = watchAnswer(clock, wait, (why) => over.abort(why));
    const send = (sent: JsonObject): Promise<JsonObject> =>
      this.#link.ask(method, sent, isKnown ? { signal: both, relatedTo } : { signal: both });
    const sent = withId(method, params);
    try {
      return await (telemetry?.ask(method, sent, this.#version, send) ?? send(sent));
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
    if (!this.#hasSession) return this.#front.notifyLog(params);
    const level = LOG_LEVELS.indexOf(params['level'] as LoggingLevel);
    const isWanted = this.#level === undefined || level >= LOG_LEVELS.indexOf(this.#level);
    if (isWanted) this.#notify('notifications/message', params, request);
  }

  /** Passes on the change of a resource, which came over this client's own connection or the shared one. */
  notifyUpdated(server: string, isOwn: boolean, params: JsonObject): void {
    this.#front.notifyUpdated(server, isOwn, params);
    const { uri } = params;
    if (typeof uri !== 'string' || this.#served?.view.isOwn(server) !== isOwn) return;
    const address = this.#served.subscriptions.addressOf(server, uri);
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

  notifyProgress(
    progressToken: string | number,
    { progress, total, message }: Progress,
    request: RequestId,
  ): void {
    // The client has forgotten the progress token of a finished request.
    if (!this.#link.isInWork(request)) return;
    const params = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    this.#notify('notifications/progress', params, request);
  }

  #answer(request: ClientRequest): Promise<JsonObject> {
    const { clock, telemetry } = this.#parts.settings;
    this.#usedAt = clock.now();
    if (telemetry === undefined) return this.#serveRequest(request);
    return telemetry.answer(request, this.#version, () => this.#serveRequest(request));
  }

  #serveRequest(request: ClientRequest): Promise<JsonObject> {
    if (versionIn(request.params) === undefined) {
      return this.#dispatch(request).then(toSessionResult, (error: unknown) => {
        throw toSessionError(request.method, error);
      });
    }
    const { id, method, params, headers, givenUp } = request;
    return this.#front.answer({
      id,
      method,
      params,
      headers,
      givenUp,
      get signal() {
        return request.signal;
      },
      notify: (notification, about) => this.#link.notify(notification, about, id),
    });
  }

  async #dispatch(request: ClientRequest): Promise<JsonObject> {
    if (request.method === 'ping') return {};
    if (request.method === 'initialize') return this.#initialize(request.params);
    // A script that is piped in does not wait for the first answer.
    if (this.#served === undefined) await this.#serving?.catch(() => {});
    const served = this.#hasSession ? this.#served : undefined;
    if (served === undefined) throw TOO_EARLY;
    // A client that sends a request is initialized.
    this.#isInitialized = true;
    if (request.method === 'logging/setLevel') return this.#setLevel(request.params['level'], served);
    return served.requests.answer(request);
  }

  #onMessage(method: string): void {
    this.#usedAt = this.#parts.settings.clock.now();
    if (method === 'notifications/initialized') this.#isInitialized = true;
    if (method === 'notifications/roots/list_changed') {
      void this.#serving?.then(({ rootsChanged }) => rootsChanged()).catch(() => {});
    }
  }

  async #initialize(params: JsonObject): Promise<JsonObject> {
    const { protocolVersion, capabilities, _meta: meta } = params;
    if (typeof protocolVersion !== 'string') throw invalidParams("'protocolVersion' is not a string");
    if (this.#hasSession) throw TOO_LATE;
    const { settings, transport } = this.#parts;
    if (settings.isSelf(meta)) throw ITSELF;
    this.#hasSession = true;
    const { view } = await this.#serve(answersOf(capabilities)).catch((error: unknown) => {
      this.#hasSession = false;
      throw error;
    });
    const version = KNOWN_VERSIONS.includes(protocolVersion) ? protocolVersion : LATEST_PROTOCOL_VERSION;
    transport.setProtocolVersion?.(version);
    this.#version = version;
    this.#instructions = instructionsBy(view);
    const instructions = toInstructions(this.#instructions, view);
    return {
      protocolVersion: version,
      capabilities: CAPABILITIES,
      serverInfo: settings.serverInfo,
      ...(instructions === '' ? {} : { instructions }),
    };
  }

  /** The first request decides what is declared to servers about the client. A refused client may try again. */
  #serve(answers: Answers): Promise<Serving> {
    this.#serving ??= this.#begin(answers);
    return this.#serving;
  }

  async #begin(answers: Answers): Promise<Serving> {
    const { settings, open } = this.#parts;
    this.answers = answers;
    try {
      const served = await beginServing(settings, {
        client: this,
        opening: open(this, answers),
        instructed: (server) => this.#instructions.get(server),
        isGreeted: this.#hasSession,
        signal: this.#over.signal,
      });
      this.#served = served;
      this.#ends.push(served.offering.follow((changed) => this.#serversMoved(changed)));
      return served;
    } catch (error) {
      this.#serving = undefined;
      throw error;
    }
  }

  async #setLevel(level: unknown, { setLevel }: Serving): Promise<JsonObject> {
    if (!LOG_LEVELS.includes(level as LoggingLevel)) {
      throw invalidParams(`'level' must be one of ${LOG_LEVELS.join(', ')}`);
    }
    this.#level = level as LoggingLevel;
    await setLevel(this.#level);
    return {};
  }

  #serversMoved(changed: readonly NotifiedList[]): void {
    for (const list of changed) this.#notify(`notifications/${list}/list_changed`);
    this.#served?.subscriptions.statusMoved(() =>
      this.#notify('notifications/resources/updated', { uri: STATUS_URI }),
    );
  }

  async #end(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    this.#over.abort(CLOSED);
    this.#front.close();
    try {
      const served = await this.#serving;
      served?.subscriptions.close();
      await served?.close();
    } catch {
      // The server refused it, so no subscription is left.
    }
    if (this.#hasSession) this.#parts.settings.telemetry?.sessionEnded(this.#version, this.#beganAt);
    this.#resolveClosed();
  }
}

/** A server of the new era names no id for an address, and never reports that the person has finished. */
function withId(method: string, params: JsonObject): JsonObject {
  const isVisit = method === 'elicitation/create' && params['mode'] === 'url';
  return isVisit && params['elicitationId'] === undefined
    ? { ...params, elicitationId: randomUUID() }
    : params;
}

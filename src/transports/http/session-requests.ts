/**
 * The HTTP requests of one session: their headers, redirects, and the one renewal of credentials.
 *
 * Owns the session id, the protocol version and the token in use. Does not own bodies: a reply is handed on unread
 * once its status is 2xx; any other status is thrown as a `TransportError`.
 *
 * R1. No header leaves the origin of the address.
 * R2. A 401 leads to at most one refresh and one repeat of the request; requests refused at the same time share the
 *     refresh. A 403 for want of scope leads to at most one repeat, and 307 and 308 to one at the place they name.
 *     These say that the server has not taken the message. Nothing else is repeated, but what cannot act twice: once, on a
 *     new socket, where the one it went out on had carried others and broke before a reply.
 * R3. The first message may be redirected in any way that keeps the method; the session is then where it was taken.
 * R4. Configured headers never replace those of the session, and the token replaces a configured `authorization`.
 */
import type { Clock } from '../../ports.js';
import { TransportError } from '../session-transport.js';
import { abortable } from './abortable.js';
import type { HttpAddress } from './address.js';
import { isWithinOrigin } from './address.js';
import { NetworkError } from './exchange.js';
import type { HttpExchange, HttpReply, HttpRequest } from './exchange.js';
import { isOfGateway, notMcp, notReached, redirectTarget, refusal } from './http-refusal.js';

/** What a transport needs from a credential store or an OAuth flow. */
export interface HttpAuth {
  /** The bearer token to send; undefined for none. Asked before every request. */
  token(): Promise<string | undefined>;
  /**
   * Called after a 401, once however many requests were refused; `token` is the one they had. True: `token()` has a new
   * one, the requests are repeated. False: a person is needed, the requests fail with `auth-required`.
   */
  refresh(
    refused: { readonly status: number; readonly wwwAuthenticate: string | undefined },
    token: string | undefined,
  ): Promise<boolean>;
  /** Called when the new token was refused as well. */
  refused?(token: string | undefined): void;
  /** Called after a 403, which may be about the scope of the token (RFC 6750 section 3.1). */
  stepUp?(wwwAuthenticate: string | undefined, token: string | undefined): Promise<StepUp>;
}

/**
 * What comes of a 403. `renewed`: there is another token, the request is repeated. `sign-in`: a person is needed, it
 * fails with `auth-required`. `hopeless`: it fails as it is.
 */
export type StepUp = 'renewed' | 'sign-in' | 'hopeless';

export interface SessionRequest {
  readonly method: HttpRequest['method'];
  /** Default: the configured address. Must be within its origin. */
  readonly url?: URL;
  readonly accept?: string;
  readonly body?: string;
  readonly lastEventId?: string | undefined;
  /** To take it twice is the same to the server as to take it once. */
  readonly mayComeTwice?: boolean;
  readonly signal: AbortSignal;
}

const MAX_REDIRECTS = 5;
/** They ask for the same request at another place (RFC 9110 sections 15.4.8 and 15.4.9). */
const REPEATING = new Set([307, 308]);
/** The same where a client so chooses (RFC 9110 section 15.4); the message may have been taken nevertheless. */
const MOVING = new Set([301, 302]);

export class SessionRequests {
  readonly address: HttpAddress;
  /** Sent as `Mcp-Session-Id` once the server has given one. */
  sessionId: string | undefined;
  /** Sent as `MCP-Protocol-Version` once it is negotiated. */
  protocolVersion: string | undefined;
  /** Called for every reply that comes from the server itself; `isWord`: it says more than that the message came. */
  onreply: ((isWord: boolean) => void) | undefined;

  readonly #exchange: HttpExchange;
  readonly #clock: Clock;
  readonly #auth: HttpAuth | undefined;
  #token: string | undefined;
  /** Where the first message was taken. */
  #home: URL | undefined;
  /** A server closes sockets without saying so: no request is risked on one that has been used. */
  #closesSockets = false;
  #refreshing: Promise<boolean> | undefined;

  constructor(options: {
    readonly address: HttpAddress;
    readonly exchange: HttpExchange;
    readonly clock: Clock;
    readonly auth?: HttpAuth | undefined;
  }) {
    this.address = options.address;
    this.#exchange = options.exchange;
    this.#clock = options.clock;
    this.#auth = options.auth;
  }

  /** Resolves with a 2xx reply. Rejects with a `TransportError`, or with the reason of the signal. */
  async send(request: SessionRequest): Promise<HttpReply> {
    const inSession = this.sessionId !== undefined;
    const { signal } = request;
    let token = await this.#currentToken(signal);
    let reply = await this.#follow(request, token);
    if (reply.status === 401 && (await this.#renewed(token, reply, signal))) {
      void reply.discard();
      token = await this.#currentToken(signal);
      reply = await this.#follow(request, token);
      if (reply.status === 401) this.#auth?.refused?.(token);
    }
    const stepUp = reply.status === 403 ? await this.#stepUp(request, reply, token) : undefined;
    if (stepUp === 'renewed') {
      void reply.discard();
      reply = await this.#follow(request, await this.#currentToken(signal));
    }
    if (isSuccess(reply)) return reply;
    const needsSignIn = reply.status === 401 || stepUp === 'sign-in';
    const error = await refusal(reply, {
      address: this.address,
      clock: this.#clock,
      secrets: this.#secrets(),
      inSession,
      needsSignIn,
      isFollowed: this.#redirected(reply, this.address.url, request.method) !== undefined,
    });
    throw leavesOpen(reply.status) ? new TransportError(error.failure, { written: true }) : error;
  }

  /** The error for a 2xx reply that is not MCP. `text` is its body where that has been read. */
  notMcp(reply: HttpReply, text?: string): Promise<TransportError> {
    return notMcp(reply, { address: this.address, clock: this.#clock, secrets: this.#secrets(), text });
  }

  async #follow(request: SessionRequest, token: string | undefined): Promise<HttpReply> {
    const { method, body, mayComeTwice = false, signal } = request;
    const headers = this.#headers(request, token);
    let url = this.#home ?? request.url ?? this.address.url;
    for (let redirects = 0; ; redirects += 1) {
      const reply = await this.#reach({ method, url, headers, body, signal }, mayComeTwice);
      if (!isOfGateway(reply.status)) this.onreply?.(isRefusal(reply));
      const target = this.#redirected(reply, url, method);
      if (target === undefined || redirects === MAX_REDIRECTS) {
        if (method === 'POST' && isSuccess(reply)) this.#home ??= url;
        return reply;
      }
      void reply.discard();
      url = target;
    }
  }

  async #reach(request: HttpRequest, mayComeTwice: boolean): Promise<HttpReply> {
    try {
      return await this.#reachOnce({ ...request, fresh: this.#closesSockets });
    } catch (error) {
      const isStale =
        error instanceof TransportError && error.cause instanceof NetworkError && error.cause.reused;
      if (!isStale || !mayComeTwice) throw error;
      const reply = await this.#reachOnce({ ...request, fresh: true }).catch((again: unknown) => {
        // The server has gone together with the socket: that the request broke tells more.
        throw isUnreached(again) ? error : again;
      });
      this.#closesSockets = true;
      return reply;
    }
  }

  async #reachOnce(request: HttpRequest): Promise<HttpReply> {
    let isConnected = false;
    try {
      return await this.#exchange.send({ ...request, onconnect: () => (isConnected = true) });
    } catch (error) {
      if (error instanceof NetworkError) throw notReached(error, this.address);
      throw isConnected ? error : unsent(error);
    }
  }

  /** The method stays: a GET would lose the message. */
  #redirected(reply: HttpReply, from: URL, method: HttpRequest['method']): URL | undefined {
    const { status } = reply;
    const isFirst = this.#home === undefined;
    if (method === 'POST' && !REPEATING.has(status) && !(isFirst && MOVING.has(status))) return undefined;
    if (method === 'DELETE' && status === 303) return undefined;
    const target = redirectTarget(reply, from);
    return target !== undefined && isWithinOrigin(this.address.url, target) ? target : undefined;
  }

  #headers({ accept, body, lastEventId }: SessionRequest, token: string | undefined): Record<string, string> {
    const headers: Record<string, string> = { 'user-agent': 'mcp-troupe', ...this.address.headers };
    headers['accept-encoding'] = 'identity';
    if (accept !== undefined) headers['accept'] = accept;
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    if (this.sessionId !== undefined) headers['mcp-session-id'] = this.sessionId;
    if (this.protocolVersion !== undefined) headers['mcp-protocol-version'] = this.protocolVersion;
    // An event id is UTF-8 (HTML section 9.2.4); a header holds bytes.
    if (lastEventId !== undefined) headers['last-event-id'] = Buffer.from(lastEventId).toString('latin1');
    return headers;
  }

  async #currentToken(signal: AbortSignal): Promise<string | undefined> {
    if (this.#auth === undefined) return undefined;
    this.#token = await this.#asked(this.#auth.token(), signal);
    return this.#token;
  }

  /** Whether another token than `refused` is at hand now. */
  async #renewed(refused: string | undefined, reply: HttpReply, signal: AbortSignal): Promise<boolean> {
    const auth = this.#auth;
    if (auth === undefined) return false;
    if ((await this.#currentToken(signal)) !== refused) return true;
    const details = { status: reply.status, wwwAuthenticate: reply.header('www-authenticate') };
    this.#refreshing ??= auth.refresh(details, refused).finally(() => (this.#refreshing = undefined));
    return this.#asked(this.#refreshing, signal);
  }

  /** Only messages are worth a sign-in: a server may offer no more than that to a token of little scope. */
  async #stepUp(
    { method, signal }: SessionRequest,
    reply: HttpReply,
    token: string | undefined,
  ): Promise<StepUp> {
    if (this.#auth?.stepUp === undefined || method !== 'POST') return 'hopeless';
    return this.#asked(this.#auth.stepUp(reply.header('www-authenticate'), token), signal);
  }

  /** An answer of the credential store; its errors become failures. */
  async #asked<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await abortable(answer, signal);
    } catch (error) {
      if (signal.aborted) throw unsent(signal.reason);
      if (error instanceof TransportError) throw error;
      const message = `No credentials for ${this.address.shown}: the source of its tokens failed.`;
      throw new TransportError({ code: 'auth-required', message }, { written: false, cause: error });
    }
  }

  #secrets(): readonly string[] {
    return this.#token === undefined ? this.address.secrets : [this.#token, ...this.address.secrets];
  }
}

function isSuccess({ status }: HttpReply): boolean {
  return status >= 200 && status < 300;
}

/** Any other status says no more than that the message came: it was taken, or something broke over it. */
function isRefusal({ status }: HttpReply): boolean {
  return status >= 300 && status < 500;
}

function isUnreached(error: unknown): boolean {
  return error instanceof TransportError && error.failure.code === 'address-refused';
}

/** Whether a server may have acted on a message and points elsewhere nevertheless, for instance to what came of it. */
function leavesOpen(status: number): boolean {
  return status >= 300 && status < 400 && !REPEATING.has(status);
}

/** What ended a request ahead of the time at which it would have been sent. */
function unsent(reason: unknown): unknown {
  return reason instanceof TransportError
    ? new TransportError(reason.failure, { written: false, cause: reason })
    : reason;
}

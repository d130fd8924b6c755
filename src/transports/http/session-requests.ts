/**
 * The HTTP requests of one session: their headers, redirects, and the one renewal of credentials.
 *
 * Owns the session id, the protocol version, the cookies and the token in use. Does not own bodies: a reply is handed on unread
 * once its status is 2xx; any other status is thrown as a `TransportError`. Longer than 300 lines because redirects, renewals
 * and repeats all send the same request with the same headers.
 *
 * R1. Configured headers and tokens never leave the origin of the address, and cookies never the host that set them.
 * R2. A 401 leads to at most one refresh and one repeat of the request; requests refused at the same time share the
 *     refresh. A 403 for lack of scope leads to at most one repeat, and 307 and 308 to one at the address they name.
 *     These replies say that the server has not accepted the message. Otherwise, only a request that cannot act twice is
 *     repeated: once, on a new socket, if its socket had carried others and broke before a reply.
 *     After a 401 or 403, headers from a `headersHelper` are renewed once too.
 * R3. The first message follows every redirect that keeps the method, even to another origin if the connection is at least as
 *     well protected; the session then uses the address that accepted it. Later messages stay within its origin.
 * R4. Configured headers never replace headers of the session, and the token replaces a configured `authorization`.
 * R5. A header of a gateway's client is sent only if the entry names it, only with the request that it came with, and under
 *     the same rules as a configured header, which it replaces.
 */
import type { Clock } from '../../ports.js';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';
import { abortable } from '../../async/abort.js';
import { Cookies } from './cookies.js';
import {
  type HttpAddress,
  isAsProtected,
  isWithinOrigin,
  lowerCased,
  MIN_SECRET,
  shownUrl,
} from './server-address.js';
import { NetworkError, type HttpExchange, type HttpReply, type HttpRequest } from './http-exchange.js';
import type { MessageHeaders } from '../session-transport.js';
import { ForwardedHeaders } from './forwarded-headers.js';
import type { ChangingHeaders } from './helper-headers.js';
import { isOfGateway, notMcp, notReached, redirectTarget, refusal } from './http-refusal.js';

/** A reply with the address that it came from. */
export interface SessionReply extends HttpReply {
  readonly url: URL;
}

/** What a transport needs from a credential store or an OAuth flow. */
export interface HttpAuth {
  /** The bearer token to send; undefined for none. Asked before every request. */
  token(): Promise<string | undefined>;
  /**
   * Called after a 401, once for all requests refused at the same time; `token` is the one they had. True: `token()` has a
   * new one, and the requests are repeated. False: a person is needed, and the requests fail with `auth-required`.
   */
  refresh(
    refused: { readonly status: number; readonly wwwAuthenticate: string | undefined },
    token: string | undefined,
  ): Promise<boolean>;
  /** Called when the new token was refused as well. */
  refused?(token: string | undefined): void;
  /** Called after a 403, which may be about the scope of the token (RFC 6750 section 3.1). */
  stepUp?(wwwAuthenticate: string | undefined, token: string | undefined): Promise<StepUp>;
  /** Called if a person can grant what one request was refused for. The session continues meanwhile. */
  offerSignIn?(): void;
}

/**
 * What follows a 403. `renewed`: there is another token, and the request is repeated. `sign-in`: a person is needed; the
 * request of a caller fails alone, any other with `auth-required`. `hopeless`: the request fails with the 403.
 */
export type StepUp = 'renewed' | 'sign-in' | 'hopeless';

export interface SessionRequest {
  readonly method: HttpRequest['method'];
  /** Default: the configured address. Must be within its origin. */
  readonly url?: URL;
  readonly accept?: string;
  readonly body?: string;
  readonly lastEventId?: string | undefined;
  /** Headers for this request alone. */
  readonly headers?: MessageHeaders | undefined;
  /** It belongs to no session: these headers are sent instead of the session headers. Default: it belongs to the session. */
  readonly stateless?: Readonly<Record<string, string>> | undefined;
  /** The server may get it twice without harm. */
  readonly mayComeTwice?: boolean;
  /** It belongs to a caller: if it is refused for lack of scope, the session continues. */
  readonly isOfCaller?: boolean;
  readonly signal: AbortSignal;
}

const MAX_REDIRECTS = 5;
/** These ask for the same request at another address (RFC 9110 sections 15.4.8 and 15.4.9). */
const REPEATING = new Set([307, 308]);
/** The same, if a client so chooses (RFC 9110 section 15.4); the server may have accepted the message all the same. */
const MOVING = new Set([301, 302]);

export class SessionRequests {
  readonly address: HttpAddress;
  /** Sent as `Mcp-Session-Id` once the server has given one. */
  sessionId: string | undefined;
  /** Sent as `MCP-Protocol-Version` once it is negotiated. */
  protocolVersion: string | undefined;
  /** Called for every reply of the server itself; `isWord`: it says more than that the message arrived. */
  onreply: ((isWord: boolean) => void) | undefined;
  /** Called for every redirect that is followed. */
  onredirect: ((from: URL, to: URL) => void) | undefined;

  readonly #exchange: HttpExchange;
  readonly #clock: Clock;
  readonly #auth: HttpAuth | undefined;
  readonly #cookies: Cookies;
  readonly #extra: ChangingHeaders | undefined;
  readonly #forwarded: ForwardedHeaders;
  #token: string | undefined;
  /** The address that accepted the first message. */
  #home: URL | undefined;
  /** The server has accepted a message of the session. */
  #isKnown = false;
  /** This server closes sockets silently, so requests no longer use a socket that was used before. */
  #closesSockets = false;
  #refreshing: Promise<boolean> | undefined;

  constructor(options: {
    readonly address: HttpAddress;
    readonly exchange: HttpExchange;
    readonly clock: Clock;
    readonly auth?: HttpAuth | undefined;
    readonly extra?: ChangingHeaders | undefined;
    /** Names of the headers that are passed on from the clients of a gateway. Default: none. */
    readonly forwarded?: readonly string[] | undefined;
  }) {
    this.address = options.address;
    this.#exchange = options.exchange;
    this.#clock = options.clock;
    this.#auth = options.auth;
    this.#cookies = new Cookies(options.clock);
    this.#extra = options.extra;
    this.#forwarded = new ForwardedHeaders(options.forwarded);
  }

  /** Resolves with a 2xx reply. Rejects with a `TransportError`, or with the reason of the signal. */
  async send(request: SessionRequest): Promise<SessionReply> {
    const inSession = this.sessionId !== undefined;
    const { signal } = request;
    let token = await this.#currentToken(signal);
    const extra = this.#extra?.current;
    let reply = await this.#follow(request, token);
    if (
      extra !== undefined &&
      this.#isOwn(reply) &&
      isAboutHeaders(reply) &&
      (await this.#hasOtherHeaders(extra, signal))
    ) {
      void reply.discard();
      reply = await this.#follow(request, token);
    }
    if (reply.status === 401 && this.#isOwn(reply) && (await this.#renewed(token, reply, signal))) {
      void reply.discard();
      token = await this.#currentToken(signal);
      reply = await this.#follow(request, token);
      if (reply.status === 401) this.#auth?.refused?.(token);
    }
    const stepUp =
      reply.status === 403 && this.#isOwn(reply) ? await this.#stepUp(request, reply, token) : undefined;
    if (stepUp === 'renewed') {
      void reply.discard();
      reply = await this.#follow(request, await this.#currentToken(signal));
    }
    if (isSuccess(reply)) {
      this.#isKnown ||= inSession;
      return reply;
    }
    const isAlone =
      stepUp === 'sign-in' && request.isOfCaller === true && this.#auth?.offerSignIn !== undefined;
    if (isAlone) this.#auth?.offerSignIn?.();
    const needsSignIn = (reply.status === 401 && this.#isOwn(reply)) || (stepUp === 'sign-in' && !isAlone);
    const error = await refusal(reply, {
      address: this.#addressOf(reply, request),
      clock: this.#clock,
      secrets: this.#secrets(request),
      inSession,
      isKnown: this.#isKnown,
      needsSignIn,
      canSignIn: this.#auth !== undefined,
      isOwn: this.#isOwn(reply),
      isFollowed: this.#redirected(reply, reply.url, request.method) !== undefined,
    });
    if (isAlone) throw new TransportError(wantingScope(error.failure), { written: false });
    throw leavesOpen(reply.status) ? new TransportError(error.failure, { written: true }) : error;
  }

  /** The error for a 2xx reply that is not MCP. `text` is its body, if it was read. */
  notMcp(reply: SessionReply, text?: string): Promise<TransportError> {
    return notMcp(reply, {
      address: this.#addressOf(reply, {}),
      clock: this.#clock,
      secrets: this.#secrets(),
      text,
    });
  }

  async #follow(request: SessionRequest, token: string | undefined): Promise<SessionReply> {
    const { method, body, mayComeTwice = false, signal } = request;
    let url = this.#home ?? request.url ?? this.address.url;
    for (let redirects = 0; ; redirects += 1) {
      const headers = this.#headers(request, token, url);
      const reply = {
        url,
        ...(await this.#reach(
          { method, url, headers, body, signal },
          this.#addressOf({ url }, request),
          mayComeTwice,
        )),
      };
      this.#cookies.take(reply.cookies(), url);
      if (!isOfGateway(reply.status)) this.onreply?.(isRefusal(reply));
      const target = this.#redirected(reply, url, method);
      if (target === undefined || redirects === MAX_REDIRECTS) {
        if (method === 'POST' && isSuccess(reply)) this.#home ??= url;
        return reply;
      }
      void reply.discard();
      this.onredirect?.(url, target);
      url = target;
    }
  }

  async #reach(request: HttpRequest, address: HttpAddress, mayComeTwice: boolean): Promise<HttpReply> {
    try {
      return await this.#reachOnce({ ...request, fresh: this.#closesSockets }, address);
    } catch (error) {
      const isStale =
        error instanceof TransportError && error.cause instanceof NetworkError && error.cause.reused;
      if (!isStale || !mayComeTwice) throw error;
      const reply = await this.#reachOnce({ ...request, fresh: true }, address).catch((again: unknown) => {
        // The server is gone as well; the error of the first request says more.
        throw isUnreached(again) ? error : again;
      });
      this.#closesSockets = true;
      return reply;
    }
  }

  async #reachOnce(request: HttpRequest, address: HttpAddress): Promise<HttpReply> {
    let isConnected = false;
    try {
      return await this.#exchange.send({ ...request, onconnect: () => (isConnected = true) });
    } catch (error) {
      if (error instanceof NetworkError) throw notReached(error, address.place);
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
    if (target === undefined || isWithinOrigin(from, target)) return target;
    return isFirst && !this.address.isSocket && isAsProtected(from, target) ? target : undefined;
  }

  /** Whether credentials may be sent to the origin of the reply. */
  #isOwn({ url }: Pick<SessionReply, 'url'>): boolean {
    return isWithinOrigin(this.address.url, url);
  }

  /** The address for messages; it names the redirect that was followed. */
  #addressOf({ url }: Pick<SessionReply, 'url'>, request: Pick<SessionRequest, 'url'>): HttpAddress {
    const { shown } = this.address;
    if (shownUrl(url) === shownUrl(request.url ?? this.address.url)) return this.address;
    const to = shownUrl(url);
    return {
      ...this.address,
      url,
      shown: `${shown} (redirected to ${to})`,
      place: `${to} (redirect of ${shown})`,
    };
  }

  #headers(
    { accept, body, lastEventId, stateless, headers: own }: SessionRequest,
    token: string | undefined,
    url: URL,
  ): Record<string, string> {
    const isOwn = this.#isOwn({ url });
    const headers: Record<string, string> = {
      'user-agent': 'mcp-troupe',
      ...(isOwn && {
        ...this.address.headers,
        ...this.#extra?.current,
        ...this.#forwarded.of(own?.received),
      }),
    };
    const cookie = this.#cookies.header(url, headers['cookie']);
    if (cookie !== undefined) headers['cookie'] = cookie;
    headers['accept-encoding'] = 'identity';
    if (accept !== undefined) headers['accept'] = accept;
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (token !== undefined && isOwn) headers['authorization'] = `Bearer ${token}`;
    if (isOwn && own?.added !== undefined) Object.assign(headers, lowerCased(own.added));
    if (stateless !== undefined) return { ...headers, ...stateless };
    if (this.sessionId !== undefined) headers['mcp-session-id'] = this.sessionId;
    if (this.protocolVersion !== undefined) headers['mcp-protocol-version'] = this.protocolVersion;
    // An event id is UTF-8 (HTML section 9.2.4); a header holds bytes.
    if (lastEventId !== undefined) headers['last-event-id'] = Buffer.from(lastEventId).toString('latin1');
    return headers;
  }

  /** Whether the `headersHelper` now provides headers that differ from the refused ones. */
  async #hasOtherHeaders(refused: ChangingHeaders['current'], signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#extra?.renewed(refused, signal)) === true;
    } catch (error) {
      throw unsent(error);
    }
  }

  async #currentToken(signal: AbortSignal): Promise<string | undefined> {
    if (this.#auth === undefined) return undefined;
    this.#token = await this.#asked(this.#auth.token(), signal);
    return this.#token;
  }

  /** Whether there is another token than `refused` now. */
  async #renewed(refused: string | undefined, reply: HttpReply, signal: AbortSignal): Promise<boolean> {
    const auth = this.#auth;
    if (auth === undefined) return false;
    if ((await this.#currentToken(signal)) !== refused) return true;
    const details = { status: reply.status, wwwAuthenticate: reply.header('www-authenticate') };
    this.#refreshing ??= auth.refresh(details, refused).finally(() => (this.#refreshing = undefined));
    return this.#asked(this.#refreshing, signal);
  }

  /** Only messages lead to a sign-in: a server may offer nothing else to a token with little scope. */
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

  #secrets({ headers }: Pick<SessionRequest, 'headers'> = {}): readonly string[] {
    const added = Object.values(headers?.added ?? {}).flatMap((value) => [value, ...value.split(/\s+/)]);
    const forwarded = [...Object.values(this.#forwarded.of(headers?.received)), ...added].filter(
      (value) => value.length >= MIN_SECRET,
    );
    const cookies = this.#cookies.values.filter((value) => value.length >= MIN_SECRET);
    const token = this.#token === undefined ? [] : [this.#token];
    return [
      ...token,
      ...cookies,
      ...forwarded,
      ...Object.values(this.#extra?.current ?? {}),
      ...this.address.secrets,
    ];
  }
}

/** Names the scope that a request was refused for (RFC 6750 section 3.1). */
function wantingScope(failure: RawFailure): RawFailure {
  const scope = /\bscope="([^"]*)"/.exec(failure.http?.wwwAuthenticate ?? '')?.[1];
  const what = scope === undefined ? 'more scopes' : `the scope '${scope}'`;
  const hint = 'Sign in again to grant access; everything else continues to work.';
  return {
    ...failure,
    message: `The request needs ${what}, which the sign-in does not have. ${failure.message}`,
    hint,
  };
}

function isSuccess({ status }: HttpReply): boolean {
  return status >= 200 && status < 300;
}

/** Other headers may be accepted. */
function isAboutHeaders({ status }: HttpReply): boolean {
  return status === 401 || status === 403;
}

/** Any other status only says that the message arrived: it was accepted, or something failed because of it. */
function isRefusal({ status }: HttpReply): boolean {
  return status >= 300 && status < 500;
}

function isUnreached(error: unknown): boolean {
  return error instanceof TransportError && error.failure.code === 'address-refused';
}

/** Whether a server may have acted on a message although it redirects, for instance to the result. */
function leavesOpen(status: number): boolean {
  return status >= 300 && status < 400 && !REPEATING.has(status);
}

/** What ended a request before it was sent. */
function unsent(reason: unknown): unknown {
  return reason instanceof TransportError
    ? new TransportError(reason.failure, { written: false, cause: reason })
    : reason;
}

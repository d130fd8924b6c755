/**
 * One sign-in by a person: its listener, address, received codes and requests. The account's chart decides when it
 * begins, what an answer leads to, and when it ends. Longer than 300 lines because everything that `end()` removes is here.
 *
 * G1. `end()` removes everything: listener, sockets and verifier. It waits until the browser has its last page.
 * G2. An answer counts only with the state of this sign-in; a code that a person enters by hand has no state. If a code
 *     cannot be exchanged, the error goes to the caller or browser that delivered it.
 */
import { timingSafeEqual } from 'node:crypto';
import { auth, fetchToken } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientProvider } from '../mcp/oauth.js';
import type { FetchLike } from '../mcp/transport.js';
import type { Clock } from '../ports.js';
import { TransportError } from '../failures/transport-error.js';
import { messageOf } from '../text/error-message.js';
import type { AuthFetch } from './auth-fetch.js';
import type { AuthServer } from './auth-options.js';
import type { LoopbackPlace } from './entry-oauth.js';
import { isAnswerOf, tokenRequest, type AuthorizationLocation } from './auth-server-discovery.js';
import { toScopes } from './challenge.js';
import { openLoopback, type Loopback, type LoopbackAnswer } from './redirect-listener.js';
import { type StoredOAuthProvider, viewOf } from './oauth-provider.js';
import { parseUrl } from '../text/parse-url.js';

export interface SignInPorts {
  readonly clock: Clock;
  readonly server: AuthServer;
  readonly provider: OAuthClientProvider;
  /** The same provider, if it is Troupe's own and the browser returns to a listener of Troupe's. */
  readonly redirected: StoredOAuthProvider | undefined;
  readonly redirectPort: number;
  readonly loopback: LoopbackPlace | undefined;
  /** Scopes to request, whatever the server names. */
  readonly pinnedScope: string | undefined;
  readonly requests: AuthFetch;
  readonly place: (fetch: FetchLike) => Promise<AuthorizationLocation>;
  /** Runs the work while no one else works on the sign-in. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** Masks these secrets from now on. */
  readonly remember: (secrets: readonly string[]) => void;
  readonly explain: (error: unknown) => TransportError;
  /** Whether a person was asked and the sign-in is still pending. */
  readonly isAsked: () => boolean;
  /** Reports a received code by its number. Resolves when someone has signed in; rejects with a `TransportError`. */
  readonly answered: (answer: number) => Promise<void>;
  /** The browser returned with a refusal. */
  readonly refused: (error: TransportError) => void;
  /** The browser returned with a code that cannot be exchanged. */
  readonly onFailedAnswer: (error: TransportError) => void;
}

/** OpenID Connect Core section 11. */
const OFFLINE = 'offline_access';
const SIGNED_IN = 'You are signed in. You can close this window.';
const NOT_OURS = 'No sign-in is waiting for this answer.';
const FAILED = 'The sign-in failed. See the program that requested it.';

export class SignIn {
  readonly #ports: SignInPorts;
  readonly #over = new AbortController();
  /** The index is the number of the code. */
  readonly #codes: string[] = [];
  /** By code: a code that arrives twice, as when a browser reloads the page, is exchanged once. */
  readonly #exchanges = new Map<string, Promise<void>>();
  #loopback: Promise<Loopback> | undefined;
  #url: string | undefined;
  #place: AuthorizationLocation | undefined;
  #closed: Promise<void> | undefined;

  constructor(ports: SignInPorts) {
    this.#ports = ports;
  }

  /** Where a person can sign in, once that is known. */
  get url(): string | undefined {
    return this.#url;
  }

  /** Opens the listener that the browser returns to, if Troupe provides it. */
  async open(): Promise<void> {
    const { redirected, clock, redirectPort: port, loopback } = this.#ports;
    if (redirected === undefined) return;
    const registered = await redirected.registeredRedirect();
    this.#over.signal.throwIfAborted();
    this.#loopback = openLoopback({
      clock,
      port,
      ...(loopback !== undefined && { host: loopback.host, path: loopback.path }),
      preferred: Number(registered === undefined ? 0 : new URL(registered).port),
      onRedirect: (params) => this.#redirected(params),
    });
    const url = new URL((await this.#loopback).url);
    if (registered !== undefined && new URL(registered).hostname === LOCALHOST) url.hostname = LOCALHOST;
    redirected.redirectUrl = url.href;
  }

  /**
   * Discovers, registers and determines the address to visit; `granted` if no visit is needed. Empty `scopes`: the
   * default.
   */
  async begin(scopes: readonly string[]): Promise<'asked' | 'granted'> {
    const { provider, server, requests, remember, pinnedScope } = this.#ports;
    const fetch: FetchLike = (address, init) =>
      requests.fetch(address, { ...init, signal: this.#over.signal });
    let url: URL | undefined;
    const place = await this.#ports.place(fetch);
    this.#place = place;
    const asking = viewOf(provider, {
      tokens: () => undefined,
      discoveryState: () => place.state,
      saveDiscoveryState: () => {},
      // The SDK would delete everything, but only the client can be wrong here.
      invalidateCredentials: () => provider.invalidateCredentials?.('client'),
      redirectToAuthorization: (address) => {
        url = address;
        return provider.redirectToAuthorization(address);
      },
    });
    const scope =
      pinnedScope === undefined ? scopeToRequest(scopes, place, provider) : { scope: pinnedScope };
    const begin = (): Promise<unknown> => auth(asking, { serverUrl: server.url, ...scope, fetchFn: fetch });
    try {
      await begin();
    } catch (error) {
      if (!this.#mayBeLocalhost(error)) throw error;
      await begin();
    }
    if (url === undefined) return 'granted';
    const state = url.searchParams.get('state');
    if (state !== null) remember([state]);
    this.#url = url.href;
    return 'asked';
  }

  /** Takes the address that the browser was sent to in the end, or the code in it. Rejects with a `TransportError`. */
  async finish(answer: string): Promise<void> {
    const given = readAnswer(answer, this.#ports.provider.redirectUrl);
    if (!(given instanceof URLSearchParams)) return this.#take(given.code);
    const refused = this.#refusalIn(given);
    if (refused !== undefined) throw refused;
    await this.#take(given.get('code') ?? '');
  }

  /** Exchanges the code of that number for tokens, and stores them. */
  async exchange(answer: number): Promise<void> {
    const { provider, requests, exclusively } = this.#ports;
    const place = this.#place;
    const code = this.#codes[answer - 1];
    if (place === undefined || code === undefined) throw new Error('there is no code with that number.');
    const { issuer } = place;
    await exclusively(async () => {
      const request = { ...tokenRequest(place, requests.fetch), authorizationCode: code };
      const tokens = await fetchToken(provider, issuer, request);
      await provider.saveTokens({ ...tokens, issuer });
    });
  }

  /** Some authorization servers accept `http://localhost` as a redirect address, but not `http://127.0.0.1`. */
  #mayBeLocalhost(error: unknown): boolean {
    const { redirected } = this.#ports;
    const registered = redirected?.redirectUrl;
    if (redirected === undefined || registered === undefined) return false;
    const isRefused = /redirect/i.test(messageOf(error)) || isUnexplained(error);
    const url = new URL(registered);
    if (!isRefused || url.hostname === LOCALHOST) return false;
    url.hostname = LOCALHOST;
    redirected.redirectUrl = url.href;
    return true;
  }

  /** Ends everything. Resolves when nothing is left; never rejects. */
  end(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    const { redirected, requests } = this.#ports;
    this.#over.abort();
    redirected?.endSignIn();
    await requests.close();
    const loopback = await this.#loopback?.catch(() => undefined);
    await loopback?.close();
  }

  async #redirected(params: URLSearchParams): Promise<LoopbackAnswer> {
    const code = params.get('code') ?? '';
    const isExpected = this.#ports.isAsked() || this.#exchanges.has(code);
    if (!this.#isOurs(params) || !isExpected) return { isGood: false, text: NOT_OURS };
    const refused = this.#refusalIn(params);
    if (refused !== undefined) {
      this.#ports.refused(refused);
      return { isGood: false, text: FAILED };
    }
    try {
      await this.#take(code);
      return { isGood: true, text: SIGNED_IN };
    } catch (error) {
      this.#ports.onFailedAnswer(this.#ports.explain(error));
      return { isGood: false, text: FAILED };
    }
  }

  /**
   * Whether the answer belongs to this sign-in (RFC 6749 section 10.12). None does before a person was asked. A
   * provider of the host that gives no state relies on PKCE alone.
   */
  #isOurs(params: URLSearchParams): boolean {
    if (this.#url === undefined) return false;
    const state = new URL(this.#url).searchParams.get('state');
    const given = params.get('state');
    return state === null || (given !== null && isSame(state, given));
  }

  /** Why an answer cannot be used; undefined if it can. */
  #refusalIn(params: URLSearchParams): TransportError | undefined {
    const refuse = (message: string): TransportError =>
      new TransportError({ code: 'auth-required', message, hint: 'Retry it to be asked again.' });
    if (!this.#isOurs(params)) return refuse('The answer belongs to another sign-in: its state is wrong.');
    const place = this.#place;
    if (place !== undefined && !isAnswerOf(place, params.get('iss'))) {
      return refuse('The answer comes from a different authorization server, or does not name its own.');
    }
    const error = params.get('error');
    if (error === null) return undefined;
    return refuse(`The sign-in was refused (${error.replace(/[^\w.-]/g, '').slice(0, 60)}).`);
  }

  /** A code is for one use (RFC 6749 section 4.1.2): if it arrives again, both share one exchange. */
  #take(code: string): Promise<void> {
    const under = this.#exchanges.get(code);
    if (under !== undefined) return under;
    if (code === '') return Promise.reject(this.#ports.explain(new Error('the answer holds no code.')));
    this.#ports.remember([code]);
    const exchange = this.#ports.answered(this.#codes.push(code));
    this.#exchanges.set(code, exchange);
    // A failed exchange may succeed at the next try.
    exchange.catch(() => this.#exchanges.delete(code));
    return exchange;
  }
}

const LOCALHOST = 'localhost';

/**
 * The SDK drops the code `invalid_redirect_uri` (RFC 7591 section 3.2.2): if the server sends no description, the error has no
 * text at all.
 */
function isUnexplained(error: unknown): boolean {
  return error instanceof Error && 'errorCode' in error && error.message === '';
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

// Parses the answer that a person enters by hand. Pure.

/** The parameters of the entered address, or else the code. A host without types may pass anything. */
function readAnswer(
  answer: unknown,
  redirectUrl: string | URL | undefined,
): URLSearchParams | { readonly code: string } {
  const text = typeof answer === 'string' || answer instanceof URL ? String(answer).trim() : '';
  const url = parseUrl(text);
  const isRedirect = url !== undefined && protocolsOf(redirectUrl).includes(url.protocol);
  return isRedirect ? url.searchParams : { code: text };
}

/** An application may be redirected to with its own scheme (RFC 8252 section 7.1). */
function protocolsOf(redirectUrl: string | URL | undefined): readonly string[] {
  const own = redirectUrl === undefined ? [] : [new URL(redirectUrl).protocol];
  return ['http:', 'https:', ...own];
}

/**
 * The scopes to request; without any, the authorization server decides. `offline_access` is added if that server supports it:
 * some issue a refresh token only for this scope, although the MCP server does not list it (SEP-2207).
 */
function scopeToRequest(
  wanted: readonly string[],
  { state }: AuthorizationLocation,
  provider: OAuthClientProvider,
): { readonly scope?: string } {
  const { resourceMetadata, authorizationServerMetadata } = state;
  const { clientMetadata } = provider;
  const listed = resourceMetadata?.scopes_supported ?? [];
  const usual = listed.length > 0 ? listed : toScopes(clientMetadata.scope);
  const scopes = wanted.length > 0 ? wanted : usual;
  if (scopes.length === 0) return {};
  const isAsked =
    provider.prepareTokenRequest === undefined &&
    (clientMetadata.grant_types ?? []).includes('refresh_token');
  const isKnown = authorizationServerMetadata?.scopes_supported?.includes(OFFLINE) === true;
  return {
    scope: (isAsked && isKnown && !scopes.includes(OFFLINE) ? [...scopes, OFFLINE] : scopes).join(' '),
  };
}

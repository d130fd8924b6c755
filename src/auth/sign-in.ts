/**
 * One sign-in to one server, whoever waits for it: a person is asked once, however many connections need the answer.
 *
 * G1. It begins with the first who waits and ends with the last; nothing of it (listener, socket, verifier) is left. The
 *     listener alone may outlive it, until the browser has its last page.
 * G2. No clock runs while a person is asked.
 * G3. An answer counts only with the state of this sign-in; a code that a person brings by hand has none. One that
 *     cannot be exchanged is told to whoever brought it, and the waiting goes on unless the client itself was refused.
 * G4. Somebody else may sign in meanwhile, in another process, too: then that counts.
 */
import { timingSafeEqual } from 'node:crypto';
import { auth, fetchToken, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock } from '../ports.js';
import { abortable } from '../transports/http/abortable.js';
import { TransportError } from '../transports/session-transport.js';
import { askHost, isClientRefusal } from './auth-failure.js';
import type { AuthFetch } from './auth-fetch.js';
import type { AuthServer } from './auth-options.js';
import { isSameIssuer, tokenRequest, type AuthorizationPlace } from './discovery.js';
import { readAnswer } from './given-answer.js';
import { openLoopback, type Loopback, type LoopbackAnswer } from './loopback.js';
import type { StoredOAuthProvider } from './oauth-provider.js';
import { viewOf } from './provider-view.js';

export interface SignInPorts {
  readonly clock: Clock;
  readonly server: AuthServer;
  readonly provider: OAuthClientProvider;
  /** The same, where it is Troupe's own and the browser comes back to a listener of Troupe's. */
  readonly redirected: StoredOAuthProvider | undefined;
  readonly redirectPort: number;
  /** False: only what somebody else does is waited for. */
  readonly isInteractive: boolean;
  /** Scopes to ask for; none: what the server or the client names. */
  readonly scopes: readonly string[];
  readonly requests: AuthFetch;
  readonly place: (fetch: FetchLike) => Promise<AuthorizationPlace>;
  /** Runs the work in the turn of the sign-in's owner. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** Calls `onChange` when somebody may have signed in, until the returned function is called. */
  readonly watch: (onChange: () => void) => () => void;
  /** Whether another token is kept than the one that was no good. */
  readonly hasOther: () => Promise<boolean>;
  /** Gets tokens without a person. */
  readonly renew: () => Promise<void>;
  /** Brings the address to a person; may give the answer. */
  readonly ask: (url: string) => unknown;
  /** `secrets` are struck out of what was said. */
  readonly explain: (error: unknown, secrets?: readonly string[]) => TransportError;
  readonly onFailedAnswer: (error: TransportError) => void;
}

const SIGNED_IN = 'You are signed in. This window can be closed.';
const NOT_OURS = 'This is not the answer to a sign-in that is waiting here.';
const FAILED = 'The sign-in failed. The program that asked for it says why.';

export class SignIn {
  /** Resolves when somebody is signed in; rejects with a `TransportError` where nobody can be, or when it was ended. */
  readonly done: Promise<void>;
  /** Resolves when nothing of it is left. Never rejects. */
  readonly closed: Promise<void>;
  readonly #ports: SignInPorts;
  readonly #tellers = new Set<(url: string) => void>();
  readonly #over = new AbortController();
  /** By code: what is asked for twice, as by a browser that loads an address again, is exchanged once. */
  readonly #exchanges = new Map<string, Promise<void>>();
  #isSettled = false;
  /** Somebody is signed in, whoever it was. */
  #isComplete = false;
  #loopback: Loopback | undefined;
  #url: string | undefined;
  #place: AuthorizationPlace | undefined;
  #complete!: () => void;
  #fail!: (error: TransportError) => void;
  readonly #answered = new Promise<void>((resolve, reject) => {
    this.#complete = resolve;
    this.#fail = reject;
  });

  /** `before` is the end of the sign-in before this one: the two may need the same port. */
  constructor(ports: SignInPorts, before: Promise<void> | undefined) {
    this.#ports = ports;
    this.#answered.then(
      () => (this.#isComplete = true),
      () => {},
    );
    this.done = this.#run(before);
    this.closed = this.#close();
  }

  /** Nobody can join it any more. */
  get isOver(): boolean {
    return this.#isSettled || this.#over.signal.aborted;
  }

  /** Where a person can sign in, once that is known. */
  get url(): string | undefined {
    return this.#url;
  }

  /** Resolves when somebody is signed in. `tell` gets the address as soon as there is one. */
  async join(tell: (url: string) => void, signal: AbortSignal): Promise<void> {
    this.#tellers.add(tell);
    if (this.#url !== undefined) tell(this.#url);
    try {
      await abortable(this.done, signal);
    } finally {
      this.#tellers.delete(tell);
      if (this.#tellers.size === 0) this.end();
    }
  }

  /** Takes the address that the browser was sent to in the end, or the code in it. Rejects with a `TransportError`. */
  async finish(answer: string): Promise<void> {
    const given = readAnswer(answer, this.#ports.provider.redirectUrl);
    if (!(given instanceof URLSearchParams)) return this.#exchange(given.code);
    const refused = this.#refusalIn(given);
    if (refused !== undefined) throw refused;
    await this.#exchange(given.get('code') ?? '');
  }

  end(): void {
    this.#over.abort();
  }

  async #run(before: Promise<void> | undefined): Promise<void> {
    const { provider, redirected, requests, renew } = this.#ports;
    let stopWatching = (): void => {};
    try {
      await before;
      this.#over.signal.throwIfAborted();
      if (provider.redirectUrl === undefined) return await renew();
      stopWatching = this.#ports.watch(() => void this.#look());
      if (this.#ports.isInteractive) {
        if (redirected !== undefined) this.#loopback = await this.#openLoopback(redirected);
        await this.#begin();
      }
      await abortable(this.#answered, this.#over.signal);
    } finally {
      this.#isSettled = true;
      stopWatching();
      redirected?.endSignIn();
      await requests.close();
    }
  }

  async #close(): Promise<void> {
    await this.done.catch(() => {});
    await this.#loopback?.close();
  }

  async #openLoopback(redirected: StoredOAuthProvider): Promise<Loopback> {
    const registered = await redirected.registeredRedirect();
    const loopback = await openLoopback({
      clock: this.#ports.clock,
      port: this.#ports.redirectPort,
      preferred: Number(registered === undefined ? 0 : new URL(registered).port),
      onRedirect: (params) => this.#redirected(params),
    });
    redirected.redirectUrl = loopback.url;
    return loopback;
  }

  /** Discovery, registration and the address to go to. */
  async #begin(): Promise<void> {
    const { provider, server, scopes, ask, explain } = this.#ports;
    const fetch: FetchLike = (address, init) =>
      this.#ports.requests.fetch(address, { ...init, signal: this.#over.signal });
    let url: URL | undefined;
    try {
      const place = await this.#ports.place(fetch);
      this.#place = place;
      const asking = viewOf(provider, {
        tokens: () => undefined,
        discoveryState: () => place.state,
        saveDiscoveryState: () => {},
        // The SDK means to forget everything; the client alone can be wrong here.
        invalidateCredentials: () => provider.invalidateCredentials?.('client'),
        redirectToAuthorization: (address) => {
          url = address;
          return provider.redirectToAuthorization(address);
        },
      });
      const scope = scopes.length === 0 ? {} : { scope: scopes.join(' ') };
      await auth(asking, { serverUrl: server.url, ...scope, fetchFn: fetch });
    } catch (error) {
      this.#over.signal.throwIfAborted();
      throw explain(error);
    }
    if (url === undefined) return this.#complete();
    this.#url = url.href;
    for (const tell of this.#tellers) tell(url.href);
    void this.#askFor(url.href, ask);
  }

  async #askFor(url: string, ask: SignInPorts['ask']): Promise<void> {
    try {
      const answer = await askHost("'onAuthorizationUrl'", () => ask(url));
      if (typeof answer === 'string') await this.finish(answer);
    } catch (error) {
      this.#fail(this.#ports.explain(error));
    }
  }

  /** Whether somebody else has signed in. What cannot be read is as it was. */
  async #look(): Promise<void> {
    try {
      if (await this.#ports.hasOther()) this.#complete();
    } catch {
      // The next change is looked at again.
    }
  }

  async #redirected(params: URLSearchParams): Promise<LoopbackAnswer> {
    const isKnown = this.#exchanges.has(params.get('code') ?? '');
    if (!this.#isOurs(params) || (this.isOver && !isKnown)) return { isGood: false, text: NOT_OURS };
    const refused = this.#refusalIn(params);
    if (refused !== undefined) {
      this.#fail(refused);
      return { isGood: false, text: FAILED };
    }
    try {
      await abortable(this.#exchange(params.get('code') ?? ''), this.#over.signal);
      return { isGood: true, text: SIGNED_IN };
    } catch (error) {
      if (this.#isComplete) return { isGood: true, text: SIGNED_IN };
      this.#ports.onFailedAnswer(this.#ports.explain(error));
      return { isGood: false, text: FAILED };
    }
  }

  /**
   * RFC 6749 section 10.12: before there is a question nothing is the answer. A provider of the host's that gives no
   * state relies on PKCE alone.
   */
  #isOurs(params: URLSearchParams): boolean {
    if (this.#url === undefined) return false;
    const state = new URL(this.#url).searchParams.get('state');
    const given = params.get('state');
    return state === null || (given !== null && isSame(state, given));
  }

  /** Why an answer cannot be used, if it cannot. */
  #refusalIn(params: URLSearchParams): TransportError | undefined {
    const refuse = (message: string): TransportError =>
      new TransportError({ code: 'auth-required', message, hint: 'Retry it to be asked again.' });
    if (!this.#isOurs(params)) return refuse('The answer belongs to another sign-in: its state is wrong.');
    const issuer = params.get('iss');
    // RFC 9207 section 2.4.
    if (issuer !== null && this.#place !== undefined && !isSameIssuer(issuer, this.#place.issuer)) {
      return refuse('The answer comes from another authorization server than the one that was asked.');
    }
    const error = params.get('error');
    if (error === null) return undefined;
    return refuse(`The sign-in was refused (${error.replace(/[^\w.-]/g, '').slice(0, 60)}).`);
  }

  /** A code is for one use (RFC 6749 section 4.1.2): the same one again shares what came of it. */
  #exchange(code: string): Promise<void> {
    const under = this.#exchanges.get(code);
    if (under !== undefined) return under;
    const exchange = this.#exchangeNow(code);
    this.#exchanges.set(code, exchange);
    // What failed may work by the next try.
    exchange.catch(() => this.#exchanges.delete(code));
    return exchange;
  }

  async #exchangeNow(code: string): Promise<void> {
    const { provider, requests, exclusively, explain } = this.#ports;
    const place = this.#place;
    if (place === undefined || code === '') throw explain(new Error('the answer holds no code.'));
    const { issuer } = place;
    try {
      await exclusively(async () => {
        const request = { ...tokenRequest(place, requests.fetch), authorizationCode: code };
        const tokens = await fetchToken(provider, issuer, request);
        await provider.saveTokens({ ...tokens, issuer });
      });
    } catch (error) {
      const failure = explain(error, [code, await provider.codeVerifier()]);
      if (isClientRefusal(error)) await this.#dropClient(failure);
      throw failure;
    }
    this.#complete();
  }

  /** No answer to this question can be taken: the next sign-in registers anew. */
  async #dropClient(failure: TransportError): Promise<void> {
    const { provider, exclusively } = this.#ports;
    const forgotten = exclusively(async () => provider.invalidateCredentials?.('client'));
    await forgotten.finally(() => this.#fail(failure));
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

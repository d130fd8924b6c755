/**
 * The sign-in to one server, for every connection that uses it: gives the HTTP transports their token, renews it, and
 * lets a person sign in where that is not enough.
 *
 * U1. A token is renewed ahead of its end, and once when the server refuses it. Whatever asks meanwhile shares that.
 * U2. A person is asked only where no token can be had otherwise, and at most `MOST_FRUITLESS` times in a row for tokens
 *     that the server refuses soon after.
 * U3. More scopes are asked for once: a server that wants what was asked for already gets no further sign-in.
 */
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { KnownSecrets } from '../known-secrets.js';
import type { Clock } from '../ports.js';
import type { Mask } from '../secrets.js';
import type { HttpAuth, StepUp } from '../transports/http/session-requests.js';
import { TransportError } from '../transports/session-transport.js';
import { toSignInFailure } from './auth-failure.js';
import { openAuthFetch } from './auth-fetch.js';
import { metadataAddress, parseChallenge, toScopes, type Challenge } from './challenge.js';
import { discover, type AuthorizationPlace } from './discovery.js';
import { HeldToken } from './held-token.js';
import { ScopeLedger } from './scope-ledger.js';
import { SignIn, type SignInPorts } from './sign-in.js';
import { TokenRenewal } from './token-renewal.js';

export interface AccountParts extends Pick<
  SignInPorts,
  'server' | 'provider' | 'redirected' | 'redirectPort' | 'isInteractive' | 'watch' | 'ask'
> {
  readonly clock: Clock;
  /** The only authorization server that the client may be used at. */
  readonly clientIssuer: string | undefined;
  /** What the provider has given and taken, and what the client itself keeps secret. */
  readonly secrets: KnownSecrets;
  readonly exclusively: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  readonly diagnose: (kind: string, message: string) => void;
}

/** A token refused sooner after its sign-in was fruitless. */
const SOON_MS = 60_000;
const MOST_FRUITLESS = 3;

export class Account implements HttpAuth {
  readonly #parts: AccountParts;
  readonly #renewal = new TokenRenewal();
  /** Ends waiting for a turn and every request, but not before `close()` has given them time. */
  readonly #stop = new AbortController();
  #held: HeldToken | undefined;
  /** What is kept has been looked at for the present sessions. */
  #isRead = false;
  #renewing: Promise<boolean> | undefined;
  #challenge: Challenge = parseChallenge(undefined);
  #place: { readonly of: string | undefined; readonly found: AuthorizationPlace } | undefined;
  /** The token that the server refused last. */
  #refused: string | undefined;
  /** What was refused after a renewal was somebody else's: the means to renew it came with it. */
  #mayRenewAgain = false;
  readonly #scopes = new ScopeLedger();
  #signIn: SignIn | undefined;
  #signedInAt = -Infinity;
  #fruitless = 0;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  /** Where a person can sign in now. */
  get url(): string | undefined {
    return this.#isSigningIn ? this.#signIn?.url : undefined;
  }

  /** Strikes out the tokens in use and those of before, and what the client itself keeps secret. */
  readonly mask: Mask = (text) => this.#parts.secrets.mask(text);

  /** A new session looks at what is kept: somebody else may have signed in, or out. */
  reopen(): void {
    this.#isRead = false;
  }

  async token(): Promise<string | undefined> {
    if (!this.#isRead) await this.#read();
    if (this.#isDue()) await this.#renewAhead();
    return this.#held?.accessToken;
  }

  async refresh(
    { wwwAuthenticate }: { readonly wwwAuthenticate: string | undefined },
    refused: string | undefined,
  ): Promise<boolean> {
    this.#challenge = parseChallenge(wwwAuthenticate);
    if (this.#held?.accessToken !== refused) return true;
    this.#refused = refused;
    return this.#renew(true, this.#challenge.scopes);
  }

  refused(token: string | undefined): void {
    this.#refused = token;
    this.#mayRenewAgain = this.#held?.isAdopted === true;
  }

  async stepUp(wwwAuthenticate: string | undefined, token: string | undefined): Promise<StepUp> {
    const challenge = parseChallenge(wwwAuthenticate);
    if (challenge.error !== 'insufficient_scope') return 'hopeless';
    if (this.#held?.accessToken !== token) return 'renewed';
    if (!this.#scopes.demand(challenge.scopes, this.#granted())) return 'hopeless';
    this.#challenge = challenge;
    if (this.#isAttended) {
      this.#refused = token;
      return 'sign-in';
    }
    const scopes = this.#scopesToAsk();
    const isRenewed = await this.#renew(true, scopes);
    this.#scopes.answered(scopes);
    return isRenewed ? 'renewed' : 'hopeless';
  }

  /**
   * Resolves when somebody is signed in, whoever it was. `tell` gets the address where a person can do so. Rejects with
   * a `TransportError` where nobody can, and with the reason of the signal.
   */
  async signIn(tell: (url: string) => void, signal: AbortSignal): Promise<void> {
    if (!this.#isSigningIn && (await this.#isSignedIn())) return this.reopen();
    if (!this.#isSigningIn) this.#signIn = this.#beginSignIn(this.#signIn?.closed);
    await this.#signIn?.join(tell, signal);
    this.reopen();
  }

  /** Takes the answer to `url`. Rejects with a `TransportError` where it is wrong. */
  async finish(answer: string): Promise<void> {
    await this.#signIn?.finish(answer);
  }

  /** A renewal that is under way is let finish until the signal aborts: its refresh token is used up already. */
  async close(hurry: AbortSignal): Promise<void> {
    this.#signIn?.end();
    const cut = (): void => this.#stop.abort();
    hurry.addEventListener('abort', cut, { once: true });
    if (hurry.aborted) cut();
    await Promise.allSettled([this.#renewing, this.#signIn?.closed]);
    hurry.removeEventListener('abort', cut);
    cut();
  }

  get #isSigningIn(): boolean {
    return this.#signIn?.isOver === false;
  }

  /** A person can be asked. */
  get #isAttended(): boolean {
    return this.#parts.provider.redirectUrl !== undefined;
  }

  async #read(): Promise<void> {
    const tokens = await this.#parts.provider.tokens();
    this.#isRead = true;
    this.#hold(tokens, { isAdopted: true });
  }

  #hold(tokens: OAuthTokens | undefined, { isAdopted }: { readonly isAdopted: boolean }): void {
    if (isAdopted && tokens?.access_token === this.#held?.accessToken) return;
    const { clock } = this.#parts;
    this.#held = tokens === undefined ? undefined : new HeldToken(tokens, { isAdopted, now: clock.now() });
  }

  #isDue(): boolean {
    if (this.#held === undefined) return !this.#isAttended;
    return this.#held.isDue(this.#parts.clock.now());
  }

  /** While the token still lives, what keeps it from being renewed is tried again later. */
  async #renewAhead(): Promise<void> {
    const held = this.#held;
    try {
      if (!(await this.#renew(false, []))) held?.isNotRenewable();
    } catch (error) {
      const now = this.#parts.clock.now();
      if (held === undefined || held.hasEnded(now)) throw error;
      held.tryLater(now);
    }
  }

  #renew(isRefused: boolean, scopes: readonly string[]): Promise<boolean> {
    this.#renewing ??= this.#renewNow(isRefused, scopes).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewNow(isRefused: boolean, scopes: readonly string[]): Promise<boolean> {
    const { provider, server, exclusively } = this.#parts;
    const accessToken = this.#held?.accessToken;
    return this.#withFetch((fetch) =>
      exclusively(async () => {
        const renewed = await this.#renewal.renew(
          {
            provider,
            server: server.name,
            fetch,
            place: () => this.#placeOf(fetch),
            mask: () => this.mask,
          },
          { accessToken, isRefused, scopes },
        );
        if (renewed !== undefined) this.#hold(renewed.tokens, renewed);
        return renewed !== undefined;
      }, this.#stop.signal),
    );
  }

  #beginSignIn(before: Promise<void> | undefined): SignIn {
    const { clock, exclusively, server } = this.#parts;
    this.#fruitless = clock.now() - this.#signedInAt < SOON_MS ? this.#fruitless + 1 : 0;
    if (this.#fruitless >= MOST_FRUITLESS) throw fruitless(server.name);
    const scopes = this.#scopesToAsk();
    const signIn = new SignIn(
      {
        ...this.#parts,
        scopes,
        requests: openAuthFetch({ serverUrl: server.url, clock, signal: this.#stop.signal }),
        place: (fetch) => this.#placeOf(fetch, true),
        exclusively: (work) => exclusively(work, this.#stop.signal),
        hasOther: () => this.#hasOther(),
        renew: async () => void (await this.#renew(true, scopes)),
        explain: (error, secrets) => this.#explain(error, secrets),
        onFailedAnswer: ({ message }) => this.#parts.diagnose('sign-in-failed', message),
      },
      before,
    );
    const complete = (): void => {
      this.#signedInAt = clock.now();
      this.#scopes.answered(scopes);
    };
    signIn.done.then(complete, () => {});
    return signIn;
  }

  /** No person is needed after all. */
  async #isSignedIn(): Promise<boolean> {
    const mayRenew = this.#mayRenewAgain;
    this.#mayRenewAgain = false;
    try {
      return (await this.#hasOther()) || (mayRenew && (await this.#renew(true, [])));
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Another token is kept than the one that was no good. */
  async #hasOther(): Promise<boolean> {
    const kept = await this.#parts.provider.tokens();
    return kept !== undefined && kept.access_token !== this.#refused && kept.expires_in !== 0;
  }

  #scopesToAsk(): readonly string[] {
    return this.#scopes.toAsk(this.#granted(), this.#challenge.scopes);
  }

  #granted(): readonly string[] {
    return toScopes(this.#held?.scope);
  }

  async #placeOf(fetch: FetchLike, isFresh = false): Promise<AuthorizationPlace> {
    const { server, provider, clientIssuer } = this.#parts;
    const resourceMetadata = metadataAddress(this.#challenge, server.url);
    if (!isFresh && this.#place !== undefined && this.#place.of === resourceMetadata)
      return this.#place.found;
    const found = await discover({
      serverUrl: server.url,
      resourceMetadataUrl: resourceMetadata,
      clientIssuer,
      provider,
      fetch,
    });
    this.#place = { of: resourceMetadata, found };
    return found;
  }

  async #withFetch<T>(work: (fetch: FetchLike) => Promise<T>): Promise<T> {
    const { server, clock } = this.#parts;
    const requests = openAuthFetch({ serverUrl: server.url, clock, signal: this.#stop.signal });
    try {
      return await work(requests.fetch);
    } finally {
      await requests.close();
    }
  }

  #explain(error: unknown, secrets: readonly string[] = []): TransportError {
    this.#parts.secrets.remember(secrets);
    return toSignInFailure(error, this.#parts.server.name, this.mask);
  }
}

function fruitless(server: string): TransportError {
  return new TransportError({
    code: 'auth-required',
    message: `'${server}' has refused the tokens of ${MOST_FRUITLESS} sign-ins in a row.`,
    hint: 'The sign-in works, but the server wants something else: see what its operator says. Retry it in a minute.',
  });
}

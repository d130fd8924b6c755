/**
 * The effects of an account's chart: they read and renew tokens, look for tokens that others stored, and ask a person.
 * Owns the tokens and codes that the chart knows by number; decides nothing. Longer than 300 lines because the effects share
 * these tokens and codes.
 *
 * E1. An effect resolves with a plain record or rejects with a `Failure`; neither holds a secret.
 * E2. A renewal that has begun goes on even if its state is exited, until `cutWork`: its refresh token is already used
 *     up.
 */
import { fromCallback, type NonReducibleUnknown } from 'xstate';
import type { OAuthTokens } from '../../mcp/oauth.js';
import type { FetchLike } from '../../mcp/transport.js';
import type { Failure } from '../../../machines/policy/failure.js';
import type { TokenFacts } from '../../../machines/policy/token-life.js';
import type {
  BeginSignInInput,
  BeginSignInOutput,
  ExchangeCodeInput,
  ExchangeCodeOutput,
  LookForOtherInput,
  LookForOtherOutput,
  OpenRedirectInput,
  ReadTokensOutput,
  RenewTokenInput,
  RenewTokenOutput,
  SignInEvent,
  SignInKey,
} from '../../../machines/sign-in/sign-in.events.js';
import { signInMachine } from '../../../machines/sign-in/sign-in.machine.js';
import { type Nothing, plainEffect } from '../../actors/effect.js';
import { maskFailure } from '../../secrets/secrets.js';
import type { TransportError } from '../../failures/transport-error.js';
import type { AuthSessionParts } from './account.js';
import { askHost, isClientRefusal, toSignInFailure } from '../auth-failure.js';
import { openAuthFetch } from '../auth-fetch.js';
import { metadataAddress, parseChallenge, toScopes, type Challenge } from '../challenge.js';
import { discover, type AuthorizationLocation } from '../auth-server-discovery.js';
import { SignIn, type SignInPorts } from '../sign-in.js';
import { TokenRenewal } from './token-renewal.js';

/** What a sign-in needs from the chart. */
export type ChartPorts = Pick<SignInPorts, 'isAsked' | 'answered'>;

export class AccountEffects {
  readonly tokens = new TokenNumbers();
  /** The server's latest challenge. */
  #challenge: Challenge = parseChallenge(undefined);
  readonly #parts: AuthSessionParts;
  readonly #chart: ChartPorts;
  readonly #renewal = new TokenRenewal();
  /** Ends every request, and every wait for a turn. */
  readonly #stop = new AbortController();
  #place: { readonly of: string | undefined; readonly found: AuthorizationLocation } | undefined;
  #renewing: Promise<unknown> | undefined;
  #unwatch: () => void = () => {};
  /** The sign-in under way, or the last one. */
  #signIn: SignIn | undefined;

  constructor(parts: AuthSessionParts, chart: ChartPorts) {
    this.#parts = parts;
    this.#chart = chart;
  }

  get machine(): typeof signInMachine {
    return signInMachine.provide({
      actors: {
        readTokens: this.#effect<ReadTokensOutput>(() => this.#read()),
        renewToken: this.#effect<RenewTokenOutput, RenewTokenInput>((stale) => this.#renew(stale)),
        lookForOther: this.#effect<LookForOtherOutput, LookForOtherInput>(async ({ refused }) => ({
          found: await this.#hasOther(refused),
        })),
        watchForOthers: fromCallback<SignInEvent, LookForOtherInput>(({ input, sendBack }) =>
          this.#watch(input, () => sendBack({ type: 'other.signedIn' })),
        ),
        openRedirect: fromCallback<SignInEvent, OpenRedirectInput>(({ input, sendBack }) =>
          this.#open(input, sendBack),
        ),
        beginSignIn: this.#effect<BeginSignInOutput, BeginSignInInput>(async ({ scopes }) => ({
          kind: await this.#current.begin(scopes),
        })),
        askPerson: this.#effect<Nothing, SignInKey>(() => this.#ask()),
        exchangeCode: this.#effect<ExchangeCodeOutput, ExchangeCodeInput>(({ answer }) =>
          this.#exchange(answer),
        ),
        dropClient: this.#effect<Nothing, SignInKey>(() => this.#dropClient()),
        finishWork: this.#effect<Nothing>(() => this.#finish()),
        cutWork: this.#effect<Nothing>(() => {
          this.#stop.abort();
          return this.#finish();
        }),
      },
    });
  }

  /** Where a person can sign in, if a person was asked. */
  get url(): string | undefined {
    return this.#signIn?.url;
  }

  /** Takes the answer to `url`. Rejects with a `TransportError` if it is wrong. */
  finish(answer: string): Promise<void> {
    return this.#current.finish(answer);
  }

  explain(error: unknown): TransportError {
    const { server, secrets } = this.#parts;
    const { authorizationServerMetadata, resourceMetadata } = this.#place?.found.state ?? {};
    const hasMetadata =
      this.#place === undefined ||
      authorizationServerMetadata !== undefined ||
      resourceMetadata !== undefined;
    return toSignInFailure(error, server.name, secrets.mask, hasMetadata);
  }

  get #current(): SignIn {
    if (this.#signIn === undefined) throw new Error('no sign-in is in progress.');
    return this.#signIn;
  }

  #effect<TOutput extends object, TInput = NonReducibleUnknown>(work: (input: TInput) => Promise<TOutput>) {
    return plainEffect<TOutput, TInput>((error) => this.#failure(error), work);
  }

  #failure(error: unknown): Failure {
    const { clock, secrets } = this.#parts;
    const { failure } = this.explain(error);
    return maskFailure({ ...failure, phase: 'handshake', at: clock.now() }, secrets.mask);
  }

  async #read(): Promise<ReadTokensOutput> {
    const { provider, clock } = this.#parts;
    const kept = await provider.tokens();
    return { found: kept === undefined ? null : this.#facts(kept), at: clock.now() };
  }

  #facts({ access_token, scope, expires_in: seconds }: OAuthTokens): TokenFacts {
    const isKnown = seconds !== undefined && Number.isFinite(seconds);
    return {
      token: this.tokens.numberOf(access_token),
      scopes: this.#withoutSecrets(toScopes(scope)),
      expiresInMs: isKnown ? seconds * 1_000 : null,
    };
  }

  /** Drops every scope that repeats a secret. */
  #withoutSecrets(scopes: readonly string[]): readonly string[] {
    return scopes.filter((scope) => this.#parts.secrets.mask(scope) === scope);
  }

  /** Keeps the server's challenge and returns the scopes that it names. */
  challenged(challenge: Challenge): readonly string[] {
    this.#challenge = challenge;
    return this.#withoutSecrets(challenge.scopes);
  }

  #renew(stale: RenewTokenInput): Promise<RenewTokenOutput> {
    const renewing = this.#renewNow(stale);
    this.#renewing = renewing;
    return renewing;
  }

  async #renewNow({ token, cause, scopes }: RenewTokenInput): Promise<RenewTokenOutput> {
    const { provider, server, exclusively, clock, secrets } = this.#parts;
    const renewed = await this.#withFetch((fetch) =>
      exclusively(
        () =>
          this.#renewal.renew(
            {
              provider,
              server: server.name,
              fetch,
              place: () => this.#placeOf(fetch),
              mask: () => secrets.mask,
            },
            { accessToken: this.tokens.tokenOf(token), isRefused: cause !== 'due', scopes },
          ),
        this.#stop.signal,
      ),
    );
    const found = renewed === undefined ? null : this.#facts(renewed.tokens);
    return { found, adopted: renewed?.isAdopted === true, at: clock.now() };
  }

  /** Whether another token than the refused one is stored. */
  async #hasOther(refused: number): Promise<boolean> {
    const kept = await this.#parts.provider.tokens();
    return kept !== undefined && kept.access_token !== this.tokens.tokenOf(refused) && kept.expires_in !== 0;
  }

  /** If the tokens cannot be read, it waits for the next change. */
  async #look({ refused }: LookForOtherInput, found: () => void): Promise<void> {
    if (await this.#hasOther(refused).catch(() => false)) found();
  }

  /** If the chart dies, its effects go on: a watch ends when the next one begins, or with the account. */
  #watch(input: LookForOtherInput, found: () => void): () => void {
    this.#unwatch();
    const end = this.#parts.watch(() => void this.#look(input, found));
    this.#unwatch = () => {
      this.#unwatch = () => {};
      end();
    };
    return this.#unwatch;
  }

  #open(
    { interactive }: OpenRedirectInput,
    sendBack: (event: SignInEvent) => void,
  ): (() => void) | undefined {
    if (!interactive) return undefined;
    // Both may need the same port.
    const before = this.#signIn?.end();
    const signIn = this.#begin(sendBack);
    const opened = async (): Promise<void> => {
      await before;
      await signIn.open();
    };
    opened().then(
      () => sendBack({ type: 'redirect.opened' }),
      (error: unknown) => sendBack({ type: 'redirect.failed', failure: this.#failure(error) }),
    );
    return () => void signIn.end();
  }

  #begin(sendBack: (event: SignInEvent) => void): SignIn {
    const { server, clock, network, exclusively, diagnose, secrets } = this.#parts;
    const { signal } = this.#stop;
    this.#signIn = new SignIn({
      ...this.#parts,
      ...this.#chart,
      requests: openAuthFetch({ serverUrl: server.url, clock, network, named: this.#named, signal }),
      place: (fetch) => this.#placeOf(fetch, true),
      exclusively: (work) => exclusively(work, signal),
      remember: (found) => secrets.remember(found),
      explain: (error) => this.explain(error),
      refused: (error) => sendBack({ type: 'answer.refused', failure: this.#failure(error) }),
      onFailedAnswer: ({ message }) => diagnose('sign-in-failed', message),
    });
    return this.#signIn;
  }

  async #ask(): Promise<Nothing> {
    const signIn = this.#current;
    const { url } = signIn;
    if (url === undefined) throw new Error('no address is known.');
    const answer = await askHost("'onAuthorizationUrl'", () => this.#parts.ask(url));
    if (typeof answer === 'string') await signIn.finish(answer);
    return {};
  }

  async #exchange(answer: number): Promise<ExchangeCodeOutput> {
    try {
      await this.#current.exchange(answer);
      return { kind: 'exchanged' };
    } catch (error) {
      if (!isClientRefusal(error)) throw error;
      return { kind: 'clientRefused', failure: this.#failure(error) };
    }
  }

  async #dropClient(): Promise<Nothing> {
    const { provider, exclusively } = this.#parts;
    await exclusively(async () => provider.invalidateCredentials?.('client'), this.#stop.signal);
    return {};
  }

  async #finish(): Promise<Nothing> {
    this.#unwatch();
    await Promise.allSettled([this.#renewing, this.#signIn?.end()]);
    this.#stop.abort();
    return {};
  }

  async #placeOf(fetch: FetchLike, isFresh = false): Promise<AuthorizationLocation> {
    const { server, provider, clientIssuer, endpoints } = this.#parts;
    const resourceMetadata = metadataAddress(this.#challenge, server.url);
    if (!isFresh && this.#place !== undefined && this.#place.of === resourceMetadata)
      return this.#place.found;
    const found = await discover({
      serverUrl: server.url,
      resourceMetadataUrl: resourceMetadata,
      clientIssuer,
      endpoints,
      provider,
      fetch,
    });
    this.#place = { of: resourceMetadata, found };
    return found;
  }

  /** The addresses of the authorization server that the entry or the host names. */
  get #named(): readonly string[] {
    const { clientIssuer, endpoints } = this.#parts;
    const addresses: readonly string[] = endpoints === undefined ? [] : Object.values(endpoints);
    return clientIssuer === undefined ? addresses : [...addresses, clientIssuer];
  }

  async #withFetch<T>(work: (fetch: FetchLike) => Promise<T>): Promise<T> {
    const { server, clock, network } = this.#parts;
    const { signal } = this.#stop;
    const requests = openAuthFetch({ serverUrl: server.url, clock, network, named: this.#named, signal });
    try {
      return await work(requests.fetch);
    } finally {
      await requests.close();
    }
  }
}

// The numbers that stand for tokens in the chart, so that no token enters it.

/** More than a chart refers to at once: the token in use, the refused one, and one being read. */
const MAX_TOKENS = 8;

export class TokenNumbers {
  /** Least recently used first. */
  readonly #tokens = new Map<number, string>();
  #last = 0;

  /** 0 stands for no token. A token keeps its number while it is among the most recently used. */
  numberOf(token: string | undefined): number {
    if (token === undefined) return 0;
    const number = this.#find(token) ?? (this.#last += 1);
    this.#tokens.delete(number);
    this.#tokens.set(number, token);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > MAX_TOKENS && oldest !== undefined) this.#tokens.delete(oldest);
    return number;
  }

  tokenOf(number: number): string | undefined {
    return this.#tokens.get(number);
  }

  #find(token: string): number | undefined {
    for (const [number, known] of this.#tokens) if (known === token) return number;
    return undefined;
  }
}

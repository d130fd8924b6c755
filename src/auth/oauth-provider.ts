/**
 * Troupe's own `OAuthClientProvider`: what the store keeps, and what a sign-in needs while it lasts.
 *
 * O1. The verifier and the state of a sign-in live in memory only.
 * O2. A client that was registered for another redirect is not used: Troupe registers again.
 * O3. If the store cannot be used, the sign-in is kept in memory, and that is reported once. A store that cannot be read
 *     for a while throws a `TransportError`, which the connection outlasts.
 */
import { randomBytes } from 'node:crypto';
import type {
  AddClientAuthentication,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '../mcp/oauth.js';
import type { Clock } from '../ports.js';
import type { OAuthClient } from './auth-options.js';
import { TransportError } from '../failures/transport-error.js';
import type { StoredSignIn, TokenOwner, TokenStore } from './stores/token-store.js';
import { isObject } from '../config/entry/read-shape.js';
import { isSendable } from './oauth-answer.js';
import { parseUrl } from '../text/parse-url.js';

export interface StoredProviderOptions {
  readonly owner: TokenOwner;
  readonly store: TokenStore;
  readonly clock: Clock;
  readonly clientName: string;
  readonly client: OAuthClient | undefined;
  readonly clientMetadataUrl: string | undefined;
  readonly scope: string | undefined;
  /** Signs the requests of a client that has a key. */
  readonly addClientAuthentication: AddClientAuthentication | undefined;
  /** Builds the token request of a client that needs no person. */
  readonly unattendedRequest: UnattendedRequest | undefined;
  /** Where the browser is redirected; undefined if each sign-in opens a listener. */
  readonly redirectUrl: string | undefined;
  /** Called if the store cannot be used. */
  readonly onUnsaved: (error: unknown) => void;
}

/** `state` is undefined if nothing was discovered. */
export type UnattendedRequest = (
  scope: string | undefined,
  state: OAuthDiscoveryState | undefined,
) => Promise<URLSearchParams> | URLSearchParams;

/** Stands for an unknown redirect while no sign-in is under way. */
const SOMEWHERE = 'http://127.0.0.1/callback';

export class StoredOAuthProvider implements OAuthClientProvider {
  /** Where the browser is redirected; undefined for a client that needs no person. */
  redirectUrl: string | undefined;
  declare readonly clientMetadataUrl?: string;
  declare readonly addClientAuthentication?: AddClientAuthentication;
  declare readonly prepareTokenRequest?: (scope?: string) => Promise<URLSearchParams> | URLSearchParams;
  readonly #options: StoredProviderOptions;
  #verifier: string | undefined;
  #discovered: OAuthDiscoveryState | undefined;
  /** What the store could not save. */
  #unsaved: StoredSignIn | undefined;

  constructor(options: StoredProviderOptions) {
    this.#options = options;
    const { unattendedRequest } = options;
    this.redirectUrl = unattendedRequest === undefined ? (options.redirectUrl ?? SOMEWHERE) : undefined;
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
    if (options.addClientAuthentication !== undefined)
      this.addClientAuthentication = options.addClientAuthentication;
    if (unattendedRequest !== undefined)
      this.prepareTokenRequest = (scope) => unattendedRequest(scope, this.#discovered);
  }

  get clientMetadata(): OAuthClientMetadata {
    const { clientName, scope } = this.#options;
    return {
      client_name: clientName,
      redirect_uris: this.redirectUrl === undefined ? [] : [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      // OpenID Connect registers a web application by default, which may not redirect to this machine.
      ...{ application_type: 'native' },
      ...(scope === undefined ? {} : { scope }),
    };
  }

  state(): string {
    return randomBytes(32).toString('base64url');
  }

  async clientInformation(): Promise<OAuthClientInformationMixed | undefined> {
    const { client, clock } = this.#options;
    if (client !== undefined) return toClientInformation(client);
    const { client: registered, redirectUrl } = await this.#read();
    const isMeant = this.redirectUrl === SOMEWHERE || redirectUrl === this.redirectUrl;
    return registered !== undefined && isMeant && !isExpired(registered, clock.now())
      ? registered
      : undefined;
  }

  async saveClientInformation(client: OAuthClientInformationMixed): Promise<void> {
    if (this.#options.client !== undefined) return;
    const { redirectUrl } = this;
    await this.#write({
      ...(await this.#read()),
      client,
      ...(redirectUrl === undefined ? {} : { redirectUrl }),
    });
  }

  /** `expires_in` counts from now; 0 if the access token has expired. */
  async tokens(): Promise<OAuthTokens | undefined> {
    const { tokens, expiresAt } = await this.#read();
    if (tokens === undefined || expiresAt === undefined) return tokens;
    const left = Math.floor((expiresAt - this.#options.clock.now()) / 1_000);
    return { ...tokens, expires_in: Math.max(0, left) };
  }

  async saveTokens({ expires_in: seconds, ...tokens }: OAuthTokens): Promise<void> {
    const { expiresAt: _, ...kept } = await this.#read();
    const expiresAt = this.#options.clock.now() + (seconds ?? 0) * 1_000;
    await this.#write({ ...kept, tokens, ...(isLifetime(seconds) ? { expiresAt } : {}) });
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  /** Does nothing: the sign-in already has the address. */
  redirectToAuthorization(): void {}

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    if (this.#verifier === undefined) throw new Error('no sign-in is in progress.');
    return this.#verifier;
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (scope === 'verifier') this.#verifier = undefined;
    const { tokens: _, expiresAt: __, ...withoutTokens } = await this.#read();
    const { client: ___, redirectUrl: ____, ...withoutClient } = await this.#read();
    if (scope === 'tokens') await this.#write(withoutTokens);
    if (scope === 'client') await this.#write(withoutClient);
    if (scope === 'all') await this.#write({});
  }

  /** The redirect of the registered client; the next sign-in uses it again if possible. */
  async registeredRedirect(): Promise<string | undefined> {
    return (await this.#read()).redirectUrl;
  }

  /** Forgets what belongs to the sign-in that was under way. */
  endSignIn(): void {
    this.#verifier = undefined;
    if (this.redirectUrl !== undefined) this.redirectUrl = SOMEWHERE;
  }

  async #read(): Promise<StoredSignIn> {
    const { store, owner } = this.#options;
    if (this.#unsaved !== undefined) return this.#unsaved;
    try {
      return usableSignIn(await store.read(owner));
    } catch (error) {
      if (error instanceof TransportError) throw error;
      return this.#keep({}, error);
    }
  }

  async #write(signIn: StoredSignIn): Promise<void> {
    const { store, owner } = this.#options;
    const isEmpty = Object.keys(signIn).length === 0;
    try {
      await (isEmpty ? store.forget(owner) : store.write(owner, signIn));
      this.#unsaved = undefined;
    } catch (error) {
      this.#keep(signIn, error);
    }
  }

  #keep(signIn: StoredSignIn, error: unknown): StoredSignIn {
    if (this.#unsaved === undefined) this.#options.onUnsaved(error);
    this.#unsaved = signIn;
    return signIn;
  }
}

function toClientInformation({ clientId, clientSecret, issuer }: OAuthClient): OAuthClientInformationMixed {
  return {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    ...(issuer === undefined ? {} : { issuer }),
  };
}

/** 0 means never (RFC 7591 section 3.2.1). */
function isExpired({ client_secret_expires_at: at = 0 }: OAuthClientInformationMixed, now: number): boolean {
  return at !== 0 && at * 1_000 <= now;
}

function isLifetime(seconds: number | undefined): boolean {
  return seconds !== undefined && Number.isFinite(seconds) && seconds > 0;
}

// Validates a stored sign-in: another version or a person may have written it. Pure.

/** Drops fields that cannot be used, and keeps unknown ones. */
function usableSignIn(kept: unknown): StoredSignIn {
  if (!isObject(kept)) return {};
  const { tokens, expiresAt, client, redirectUrl, ...unknown } = kept as StoredSignIn;
  const hasTokens = isObject(tokens) && isSendable(tokens.access_token);
  return {
    ...unknown,
    ...(hasTokens && { tokens: withoutUnfit(tokens, ['refresh_token', 'scope', 'issuer']) }),
    ...(hasTokens && typeof expiresAt === 'number' && { expiresAt }),
    ...(isObject(client) &&
      typeof client.client_id === 'string' && { client: withoutUnfit(client, ['client_secret', 'issuer']) }),
    ...(typeof redirectUrl === 'string' && parseUrl(redirectUrl) !== undefined && { redirectUrl }),
  };
}

/** Drops each of the named fields that is not a string. */
function withoutUnfit<T extends object>(fields: T, texts: readonly (keyof T & string)[]): T {
  const isFit = ([name, value]: readonly [string, unknown]): boolean =>
    typeof value === 'string' || !texts.some((text) => text === name);
  return Object.fromEntries(Object.entries(fields).filter(isFit)) as T;
}

// The same provider with some members replaced. Its own methods still run on the original, so private fields work.

export function viewOf(
  provider: OAuthClientProvider,
  replaced: Partial<OAuthClientProvider>,
): OAuthClientProvider {
  return new Proxy(provider, {
    get: (target, name) => {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name) as unknown;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

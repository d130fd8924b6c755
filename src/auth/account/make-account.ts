/**
 * Makes an account: with Troupe's own provider and a store, or with a provider of the host. For Troupe's own provider
 * it prepares how the client proves itself: by a key, or by a grant that needs no person.
 */
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthClientInformationMixed,
  OAuthTokens,
} from '../../mcp/oauth.js';
import { KnownSecrets } from '../../secrets/known-secrets.js';
import { PACKAGE } from '../../package.js';
import { messageOf, codeOf } from '../../text/error-message.js';
import { TransportError } from '../../failures/transport-error.js';
import { AuthSession, type AuthSessionParts } from './account.js';
import type { AuthServer, OAuthClient, AssertionRequest } from '../auth-options.js';
import type { AccountOptions } from '../entry-oauth.js';
import { createFileTokenStore } from '../stores/file-token-store.js';
import { StoredOAuthProvider, type UnattendedRequest, viewOf } from '../oauth-provider.js';
import { openBrowser } from '../open-browser.js';
import { ownerOf, type TokenOwner, type TokenStore } from '../stores/token-store.js';
import { Mutex } from '../../async/semaphore.js';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { askHost } from '../auth-failure.js';
import type { StoreHost } from '../../config/files/user-store.js';

export type AccountEnvironment = Pick<AuthSessionParts, 'clock' | 'network' | 'diagnose' | 'roots' | 'id'> &
  Required<StoreHost>;

/** `client` is the one the options name for this server. */
export async function ownAccount(
  server: AuthServer,
  options: AccountOptions,
  client: OAuthClient | undefined,
  { cwd, ...environment }: AccountEnvironment,
): Promise<AuthSession> {
  const { clock, diagnose } = environment;
  const { clientMetadataUrl, redirectUrl, pinnedScope, loopback, endpoints, onAuthorizationUrl } = options;
  const scope = pinnedScope ?? options.scope;
  const store = options.store ?? createFileTokenStore({ cwd });
  const owner = ownerOf(server.url, client?.clientId ?? clientMetadataUrl, options.account);
  const provider = new StoredOAuthProvider({
    owner,
    store,
    clock,
    client,
    clientMetadataUrl,
    scope,
    redirectUrl,
    clientName: options.clientName ?? PACKAGE.name,
    addClientAuthentication: await signerOf(client),
    unattendedRequest: unattendedRequest(server, client),
    onUnsaved: (error) => diagnose('sign-in-not-stored', notStored(server, error)),
  });
  const secrets = new KnownSecrets(secretsOf(client));
  return new AuthSession({
    server,
    provider: remembering(provider, secrets),
    secrets,
    redirected: provider.redirectUrl === undefined || redirectUrl !== undefined ? undefined : provider,
    redirectPort: loopback?.port ?? options.redirectPort ?? 0,
    loopback,
    endpoints,
    pinnedScope,
    isInteractive: options.interactive ?? true,
    clientIssuer: client?.issuer,
    exclusively: takingTurns(owner, store),
    watch: (onChange) => store.watch?.(owner, onChange) ?? (() => {}),
    ask: (url) => {
      if (options.openBrowser === true) openBrowser(url);
      return onAuthorizationUrl?.({ server, url });
    },
    ...environment,
  });
}

/** The lock between processes depends on the address of the server alone, since the host's storage is unknown. */
export function hostedAccount(
  server: AuthServer,
  provider: OAuthClientProvider,
  { cwd, ...environment }: AccountEnvironment,
): AuthSession {
  const secrets = new KnownSecrets();
  return new AuthSession({
    server,
    provider: remembering(provider, secrets),
    secrets,
    redirected: undefined,
    redirectPort: 0,
    loopback: undefined,
    endpoints: undefined,
    pinnedScope: undefined,
    isInteractive: true,
    clientIssuer: undefined,
    exclusively: takingTurns(ownerOf(server.url, undefined), createFileTokenStore({ cwd })),
    watch: () => () => {},
    ask: () => undefined,
    ...environment,
  });
}

function notStored({ name }: AuthServer, error: unknown): string {
  const why = messageOf(error);
  return `The store of sign-ins cannot be used (${why}); the sign-in to '${name}' is lost when this process ends.`;
}

/** The secrets of a client, and the form in which they are sent (RFC 6749 section 2.3.1). */
function secretsOf({ clientId, clientSecret, privateKey }: Partial<OAuthClient> = {}) {
  const pair = clientSecret === undefined ? undefined : `${clientId}:${clientSecret}`;
  return [clientSecret, pair && Buffer.from(pair).toString('base64'), privateKey];
}

/** Signs for a client that has a key (RFC 7523 section 2.2). */
async function signerOf(client: OAuthClient | undefined) {
  if (client?.privateKey === undefined) return undefined;
  const { createPrivateKeyJwtAuth } = await import('@modelcontextprotocol/sdk/client/auth-extensions.js');
  const { clientId, algorithm = 'RS256' } = client;
  const privateKey = signingKey(client, client.privateKey, algorithm);
  return createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg: algorithm });
}

/**
 * Takes turns within this account and, by the store, between processes. If no lock can be made, for instance in a
 * read-only folder, the turns within the account must suffice.
 */
function takingTurns(owner: TokenOwner, store: TokenStore): AuthSessionParts['exclusively'] {
  const turns = new Mutex();
  return (work, signal) =>
    turns.take(
      '',
      async () => {
        if (store.exclusively === undefined) return work();
        let hasBegun = false;
        const begin: typeof work = () => {
          hasBegun = true;
          return work();
        };
        try {
          return await store.exclusively(owner, begin, signal);
        } catch (error) {
          if (hasBegun || signal.aborted || error instanceof TransportError) throw error;
          return work();
        }
      },
      signal,
    );
}

/** The provider, with each secret that it returns or receives remembered. */
function remembering(provider: OAuthClientProvider, secrets: KnownSecrets): OAuthClientProvider {
  const client = <T extends OAuthClientInformationMixed | undefined>(given: T): T => {
    if (given !== undefined) secrets.remember(clientSecrets(given));
    return given;
  };
  const tokens = <T extends OAuthTokens | undefined>(given: T): T => {
    if (given !== undefined) secrets.remember(tokenSecrets(given));
    return given;
  };
  // A parsed storage gives null for a missing value.
  const kept = <T>(given: T | null): T | undefined => given ?? undefined;
  const request = <T extends URLSearchParams | undefined>(given: T): T => {
    secrets.remember([given?.get('assertion') ?? undefined]);
    return given;
  };
  const verifier = (given: string): string => {
    secrets.remember([given]);
    return given;
  };
  const save = provider.saveClientInformation?.bind(provider);
  const prepare = provider.prepareTokenRequest?.bind(provider);
  return viewOf(provider, {
    tokens: async () => tokens(kept(await provider.tokens())),
    saveTokens: (given) => provider.saveTokens(tokens(given)),
    clientInformation: async () => client(kept(await provider.clientInformation())),
    ...(save !== undefined && { saveClientInformation: (given) => save(client(given)) }),
    ...(prepare !== undefined && { prepareTokenRequest: async (scope) => request(await prepare(scope)) }),
    codeVerifier: async () => verifier(await provider.codeVerifier()),
    saveCodeVerifier: (given) => provider.saveCodeVerifier(verifier(given)),
  });
}

function tokenSecrets({ access_token, refresh_token, id_token }: OAuthTokens) {
  return [access_token, refresh_token, id_token];
}

/**
 * The secret, the pair that is sent (RFC 6749 section 2.3.1), and the token that manages the registration (RFC 7592
 * section 3).
 */
function clientSecrets(client: OAuthClientInformationMixed): readonly (string | undefined)[] {
  const { client_id: id, client_secret: secret } = client;
  const { registration_access_token: management } = client as { registration_access_token?: unknown };
  const pair = secret === undefined ? undefined : Buffer.from(`${id}:${secret}`).toString('base64');
  return [secret, pair, typeof management === 'string' ? management : undefined];
}

/** The type or curve of the key for each algorithm (RFC 7518 section 3.1). */
const KINDS: Readonly<Record<string, string>> = {
  RS: 'rsa',
  PS: 'rsa',
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
};

/**
 * The key as PKCS #8 in PEM, from any form of PEM; checked before any request. Throws a `TransportError` if it cannot
 * be used.
 */
function signingKey(client: OAuthClient, pem: string, algorithm: string): string {
  const expected = KINDS[algorithm] ?? KINDS[algorithm.slice(0, 2)];
  // A shared secret has no type to check.
  if (expected === undefined) return pem;
  const key = readKey(client, pem);
  const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? 'nothing';
  if (kind !== expected) throw unusable(client, `is for '${kind}' and cannot sign as ${algorithm}.`);
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function readKey(client: OAuthClient, pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw unusable(client, `cannot be read (${codeOf(error) ?? 'it is not a key'}).`);
  }
}

function unusable({ clientId }: OAuthClient, why: string): TransportError {
  return new TransportError({
    code: 'config-invalid',
    message: `The privateKey of client '${clientId}' ${why}`,
    hint: "Give a private key in PEM, unencrypted and with its line breaks, and its 'algorithm'.",
  });
}

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Builds the token request of a grant without a person; undefined if a person signs in. */
function unattendedRequest(
  server: AuthServer,
  client: OAuthClient | undefined,
): UnattendedRequest | undefined {
  // RFC 6749 section 4.4.2.
  if (client?.grant === 'client-credentials') return (scope) => form('client_credentials', { scope });
  const { assertion } = client ?? {};
  if (client?.grant !== 'jwt-bearer' || assertion === undefined) return undefined;
  // RFC 7523 section 2.1.
  return async (scope, state) => {
    const request = toAssertionRequest(server, scope, state);
    const given: unknown = await askHost("the client's 'assertion'", () => assertion(request));
    if (typeof given !== 'string' || given === '')
      throw new Error("the client's 'assertion' returned no string.");
    return form(JWT_BEARER, { assertion: given, scope });
  };
}

function toAssertionRequest(
  server: AuthServer,
  scope: string | undefined,
  state: OAuthDiscoveryState | undefined,
): AssertionRequest {
  const {
    authorizationServerMetadata: metadata,
    authorizationServerUrl = '',
    resourceMetadata,
  } = state ?? {};
  return {
    server,
    issuer: metadata?.issuer ?? authorizationServerUrl,
    ...(resourceMetadata === undefined ? {} : { resource: resourceMetadata.resource }),
    ...(scope === undefined ? {} : { scope }),
  };
}

function form(grant: string, fields: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return new URLSearchParams([['grant_type', grant], ...given]);
}

/**
 * Finds the authorization server of a server, and checks that the metadata of both fit together.
 *
 * D1. The metadata of the protected resource must be about this server (RFC 9728 section 3.3); the metadata of the
 *     authorization server must be about itself (RFC 8414 section 3.3).
 * D2. Every address in them is protected at least as well as the server (`requireProtected`).
 * D3. A client that belongs to one authorization server is not sent to another.
 * D4. Addresses that the server must not choose are refused (`auth-reach.ts`).
 * D5. A look-up that is refused with 4xx means that there is no metadata; any other error ends the discovery.
 */
import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  selectResourceURL,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from '../mcp/oauth.js';
import { OAuthMetadataSchema } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '../mcp/transport.js';
import { shownUrl } from '../transports/http/server-address.js';
import { TransportError } from '../failures/transport-error.js';
import { parseJson } from '../json/parse-json.js';
import { flawOf } from './auth-failure.js';
import { requireProtected } from './auth-fetch.js';
import { requireOwnEndpoint, requireWellKnown } from './auth-reach.js';
import type { NamedEndpoints } from './entry-oauth.js';
import { parseUrl } from '../text/parse-url.js';

/** The result of discovery in the SDK's form, and the resource to request tokens for (RFC 8707). */
export interface AuthorizationLocation {
  readonly state: OAuthDiscoveryState;
  readonly issuer: string;
  /** The issuer is not known, because the entry names only the endpoints. */
  readonly isAssumed: boolean;
  /** As the metadata spells it: some authorization servers compare it as text. */
  readonly resource: string | URL | undefined;
}

export interface DiscoveryRequest {
  readonly serverUrl: string;
  /** Where the server says its metadata is; if undefined, the well-known addresses are tried. */
  readonly resourceMetadataUrl: string | undefined;
  /** The only authorization server with which the client may be used; undefined if there is no limit. */
  readonly clientIssuer: string | undefined;
  /** The endpoints that the entry names; undefined if they have to be discovered. */
  readonly endpoints: NamedEndpoints | undefined;
  readonly provider: OAuthClientProvider;
  readonly fetch: FetchLike;
}

export async function discover(request: DiscoveryRequest): Promise<AuthorizationLocation> {
  const { serverUrl, resourceMetadataUrl, clientIssuer, endpoints, provider, fetch } = request;
  const server = new URL(serverUrl);
  if (endpoints !== undefined) return named(endpoints, request);
  if (resourceMetadataUrl !== undefined) {
    requireProtected(new URL(resourceMetadataUrl), server);
    requireWellKnown(new URL(resourceMetadataUrl), server);
  }
  const resourceMetadata = await findResourceMetadata(request);
  const resource = await resourceOf(serverUrl, provider, resourceMetadata);
  const offered = chosen(resourceMetadata?.authorization_servers ?? [], clientIssuer);
  const authorizationServerUrl = offered ?? guessedIssuer(server);
  if (clientIssuer !== undefined) requireMeant(authorizationServerUrl, clientIssuer, server);
  const metadata = await metadataOf(authorizationServerUrl, server, fetch);
  return {
    issuer: authorizationServerUrl,
    isAssumed: false,
    resource,
    state: {
      authorizationServerUrl,
      ...(metadata === undefined ? {} : { authorizationServerMetadata: metadata }),
      ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
      ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    },
  };
}

/** The authorization server that the entry names. What the server says about it may be missing or wrong. */
async function named(endpoints: NamedEndpoints, request: DiscoveryRequest): Promise<AuthorizationLocation> {
  const { serverUrl, clientIssuer, provider, fetch } = request;
  const server = new URL(serverUrl);
  const metadata =
    'metadataUrl' in endpoints ? await metadataAt(endpoints.metadataUrl, server, fetch) : assumed(endpoints);
  for (const address of endpointsOf(metadata)) requireProtected(new URL(address), server);
  const { issuer } = metadata;
  if (clientIssuer !== undefined) requireMeant(issuer, clientIssuer, server);
  const resourceMetadata = await findResourceMetadata(request).catch(() => undefined);
  const resource = await resourceOf(serverUrl, provider, resourceMetadata).catch(() => undefined);
  return {
    issuer,
    isAssumed: 'tokenUrl' in endpoints,
    resource,
    state: {
      authorizationServerUrl: issuer,
      authorizationServerMetadata: metadata,
      ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
    },
  };
}

async function metadataAt(
  address: string,
  server: URL,
  fetch: FetchLike,
): Promise<AuthorizationServerMetadata> {
  const url = new URL(address);
  requireProtected(url, server);
  const response = await fetch(url, { headers: { accept: 'application/json' } });
  const text = await response.text();
  const metadata = OAuthMetadataSchema.safeParse(response.ok ? parseJson(text) : undefined);
  if (metadata.success) return metadata.data;
  throw new TransportError({
    code: 'auth-required',
    message: `There is no authorization server metadata at ${shownUrl(url)} (HTTP ${response.status}).`,
    hint: "Correct the address in 'oauth' of the entry, or remove it to use what the server names.",
  });
}

/** The minimum metadata that a sign-in needs (RFC 8414 section 2). */
function assumed({
  authorizationUrl,
  tokenUrl,
}: Extract<NamedEndpoints, { tokenUrl: string }>): AuthorizationServerMetadata {
  return {
    issuer: new URL('/', tokenUrl).href,
    authorization_endpoint: authorizationUrl,
    token_endpoint: tokenUrl,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  };
}

/** The metadata of an authorization server; undefined if it has none. */
export async function metadataOf(
  issuer: string,
  server: URL,
  fetch: FetchLike,
): Promise<AuthorizationServerMetadata | undefined> {
  requireProtected(new URL(issuer), server);
  const metadata = await reading(fetch, (fetchFn) =>
    discoverAuthorizationServerMetadata(issuer, { fetchFn }),
  );
  if (metadata === undefined) return undefined;
  // A guessed issuer need not match: the metadata of that origin may name another.
  if (issuer !== guessedIssuer(server)) requireIssuer(metadata, issuer);
  for (const address of endpointsOf(metadata)) {
    requireProtected(new URL(address), server);
    requireOwnEndpoint(new URL(address), new URL(issuer), server);
  }
  return metadata;
}

/** The client chooses among several (RFC 9728 section 7.6). */
function chosen(named: readonly string[], clientIssuer: string | undefined): string | undefined {
  const isMeant = (issuer: string): boolean =>
    clientIssuer !== undefined && isSameIssuer(issuer, clientIssuer);
  return named.find(isMeant) ?? named[0];
}

/** MCP 2025-03-26: if none is named, the server's own origin is the authorization server. */
function guessedIssuer(server: URL): string {
  return new URL('/', server).href;
}

/** The parameters of the SDK's token requests. */
export function tokenRequest({ state, resource }: AuthorizationLocation, fetchFn: FetchLike) {
  const { authorizationServerMetadata: metadata } = state;
  return {
    ...(metadata === undefined ? {} : { metadata }),
    // The SDK declares a URL, but sends a string unchanged.
    ...(resource === undefined ? {} : { resource: resource as URL }),
    fetchFn,
  };
}

/** Whether two issuers are the same. A slash at the end is ignored (RFC 8414 omits it, URL parsers add it). */
export function isSameIssuer(one: string, other: string): boolean {
  const plain = (text: string): string => (parseUrl(text)?.href ?? text).replace(/\/$/, '');
  return plain(one) === plain(other);
}

/**
 * Whether an answer of the authorization endpoint comes from this authorization server. `named` is its `iss`, null if it has
 * none. Issuers are compared as texts, without normalization (RFC 9207 section 2.4).
 */
export function isAnswerOf(
  { issuer, isAssumed, state }: AuthorizationLocation,
  named: string | null,
): boolean {
  if (isAssumed) return true;
  const { authorizationServerMetadata: metadata } = state;
  if (named === null) return metadata?.['authorization_response_iss_parameter_supported'] !== true;
  return metadata === undefined ? isSameIssuer(named, issuer) : named === metadata.issuer;
}

async function findResourceMetadata({
  serverUrl,
  resourceMetadataUrl,
  fetch,
}: DiscoveryRequest): Promise<OAuthProtectedResourceMetadata | undefined> {
  let hasNone = false;
  const look: FetchLike = async (url, init) => {
    const response = await fetch(url, init);
    hasNone = response.status >= 400;
    return response;
  };
  const where = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
  try {
    return await reading(look, (fetchFn) =>
      discoverOAuthProtectedResourceMetadata(serverUrl, where, fetchFn),
    );
  } catch (error) {
    if (hasNone) return undefined;
    throw error;
  }
}

/** Names the address in the error if the metadata cannot be parsed. */
async function reading<T>(fetch: FetchLike, read: (fetch: FetchLike) => Promise<T>): Promise<T> {
  let asked = '';
  const noting: FetchLike = (url, init) => {
    asked = shownUrl(new URL(url));
    return fetch(url, init);
  };
  try {
    return await read(noting);
  } catch (cause) {
    const flaw = flawOf(cause);
    if (flaw === '') throw cause;
    throw new Error(`the OAuth metadata at ${asked} cannot be parsed${flaw}.`, { cause });
  }
}

async function resourceOf(
  serverUrl: string,
  provider: OAuthClientProvider,
  metadata: OAuthProtectedResourceMetadata | undefined,
): Promise<string | URL | undefined> {
  if (provider.validateResourceURL !== undefined) {
    return selectResourceURL(serverUrl, provider, metadata);
  }
  if (metadata === undefined) return undefined;
  try {
    await selectResourceURL(serverUrl, provider, metadata);
  } catch (cause) {
    const message = `The OAuth metadata of ${shownUrl(new URL(serverUrl))} is about another server, ${shownAddress(metadata.resource)}.`;
    throw new TransportError({ code: 'auth-required', message, hint: UNTRUSTWORTHY }, { cause });
  }
  return metadata.resource;
}

function requireIssuer(metadata: AuthorizationServerMetadata, named: string): void {
  if (isSameIssuer(metadata.issuer, named)) return;
  throw new TransportError({
    code: 'auth-required',
    message: `The authorization server ${shownAddress(named)} identifies itself as another one, ${shownAddress(metadata.issuer)}.`,
    hint: UNTRUSTWORTHY,
  });
}

function requireMeant(issuer: string, clientIssuer: string, server: URL): void {
  if (isSameIssuer(issuer, clientIssuer)) return;
  throw new TransportError({
    code: 'auth-required',
    message: `${shownUrl(server)} requires a sign-in at ${shownAddress(issuer)}, but the client is for ${shownAddress(clientIssuer)}.`,
    hint: "The client was not sent there. Correct its 'issuer' only if you trust that address.",
  });
}

function endpointsOf(metadata: AuthorizationServerMetadata): readonly string[] {
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  const revocation = revocationEndpoint(metadata);
  return [authorization_endpoint, token_endpoint, registration_endpoint, revocation].filter(
    (endpoint) => endpoint !== undefined,
  );
}

/** Where tokens are revoked (RFC 7009); undefined if the authorization server does not say. */
export function revocationEndpoint(metadata: AuthorizationServerMetadata | undefined): string | undefined {
  const endpoint = metadata?.['revocation_endpoint' as keyof AuthorizationServerMetadata];
  return typeof endpoint === 'string' && parseUrl(endpoint) !== undefined ? endpoint : undefined;
}

function shownAddress(text: string): string {
  const url = parseUrl(text);
  return url === undefined ? 'which is not an address' : shownUrl(url);
}

const UNTRUSTWORTHY =
  'No sign-in was started and no token was sent. The operator of the server must correct this.';

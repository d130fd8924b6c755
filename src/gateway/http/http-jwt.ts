/**
 * Verifies access tokens that are JWTs, by the keys that their authorization server publishes (RFC 7519, RFC 9068).
 *
 * J1. A token is valid if a key of one of the given issuers signed it, for this gateway, and it has not expired. The
 *     token cannot choose its issuer: only the given issuers count.
 * J2. Symmetric algorithms and `none` are refused.
 * J3. An issuer that cannot be reached is no verdict on a token.
 * J4. Metadata and keys are requested like everything else: through the proxy and with the authorities of the options, or of
 *     the environment. No socket stays open.
 */
import { discoverAuthorizationServerMetadata } from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '../../mcp/transport.js';
import type { JWTVerifyGetKey } from 'jose';
import { openAuthFetch } from '../../auth/auth-fetch.js';
import { isSameIssuer } from '../../auth/auth-server-discovery.js';
import { ConfigError } from '../../errors.js';
import { isLoopback } from '../../text/host-reach.js';
import { systemClock, type Clock } from '../../ports.js';
import { type NetworkOption, createNetworkSource } from '../../transports/http/network-options.js';
import type { ProtectedResource, VerifiedToken } from './http-oauth.js';
import { parseUrl } from '../../text/parse-url.js';
import { asText } from '../../text/as-text.js';

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** Time limit for an issuer's metadata or keys, milliseconds. */
const ISSUER_LIMIT_MS = 5_000;
/** Allowed difference between its clock and ours, seconds. */
const CLOCK_TOLERANCE_S = 5;

/** Time before an unreachable issuer is tried again, milliseconds. */
const RETRY_AFTER_MS = 10_000;
/** Errors of an issuer's keys, not of a token. */
const OF_THE_ISSUER: ReadonlySet<string> = new Set([
  'ERR_JWKS_TIMEOUT',
  'ERR_JWKS_INVALID',
  'ERR_JOSE_GENERIC',
]);

interface Lookup {
  readonly at: number;
  readonly keys: Promise<JWTVerifyGetKey>;
  hasFailed: boolean;
}

/** Options of `createJwtVerifier`. */
export interface JwtVerifierOptions {
  /**
   * How the issuers are reached, as the option `network` of the gateway; a function gets the address of the issuer as name and
   * URL. Default: through the proxy of the environment, with the authorities that Node trusts.
   */
  readonly network?: NetworkOption;
  /**
   * Decides when an issuer that could not be reached is tried again. The expiry of a token is checked against the system
   * clock. Default: the system clock.
   */
  readonly clock?: Clock;
}

/**
 * `verifyToken` for `serveHttp`: checks access tokens that are JSON Web Tokens (RFC 9068) by the keys of their issuer.
 *
 * @param issuers URLs of the authorization servers whose tokens are accepted: `https:`, or `http:` for a loopback
 *   host.
 * @param options How the issuers are reached, and a clock. Default: as the environment says, and the system clock.
 *
 * @throws {@link ConfigError} if an issuer is no address that can be trusted.
 *
 * @example
 * ```ts
 * import { createJwtVerifier } from 'mcp-troupe/gateway';
 *
 * const verifyToken = createJwtVerifier(['https://login.example.com']);
 * ```
 */
export function createJwtVerifier(
  issuers: readonly string[],
  { network, clock = systemClock }: JwtVerifierOptions = {},
): ProtectedResource['verifyToken'] {
  for (const issuer of issuers) requireProtected(issuer);
  const known = new Map<string, Lookup>();
  const keysOf = (issuer: string): Promise<JWTVerifyGetKey> => {
    const last = known.get(issuer);
    if (last !== undefined && (!last.hasFailed || clock.now() - last.at < RETRY_AFTER_MS)) return last.keys;
    const lookup: Lookup = { at: clock.now(), keys: findKeys(issuer, network), hasFailed: false };
    lookup.keys.catch(() => (lookup.hasFailed = true));
    known.set(issuer, lookup);
    return lookup.keys;
  };
  return async (token, { resource }) => {
    const { decodeJwt, jwtVerify, errors } = await import('jose');
    try {
      const iss: unknown = decodeJwt(token).iss;
      const issuer = typeof iss === 'string' ? issuers.find((each) => isSameIssuer(each, iss)) : undefined;
      if (issuer === undefined) return undefined;
      const { payload } = await jwtVerify(token, await keysOf(issuer), {
        issuer: asText(iss),
        audience: audiencesOf(resource),
        algorithms: ALGORITHMS,
        requiredClaims: ['sub', 'exp'],
        clockTolerance: CLOCK_TOLERANCE_S,
      });
      return toVerified(issuer, payload);
    } catch (error) {
      if (error instanceof errors.JOSEError && !OF_THE_ISSUER.has(error.code)) return undefined;
      throw error;
    }
  };
}

/** The resource, or the whole gateway. */
function audiencesOf(resource: string): string[] {
  const { origin } = new URL(resource);
  return [resource, origin, `${origin}/`];
}

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Two issuers may use one name for different people. Undefined if the token names nobody: its subject must be a text (RFC 7519
 * section 4.1.2), and an empty one would be shared.
 */
function toVerified(issuer: string, payload: Readonly<Record<string, unknown>>): VerifiedToken | undefined {
  const { sub, exp, scope, scp } = payload;
  if (typeof sub !== 'string' || sub === '') return undefined;
  const words = scope ?? scp;
  const scopes = Array.isArray(words)
    ? words.filter(isText)
    : typeof words === 'string'
      ? words.split(' ')
      : [];
  return {
    subject: `${sub} of ${issuer}`,
    scopes: scopes.filter((word) => word !== ''),
    expiresAt: Number(exp) * 1_000,
  };
}

async function findKeys(issuer: string, network: NetworkOption | undefined): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet, customFetch } = await import('jose');
  const fetch = fetchFor(issuer, network);
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  const address = metadata?.['jwks_uri'];
  const url = typeof address === 'string' ? parseUrl(address) : undefined;
  if (metadata === undefined || url === undefined) throw new Error('The issuer publishes no keys.');
  if (!isSameIssuer(metadata.issuer, issuer)) throw new Error('The metadata of the issuer has another name.');
  requireProtected(url.href);
  return createRemoteJWKSet(url, { [customFetch]: fetch });
}

/** Certificates are read for each request: renewed ones are picked up, and requests are rare. */
function fetchFor(issuer: string, option: NetworkOption | undefined): FetchLike {
  const network = createNetworkSource(option);
  return async (url, init) => {
    const signal = AbortSignal.timeout(ISSUER_LIMIT_MS);
    const requests = openAuthFetch({
      serverUrl: issuer,
      // The limit above uses the system clock, too.
      clock: systemClock,
      network: () => network(issuer, { url: issuer }),
      signal,
    });
    try {
      return await requests.fetch(url, init);
    } finally {
      await requests.close();
    }
  };
}

function requireProtected(address: string): void {
  const url = parseUrl(address);
  const isProtected = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (!isProtected)
    throw new ConfigError(
      `'${address}' is not an issuer that can be trusted: its address must begin with https://.`,
    );
}

/**
 * Verifies access tokens that are JWTs, by the keys that their authorization server publishes (RFC 7519, RFC 9068).
 *
 * J1. A token is good if a key of one of the given issuers signed it, for this gateway, and it is not over. Which issuer is
 *     asked is never up to the token: it must be one of those that were given.
 * J2. Symmetric algorithms and `none` are not taken.
 * J3. An issuer that cannot be reached is no verdict on a token.
 */
import { discoverAuthorizationServerMetadata } from '@modelcontextprotocol/sdk/client/auth.js';
import type { JWTVerifyGetKey } from 'jose';
import { isSameIssuer } from '../auth/discovery.js';
import { ConfigError } from '../errors.js';
import { isLoopback } from '../loopback.js';
import { systemClock, type Clock } from '../ports.js';
import type { ProtectedResource, VerifiedToken } from './http-oauth.js';

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** Longest that an issuer may take for its metadata or its keys, milliseconds. */
const ISSUER_LIMIT_MS = 5_000;
/** How far its clock and ours may be apart, seconds. */
const CLOCK_TOLERANCE_S = 5;

/** Until an issuer that could not be asked is asked again, milliseconds. */
const RETRY_AFTER_MS = 10_000;
/** What went wrong with its keys, not with a token. */
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

/** `verifyToken` for `serveHttp`. Throws a `ConfigError` where an issuer is no address that can be trusted. */
export function createJwtVerifier(
  issuers: readonly string[],
  clock: Clock = systemClock,
): ProtectedResource['verifyToken'] {
  for (const issuer of issuers) requireProtected(issuer);
  const known = new Map<string, Lookup>();
  const keysOf = (issuer: string): Promise<JWTVerifyGetKey> => {
    const last = known.get(issuer);
    if (last !== undefined && (!last.hasFailed || clock.now() - last.at < RETRY_AFTER_MS)) return last.keys;
    const lookup: Lookup = { at: clock.now(), keys: findKeys(issuer), hasFailed: false };
    lookup.keys.catch(() => (lookup.hasFailed = true));
    known.set(issuer, lookup);
    return lookup.keys;
  };
  return async (token, { resource }) => {
    const { decodeJwt, jwtVerify, errors } = await import('jose');
    try {
      const { iss = '' } = decodeJwt(token);
      const issuer = issuers.find((each) => isSameIssuer(each, iss));
      if (issuer === undefined) return undefined;
      const { payload } = await jwtVerify(token, await keysOf(issuer), {
        issuer: iss,
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

/** Two issuers may call different people by one name. */
function toVerified(issuer: string, payload: Readonly<Record<string, unknown>>): VerifiedToken {
  const { sub, exp, scope, scp } = payload;
  const words = scope ?? scp;
  const scopes = Array.isArray(words) ? words.map(String) : typeof words === 'string' ? words.split(' ') : [];
  return {
    subject: `${String(sub)} of ${issuer}`,
    scopes: scopes.filter((word) => word !== ''),
    expiresAt: Number(exp) * 1_000,
  };
}

async function findKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet } = await import('jose');
  const metadata = await discoverAuthorizationServerMetadata(issuer, {
    fetchFn: (url, init) => fetch(url, { ...init, signal: AbortSignal.timeout(ISSUER_LIMIT_MS) }),
  });
  const address = metadata?.['jwks_uri'];
  if (metadata === undefined || typeof address !== 'string' || !URL.canParse(address))
    throw new Error('The issuer publishes no keys.');
  if (!isSameIssuer(metadata.issuer, issuer)) throw new Error('The issuer calls itself by another name.');
  requireProtected(address);
  return createRemoteJWKSet(new URL(address), { timeoutDuration: ISSUER_LIMIT_MS });
}

function requireProtected(address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isProtected = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (!isProtected)
    throw new ConfigError(
      `'${address}' is no issuer whose keys can be trusted: its address must begin with https://.`,
    );
}

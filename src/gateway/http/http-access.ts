/**
 * Decides whether an HTTP request may be answered, and identifies the caller.
 *
 * A1. `Host` must name this service, so that a name made to point at it (DNS rebinding) is refused. If the service may
 *     have any name, a token keeps others out.
 * A2. An `Origin` must be the service's own, or an allowed one: pages of other origins are refused.
 * A3. If there is a token or an authorization server, a request needs a token. It is compared in constant time, and it
 *     is in no answer and no log.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { TransportError } from '../../failures/transport-error.js';
import type { Clock, Logger } from '../../ports.js';
import type { Refused } from './http-answers.js';
import { resourceMetadataUrl, type ProtectedResource, type VerifiedToken } from './http-oauth.js';

/** Who asks. */
export interface Caller {
  /** Undefined if everybody may ask: all callers count as one. */
  readonly subject: string | undefined;
  /** Another host of the fleet, which uses a server that runs here: no other host can answer it, also while this one drains. */
  readonly isHost?: boolean;
  /** When the token expires, milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
}

export interface AccessOptions {
  /** The accepted values of `Host`; undefined if the service may have any name. */
  readonly hosts: ReadonlySet<string> | undefined;
  readonly origins: ReadonlySet<string>;
  readonly token: string | undefined;
  readonly oauth: ProtectedResource | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Time limit for the verification of a token, milliseconds. */
const VERIFY_LIMIT_MS = 10_000;
/** Allowed characters: RFC 6750, section 2.1. */
const BEARER = /^Bearer ([A-Za-z0-9\-._~+/]{1,8192}=*)$/i;
const UNVERIFIED: Refused = { status: 503, error: 'The token could not be verified at the moment.' };

export class HttpAccess {
  readonly #options: AccessOptions;
  readonly #token: Buffer | undefined;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#token = options.token === undefined ? undefined : digest(options.token);
  }

  /** Why a request gets no answer at all; undefined if it may be answered. */
  refusal({ host = '', origin }: IncomingHttpHeaders): Refused | undefined {
    const { hosts } = this.#options;
    if (hosts !== undefined && !hosts.has(host.toLowerCase()))
      return { status: 403, error: 'The Host header does not name this service.' };
    if (origin === undefined || this.isAllowedOrigin(origin) || isOwnOrigin(origin, host)) return undefined;
    return { status: 403, error: 'The request comes from a page of another origin.' };
  }

  /** Whether pages of that origin may send requests. */
  isAllowedOrigin(origin: string): boolean {
    return this.#options.origins.has(origin);
  }

  /** The caller for this resource, or the refusal. Never rejects. */
  async caller({ authorization }: IncomingHttpHeaders, resource: URL): Promise<Caller | Refused> {
    const { oauth } = this.#options;
    if (this.#token === undefined && oauth === undefined) return { subject: undefined };
    const [, token] = BEARER.exec(authorization ?? '') ?? [];
    if (token === undefined) return unauthorized(oauth, resource, authorization === undefined ? '' : WRONG);
    if (this.#token !== undefined && timingSafeEqual(digest(token), this.#token)) return { subject: 'token' };
    if (oauth === undefined) return unauthorized(oauth, resource, WRONG);
    return this.#verify(oauth, token, resource);
  }

  async #verify(oauth: ProtectedResource, token: string, resource: URL): Promise<Caller | Refused> {
    const { clock, logger } = this.#options;
    let verified: VerifiedToken | undefined;
    try {
      verified = await within(clock, oauth.verifyToken(token, { resource: resource.href }));
    } catch (error) {
      // The message of a host's own error could repeat the token.
      const reason = error instanceof TransportError ? error.message : nameOf(error);
      logger.error('A token could not be verified.', { reason });
      return UNVERIFIED;
    }
    if (!verified) return unauthorized(oauth, resource, WRONG);
    if (!isVerdict(verified)) {
      logger.error(
        "'verifyToken' must return { subject, scopes }, a string and a list of strings, or undefined; expiresAt is in milliseconds.",
      );
      return UNVERIFIED;
    }
    if ((verified.expiresAt ?? Infinity) <= clock.now()) return unauthorized(oauth, resource, WRONG);
    const { scopes, subject, expiresAt } = verified;
    const missing = (oauth.requiredScopes ?? []).filter((scope) => !scopes.includes(scope));
    if (missing.length > 0) return insufficient(oauth, resource, missing);
    return { subject: `subject ${subject}`, expiresAt: expiresAt ?? undefined };
  }
}

/** The error code for the token (RFC 6750, section 3.1). */
const WRONG = 'error="invalid_token"';

function unauthorized(oauth: ProtectedResource | undefined, resource: URL, what: string): Refused {
  const error =
    what === '' ? 'A token is required: Authorization: Bearer TOKEN.' : 'The token is wrong or has expired.';
  return { status: 401, error, headers: { 'www-authenticate': challenge(oauth, resource, [what]) } };
}

function insufficient(oauth: ProtectedResource, resource: URL, missing: readonly string[]): Refused {
  const scope = `scope="${(oauth.requiredScopes ?? []).join(' ')}"`;
  return {
    status: 403,
    error: `The token lacks ${missing.join(' ')}.`,
    headers: { 'www-authenticate': challenge(oauth, resource, ['error="insufficient_scope"', scope]) },
  };
}

/** RFC 6750 section 3, with the address for the sign-in (RFC 9728 section 5.1). */
function challenge(
  oauth: ProtectedResource | undefined,
  resource: URL,
  parameters: readonly string[],
): string {
  const metadata = oauth && `resource_metadata="${resourceMetadataUrl(resource)}"`;
  const words = ['realm="mcp-troupe"', ...parameters, metadata].filter((word) => word);
  return `Bearer ${words.join(', ')}`;
}

/** A host in JavaScript may return anything; callers with an unknown subject must not count as one. */
function isVerdict({
  subject,
  scopes,
  expiresAt,
}: { readonly [K in keyof VerifiedToken]?: unknown }): boolean {
  const isTime = Number.isFinite(expiresAt ?? 0);
  return typeof subject === 'string' && subject !== '' && Array.isArray(scopes) && isTime;
}

function isOwnOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** Has the same length for every text, as the comparison in constant time requires. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A verifier's error message may hold the token. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

async function within<T>(clock: Clock, work: Promise<T>): Promise<T> {
  let timer: unknown;
  const limit = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(() => reject(new Error('The verification took too long.')), VERIFY_LIMIT_MS);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clock.clearTimeout(timer);
  }
}

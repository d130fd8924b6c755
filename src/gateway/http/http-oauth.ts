/** The gateway as a protected resource: its metadata (RFC 9728), and the verification of tokens. */

/** The facts of a token that is valid for this resource. */
export interface VerifiedToken {
  /** The user or client of the token. A session belongs to the subject that opened it. */
  readonly subject: string;
  /** Scopes that the token grants; empty if it grants none. */
  readonly scopes: readonly string[];
  /** When the token expires, milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number;
}

/** Settings of an OAuth 2.1 resource server (MCP specification, authorization). */
export interface ProtectedResource {
  /** The authorization servers that tokens come from. At least one. */
  readonly issuers: readonly string[];
  /**
   * Resolves with undefined for an invalid token. It must check that the token was issued for `resource` or
   * its origin (RFC 8707), and reject a token for any other resource. A rejected promise means that the token
   * cannot be checked at the moment.
   */
  readonly verifyToken: (
    token: string,
    about: {
      /** URL of the resource that the token is used for. */
      readonly resource: string;
    },
  ) => Promise<VerifiedToken | undefined>;
  /** Scopes that every token must grant. Default: none. */
  readonly requiredScopes?: readonly string[];
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** RFC 9728, section 3.1: the path of the resource follows. */
export function resourceMetadataUrl(resource: URL): string {
  return new URL(`${WELL_KNOWN}${resource.pathname === '/' ? '' : resource.pathname}`, resource).href;
}

/** The path of the resource whose metadata is requested; undefined for any other address. */
export function resourcePathOf(path: string): string | undefined {
  if (path === WELL_KNOWN) return '/';
  return path.startsWith(`${WELL_KNOWN}/`) ? path.slice(WELL_KNOWN.length) : undefined;
}

export function resourceMetadata(resource: URL, { issuers, requiredScopes = [] }: ProtectedResource): object {
  return {
    resource: resource.href,
    authorization_servers: issuers,
    bearer_methods_supported: ['header'],
    resource_name: 'mcp-troupe',
    ...(requiredScopes.length === 0 ? {} : { scopes_supported: requiredScopes }),
  };
}

/** The gateway as a protected resource: what it says of itself (RFC 9728), and who says whether a token is good. */

/** What is known of a token that is good for this resource. */
export interface VerifiedToken {
  /** Who it stands for. A session belongs to the subject that opened it. */
  readonly subject: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. Default: it does not end. */
  readonly expiresAt?: number;
}

/** Settings of an OAuth 2.1 resource server (MCP specification, authorization). */
export interface ProtectedResource {
  /** The authorization servers that tokens come from. At least one. */
  readonly issuers: readonly string[];
  /**
   * Undefined for a token that is not good. It must check that the token was issued for `resource` or for the origin of it
   * (RFC 8707): one for somebody else must not be accepted. A rejection is "cannot tell at the moment".
   */
  readonly verifyToken: (
    token: string,
    about: { readonly resource: string },
  ) => Promise<VerifiedToken | undefined>;
  /** What every token must allow. Default: nothing in particular. */
  readonly requiredScopes?: readonly string[];
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** RFC 9728, section 3.1: the path of the resource follows. */
export function resourceMetadataUrl(resource: URL): string {
  return new URL(`${WELL_KNOWN}${resource.pathname === '/' ? '' : resource.pathname}`, resource).href;
}

/** The path of the resource that metadata is asked for; undefined for any other address. */
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

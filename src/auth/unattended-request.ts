/** The form that a client sends which needs no person to get its tokens, by its grant. */
import type { OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import { askHost } from './auth-failure.js';
import type { AssertionRequest, AuthServer, OAuthClient } from './auth-options.js';
import type { UnattendedRequest } from './oauth-provider.js';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Undefined for a client that a person signs in with. */
export function unattendedRequest(
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
    if (typeof given !== 'string' || given === '') throw new Error("the client's 'assertion' gave no text.");
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

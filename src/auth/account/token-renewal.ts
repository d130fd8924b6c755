/**
 * Tokens without a person: adopted from the store if another process has renewed them, refreshed, or fetched by a
 * client that needs no person.
 *
 * N1. A renewal runs within `TokenStore.exclusively` and reads the store there: if several find the same token expired,
 *     one renews it and the others adopt the result.
 * N2. A refresh token is sent only to its issuer, and never again after a rejection. If the store or the provider of the
 *     host does not name the issuer, it is the first one that the server named.
 * N3. A rejection deletes that token and nothing else. Nothing is deleted for any other reason.
 */
import { fetchToken, refreshAuthorization } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientProvider, OAuthTokens } from '../../mcp/oauth.js';
import { InvalidGrantError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { FetchLike } from '../../mcp/transport.js';
import type { Mask } from '../../secrets/secrets.js';
import { isClientRefusal, isRefusal, toPassingFailure, toSignInFailure } from '../auth-failure.js';
import { isSameIssuer, tokenRequest, type AuthorizationLocation } from '../auth-server-discovery.js';
import { viewOf } from '../oauth-provider.js';

export interface RenewalPorts {
  readonly provider: OAuthClientProvider;
  /** Name of the server, for messages. */
  readonly server: string;
  readonly fetch: FetchLike;
  readonly place: () => Promise<AuthorizationLocation>;
  readonly mask: () => Mask;
}

/** The token to be replaced. */
export interface StaleToken {
  /** Undefined if there was none. */
  readonly accessToken: string | undefined;
  /** True if the server refused it; false if it only expires soon. */
  readonly isRefused: boolean;
  /** Scopes to request; empty: the client's default. */
  readonly scopes: readonly string[];
}

export interface RenewedTokens {
  readonly tokens: OAuthTokens;
  /** Another process has renewed them. */
  readonly isAdopted: boolean;
}

export class TokenRenewal {
  #rejected: string | undefined;
  /** The authorization server that was named first. */
  #firstIssuer: string | undefined;

  /** Undefined if a person is needed. Throws a `TransportError` if it may work later. */
  async renew(ports: RenewalPorts, stale: StaleToken): Promise<RenewedTokens | undefined> {
    const { provider } = ports;
    const kept = await provider.tokens();
    if (kept !== undefined && kept.access_token !== stale.accessToken && kept.expires_in !== 0) {
      return { tokens: kept, isAdopted: true };
    }
    const tokens =
      provider.redirectUrl === undefined
        ? await fetchUnattended(ports, stale)
        : await this.#refresh(ports, kept, stale);
    return tokens === undefined ? undefined : { tokens, isAdopted: false };
  }

  async #refresh(
    ports: RenewalPorts,
    kept: OAuthTokens | undefined,
    stale: StaleToken,
  ): Promise<OAuthTokens | undefined> {
    const { provider, server, mask } = ports;
    const refreshToken = kept?.refresh_token;
    if (kept === undefined || refreshToken === undefined || refreshToken === this.#rejected) return undefined;
    try {
      const place = await ports.place();
      const { issuer } = place;
      const client = await provider.clientInformation();
      this.#firstIssuer ??= issuer;
      if (
        client === undefined ||
        this.#isBoundElsewhere(client, issuer) ||
        this.#isBoundElsewhere(kept, issuer)
      ) {
        return undefined;
      }
      const fresh = await refreshAuthorization(issuer, {
        ...tokenRequest(place, ports.fetch),
        clientInformation: client,
        refreshToken,
        ...(provider.addClientAuthentication === undefined
          ? {}
          : { addClientAuthentication: provider.addClientAuthentication.bind(provider) }),
      });
      // A missing scope is unchanged (RFC 6749 section 6).
      const scope = fresh.scope ?? kept.scope;
      const tokens = { ...fresh, issuer, ...(scope === undefined ? {} : { scope }) };
      await provider.saveTokens(tokens);
      return tokens;
    } catch (error) {
      if (!isRefusal(error)) throw toPassingFailure(error, server, mask());
      if (error instanceof InvalidGrantError) await this.#forget(provider, refreshToken, stale);
      if (isClientRefusal(error)) await provider.invalidateCredentials?.('client');
      return undefined;
    }
  }

  /** Whether it belongs to another authorization server. Without an issuer it belongs to the first that was named. */
  #isBoundElsewhere(
    { issuer: stamp = this.#firstIssuer }: { issuer?: string | undefined },
    issuer: string,
  ): boolean {
    return stamp !== undefined && !isSameIssuer(stamp, issuer);
  }

  /** Deletes the refresh token; an access token that was not refused stays. */
  async #forget(provider: OAuthClientProvider, refreshToken: string, stale: StaleToken): Promise<void> {
    this.#rejected = refreshToken;
    const kept = await provider.tokens();
    if (kept?.refresh_token !== refreshToken) return;
    const { refresh_token: _, ...rest } = kept;
    if (!stale.isRefused) await provider.saveTokens(rest);
    else await provider.invalidateCredentials?.('tokens');
  }
}

/** Fetches tokens with client credentials, or with the grant that the provider prepares. */
async function fetchUnattended(ports: RenewalPorts, { scopes }: StaleToken): Promise<OAuthTokens> {
  const { provider, server, mask } = ports;
  try {
    const place = await ports.place();
    const { issuer } = place;
    await provider.saveDiscoveryState?.(place.state);
    const clientMetadata = { ...provider.clientMetadata, scope: scopes.join(' ') };
    const asking = scopes.length === 0 ? provider : viewOf(provider, { clientMetadata });
    const fresh = await fetchToken(asking, issuer, tokenRequest(place, ports.fetch));
    const tokens = { ...fresh, issuer };
    await provider.saveTokens(tokens);
    return tokens;
  } catch (error) {
    throw isRefusal(error) ? toSignInFailure(error, server, mask()) : toPassingFailure(error, server, mask());
  }
}

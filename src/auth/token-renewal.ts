/**
 * Tokens without a person: adopted from whoever has renewed them, refreshed, or fetched by a client that needs nobody.
 *
 * N1. All of it happens in the turn of the sign-in's owner (`TokenStore.exclusively`), and what is kept is read there:
 *     of several that find the same token dead, one asks for another and the rest adopt it.
 * N2. A refresh token goes to the authorization server it came from, and is never sent again once it was rejected.
 * N3. A rejection forgets that token and nothing else. Nothing is forgotten for any other reason.
 */
import {
  fetchToken,
  refreshAuthorization,
  type OAuthClientProvider,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { InvalidGrantError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Mask } from '../secrets.js';
import { isClientRefusal, isRefusal, toPassingFailure, toSignInFailure } from './auth-failure.js';
import { isSameIssuer, tokenRequest, type AuthorizationPlace } from './discovery.js';
import { viewOf } from './provider-view.js';

export interface RenewalPorts {
  readonly provider: OAuthClientProvider;
  /** Name of the server, for messages. */
  readonly server: string;
  readonly fetch: FetchLike;
  readonly place: () => Promise<AuthorizationPlace>;
  readonly mask: () => Mask;
}

/** The token to be replaced. */
export interface StaleToken {
  /** Undefined where there was none. */
  readonly accessToken: string | undefined;
  /** The server has refused it; otherwise it only ends soon. */
  readonly isRefused: boolean;
  /** Scopes to ask for; none: those that the client asks for anyway. */
  readonly scopes: readonly string[];
}

export interface RenewedTokens {
  readonly tokens: OAuthTokens;
  /** Somebody else has renewed them. */
  readonly isAdopted: boolean;
}

export class TokenRenewal {
  #rejected: string | undefined;

  /** Undefined where a person is needed. Throws a `TransportError` where it may work later. */
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
      if (client === undefined || isBoundElsewhere(client, issuer) || isBoundElsewhere(kept, issuer)) {
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
      // Left out, the scope is what it was (RFC 6749 section 6).
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

  /** An access token that was not refused may live on without the means to renew it. */
  async #forget(provider: OAuthClientProvider, refreshToken: string, stale: StaleToken): Promise<void> {
    this.#rejected = refreshToken;
    const kept = await provider.tokens();
    if (kept?.refresh_token !== refreshToken) return;
    const { refresh_token: _, ...rest } = kept;
    if (!stale.isRefused) await provider.saveTokens(rest);
    else await provider.invalidateCredentials?.('tokens');
  }
}

/** Client credentials, or whatever grant the provider prepares. */
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

/** It came from another authorization server. What does not say where it came from may go to any. */
function isBoundElsewhere({ issuer: stamp }: { issuer?: string | undefined }, issuer: string): boolean {
  return stamp !== undefined && !isSameIssuer(stamp, issuer);
}

/** Deletes a sign-in and revokes its tokens at the authorization server (RFC 7009). */
import type { FetchLike } from '../mcp/transport.js';
import type { Clock } from '../ports.js';
import type { OpenExchange } from '../transports/http/http-session.js';
import { openAuthFetch } from './auth-fetch.js';
import { metadataOf, revocationEndpoint } from './auth-server-discovery.js';
import type { StoredSignIn, TokenOwner, TokenStore } from './stores/token-store.js';

/**
 * The result of a sign-out. `none`: there was no sign-in. `forgotten`: it was deleted here, but its tokens were not
 * revoked.
 */
export type SignOutResult = 'none' | 'forgotten' | 'revoked';

/** Rejects only if the store cannot be used. A failed revocation is not an error. */
export async function signOut(
  owner: TokenOwner,
  store: TokenStore,
  environment: {
    readonly clock: Clock;
    /** How the requests are sent. Default: directly. */
    readonly network?: () => Promise<OpenExchange>;
    readonly signal: AbortSignal;
  },
): Promise<SignOutResult> {
  const { signal } = environment;
  const work = async (): Promise<StoredSignIn | undefined> => {
    const kept = await store.read(owner);
    await store.forget(owner);
    return kept;
  };
  const kept = await (store.exclusively === undefined ? work() : store.exclusively(owner, work, signal));
  if (kept?.tokens === undefined) return 'none';
  const requests = openAuthFetch({ serverUrl: owner.server, ...environment });
  try {
    return (await revoke(owner, kept, requests.fetch)) ? 'revoked' : 'forgotten';
  } catch {
    return 'forgotten';
  } finally {
    await requests.close();
  }
}

/** Revokes the refresh token, which ends the tokens that were made from it. It is sent only to its issuer. */
async function revoke(
  owner: TokenOwner,
  { tokens, client }: StoredSignIn,
  fetch: FetchLike,
): Promise<boolean> {
  const clientId = client?.client_id ?? owner.client;
  if (tokens?.issuer === undefined || clientId === '') return false;
  const endpoint = revocationEndpoint(await metadataOf(tokens.issuer, new URL(owner.server), fetch));
  if (endpoint === undefined) return false;
  const isRefresh = tokens.refresh_token !== undefined;
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const body = new URLSearchParams({
    token: tokens.refresh_token ?? tokens.access_token,
    token_type_hint: isRefresh ? 'refresh_token' : 'access_token',
    client_id: clientId,
    ...(client?.client_secret === undefined ? {} : { client_secret: client.client_secret }),
  });
  const response = await fetch(endpoint, { method: 'POST', headers, body });
  return response.ok;
}

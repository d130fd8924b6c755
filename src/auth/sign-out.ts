/** Forgets a sign-in, and tells the authorization server that its tokens are over (RFC 7009). */
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock } from '../ports.js';
import { openAuthFetch } from './auth-fetch.js';
import { metadataOf } from './discovery.js';
import type { StoredSignIn, TokenOwner, TokenStore } from './token-store.js';

/** What became of a sign-in. `forgotten`: it is gone here, but the authorization server was not told. */
export type SignOutResult = 'none' | 'forgotten' | 'revoked';

/** Rejects only where the store cannot be used. The authorization server is told as far as it can be. */
export async function signOut(
  owner: TokenOwner,
  store: TokenStore,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<SignOutResult> {
  const work = async (): Promise<StoredSignIn | undefined> => {
    const kept = await store.read(owner);
    await store.forget(owner);
    return kept;
  };
  const kept = await (store.exclusively === undefined ? work() : store.exclusively(owner, work, signal));
  if (kept?.tokens === undefined) return 'none';
  const requests = openAuthFetch({ serverUrl: owner.server, clock, signal });
  try {
    return (await revoke(owner, kept, requests.fetch)) ? 'revoked' : 'forgotten';
  } catch {
    return 'forgotten';
  } finally {
    await requests.close();
  }
}

/** The refresh token is the sign-in: what was made of it ends with it. It goes to where it came from and nowhere else. */
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

function revocationEndpoint(metadata: AuthorizationServerMetadata | undefined): string | undefined {
  const endpoint = metadata?.['revocation_endpoint' as keyof AuthorizationServerMetadata];
  return typeof endpoint === 'string' && URL.canParse(endpoint) ? endpoint : undefined;
}

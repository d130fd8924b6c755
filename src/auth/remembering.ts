/** A provider whose secrets are remembered, from whom and to whom ever they go. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { KnownSecrets } from '../known-secrets.js';
import { viewOf } from './provider-view.js';

export function remembering(provider: OAuthClientProvider, secrets: KnownSecrets): OAuthClientProvider {
  const client = <T extends OAuthClientInformationMixed | undefined>(given: T): T => {
    if (given !== undefined) secrets.remember(clientSecrets(given));
    return given;
  };
  const tokens = <T extends OAuthTokens | undefined>(given: T): T => {
    if (given !== undefined) secrets.remember(tokenSecrets(given));
    return given;
  };
  // A storage that is parsed gives null for what it does not have.
  const kept = <T>(given: T | null): T | undefined => given ?? undefined;
  const request = <T extends URLSearchParams | undefined>(given: T): T => {
    secrets.remember([given?.get('assertion') ?? undefined]);
    return given;
  };
  const verifier = (given: string): string => {
    secrets.remember([given]);
    return given;
  };
  const save = provider.saveClientInformation?.bind(provider);
  const prepare = provider.prepareTokenRequest?.bind(provider);
  return viewOf(provider, {
    tokens: async () => tokens(kept(await provider.tokens())),
    saveTokens: (given) => provider.saveTokens(tokens(given)),
    clientInformation: async () => client(kept(await provider.clientInformation())),
    ...(save !== undefined && { saveClientInformation: (given) => save(client(given)) }),
    ...(prepare !== undefined && { prepareTokenRequest: async (scope) => request(await prepare(scope)) }),
    codeVerifier: async () => verifier(await provider.codeVerifier()),
    saveCodeVerifier: (given) => provider.saveCodeVerifier(verifier(given)),
  });
}

function tokenSecrets({ access_token, refresh_token, id_token }: OAuthTokens) {
  return [access_token, refresh_token, id_token];
}

/** Also as the pair that is sent (RFC 6749 section 2.3.1), and what manages the registration (RFC 7592 section 3). */
function clientSecrets(client: OAuthClientInformationMixed): readonly (string | undefined)[] {
  const { client_id: id, client_secret: secret } = client;
  const { registration_access_token: management } = client as { registration_access_token?: unknown };
  const pair = secret === undefined ? undefined : Buffer.from(`${id}:${secret}`).toString('base64');
  return [secret, pair, typeof management === 'string' ? management : undefined];
}

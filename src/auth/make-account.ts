/** Puts an account together: with Troupe's own provider and a store, or with a provider of the host's. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { KnownSecrets } from '../known-secrets.js';
import { PACKAGE } from '../package.js';
import type { Clock } from '../ports.js';
import { messageOf } from '../thrown.js';
import { TransportError } from '../transports/session-transport.js';
import { Account, type AccountParts } from './account.js';
import type { AuthOptions, AuthServer, OAuthClient } from './auth-options.js';
import { createFileTokenStore } from './file-token-store.js';
import { StoredOAuthProvider } from './oauth-provider.js';
import { openBrowser } from './open-browser.js';
import { remembering } from './remembering.js';
import { signingKey } from './signing-key.js';
import { ownerOf, type TokenOwner, type TokenStore } from './token-store.js';
import { Turns } from './turns.js';
import { unattendedRequest } from './unattended-request.js';

export interface AccountSurroundings {
  readonly clock: Clock;
  readonly diagnose: AccountParts['diagnose'];
}

/** `client` is the one the options name for this server. */
export async function ownAccount(
  server: AuthServer,
  options: AuthOptions,
  client: OAuthClient | undefined,
  { clock, diagnose }: AccountSurroundings,
): Promise<Account> {
  const { clientMetadataUrl, redirectUrl, scope, onAuthorizationUrl } = options;
  const store = options.store ?? createFileTokenStore();
  const owner = ownerOf(server.url, client?.clientId ?? clientMetadataUrl);
  const provider = new StoredOAuthProvider({
    owner,
    store,
    clock,
    client,
    clientMetadataUrl,
    scope,
    redirectUrl,
    clientName: options.clientName ?? PACKAGE.name,
    addClientAuthentication: await signerOf(client),
    unattendedRequest: unattendedRequest(server, client),
    onUnsaved: (error) => diagnose('sign-in-not-stored', notStored(server, error)),
  });
  const secrets = new KnownSecrets(secretsOf(client));
  return new Account({
    server,
    provider: remembering(provider, secrets),
    secrets,
    redirected: provider.redirectUrl === undefined || redirectUrl !== undefined ? undefined : provider,
    redirectPort: options.redirectPort ?? 0,
    isInteractive: options.interactive ?? true,
    clientIssuer: client?.issuer,
    exclusively: takingTurns(owner, store),
    watch: (onChange) => store.watch?.(owner, onChange) ?? (() => {}),
    ask: (url) => {
      if (options.openBrowser === true) openBrowser(url);
      return onAuthorizationUrl?.({ server, url });
    },
    clock,
    diagnose,
  });
}

/** The lock between processes is by the address of the server alone: what the host keeps is not known here. */
export function hostedAccount(
  server: AuthServer,
  provider: OAuthClientProvider,
  { clock, diagnose }: AccountSurroundings,
): Account {
  const secrets = new KnownSecrets();
  return new Account({
    server,
    provider: remembering(provider, secrets),
    secrets,
    redirected: undefined,
    redirectPort: 0,
    isInteractive: true,
    clientIssuer: undefined,
    exclusively: takingTurns(ownerOf(server.url, undefined), createFileTokenStore()),
    watch: () => () => {},
    ask: () => undefined,
    clock,
    diagnose,
  });
}

function notStored({ name }: AuthServer, error: unknown): string {
  const why = messageOf(error);
  return `The store of sign-ins cannot be used (${why}); the one to '${name}' is forgotten when this process ends.`;
}

/** Its secret, also as it is sent (RFC 6749 section 2.3.1). */
function secretsOf({ clientId, clientSecret, privateKey }: Partial<OAuthClient> = {}) {
  const pair = clientSecret === undefined ? undefined : `${clientId}:${clientSecret}`;
  return [clientSecret, pair && Buffer.from(pair).toString('base64'), privateKey];
}

/** The signature of a client that has a key (RFC 7523 section 2.2). */
async function signerOf(client: OAuthClient | undefined) {
  if (client?.privateKey === undefined) return undefined;
  const { createPrivateKeyJwtAuth } = await import('@modelcontextprotocol/sdk/client/auth-extensions.js');
  const { clientId, algorithm = 'RS256' } = client;
  const privateKey = signingKey(client, client.privateKey, algorithm);
  return createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg: algorithm });
}

/** Where no lock can be made, such as in a folder that cannot be written, the turns of this account have to do. */
function takingTurns(owner: TokenOwner, store: TokenStore): AccountParts['exclusively'] {
  const turns = new Turns();
  return (work, signal) =>
    turns.take(
      '',
      async () => {
        if (store.exclusively === undefined) return work();
        let hasBegun = false;
        const begin: typeof work = () => {
          hasBegun = true;
          return work();
        };
        try {
          return await store.exclusively(owner, begin, signal);
        } catch (error) {
          if (hasBegun || signal.aborted || error instanceof TransportError) throw error;
          return work();
        }
      },
      signal,
    );
}

/** Entries with one address and different names of the account. */
import { describe, expect, it } from 'vitest';
import type { AuthorizationRequest } from '../../../src/auth/auth-options.js';
import { createMemoryTokenStore, ownerOf } from '../../../src/auth/stores/token-store.js';
import type { HttpServerConfig } from '../../../src/config/entry/server-config.js';
import { useAuthorizationServers } from '../../support/authorization-server.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { agree } from '../../support/person.js';
import { useSigningTroupes } from '../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

const entry = (url: string, account?: string): HttpServerConfig => ({
  type: 'http',
  url,
  ...(account !== undefined && { oauth: { account } }),
});

describe('entries with one address', () => {
  it('have a token and a client for each name of the account, and share those of the same name.', async () => {
    const port = await servers.start();
    const store = createMemoryTokenStore();
    const asked: AuthorizationRequest[] = [];
    const { ready } = troupes.start(
      port.url,
      {
        store,
        onAuthorizationUrl: (request) => {
          asked.push(request);
          return agree(request.url);
        },
      },
      {
        servers: {
          plain: entry(port.url),
          work: entry(port.url, 'work'),
          also: entry(port.url, 'work'),
          home: entry(port.url, 'home'),
        },
      },
    );
    for (const name of ['plain', 'work', 'also', 'home']) await ready(name);
    expect(asked).toHaveLength(3);
    expect(new Set(asked.map(({ server }) => server.account))).toEqual(new Set(['home', 'work', undefined]));
    const accounts = [undefined, 'work', 'home'];
    const kept = await Promise.all(
      accounts.map((account) => store.read(ownerOf(port.url, undefined, account))),
    );
    for (const unique of [
      kept.map((one) => one?.tokens?.access_token),
      kept.map((one) => one?.client?.client_id),
    ]) {
      expect(unique).not.toContain(undefined);
      expect(new Set(unique).size).toBe(3);
    }
    const bearers = port.server.seen
      .filter(({ rpc }) => rpc.method === 'tools/list')
      .map(({ headers }) => headers.authorization);
    expect(new Set(bearers)).toEqual(new Set(kept.map((one) => `Bearer ${one?.tokens?.access_token}`)));
  });
});

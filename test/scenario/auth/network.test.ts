/** A sign-in goes the same way as the messages to its server. */
import { afterEach, describe, expect, it } from 'vitest';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useAuthorizationServers } from '../../support/authorization-server.js';
import { startProxy, type TestProxy } from '../../support/http-proxy.js';
import { signInAt } from '../../support/person.js';
import { useSigningTroupes } from '../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();
const proxies: TestProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close();
});

describe('a sign-in', () => {
  it('uses the proxy of its server.', async () => {
    const port = await servers.start();
    const proxy = await startProxy(() => Number(new URL(port.url).port));
    proxies.push(proxy);
    const { asked, ready } = troupes.start(
      port.url,
      { store: createMemoryTokenStore() },
      { network: { proxy: `http://ann:secret-7@${proxy.host}` } },
    );
    await signInAt(await asked());
    await ready();
    const byPerson = 1;
    expect(proxy.asked).toHaveLength(port.server.seen.length - byPerson);
    expect(port.to('POST /token')).toHaveLength(1);
  });

  it('uses the fetch of the host.', async () => {
    const port = await servers.start();
    const paths: string[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      paths.push(new URL(url).pathname);
      return globalThis.fetch(url, init);
    };
    const { asked, ready } = troupes.start(
      port.url,
      { store: createMemoryTokenStore() },
      { network: ({ name }) => (name === 'port' ? { fetch } : undefined) },
    );
    await signInAt(await asked());
    await ready();
    expect(paths).toContain('/token');
    expect(paths).toContain('/mcp');
  });
});

/** A server that requires a sign-in after its entry was replaced beside the session in use: the current entry counts. */
import { describe, expect, it } from 'vitest';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { createMemoryCatalogStore, type CatalogStore } from '../../../src/catalog/cache-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeRemote, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent, tool } from '../../support/scripted-server.js';
import { useTroupes, whenEmits, type TestTroupe } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const { make } = useTroupes();

const UNAUTHORIZED = { code: 'auth-required', message: 'HTTP 401', http: { status: 401 } } as const;

const server = (name: string): FakeServer =>
  new FakeServer(() => ({ kind: 'http' }), { tools: [tool(name)] });

/** A sign-in elsewhere has already succeeded. */
const provider = {
  redirectUrl: 'http://127.0.0.1:1/callback',
  clientMetadata: { redirect_uris: ['http://127.0.0.1:1/callback'] },
  clientInformation: () => ({ client_id: 'client' }),
  tokens: () => ({ access_token: 'token', token_type: 'Bearer' }),
  saveTokens: () => {},
  redirectToAuthorization: () => {},
  saveCodeVerifier: () => {},
  codeVerifier: () => 'verifier',
} satisfies OAuthClientProvider;

/** The tools that a run shows before any server has answered. */
async function cachedTools(entry: FakeServer, cache: CatalogStore): Promise<string[]> {
  entry.peer.script = { on: { initialize: silent } };
  const { troupe } = make({ servers: { a: fakeRemote(entry) }, cache });
  void troupe.start();
  await whenEmits(troupe.tools$, (tools) => tools.length > 0);
  return troupe.tools.map((each) => each.tool);
}

async function reloadedAndRefused(
  before: FakeServer,
  after: FakeServer,
): Promise<TestTroupe & { readonly cache: CatalogStore }> {
  const cache = createMemoryCatalogStore();
  const test = make({ servers: { a: fakeRemote(before) }, cache, auth: () => provider });
  const { troupe, events } = test;
  await troupe.start();
  await troupe.reload({ a: fakeRemote(after) });
  after.peer.script = { tools: [tool('renewed')] };
  after.transport.simulateEnd(UNAUTHORIZED);
  await events.when('connection.ready', ({ generation }) => generation === 3);
  return { ...test, cache };
}

describe('a remote server that requires a sign-in after its entry was replaced beside the session in use', () => {
  it('is opened with its current entry, which is resolved again', async () => {
    const [before, after] = [server('former'), server('present')];
    const { troupe, events } = await reloadedAndRefused(before, after);
    expect([before.transports.length, after.transports.length]).toEqual([1, 2]);
    expect(troupe.tools.map((each) => each.tool)).toEqual(['renewed']);
    expect(troupe.status).toMatchObject([{ state: 'ready', generation: 3, attempt: 1, error: null }]);
    const states = events.states('a');
    expect(states.slice(states.lastIndexOf('configuring'))).toEqual([
      'configuring',
      'launching',
      'handshaking',
      'ready',
    ]);
  });

  it('has its tools cached under the key of its current entry', async () => {
    const [before, after] = [server('former'), server('present')];
    const { troupe, cache } = await reloadedAndRefused(before, after);
    await troupe.close();
    await expect(cachedTools(before, cache)).resolves.toEqual(['former']);
    await expect(cachedTools(after, cache)).resolves.toEqual(['renewed']);
  });
});

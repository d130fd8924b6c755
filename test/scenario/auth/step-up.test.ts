import { describe, expect, it } from 'vitest';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import type { Connection } from '../../../src/servers/connection.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useAuthorizationServers } from '../../support/authorization-server.js';
import { agree, signInAt, visit } from '../../support/person.js';
import { bounded, useSigningTroupes, within } from '../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

const sail = (connection: Connection | undefined) => connection!.callTool('sail', {}, { signal: within() });

describe('the requested scope', () => {
  it.each([
    [['look'], ['look', 'offline_access'], 'look offline_access'],
    [['look', 'offline_access'], ['offline_access'], 'look offline_access'],
    [['look'], ['look'], 'look'],
    [[], ['offline_access'], null],
  ])(
    'includes offline_access if the authorization server offers it: %j, %j',
    async (listed, known, scope) => {
      const port = await servers.start({
        resource: { scopes_supported: listed },
        metadata: { scopes_supported: known },
      });
      const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
      const url = await asked();
      expect(new URL(url).searchParams.get('scope')).toBe(scope);
      await signInAt(url);
      await ready();
    },
  );
});

describe('a tool that requires more scope', () => {
  it('fails that call alone, offers a sign-in with all scopes beside it, and works afterwards', async () => {
    const port = await servers.start({ callScopes: ['sail'], resource: { scopes_supported: ['look'] } });
    const { troupe, events, asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const first = await asked();
    expect(new URL(first).searchParams.get('scope')).toBe('look');
    await signInAt(first);
    await ready();
    const again = events.next('connection.authRequired', ({ url }) => url !== undefined);
    await expect(sail(troupe.connection('port'))).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringContaining("the scope 'sail'") as unknown,
      cause: { code: 'AUTH_REQUIRED' },
    });
    const url = (await bounded(again)).url ?? '';
    expect(new URL(url).searchParams.get('scope')).toBe('look sail');
    expect(troupe.status[0]).toMatchObject({ state: 'ready', authUrl: url });
    const settled = events.next('connection.authSettled');
    await signInAt(url);
    expect(await bounded(settled)).toMatchObject({ server: 'port', failure: null });
    expect(troupe.status[0]).toMatchObject({ state: 'ready', authUrl: null });
    expect(await sail(troupe.connection('port'))).toMatchObject({ content: [{ text: 'done' }] });
    expect(events.of('connection.lost')).toEqual([]);
  });

  it('reports the end of a sign-in that fails, stays ready, and offers another for the next call', async () => {
    const port = await servers.start({ callScopes: ['sail'], resource: { scopes_supported: ['look'] } });
    const { troupe, events, asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    await signInAt(await asked());
    await ready();
    const refused = async (): Promise<void> => {
      const again = events.next('connection.authRequired', ({ url }) => url !== undefined);
      await expect(sail(troupe.connection('port'))).rejects.toMatchObject({ code: 'NOT_READY' });
      const url = new URL((await bounded(again)).url ?? '');
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      const settled = events.next('connection.authSettled');
      await visit(back.href);
      expect(await bounded(settled)).toMatchObject({
        failure: {
          code: 'auth-required',
          phase: 'session',
          message: expect.stringContaining('access_denied') as unknown,
        },
      });
      expect(troupe.status[0]).toMatchObject({ state: 'ready', authUrl: null });
    };
    await refused();
    await refused();
    expect(events.of('connection.authSettled')).toHaveLength(2);
  });

  it('reports no end if the session ends before', async () => {
    const port = await servers.start({ callScopes: ['sail'], resource: { scopes_supported: ['look'] } });
    const { troupe, events, asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    await signInAt(await asked());
    await ready();
    const again = events.next('connection.authRequired', ({ url }) => url !== undefined);
    await expect(sail(troupe.connection('port'))).rejects.toMatchObject({ code: 'NOT_READY' });
    await bounded(again);
    await troupe.close();
    expect(events.of('connection.authSettled')).toEqual([]);
  });

  it('can be signed in for with the address that the user pastes', async () => {
    const port = await servers.start({ callScopes: ['sail'], resource: { scopes_supported: ['look'] } });
    const { troupe, events, asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    await signInAt(await asked());
    await ready();
    const again = events.next('connection.authRequired', ({ url }) => url !== undefined);
    await expect(sail(troupe.connection('port'))).rejects.toMatchObject({ code: 'NOT_READY' });
    await troupe.connection('port')?.finishAuth(await agree((await bounded(again)).url ?? ''));
    expect(await sail(troupe.connection('port'))).toMatchObject({ content: [{ text: 'done' }] });
  });

  it('asks once for the same scope, and reports the refusal if the server still refuses the granted token', async () => {
    const port = await servers.start({ callScopes: ['sail'], grantedScope: 'look' });
    const { troupe, events } = troupes.start(port.url, {
      store: createMemoryTokenStore(),
      onAuthorizationUrl: ({ url }) => agree(url),
    });
    await bounded(events.when('connection.ready'));
    await expect(sail(troupe.connection('port'))).rejects.toMatchObject({ code: 'NOT_READY' });
    const signedInAgain = async (): Promise<void> => {
      while (port.grants().length < 2) await new Promise((resolve) => setImmediate(resolve));
    };
    await bounded(signedInAgain());
    await expect(sail(troupe.connection('port'))).rejects.toThrow(/403/);
    expect(troupe.status[0]?.state).toBe('ready');
    expect(port.grants()).toEqual(['authorization_code', 'authorization_code']);
  });

  it('gets it without the user if the client has its own credentials, and the call is repeated', async () => {
    const port = await servers.start({ callScopes: ['sail'], secrets: { robot: 'hush-hush' } });
    const { troupe, ready } = troupes.start(port.url, {
      store: createMemoryTokenStore(),
      scope: 'look',
      client: {
        clientId: 'robot',
        clientSecret: 'hush-hush',
        issuer: port.origin,
        grant: 'client-credentials',
      },
    });
    await ready();
    expect(await sail(troupe.connection('port'))).toMatchObject({ content: [{ text: 'done' }] });
    expect(port.grants()).toEqual(['client_credentials', 'client_credentials']);
    expect(new URLSearchParams(port.to('POST /token')[1]?.body).get('scope')).toBe('look sail');
  });
});

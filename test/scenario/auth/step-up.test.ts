import { describe, expect, it } from 'vitest';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import type { Connection } from '../../../src/servers/connection.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { answer } from '../../support/http-server.js';
import { createGate } from '../../support/gate.js';
import { useAuthorizationServers } from '../../support/authorization-server.js';
import { agree, signInAt } from '../../support/person.js';
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
  ])('includes offline_access if the authorization server offers it: %j, %j', async (listed, known, scope) => {
    const port = await servers.start({
      resource: { scopes_supported: listed },
      metadata: { scopes_supported: known },
    });
    const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const url = await asked();
    expect(new URL(url).searchParams.get('scope')).toBe(scope);
    await signInAt(url);
    await ready();
  });
});

describe('a tool that requires more scope', () => {
  it('fails that call unsent, asks the user to agree to all scopes together, and works afterwards', async () => {
    const port = await servers.start({ callScopes: ['sail'], resource: { scopes_supported: ['look'] } });
    const { troupe, events, asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const first = await asked();
    expect(new URL(first).searchParams.get('scope')).toBe('look');
    await signInAt(first);
    await ready();
    const again = events.next('connection.authRequired', ({ url }) => url !== undefined);
    await expect(sail(troupe.connection('port'))).rejects.toMatchObject({ code: 'NOT_READY' });
    const url = (await bounded(again)).url ?? '';
    expect(new URL(url).searchParams.get('scope')).toBe('look sail');
    expect(troupe.status[0]).toMatchObject({
      substate: 'authorizing.signingIn',
      error: { http: { status: 403 } },
    });
    const readyAgain = events.next('connection.ready');
    await signInAt(url);
    await bounded(readyAgain);
    expect(await sail(troupe.connection('port'))).toMatchObject({ content: [{ text: 'done' }] });
  });

  it('asks once for the same scope, and reports the refusal if the server still refuses the granted token', async () => {
    const port = await servers.start({ callScopes: ['sail'], grantedScope: 'look' });
    const { troupe, events } = troupes.start(port.url, {
      store: createMemoryTokenStore(),
      onAuthorizationUrl: ({ url }) => agree(url),
    });
    await bounded(events.when('connection.ready'));
    const back = events.next('connection.ready');
    await expect(sail(troupe.connection('port'))).rejects.toMatchObject({ code: 'NOT_READY' });
    await bounded(back);
    await expect(sail(troupe.connection('port'))).rejects.toThrow(/403/);
    expect(troupe.status[0]?.state).toBe('ready');
    expect(port.grants()).toEqual(['authorization_code', 'authorization_code']);
  });

  it('lets the calls in flight finish when another one requires more', async () => {
    const gate = createGate();
    const port = await servers.start({
      callScopes: ['sail'],
      instead: (seen, res) => {
        const isSlow = JSON.stringify(seen.rpc.params ?? {}).includes('"slow":true');
        if (isSlow) void gate.promise.then(() => answer(res, seen, { content: [] }));
        return isSlow;
      },
    });
    const { troupe, asked, ready, events } = troupes.start(port.url, { store: createMemoryTokenStore() });
    await signInAt(await asked());
    await ready();
    const connection = troupe.connection('port')!;
    const slow = connection.callTool('sail', { slow: true }, { signal: within() });
    await bounded(port.server.arrived(({ body }) => body.includes('"slow":true')));
    const refused = sail(connection).catch((error: unknown) => error);
    await bounded(
      port.server.arrived(({ body, rpc }) => rpc.method === 'tools/call' && !body.includes('slow')),
    );
    const again = events.next('connection.authRequired', ({ url }) => url !== undefined);
    gate.open();
    expect(await slow).toEqual({ content: [] });
    expect(await bounded(refused)).toMatchObject({ code: 'NOT_READY' });
    await bounded(again);
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

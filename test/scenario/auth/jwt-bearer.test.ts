import { describe, expect, it } from 'vitest';
import type { AssertionRequest, OAuthClient } from '../../../src/auth/auth-options.js';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useAuthorizationServers } from '../../support/authorization-server.js';
import { bounded, useSigningTroupes, within } from '../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

const WORD = 'header.words-of-honor.signature';

const vouched = (issuer: string, assertion: NonNullable<OAuthClient['assertion']>) => ({
  store: createMemoryTokenStore(),
  client: { clientId: 'robot', issuer, grant: 'jwt-bearer', assertion } as const,
});

describe('a client that somebody vouches for', () => {
  it('gets its tokens for an assertion that is made for the authorization server and the resource.', async () => {
    const port = await servers.start({ assertions: [WORD], resource: { scopes_supported: ['sail'] } });
    const asked: AssertionRequest[] = [];
    const auth = vouched(port.origin, async (request) => {
      asked.push(request);
      return WORD;
    });
    const { events, ready } = troupes.start(port.url, { ...auth, scope: 'sail' });
    await ready();
    expect(asked).toEqual([
      {
        server: { name: 'port', url: port.url },
        issuer: port.origin,
        resource: port.url,
        scope: 'sail',
      },
    ]);
    const form = new URLSearchParams(port.to('POST /token')[0]?.body);
    expect(Object.fromEntries(form)).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: WORD,
      client_id: 'robot',
      resource: port.url,
      scope: 'sail',
    });
    expect(events.of('connection.authRequired')).toEqual([]);
  });

  it('is vouched for again when its token is refused.', async () => {
    const words = [`${WORD}-1`, `${WORD}-2`];
    const port = await servers.start({ assertions: words });
    let count = 0;
    const auth = vouched(port.origin, () => words[count++] ?? '');
    const { troupe, ready } = troupes.start(port.url, auth);
    await ready();
    port.revokeAll();
    await troupe.connection('port')!.callTool('sail', {}, { signal: within() });
    expect(port.to('POST /token').map(({ body }) => new URLSearchParams(body).get('assertion'))).toEqual(
      words,
    );
  });

  it('fails with the cause where the assertion is not believed, and repeats it nowhere.', async () => {
    const port = await servers.start();
    const { troupe, events } = troupes.start(
      port.url,
      vouched(port.origin, () => WORD),
    );
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({ code: 'auth-required' });
    expect(failure.message).toMatch(/^The sign-in to port failed: invalid_grant \(Not believed: /);
    expect(JSON.stringify([events.all, troupe.status])).not.toContain(WORD);
  });

  it.each<readonly [string, () => string, RegExp]>([
    ['nobody vouches for it', () => '', /'assertion' gave no string/],
    [
      'whoever vouches is out of reach',
      () => {
        throw new TypeError('The identity provider is closed.');
      },
      /the client's 'assertion' threw: The identity provider is closed/,
    ],
  ])('asks for no token where %s.', async (_, assertion, message) => {
    const port = await servers.start();
    const policy = { policy: { maxAttempts: 1 } };
    const { events } = troupes.start(port.url, vouched(port.origin, assertion), policy);
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure.message).toMatch(message);
    expect(port.to('POST /token')).toEqual([]);
  });

  it('is not vouched for to another authorization server than the one it is for.', async () => {
    const port = await servers.start({ assertions: [WORD] });
    const asked: AssertionRequest[] = [];
    const auth = vouched('https://login.example', (request) => {
      asked.push(request);
      return WORD;
    });
    const { events } = troupes.start(port.url, auth, { policy: { maxAttempts: 1 } });
    await bounded(events.when('connection.failed'));
    expect(asked).toEqual([]);
    expect(port.to('POST /token')).toEqual([]);
  });
});

describe('a provider of the host that fetches its tokens itself', () => {
  it('is told what was discovered before it prepares a request for them.', async () => {
    const port = await servers.start({ assertions: [WORD] });
    const told: string[] = [];
    const { ready } = troupes.start(port.url, () => ({
      redirectUrl: undefined,
      clientMetadata: { redirect_uris: [] },
      clientInformation: () => ({ client_id: 'robot' }),
      tokens: () => undefined,
      saveTokens: () => {},
      redirectToAuthorization: () => {},
      saveCodeVerifier: () => {},
      codeVerifier: () => '',
      saveDiscoveryState: ({ authorizationServerUrl }) => void told.push(authorizationServerUrl),
      prepareTokenRequest: () => {
        told.push('prepared');
        return new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: WORD,
        });
      },
    }));
    await ready();
    expect(told.slice(0, 2)).toEqual([port.origin, 'prepared']);
  });
});

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

const ASSERTION = 'header.claims-about-robot.signature';

const withAssertion = (issuer: string, assertion: NonNullable<OAuthClient['assertion']>) => ({
  store: createMemoryTokenStore(),
  client: { clientId: 'robot', issuer, grant: 'jwt-bearer', assertion } as const,
});

describe('a client with an assertion', () => {
  it('gets its tokens for an assertion that is made for the authorization server and the resource', async () => {
    const port = await servers.start({ assertions: [ASSERTION], resource: { scopes_supported: ['sail'] } });
    const requests: AssertionRequest[] = [];
    const auth = withAssertion(port.origin, async (request) => {
      requests.push(request);
      return ASSERTION;
    });
    const { events, ready } = troupes.start(port.url, { ...auth, scope: 'sail' });
    await ready();
    expect(requests).toEqual([
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
      assertion: ASSERTION,
      client_id: 'robot',
      resource: port.url,
      scope: 'sail',
    });
    expect(events.of('connection.authRequired')).toEqual([]);
  });

  it('gets a new assertion when its token is refused', async () => {
    const assertions = [`${ASSERTION}-1`, `${ASSERTION}-2`];
    const port = await servers.start({ assertions });
    let count = 0;
    const auth = withAssertion(port.origin, () => assertions[count++] ?? '');
    const { troupe, ready } = troupes.start(port.url, auth);
    await ready();
    port.revokeAll();
    await troupe.connection('port')!.callTool('sail', {}, { signal: within() });
    expect(port.to('POST /token').map(({ body }) => new URLSearchParams(body).get('assertion'))).toEqual(
      assertions,
    );
  });

  it('fails with the cause if the assertion is rejected, and does not reveal it', async () => {
    const port = await servers.start();
    const { troupe, events } = troupes.start(
      port.url,
      withAssertion(port.origin, () => ASSERTION),
    );
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({ code: 'auth-required' });
    expect(failure.message).toContain('invalid_grant');
    expect(JSON.stringify([events.all, troupe.status])).not.toContain(ASSERTION);
  });

  it.each<readonly [string, () => string, string]>([
    ['the assertion is empty', () => '', 'assertion'],
    [
      'the identity provider cannot be reached',
      () => {
        throw new TypeError('The identity provider is closed.');
      },
      'The identity provider is closed.',
    ],
  ])('requests no token if %s', async (_, assertion, part) => {
    const port = await servers.start();
    const policy = { policy: { maxAttempts: 1 } };
    const { events } = troupes.start(port.url, withAssertion(port.origin, assertion), policy);
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure.message).toContain(part);
    expect(port.to('POST /token')).toEqual([]);
  });

  it('gives no assertion to an authorization server other than its own', async () => {
    const port = await servers.start({ assertions: [ASSERTION] });
    const requests: AssertionRequest[] = [];
    const auth = withAssertion('https://login.example', (request) => {
      requests.push(request);
      return ASSERTION;
    });
    const { events } = troupes.start(port.url, auth, { policy: { maxAttempts: 1 } });
    await bounded(events.when('connection.failed'));
    expect(requests).toEqual([]);
    expect(port.to('POST /token')).toEqual([]);
  });
});

describe('a provider of the host that fetches its tokens itself', () => {
  it('gets the discovery state before it prepares its token request', async () => {
    const port = await servers.start({ assertions: [ASSERTION] });
    const order: string[] = [];
    const { ready } = troupes.start(port.url, () => ({
      redirectUrl: undefined,
      clientMetadata: { redirect_uris: [] },
      clientInformation: () => ({ client_id: 'robot' }),
      tokens: () => undefined,
      saveTokens: () => {},
      redirectToAuthorization: () => {},
      saveCodeVerifier: () => {},
      codeVerifier: () => '',
      saveDiscoveryState: ({ authorizationServerUrl }) => void order.push(authorizationServerUrl),
      prepareTokenRequest: () => {
        order.push('prepared');
        return new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: ASSERTION,
        });
      },
    }));
    await ready();
    expect(order.slice(0, 2)).toEqual([port.origin, 'prepared']);
  });
});

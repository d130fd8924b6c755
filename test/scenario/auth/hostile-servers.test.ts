import { describe, expect, it } from 'vitest';
import type { FailureCode } from '../../../machines/policy/failure.js';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useAuthorizationServers, type Bent } from '../../support/authorization-server.js';
import { bounded, useSigningTroupes } from '../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

const CLIENT = { clientId: 'harbor' };
const RESOURCE = '/.well-known/oauth-protected-resource/mcp';
const METADATA = '/.well-known/oauth-authorization-server';

/** Expired tokens at a server that answers so: why the attempt failed, and how many requests `/token` received. */
async function renewAt(bent: Bent) {
  const port = await servers.start(bent);
  const tokens = port.issue();
  port.expireAll();
  const store = createMemoryTokenStore([[{ server: port.url, client: CLIENT.clientId }, { tokens }]]);
  const { events } = troupes.start(port.url, { store, client: CLIENT }, { policy: { maxAttempts: 1 } });
  const { failure } = await bounded(events.when('connection.failed'));
  return { failure, port, tokenRequests: port.to('POST /token').length };
}

const replying =
  (path: string, status: number, headers: Record<string, string>, body = ''): NonNullable<Bent['instead']> =>
  (seen, res) =>
    seen.path === path && res.writeHead(status, headers).end(body) !== undefined;

describe('metadata that cannot be trusted', () => {
  it.each<readonly [string, Bent, FailureCode, string]>([
    [
      'of another issuer',
      { metadata: { issuer: 'https://bank.example' } },
      'auth-required',
      'https://bank.example',
    ],
    [
      'about another resource',
      { resource: { resource: 'https://bank.example/mcp' } },
      'auth-required',
      'https://bank.example/mcp',
    ],
    [
      'with an endpoint without https',
      { metadata: { token_endpoint: 'http://thief.example/token' } },
      'auth-required',
      'http://thief.example/token',
    ],
    [
      'with a sign-in page without https',
      { metadata: { authorization_endpoint: 'http://thief.example/authorize' } },
      'auth-required',
      'http://thief.example/authorize',
    ],
    [
      'with a script instead of an address',
      { metadata: { authorization_endpoint: 'javascript:alert(1)' } },
      'connection-lost',
      'authorization_endpoint',
    ],
    [
      'of an authorization server without https',
      { resource: { authorization_servers: ['http://thief.example'] } },
      'auth-required',
      'http://thief.example',
    ],
    [
      'that is enormous',
      {
        instead: replying(METADATA, 200, { 'content-type': 'application/json' }, `"${'x'.repeat(400_000)}"`),
      },
      'auth-required',
      '262144',
    ],
    [
      'that is not JSON',
      { instead: replying(METADATA, 200, { 'content-type': 'application/json' }, '<html>token-page</html>') },
      'connection-lost',
      'JSON',
    ],
    [
      'that redirects to another host',
      { instead: replying(RESOURCE, 302, { location: 'http://thief.example/metadata' }) },
      'connection-lost',
      'port',
    ],
  ])('%s ends the attempt, and no token is sent', async (_, bent, code, part) => {
    const { failure, tokenRequests } = await renewAt(bent);
    expect(failure).toMatchObject({ code, message: expect.stringContaining(part) });
    expect(tokenRequests).toBe(0);
  });

  it('with a token endpoint that redirects fails the renewal', async () => {
    const { failure, port } = await renewAt({
      instead: replying('/token', 307, { location: 'https://thief.example/token' }),
    });
    expect(failure).toMatchObject({ code: 'connection-lost' });
    expect(port.to('POST /token').length).toBeGreaterThan(0);
  });

  it('is not requested from an address without https', async () => {
    const port = await servers.start({
      instead: (seen, res) =>
        seen.path === '/mcp' &&
        res
          .writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="http://thief.example/resource"' })
          .end() !== undefined,
    });
    const { events } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({
      code: 'auth-required',
      message: expect.stringContaining('http://thief.example'),
    });
  });
});

describe('metadata on this machine', () => {
  const unauthorized =
    (where: string): NonNullable<Bent['instead']> =>
    (seen, res) =>
      seen.path === '/mcp' &&
      res.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${where}"` }).end() !== undefined;

  it('is not read at a path of a neighbor that the server chooses', async () => {
    const neighbor = await servers.start();
    const port = await servers.start({ instead: unauthorized(`${neighbor.origin}/latest/meta-data`) });
    const { events } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({ code: 'auth-required' });
    expect(neighbor.server.seen).toEqual([]);
  });

  it.each(['registration_endpoint', 'token_endpoint', 'authorization_endpoint', 'revocation_endpoint'])(
    'does not make %s a path of a neighbor that the server chooses',
    async (endpoint) => {
      const neighbor = await servers.start();
      const port = await servers.start({ metadata: { [endpoint]: `${neighbor.origin}/admin/create-user` } });
      const { events } = troupes.start(port.url, { store: createMemoryTokenStore() });
      const { failure } = await bounded(events.when('connection.failed'));
      expect(failure).toMatchObject({ code: 'auth-required' });
      expect(neighbor.server.seen).toEqual([]);
    },
  );

  it('may name an authorization server at another port', async () => {
    const login = await servers.start();
    const port = await servers.start({ resource: { authorization_servers: [login.origin] } });
    const { troupe, events } = troupes.start(port.url, { store: createMemoryTokenStore() });
    await bounded(events.when('connection.authRequired'));
    expect(troupe.status[0]?.authUrl).toContain(`${login.origin}/authorize`);
    expect(login.to('POST /register')).toHaveLength(1);
  });
});

describe('a server that offers no sign-in', () => {
  it('fails with a cause that a person can act on', async () => {
    const port = await servers.start({
      instead: (seen, res) => seen.path !== '/mcp' && res.writeHead(404).end('nothing here') !== undefined,
    });
    const { events } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({ code: 'auth-required', phase: 'handshake', hint: expect.any(String) });
    expect(failure.message).toContain('port');
  });

  it('gets its configured Authorization header, and no sign-in starts', async () => {
    const port = await servers.start();
    const { troupe, events } = troupes.start(
      port.url,
      { store: createMemoryTokenStore() },
      { servers: { port: { url: port.url, headers: { Authorization: 'Bearer fixed-key' } } } },
    );
    await bounded(events.when('connection.authRequired'));
    expect(troupe.status[0]).toMatchObject({ substate: 'authorizing.signingIn', authUrl: null });
    expect(port.server.seen.every(({ path }) => path === '/mcp')).toBe(true);
  });
});

describe('a server that repeats the token it was given', () => {
  it('does not put it into events or status', async () => {
    const port = await servers.start({
      instead: (seen, res) => {
        if (seen.rpc.method !== 'initialize' || seen.headers.authorization === undefined) return false;
        res.writeHead(400, { 'content-type': 'text/plain' }).end(`no: ${seen.headers.authorization}`);
        return true;
      },
    });
    const tokens = {
      access_token: 'precious-access',
      refresh_token: 'precious-refresh',
      token_type: 'Bearer',
    };
    const store = createMemoryTokenStore([[{ server: port.url, client: CLIENT.clientId }, { tokens }]]);
    const { troupe, events } = troupes.start(port.url, { store, client: CLIENT });
    await bounded(events.when('connection.failed'));
    expect(JSON.stringify([events.all, troupe.status])).not.toContain('precious');
  });
});

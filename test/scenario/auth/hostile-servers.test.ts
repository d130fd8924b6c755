import { describe, expect, it } from 'vitest';
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

/** A server that begs for a refresh token with such metadata; what was sent to `/token`, and why it failed. */
async function tempt(bent: Bent) {
  const port = await servers.start(bent);
  const tokens = port.issue();
  port.expireAll();
  const store = createMemoryTokenStore([[{ server: port.url, client: CLIENT.clientId }, { tokens }]]);
  const { events } = troupes.start(port.url, { store, client: CLIENT }, { policy: { maxAttempts: 1 } });
  const { failure } = await bounded(events.when('connection.failed'));
  return { failure, port, sent: port.to('POST /token').length, events };
}

const replying =
  (path: string, status: number, headers: Record<string, string>, body = ''): NonNullable<Bent['instead']> =>
  (seen, res) =>
    seen.path === path && res.writeHead(status, headers).end(body) !== undefined;

describe('metadata that cannot be trusted', () => {
  it.each<readonly [string, Bent, RegExp]>([
    [
      'of another issuer',
      { metadata: { issuer: 'https://bank.example' } },
      /another one, https:\/\/bank\.example/,
    ],
    [
      'about another resource',
      { resource: { resource: 'https://bank.example/mcp' } },
      /about another server/,
    ],
    [
      'with an endpoint without https',
      { metadata: { token_endpoint: 'http://thief.example/token' } },
      /http:\/\/thief\.example\/token, which is not protected by https/,
    ],
    [
      'with a sign-in page without https',
      { metadata: { authorization_endpoint: 'http://thief.example/authorize' } },
      /not protected by https/,
    ],
    [
      'with an address that is a script',
      { metadata: { authorization_endpoint: 'javascript:alert(1)' } },
      /cannot be parsed|could not be renewed/,
    ],
    [
      'of an authorization server without https',
      { resource: { authorization_servers: ['http://thief.example'] } },
      /not protected by https/,
    ],
    [
      'that is enormous',
      {
        instead: replying(METADATA, 200, { 'content-type': 'application/json' }, `"${'x'.repeat(400_000)}"`),
      },
      /more than 262144 bytes/,
    ],
    [
      'that is no JSON',
      { instead: replying(METADATA, 200, { 'content-type': 'application/json' }, '<html>token-page</html>') },
      /cannot be parsed|could not be renewed/,
    ],
    [
      'that redirects to another host',
      { instead: replying(RESOURCE, 302, { location: 'http://thief.example/metadata' }) },
      /could not be renewed|failed/,
    ],
  ])('%s ends the attempt, and no token is sent.', async (_, bent, message) => {
    const { failure, sent } = await tempt(bent);
    expect(failure.message).toMatch(message);
    expect(sent).toBe(0);
  });

  it('of a token endpoint that redirects leaves the tokens where they are.', async () => {
    const { failure, port } = await tempt({
      instead: replying('/token', 307, { location: 'https://thief.example/token' }),
    });
    expect(failure.message).toMatch(/could not be renewed/);
    expect(port.to('POST /token').length).toBeGreaterThan(0);
  });

  it('is asked for only where the server may point: an address without https is not asked.', async () => {
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
      message: expect.stringContaining('not protected by https'),
    });
  });
});

describe('a server that offers no sign-in', () => {
  it('fails with a cause a person can act on.', async () => {
    const port = await servers.start({
      instead: (seen, res) => seen.path !== '/mcp' && res.writeHead(404).end('nothing here') !== undefined,
    });
    const { events } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({ code: 'auth-required', phase: 'handshake', hint: expect.any(String) });
    expect(failure.message).toMatch(/^The sign-in to port failed: /);
  });

  it('keeps its own Authorization header to itself: nothing is begun.', async () => {
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
  it('sees it struck out of everything that is told.', async () => {
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

import { describe, expect, it } from 'vitest';
import { createMemoryTokenStore, type TokenStore } from '../../../src/auth/stores/token-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import {
  useAuthorizationServers,
  type AuthorizationServer,
  type Bent,
} from '../../support/authorization-server.js';
import { agree, signInAt } from '../../support/person.js';
import { bounded, useSigningTroupes } from '../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

const CLIENT = { clientId: 'harbor' };
const ownerAt = ({ url }: AuthorizationServer, client = CLIENT.clientId) => ({ server: url, client });

/** Answers requests to a path whose body contains `part`. */
const answering =
  (path: string, part: string, status: number, answer: string): NonNullable<Bent['instead']> =>
  (seen, res) =>
    seen.path === path &&
    seen.body.includes(part) &&
    res.writeHead(status, { 'content-type': 'application/json' }).end(answer) !== undefined;

describe('a refresh token that is refused', () => {
  it.each<readonly [string, number, string]>([
    ['with HTTP 200', 200, '{"error":"bad_refresh_token","error_description":"It has ended."}'],
    ['with HTTP 200 and a common error', 200, '{"error":"invalid_grant"}'],
    ['with an unknown error', 400, '{"error":"token_expired"}'],
    ['with a token that is null', 400, '{"access_token":null,"error":"invalid_grant"}'],
    ['with a token that is null and an unknown error', 400, '{"access_token":null,"error":"expired"}'],
    ['with HTTP 200 and an empty token', 200, '{"access_token":"","error":"invalid_grant"}'],
  ])('%s leads to a sign-in, like any other', async (_, status, answer) => {
    const port = await servers.start({ instead: answering('/token', 'refresh_token', status, answer) });
    const tokens = port.issue();
    port.expireAll();
    const store = createMemoryTokenStore([[ownerAt(port), { tokens }]]);
    const { asked, ready } = troupes.start(port.url, { store, client: CLIENT });
    await signInAt(await asked());
    await ready();
    expect(port.grants()).toContain('authorization_code');
  });

  it('does not lead to a sign-in if the authorization server has an internal error', async () => {
    const answer = '{"error":"server_error"}';
    const port = await servers.start({ instead: answering('/token', 'refresh_token', 400, answer) });
    const tokens = port.issue();
    port.expireAll();
    const store = createMemoryTokenStore([[ownerAt(port), { tokens }]]);
    const { events } = troupes.start(port.url, { store, client: CLIENT }, { policy: { maxAttempts: 1 } });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure.code).toBe('connection-lost');
  });
});

describe('an answer with tokens', () => {
  it('may have null in optional fields', async () => {
    const answer = {
      access_token: 'access-0',
      token_type: 'Bearer',
      refresh_token: null,
      expires_in: null,
      scope: null,
    };
    const port = await servers.start({ instead: answering('/token', '', 200, JSON.stringify(answer)) });
    const store = createMemoryTokenStore();
    const { asked, events } = troupes.start(port.url, { store, client: CLIENT });
    await signInAt(await asked());
    await bounded(events.when('connection.state', ({ to }) => to === 'launching'));
    expect((await store.read(ownerAt(port)))?.tokens).toEqual({
      access_token: 'access-0',
      token_type: 'Bearer',
      issuer: port.origin,
    });
  });

  it.each([['two\nlines'], ['таинство'], ['']])(
    'that cannot be sent, such as %j, is not stored',
    async (token) => {
      const answer = JSON.stringify({ access_token: token, token_type: 'Bearer' });
      const port = await servers.start({ instead: answering('/token', '', 200, answer) });
      const store = createMemoryTokenStore();
      const { asked, events } = troupes.start(port.url, { store, client: CLIENT });
      expect((await signInAt(await asked())).status).toBe(400);
      await bounded(events.when('diagnostic', ({ kind }) => kind === 'sign-in-failed'));
      expect((await store.read(ownerAt(port)))?.tokens).toBeUndefined();
    },
  );
});

describe('a client that the authorization server has forgotten', () => {
  it('is discarded after the first answer, and the next sign-in registers again', async () => {
    const port = await servers.start({
      instead: answering('/token', 'client_id=client-gone', 401, '{"error":"invalid_client"}'),
    });
    const redirectUrl = 'https://host.example/back';
    const store = createMemoryTokenStore([
      [ownerAt(port, ''), { client: { client_id: 'client-gone' }, redirectUrl }],
    ]);
    const { troupe, events, ready } = troupes.start(port.url, {
      store,
      redirectUrl,
      onAuthorizationUrl: ({ url }) => agree(url),
    });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({
      code: 'auth-required',
      message: expect.stringContaining('invalid_client'),
    });
    void troupe
      .connection('port')!
      .retry()
      .catch(() => {});
    await ready();
    expect(port.to('POST /register')).toHaveLength(1);
  });
});

describe('metadata', () => {
  it.each<readonly [string, Bent, RegExp]>([
    [
      'without a required field',
      { metadata: { token_endpoint: undefined } },
      /http:\S+\/\.well-known\/oauth-authorization-server\b.*token_endpoint/,
    ],
    [
      'that is a web page',
      { instead: answering('/.well-known/oauth-protected-resource/mcp', '', 200, '<!doctype html>') },
      /http:\S+\/oauth-protected-resource\/mcp\b/,
    ],
  ])('%s is reported with its address', async (_, bent, message) => {
    const port = await servers.start(bent);
    const { events } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({ code: 'auth-required', message: expect.stringMatching(message) });
  });

  it('may have null in optional fields', async () => {
    const port = await servers.start({
      metadata: { scopes_supported: null },
      resource: { scopes_supported: null },
    });
    const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    expect((await signInAt(await asked())).status).toBe(200);
    await ready();
  });

  it.each([['/.well-known/oauth-protected-resource/mcp'], ['http://'], [''], ['none']])(
    'is found even if the server says that it is at %j',
    async (place) => {
      const port = await servers.start({
        instead: (seen, res) =>
          seen.path === '/mcp' &&
          seen.headers.authorization === undefined &&
          res.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${place}"` }).end() !==
            undefined,
      });
      const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
      expect((await signInAt(await asked())).status).toBe(200);
      await ready();
      expect(port.to('GET /.well-known/oauth-protected-resource/mcp')).not.toEqual([]);
    },
  );

  it('may name several authorization servers, of which the issuer of the client is used', async () => {
    const port = await servers.start();
    port.bent.resource = { authorization_servers: ['https://login.example', port.origin] };
    const client = { ...CLIENT, issuer: port.origin };
    const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore(), client });
    expect((await signInAt(await asked())).status).toBe(200);
    await ready();
  });
});

describe('a stored sign-in with wrong content', () => {
  it.each<readonly [string, unknown]>([
    ['no tokens', { tokens: null }],
    ['a string instead of tokens', { tokens: 'access' }],
    ['a token of two lines', { tokens: { access_token: 'a\nb', token_type: 'Bearer' } }],
    [
      'an expiry that is not a time',
      { tokens: { access_token: 'a', token_type: 'Bearer' }, expiresAt: 'soon' },
    ],
    ['a client without an id', { client: {}, redirectUrl: 'http://127.0.0.1/callback' }],
    ['a redirect that is not a URL', { client: { client_id: 'a' }, redirectUrl: 'nowhere' }],
    ['an array', [1, 2]],
  ])('such as %s is ignored, and the user signs in again', async (_, kept) => {
    const port = await servers.start();
    const memory = createMemoryTokenStore();
    let isFirst = true;
    const store: TokenStore = {
      ...memory,
      read: async (owner) => (isFirst ? (kept as object) : memory.read(owner)),
      write: async (...signIn) => {
        isFirst = false;
        await memory.write(...signIn);
      },
    };
    const { asked, ready } = troupes.start(port.url, { store });
    await signInAt(await asked());
    await ready();
    expect(port.to('POST /register')).toHaveLength(1);
  });

  it.each([
    [{ tokens: { issuer: 5 } }],
    [{ tokens: { scope: 5 } }],
    [{ tokens: { refresh_token: null } }],
    [{ client: { issuer: 5 } }],
    [{ client: { client_secret: 5 } }],
  ])('in one field, such as %j, is used without that field', async (odd) => {
    const port = await servers.start();
    const kept = {
      tokens: { ...port.issue(), ...('tokens' in odd && odd.tokens) },
      client: { client_id: 'a', ...('client' in odd && odd.client) },
    };
    const hasRefreshToken = kept.tokens.refresh_token !== null;
    if (hasRefreshToken) port.expireAll();
    const store = createMemoryTokenStore([[ownerAt(port, ''), kept as object]]);
    await troupes.start(port.url, { store }).ready();
    expect(port.grants()).toEqual(hasRefreshToken ? ['refresh_token'] : []);
  });
});

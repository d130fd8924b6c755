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

/** Answers requests to that path whose body has such a text. */
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
    ['with an error of its own', 400, '{"error":"token_expired"}'],
    ['with a token that is null', 400, '{"access_token":null,"error":"invalid_grant"}'],
    ['with a token that is null and an error of its own', 400, '{"access_token":null,"error":"expired"}'],
    ['with HTTP 200 and an empty token', 200, '{"access_token":"","error":"invalid_grant"}'],
  ])('%s leads to a person, as any other.', async (_, status, answer) => {
    const port = await servers.start({ instead: answering('/token', 'refresh_token', status, answer) });
    const tokens = port.issue();
    port.expireAll();
    const store = createMemoryTokenStore([[ownerAt(port), { tokens }]]);
    const { asked, ready } = troupes.start(port.url, { store, client: CLIENT });
    await signInAt(await asked());
    await ready();
    expect(port.grants()).toContain('authorization_code');
  });

  it('is no reason to ask anybody where the authorization server is out of order.', async () => {
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
  it('may leave fields empty that it need not have.', async () => {
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
    'that cannot be sent, such as %j, is not kept.',
    async (token) => {
      const answer = JSON.stringify({ access_token: token, token_type: 'Bearer' });
      const port = await servers.start({ instead: answering('/token', '', 200, answer) });
      const store = createMemoryTokenStore();
      const { asked, events } = troupes.start(port.url, { store, client: CLIENT });
      expect((await signInAt(await asked())).status).toBe(400);
      const { message } = await bounded(events.when('diagnostic', ({ kind }) => kind === 'sign-in-failed'));
      expect(message).toBe('The sign-in to port failed: the access token that was issued cannot be sent.');
      expect((await store.read(ownerAt(port)))?.tokens).toBeUndefined();
    },
  );
});

describe('a client that the authorization server has forgotten', () => {
  it('is found out by the first answer, and the next sign-in registers anew.', async () => {
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
      message: 'The sign-in to port failed: invalid_client',
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
      'without what has to be in it',
      { metadata: { token_endpoint: undefined } },
      /the OAuth metadata at http:\S+\/\.well-known\/oauth-authorization-server cannot be parsed \(token_endpoint\)\./,
    ],
    [
      'that is a page',
      { instead: answering('/.well-known/oauth-protected-resource/mcp', '', 200, '<!doctype html>') },
      /the OAuth metadata at http:\S+\/oauth-protected-resource\/mcp cannot be parsed \(it is not JSON\)\./,
    ],
  ])('%s is named with its address.', async (_, bent, message) => {
    const port = await servers.start(bent);
    const { events } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({ code: 'auth-required', message: expect.stringMatching(message) });
  });

  it('may leave fields empty that it need not have.', async () => {
    const port = await servers.start({
      metadata: { scopes_supported: null },
      resource: { scopes_supported: null },
    });
    const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    expect((await signInAt(await asked())).status).toBe(200);
    await ready();
  });

  it.each([['/.well-known/oauth-protected-resource/mcp'], ['http://'], [''], ['none']])(
    'is found where the server says that it is at %j.',
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

  it('may name several authorization servers: the one that the client is for is used.', async () => {
    const port = await servers.start();
    port.bent.resource = { authorization_servers: ['https://login.example', port.origin] };
    const client = { ...CLIENT, issuer: port.origin };
    const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore(), client });
    expect((await signInAt(await asked())).status).toBe(200);
    await ready();
  });
});

describe('a kept sign-in that holds something else', () => {
  it.each<readonly [string, unknown]>([
    ['no tokens', { tokens: null }],
    ['tokens that are a text', { tokens: 'access' }],
    ['a token of two lines', { tokens: { access_token: 'a\nb', token_type: 'Bearer' } }],
    ['an end that is no time', { tokens: { access_token: 'a', token_type: 'Bearer' }, expiresAt: 'soon' }],
    ['a client that is none', { client: {}, redirectUrl: 'http://127.0.0.1/callback' }],
    ['a redirect that is no address', { client: { client_id: 'a' }, redirectUrl: 'nowhere' }],
    ['a list', [1, 2]],
  ])('such as %s, counts as none, and a person is asked.', async (_, kept) => {
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
  ])('in one field, such as %j, is used without that field.', async (odd) => {
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

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFileTokenStore } from '../../../../src/auth/stores/file-token-store.js';
import { TokenRenewal } from '../../../../src/auth/account/token-renewal.js';
import { ownAccount } from '../../../../src/auth/account/make-account.js';
import {
  createMemoryTokenStore,
  type StoredSignIn,
  type TokenStore,
} from '../../../../src/auth/stores/token-store.js';
import { NumberedClock } from '../../../../src/actor-system/numbered-clock.js';
import { RootSupervisor } from '../../../../src/actor-system/root-actors.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { createGate } from '../../../support/gate.js';
import { useInotify } from '../../../support/inotify.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import {
  useAuthorizationServers,
  type AuthorizationServer,
  type Bent,
} from '../../../support/authorization-server.js';
import { signInAt } from '../../../support/person.js';
import { bounded, useSigningTroupes } from '../../../support/signing-troupes.js';

useInotify();
useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-renewal-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const CLIENT = { clientId: 'harbor' };
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const ownerAt = (port: AuthorizationServer) => ({ server: port.url, client: CLIENT.clientId });

function storeWith(port: AuthorizationServer, signIn: StoredSignIn): TokenStore {
  return createMemoryTokenStore([[ownerAt(port), signIn]]);
}

/** Answers requests to that path with a status. */
const refusing =
  (path: string, status: number): NonNullable<Bent['instead']> =>
  (seen, res) =>
    seen.path === path && res.writeHead(status).end() !== undefined;

const call = (troupe: { connection(name: string): unknown }, name = 'port') =>
  (
    troupe.connection(name) as { callTool(tool: string, args: object, options: object): Promise<unknown> }
  ).callTool('sail', {}, { timeoutMs: 10_000 });

describe('a token', () => {
  it('is renewed once if five connections are refused at the same time, and all of them continue.', async () => {
    const port = await servers.start();
    const store = storeWith(port, { tokens: port.issue() });
    const { troupe, ready } = troupes.start(port.url, { store, client: CLIENT }, { names: NAMES });
    await Promise.all(NAMES.map((name) => ready(name)));
    port.expireAll();
    await Promise.all(NAMES.map((name) => call(troupe, name)));
    expect(port.grants()).toEqual(['refresh_token']);
    expect(troupe.status.map(({ generation }) => generation)).toEqual([1, 1, 1, 1, 1]);
    expect(port.server.seen.filter(({ rpc }) => rpc.method === 'tools/call')).toHaveLength(10);
  });

  it('is renewed before it expires, so that no request is refused.', async () => {
    const port = await servers.start();
    const tokens = port.issue();
    const store = storeWith(port, { tokens, expiresAt: Date.now() - 1_000 });
    port.expireAll();
    const { ready } = troupes.start(port.url, { store, client: CLIENT });
    await ready();
    expect(port.grants()).toEqual(['refresh_token']);
    const refused = port.server.seen.filter(
      ({ headers }) => headers.authorization === `Bearer ${tokens.access_token}`,
    );
    expect(refused).toEqual([]);
    expect(await store.read(ownerAt(port))).toMatchObject({
      tokens: { refresh_token: 'refresh-2' },
      expiresAt: expect.any(Number),
    });
  });

  it('is used until it expires if it cannot be renewed ahead of time.', async () => {
    const port = await servers.start({ instead: refusing('/token', 503) });
    const clock = createControlledClock();
    const store = storeWith(port, { tokens: port.issue(), expiresAt: clock.now() + 60_000 });
    const account = await ownAccount({ name: 'port', url: port.url }, { store }, CLIENT, {
      cwd: '.',
      clock,
      diagnose: () => {},
      roots: new RootSupervisor(new NumberedClock(clock), () => {}),
      id: 'signIn:1',
    });
    expect(await account.token()).toBe('access-1');
    expect(port.to('POST /token')).toHaveLength(0);
    await clock.advance(55_000);
    expect(await account.token()).toBe('access-1');
    expect(await account.token()).toBe('access-1');
    expect(port.to('POST /token')).toHaveLength(1);
    await clock.advance(5_000);
    await expect(account.token()).rejects.toMatchObject({ failure: { code: 'http-status' } });
    port.bent.instead = () => false;
    expect(await account.token()).toBe('access-2');
    await account.close(new AbortController().signal);
  });

  it('is kept if its early renewal is rejected; only the refresh token is deleted.', async () => {
    const port = await servers.start();
    const tokens = { ...port.issue(), refresh_token: 'refresh-used' };
    const store = storeWith(port, { tokens, expiresAt: Date.now() });
    const { ready } = troupes.start(port.url, { store, client: CLIENT });
    await ready();
    expect(port.grants()).toEqual(['refresh_token']);
    const kept = (await store.read(ownerAt(port)))?.tokens;
    expect(kept).toMatchObject({ access_token: tokens.access_token });
    expect(kept).not.toHaveProperty('refresh_token');
  });

  it('with a very short life does not turn every request into a renewal.', async () => {
    const port = await servers.start({ expiresIn: 0 });
    const tokens = port.issue();
    port.expireAll();
    const { troupe, ready } = troupes.start(port.url, { store: storeWith(port, { tokens }), client: CLIENT });
    await ready();
    await call(troupe);
    expect(port.grants()).toEqual(['refresh_token']);
  });

  it('survives a restart of the host, in a file only the user can read.', async () => {
    const port = await servers.start();
    const store = createFileTokenStore({ folder });
    const first = troupes.start(port.url, { store });
    await signInAt(await first.asked());
    await first.ready();
    await first.troupe.close();
    port.expireAll();
    const second = troupes.start(port.url, { store: createFileTokenStore({ folder }) });
    await second.ready();
    expect(second.events.of('connection.authRequired')).toEqual([]);
    expect(port.grants()).toEqual(['authorization_code', 'refresh_token']);
    const file = readdirSync(folder).find((name) => name.endsWith('.json')) ?? '';
    expect(JSON.parse(readFileSync(join(folder, file), 'utf8'))).toMatchObject({
      tokens: { access_token: expect.stringMatching(/^access-/), issuer: port.origin },
    });
    expect(readdirSync(folder).filter((name) => !name.endsWith('.json'))).toEqual([]);
  });

  it('is still stored if the host closes during its renewal.', async () => {
    const gate = createGate();
    const port = await servers.start({ hold: gate.promise });
    const tokens = port.issue();
    port.expireAll();
    const store = storeWith(port, { tokens });
    const { troupe } = troupes.start(port.url, { store, client: CLIENT });
    await bounded(port.server.arrived(({ path }) => path === '/token'));
    const closed = troupe.close();
    gate.open();
    await bounded(closed);
    expect((await store.read(ownerAt(port)))?.tokens).toMatchObject({ refresh_token: 'refresh-2' });
  });
});

describe('a refresh token', () => {
  it('that is revoked is sent once and deleted, and the user is asked once for all connections.', async () => {
    const port = await servers.start();
    const tokens = port.issue();
    port.revokeAll();
    const store = storeWith(port, { tokens });
    const { troupe, events, asked, ready } = troupes.start(
      port.url,
      { store, client: CLIENT },
      { names: NAMES },
    );
    const urls = await Promise.all(NAMES.map((name) => asked(name)));
    expect(new Set(urls).size).toBe(1);
    expect(port.grants()).toEqual(['refresh_token']);
    expect((await store.read(ownerAt(port)))?.tokens).toBeUndefined();
    const published = JSON.stringify([events.all, troupe.status]);
    expect(published).not.toContain(tokens.refresh_token);
    expect(published).not.toContain(tokens.access_token);
    await signInAt(urls[0] ?? '');
    await Promise.all(NAMES.map((name) => ready(name)));
    expect(port.grants()).toEqual(['refresh_token', 'authorization_code']);
  });

  it('is kept while the authorization server is unreachable, and the user is not asked.', async () => {
    const port = await servers.start({ instead: refusing('/token', 503) });
    const tokens = port.issue();
    port.expireAll();
    const store = storeWith(port, { tokens });
    const { events, ready } = troupes.start(
      port.url,
      { store, client: CLIENT },
      { policy: { backoff: [10, 10, 10], maxAttempts: 5 } },
    );
    const { failure } = await bounded(events.when('connection.retrying'));
    expect(failure).toMatchObject({
      code: 'http-status',
      message: expect.stringMatching(/http:\/\/127\.0\.0\.1:\d+\/token.*503/),
    });
    port.bent.instead = () => false;
    await ready();
    expect(events.of('connection.authRequired')).toEqual([]);
  });

  it('is sent only to the authorization server that issued it.', async () => {
    const port = await servers.start();
    const tokens = { ...port.issue(), issuer: 'https://another.example' };
    port.expireAll();
    const { asked } = troupes.start(port.url, { store: storeWith(port, { tokens }), client: CLIENT });
    await asked();
    expect(port.to('POST /token')).toEqual([]);
  });

  it('of a client that the authorization server has forgotten leads to a new registration.', async () => {
    const port = await servers.start({
      instead: (seen, res) =>
        seen.path === '/token' &&
        seen.body.includes('client_id=client-gone') &&
        res.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}') !==
          undefined,
    });
    const owner = { server: port.url, client: '' };
    const tokens = port.issue();
    port.expireAll();
    const store = createMemoryTokenStore([[owner, { tokens, client: { client_id: 'client-gone' } }]]);
    const { asked, ready } = troupes.start(port.url, { store });
    await signInAt(await asked());
    await ready();
    expect(port.to('POST /register')).toHaveLength(1);
  });
});

describe('a sign-in in another process', () => {
  it('ends the wait in this one.', async () => {
    const port = await servers.start();
    const store = createFileTokenStore({ folder: join(folder, 'shared') });
    const waiting = troupes.start(port.url, { store, client: CLIENT, interactive: false });
    await bounded(waiting.events.when('connection.authRequired'));
    expect(waiting.troupe.status[0]?.authUrl).toBeNull();
    const other = troupes.start(port.url, {
      store: createFileTokenStore({ folder: join(folder, 'shared') }),
      client: CLIENT,
    });
    await signInAt(await other.asked());
    await Promise.all([other.ready(), waiting.ready()]);
    expect(port.grants()).toEqual(['authorization_code']);
  });
});

describe('an unusable store', () => {
  it('is reported, and the sign-in lasts as long as the process.', async () => {
    const port = await servers.start();
    const broken = (): Promise<never> => Promise.reject(new Error('disk full'));
    const store = { read: broken, write: broken, forget: broken, exclusively: broken };
    const { troupe, events, asked, ready } = troupes.start(port.url, { store });
    await signInAt(await asked());
    await ready();
    port.expireAll();
    await call(troupe);
    expect(events.of('diagnostic').filter(({ kind }) => kind === 'sign-in-not-stored')).toMatchObject([
      { server: 'port', message: expect.stringContaining('disk full') },
    ]);
  });
});

describe('a token that another process has renewed', () => {
  it('is renewed again if it has expired since, and the user is not asked.', async () => {
    const port = await servers.start();
    const store = storeWith(port, { tokens: port.issue() });
    const here = troupes.start(port.url, { store, client: CLIENT });
    const there = troupes.start(port.url, { store, client: CLIENT });
    await Promise.all([here.ready(), there.ready()]);
    port.expireAll();
    await call(there.troupe);
    port.expireAll();
    const back = here.events.next('connection.ready');
    await call(here.troupe).catch(() => {});
    await bounded(back);
    expect(port.grants()).toEqual(['refresh_token', 'refresh_token']);
    expect(here.events.of('connection.authRequired').filter(({ url }) => url !== undefined)).toEqual([]);
  });
});

describe('a refresh token without an issuer', () => {
  /** A provider of a host, whose tokens do not say where they come from. */
  const provider = {
    redirectUrl: 'http://127.0.0.1/callback',
    clientMetadata: { redirect_uris: [] },
    clientInformation: () => ({ client_id: 'harbor' }),
    tokens: () => ({ access_token: 'old', refresh_token: 'refresh', token_type: 'Bearer' }),
    saveTokens: () => {},
    redirectToAuthorization: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => '',
  };

  it('belongs to the authorization server that was named first, and is sent to no other.', async () => {
    const renewal = new TokenRenewal();
    const asked: string[] = [];
    const renewWith = (issuer: string) =>
      renewal.renew(
        {
          provider,
          server: 'port',
          mask: () => (text) => text,
          fetch: async (url, init) => {
            asked.push(`${init?.method ?? 'GET'} ${new URL(url).origin}`);
            return Response.json({ access_token: 'new', token_type: 'Bearer' });
          },
          place: async () => ({
            issuer,
            isAssumed: false,
            resource: undefined,
            state: { authorizationServerUrl: issuer },
          }),
        },
        { accessToken: 'old', isRefused: true, scopes: [] },
      );
    expect(await renewWith('https://login.example')).toMatchObject({ tokens: { access_token: 'new' } });
    expect(await renewWith('https://thief.example')).toBeUndefined();
    expect(await renewWith('https://login.example/')).toMatchObject({ tokens: { access_token: 'new' } });
    expect(asked).toEqual(['POST https://login.example', 'POST https://login.example']);
  });
});

import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.js';
import type { AuthorizationRequest } from '../../../src/auth/auth-options.js';
import { createMemoryTokenStore, type TokenStore } from '../../../src/auth/stores/token-store.js';
import { AuthRequiredError, NotReadyError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { event, openStream } from '../../support/http-server.js';
import { useAuthorizationServers, type AuthorizationServer } from '../../support/authorization-server.js';
import { agree, signInAt, visit } from '../../support/person.js';
import { bounded, useSigningTroupes, within } from '../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

const owner = (server: string) => ({ server, client: '' });
const isGone = async (url: string): Promise<boolean> =>
  visit(url).then(
    () => false,
    () => true,
  );

describe('signing in', () => {
  it('requests offline access besides the scopes of the server if it is offered', async () => {
    const port = await servers.start({
      metadata: { scopes_supported: ['look', 'offline_access'] },
      resource: { scopes_supported: ['look'] },
    });
    const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const url = await asked();
    expect(new URL(url).searchParams.get('scope')).toBe('look offline_access');
    await signInAt(url);
    await ready();
  });

  it.each([
    [{ error: 'invalid_redirect_uri' }],
    [{ error: 'invalid_client_metadata', error_description: 'redirect_uris must use localhost' }],
  ])('is redirected to localhost if 127.0.0.1 is refused with %j', async (refusal) => {
    const port = await servers.start({
      instead: ({ path, body }, res) => {
        const isRefused = path === '/register' && body.includes('127.0.0.1');
        if (isRefused)
          res.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
        return isRefused;
      },
    });
    const store = createMemoryTokenStore();
    const { asked, ready, troupe } = troupes.start(port.url, { store });
    const url = await asked();
    const redirect = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
    expect(redirect.hostname).toBe('localhost');
    await troupe.connection('port')?.finishAuth(await agree(url));
    await ready();
    expect(port.to('POST /register')).toHaveLength(2);
  });

  it('registers a client, asks the user with PKCE and state, and continues to ready', async () => {
    const port = await servers.start();
    const store = createMemoryTokenStore();
    const { troupe, events, asked, ready } = troupes.start(port.url, { store, clientName: 'Harbor' });
    const url = new URL(await asked());
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: port.url,
      state: expect.stringMatching(/^[\w-]{40,}$/),
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    });
    expect(troupe.status[0]).toMatchObject({
      state: 'configuring',
      substate: 'authorizing.signingIn',
      authUrl: url.href,
      attempt: 0,
    });
    expect(await signInAt(url.href)).toMatchObject({
      status: 200,
      text: expect.stringContaining('You are signed in'),
    });
    await ready();
    expect(events.states('port')).toEqual([
      'configuring',
      'launching',
      'handshaking',
      'configuring',
      'launching',
      'handshaking',
      'ready',
    ]);
    expect(troupe.status[0]).toMatchObject({ state: 'ready', toolCount: 1, authUrl: null, attempt: 1 });
    expect(JSON.parse(port.to('POST /register')[0]?.body ?? '')).toMatchObject({
      client_name: 'Harbor',
      redirect_uris: [url.searchParams.get('redirect_uri')],
      token_endpoint_auth_method: 'none',
    });
    expect((await store.read(owner(port.url)))?.tokens).toMatchObject({ issuer: port.origin });
    expect(await isGone(url.searchParams.get('redirect_uri') ?? '')).toBe(true);
  });

  it('asks once for five connections to the same server, and all of them continue', async () => {
    const port = await servers.start();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const { events, asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() }, { names });
    const urls = await Promise.all(names.map((name) => asked(name)));
    expect(new Set(urls).size).toBe(1);
    await signInAt(urls[0] ?? '');
    await Promise.all(names.map((name) => ready(name)));
    expect(port.grants()).toEqual(['authorization_code']);
    expect(port.to('POST /register')).toHaveLength(1);
    expect(events.of('connection.authRequired').filter(({ url }) => url !== undefined)).toHaveLength(5);
  });

  it('refuses an answer with a wrong state, from the browser or from finishAuth, and keeps waiting', async () => {
    const port = await servers.start();
    const { troupe, asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const right = new URL(await agree(await asked()));
    const wrong = new URL(right);
    wrong.searchParams.set('state', 'another-state');
    expect(await visit(wrong.href)).toMatchObject({
      status: 400,
      text: expect.not.stringContaining('You are signed in'),
    });
    wrong.searchParams.delete('state');
    expect((await visit(wrong.href)).status).toBe(400);
    const connection = troupe.connection('port')!;
    await expect(connection.finishAuth(wrong.href)).rejects.toMatchObject({
      code: 'AUTH_REQUIRED',
      message: expect.stringContaining('state'),
    });
    await expect(connection.finishAuth('code-unknown')).rejects.toThrow(AuthRequiredError);
    expect(connection.status.substate).toBe('authorizing.signingIn');
    expect(port.grants()).toEqual(['authorization_code']);
    expect((await visit(right.href)).status).toBe(200);
    await ready();
  });

  it('ignores callbacks before the user is asked: knowing the address is not enough to answer or refuse', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const isDiscovery = ({ path }: { readonly path: string }) => path.includes('oauth-authorization-server');
    const port: AuthorizationServer = await servers.start({
      instead: (seen, res) => {
        if (!isDiscovery(seen)) return false;
        const metadata = {
          issuer: port.origin,
          authorization_endpoint: `${port.origin}/authorize`,
          token_endpoint: `${port.origin}/token`,
          registration_endpoint: `${port.origin}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        };
        const headers = { 'content-type': 'application/json', connection: 'close' };
        void held.then(() => res.writeHead(200, headers).end(JSON.stringify(metadata)));
        return true;
      },
    });
    const redirectPort = await freePort();
    const { troupe, events, asked, ready } = troupes.start(port.url, {
      store: createMemoryTokenStore(),
      redirectPort,
    });
    await bounded(port.server.arrived(isDiscovery));
    const callback = `http://127.0.0.1:${redirectPort}/callback`;
    for (const query of [
      '?error=access_denied',
      '?code=code-of-an-attacker',
      '?iss=http://evil.example',
      '',
    ]) {
      expect(await visit(`${callback}${query}`)).toMatchObject({
        status: 400,
        text: expect.not.stringContaining('You are signed in'),
      });
    }
    release();
    await signInAt(await asked());
    await ready();
    expect(troupe.status[0]).toMatchObject({ state: 'ready', error: null });
    expect(events.of('diagnostic').filter(({ kind }) => kind === 'sign-in-failed')).toEqual([]);
  });

  it('shows its success in the browser even if the connection is ready first', async () => {
    const port = await servers.start();
    const memory = createMemoryTokenStore();
    const turns = { end: Promise.resolve() };
    const store: TokenStore = {
      ...memory,
      exclusively: async (...turn) => {
        const outcome = await memory.exclusively!(...turn);
        await turns.end;
        return outcome;
      },
    };
    const { asked, ready } = troupes.start(port.url, { store });
    const url = await asked();
    turns.end = ready();
    expect(await bounded(signInAt(url))).toMatchObject({
      status: 200,
      text: expect.stringContaining('You are signed in'),
    });
  });

  it('uses a code once, however often the browser loads the address', async () => {
    let release = (): void => {};
    const port = await servers.start({ hold: new Promise<void>((resolve) => (release = resolve)) });
    const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const back = await agree(await asked());
    const pages = [visit(back), visit(back), visit(back)];
    await bounded(port.server.arrived(({ path }) => path === '/token'));
    release();
    for (const { status } of await Promise.all(pages)) expect(status).toBe(200);
    await ready();
    expect(port.grants()).toEqual(['authorization_code']);
  });

  it('accepts the code from a host without a browser', async () => {
    const port = await servers.start();
    const asked: AuthorizationRequest[] = [];
    const { ready } = troupes.start(port.url, {
      store: createMemoryTokenStore(),
      redirectUrl: 'https://host.example/signed-in',
      onAuthorizationUrl: (request) => {
        asked.push(request);
        return agree(request.url);
      },
    });
    await ready();
    expect(asked).toEqual([{ server: { name: 'port', url: port.url }, url: expect.any(String) }]);
    expect(new URL(asked[0]?.url ?? '').searchParams.get('redirect_uri')).toBe(
      'https://host.example/signed-in',
    );
  });

  it('accepts a bare code by finishAuth, which resolves when the connection is ready', async () => {
    const port = await servers.start();
    const { troupe, asked } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const back = new URL(await agree(await asked()));
    const connection = troupe.connection('port')!;
    await connection.finishAuth(back.searchParams.get('code') ?? '', { signal: within() });
    expect(connection.state).toBe('ready');
    await expect(connection.finishAuth('again')).rejects.toThrow(NotReadyError);
  });

  it('accepts the redirect address of an application, and checks its state as well', async () => {
    const port = await servers.start();
    const { troupe, asked } = troupes.start(port.url, {
      store: createMemoryTokenStore(),
      redirectUrl: 'harbor://signed-in/here',
    });
    const right = await agree(await asked());
    const connection = troupe.connection('port')!;
    const wrong = right.replace(/state=[^&]*/, 'state=another-state');
    await expect(connection.finishAuth(wrong)).rejects.toMatchObject({
      code: 'AUTH_REQUIRED',
      message: expect.stringContaining('state'),
    });
    expect(port.grants()).toEqual([]);
    await connection.finishAuth(right, { signal: within() });
    expect(connection.state).toBe('ready');
  });

  it('accepts an answer with the white space of a paste', async () => {
    const port = await servers.start();
    const redirectUrl = 'https://host.example/back';
    const { troupe, asked } = troupes.start(port.url, { store: createMemoryTokenStore(), redirectUrl });
    const back = await agree(await asked());
    await troupe.connection('port')!.finishAuth(`  ${back}\r\n`, { signal: within() });
    expect(troupe.connection('port')!.state).toBe('ready');
  });

  it.each([[undefined], [null], [''], [42]])('rejects %j as an answer without a code', async (answer) => {
    const port = await servers.start();
    const { troupe, asked } = troupes.start(port.url, { store: createMemoryTokenStore() });
    await asked();
    await expect(troupe.connection('port')!.finishAuth(answer as never)).rejects.toMatchObject({
      code: 'AUTH_REQUIRED',
      message: expect.stringContaining('code'),
    });
    expect(port.grants()).toEqual([]);
  });

  it('blames the host if its onAuthorizationUrl throws', async () => {
    const port = await servers.start();
    const { events } = troupes.start(port.url, {
      store: createMemoryTokenStore(),
      onAuthorizationUrl: () => {
        throw new TypeError('The window is gone.');
      },
    });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({
      code: 'auth-required',
      message: expect.stringMatching(/'onAuthorizationUrl'.*The window is gone\./),
    });
  });

  it('asks nobody at an authorization server other than the one the client is for', async () => {
    const port = await servers.start();
    const client = { clientId: 'harbor', clientSecret: 'hush-hush', issuer: 'https://login.example' };
    const { events } = troupes.start(port.url, { store: createMemoryTokenStore(), client });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({
      code: 'auth-required',
      message: expect.stringContaining('https://login.example/'),
    });
    expect(events.of('connection.authRequired').filter(({ url }) => url !== undefined)).toEqual([]);
    expect(port.to('POST /register')).toEqual([]);
  });

  it('rejects an answer before the user is asked, and keeps waiting', async () => {
    const port = await servers.start({ instead: ({ path }) => path.includes('oauth-authorization-server') });
    const { troupe, events } = troupes.start(port.url, { store: createMemoryTokenStore() });
    await bounded(events.when('connection.state', ({ substate }) => substate === 'authorizing.signingIn'));
    const answer = troupe.connection('port')!.finishAuth('code', { signal: within() });
    await expect(answer).rejects.toThrow(NotReadyError);
    await expect(answer).rejects.toThrow('connection.authRequired');
    expect(troupe.status[0]).toMatchObject({ substate: 'authorizing.signingIn', authUrl: null });
  });

  it('fails with the error of the callback, and asks again on retry', async () => {
    const port = await servers.start();
    const { troupe, events, asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const url = new URL(await asked());
    const back = new URL(url.searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('state', url.searchParams.get('state') ?? '');
    expect((await visit(back.href)).status).toBe(400);
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({
      code: 'auth-required',
      message: expect.stringContaining('access_denied'),
    });
    const again = events.next('connection.authRequired', (event) => event.url !== undefined);
    void troupe
      .connection('port')!
      .retry()
      .catch(() => {});
    await signInAt((await bounded(again)).url ?? '');
    await ready();
    expect(port.to('POST /register')).toHaveLength(1);
  });

  it('leaves nothing behind when it is stopped while the user is asked', async () => {
    const port = await servers.start();
    const { troupe, asked } = troupes.start(port.url, { store: createMemoryTokenStore() });
    const redirect = new URL(await asked()).searchParams.get('redirect_uri') ?? '';
    expect((await visit(redirect)).status).toBe(400);
    await troupe.connection('port')!.stop({ signal: within() });
    await troupe.close();
    expect(await isGone(redirect)).toBe(true);
    expect(troupe.status[0]?.authUrl).toBeNull();
  });

  it('reuses the redirect address it is registered for, and registers again if its port is in use', async () => {
    const port = await servers.start();
    const store = createMemoryTokenStore();
    const first = troupes.start(port.url, { store });
    await signInAt(await first.asked());
    await first.ready();
    await first.troupe.close();
    port.revokeAll();
    const second = troupes.start(port.url, { store });
    const url = await second.asked();
    expect(port.to('POST /register')).toHaveLength(1);
    const third = troupes.start(port.url, { store });
    const other = await third.asked();
    expect(new URL(other).searchParams.get('redirect_uri')).not.toBe(
      new URL(url).searchParams.get('redirect_uri'),
    );
    expect(port.to('POST /register')).toHaveLength(2);
  });

  it('uses the metadata document of the client if the authorization server supports it', async () => {
    const port = await servers.start({ metadata: { client_id_metadata_document_supported: true } });
    const clientMetadataUrl = 'https://host.example/client.json';
    const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore(), clientMetadataUrl });
    const url = await asked();
    expect(new URL(url).searchParams.get('client_id')).toBe(clientMetadataUrl);
    await signInAt(url);
    await ready();
    expect(port.to('POST /register')).toEqual([]);
  });

  it('gives up on a server that refuses the tokens of several sign-ins in a row', async () => {
    const port = await servers.start({ refusesAll: true });
    const { events } = troupes.start(port.url, {
      store: createMemoryTokenStore(),
      onAuthorizationUrl: ({ url }) => agree(url),
    });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({
      code: 'auth-required',
      message: expect.stringContaining('3'),
    });
    expect(port.grants().filter((grant) => grant === 'authorization_code')).toHaveLength(3);
  });

  it('accepts a provider of the host, with its own state', async () => {
    const port = await servers.start();
    let tokens: object | undefined;
    let client: object | undefined;
    let verifier = '';
    const provider = {
      redirectUrl: 'https://host.example/back',
      clientMetadata: { redirect_uris: ['https://host.example/back'] },
      clientInformation: () => client as never,
      saveClientInformation: (given: object) => void (client = given),
      tokens: () => tokens as never,
      saveTokens: (given: object) => void (tokens = given),
      redirectToAuthorization: () => {},
      saveCodeVerifier: (given: string) => void (verifier = given),
      codeVerifier: () => verifier,
      state: () => 'the-hosts-own',
    };
    const { troupe, asked } = troupes.start(port.url, ({ name }) => (name === 'port' ? provider : undefined));
    const url = await asked();
    expect(new URL(url).searchParams.get('state')).toBe('the-hosts-own');
    await troupe.connection('port')!.finishAuth(await agree(url), { signal: within() });
    expect(troupe.status[0]?.state).toBe('ready');
    expect(tokens).toMatchObject({ access_token: expect.any(String), issuer: port.origin });
  });

  it.each<readonly [string, () => unknown, string]>([
    ['a promise', () => Promise.reject(new Error('not observed')), 'promise'],
    ['an incomplete object', () => ({ tokens: () => undefined }), "'saveTokens'"],
    ['a string', () => 'provider', "'tokens'"],
  ])('reports what is wrong if a host gives %s as the provider', async (_, provider, part) => {
    const port = await servers.start();
    const { events } = troupes.start(port.url, provider as never);
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({ code: 'config-invalid', message: expect.stringContaining(part) });
  });

  it('reports the error that the auth option of the host threw', async () => {
    const port = await servers.start();
    const { events } = troupes.start(port.url, () => {
      throw new Error('no such tenant');
    });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure.message).toMatch(/'auth'.*'port'.*no such tenant/);
  });

  it('treats null from a provider as missing', async () => {
    const port = await servers.start();
    const kept: Record<string, unknown> = { tokens: null, client: null };
    const { troupe, asked } = troupes.start(port.url, () => ({
      redirectUrl: 'https://host.example/back',
      clientMetadata: { redirect_uris: ['https://host.example/back'] },
      clientInformation: () => kept['client'] as never,
      saveClientInformation: (given: object) => void (kept['client'] = given),
      tokens: () => kept['tokens'] as never,
      saveTokens: (given: object) => void (kept['tokens'] = given),
      redirectToAuthorization: () => {},
      saveCodeVerifier: (given: string) => void (kept['verifier'] = given),
      codeVerifier: () => kept['verifier'] as string,
    }));
    const answer = await agree(await asked());
    await troupe.connection('port')!.finishAuth(answer, { signal: within() });
    expect(troupe.status[0]?.state).toBe('ready');
    const other = troupes.start(port.url, () => null as never);
    await bounded(other.events.when('connection.authRequired'));
  });

  it('works with the SSE transport', async () => {
    let stream: ServerResponse | undefined;
    const port: AuthorizationServer = await servers.start({
      instead: ({ method, path, headers, rpc }, res) => {
        const isSignedIn = headers.authorization?.startsWith('Bearer access-') === true;
        if (path !== '/mcp' || !isSignedIn) return false;
        if (method === 'GET') {
          stream = openStream(res);
          stream.write('event: endpoint\ndata: /mcp\n\n');
          return true;
        }
        res.writeHead(202).end();
        const result =
          rpc.method === 'initialize'
            ? { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'old', version: '1' } }
            : {};
        if (rpc.id !== undefined) stream?.write(event({ jsonrpc: '2.0', id: rpc.id, result }));
        return true;
      },
    });
    const { asked, ready } = troupes.start(
      port.url,
      { store: createMemoryTokenStore() },
      { servers: { port: { type: 'sse', url: port.url } } },
    );
    await signInAt(await asked());
    await ready();
    expect(port.grants()).toEqual(['authorization_code']);
  });

  it('waits for other headers if no provider is configured', async () => {
    const port = await servers.start();
    const { troupe, events } = troupes.start(port.url, undefined);
    await bounded(events.when('connection.authRequired'));
    await expect(troupe.connection('port')!.ready()).rejects.toThrow(AuthRequiredError);
    await expect(troupe.connection('port')!.finishAuth('code')).rejects.toThrow(NotReadyError);
    expect(troupe.status[0]).toMatchObject({ substate: 'authorizing.signingIn', authUrl: null });
    expect(port.server.seen.every(({ path }) => path === '/mcp')).toBe(true);
  });
});

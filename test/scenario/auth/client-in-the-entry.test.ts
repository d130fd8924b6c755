/** A client that the configuration names, in place of one that Troupe registers. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import type { HttpServerConfig } from '../../../src/config/entry/server-config.js';
import { useAuthorizationServers, type AuthorizationServer } from '../../support/authorization-server.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { agree, signInAt } from '../../support/person.js';
import { useSigningTroupes } from '../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

/** `oauth` as a file has it. */
function start(port: AuthorizationServer, oauth: object | false, auth = {}) {
  const entry: HttpServerConfig = { type: 'http', url: port.url, oauth };
  return troupes.start(port.url, { store: createMemoryTokenStore(), ...auth }, { servers: { port: entry } });
}

const sent = (port: AuthorizationServer) => new URLSearchParams(port.to('POST /token')[0]?.body ?? '');

describe('a client in the entry', () => {
  it('is used, and none is registered.', async () => {
    const port = await servers.start();
    const { asked, ready } = start(port, { clientId: 'harbor', scopes: ['read', 'write'] });
    const url = new URL(await asked());
    expect(url.searchParams.get('client_id')).toBe('harbor');
    expect(url.searchParams.get('scope')).toBe('read write');
    await signInAt(url.href);
    await ready();
    expect(port.to('POST /register')).toEqual([]);
    expect(sent(port).get('client_id')).toBe('harbor');
  });

  it('sends its secret to the authorization server, and shows it nowhere.', async () => {
    const port = await servers.start();
    const { asked, ready, events } = start(port, { client_id: 'harbor', client_secret: 'S3cret-of-harbor' });
    await signInAt(await asked());
    await ready();
    const [request] = port.to('POST /token');
    const basic = Buffer.from('harbor:S3cret-of-harbor').toString('base64');
    expect(`${request?.body} ${request?.headers.authorization}`).toMatch(
      new RegExp(`S3cret-of-harbor|${basic}`),
    );
    expect(JSON.stringify(events.all)).not.toContain('S3cret-of-harbor');
  });

  it('takes precedence over the client of the options, and its scopes over those of the server.', async () => {
    const port = await servers.start({ resource: { scopes_supported: ['everything'] } });
    const auth = { client: { clientId: 'other' }, scope: 'some' };
    const { asked } = start(port, { clientId: 'harbor', scope: 'read' }, auth);
    const { searchParams } = new URL(await asked());
    expect(searchParams.get('client_id')).toBe('harbor');
    expect(searchParams.get('scope')).toBe('read');
  });

  it.each([
    [
      'callbackPort',
      (free: number) => ({ callbackPort: free }),
      (free: number) => `http://localhost:${free}/callback`,
    ],
    [
      'redirectUri',
      (free: number) => ({ redirectUri: `http://127.0.0.1:${free}/oauth/back` }),
      (free: number) => `http://127.0.0.1:${free}/oauth/back`,
    ],
    [
      'redirectUri on localhost',
      (free: number) => ({ redirectUri: `http://localhost:${free}/oauth/back` }),
      (free: number) => `http://localhost:${free}/oauth/back`,
    ],
  ])('is redirected where it is registered for, by %s.', async (_, block, redirect) => {
    const port = await servers.start();
    const free = await freePort();
    const { asked, ready } = start(port, { clientId: 'harbor', ...block(free) });
    const url = await asked();
    expect(new URL(url).searchParams.get('redirect_uri')).toBe(redirect(free));
    // Not every machine resolves the name to the address that is listened on.
    const back = new URL(await agree(url));
    back.hostname = '127.0.0.1';
    await (await fetch(back, { headers: { connection: 'close' } })).text();
    await ready();
    expect(sent(port).get('redirect_uri')).toBe(redirect(free));
  });

  it('of the options is redirected where it is registered for, and nowhere else.', async () => {
    const free = await freePort();
    const redirectUrl = `http://localhost:${free}/signed/in`;
    const port: AuthorizationServer = await servers.start({
      instead: ({ path }, res) => {
        const { pathname, searchParams } = new URL(path, redirectUrl);
        const isWrong = pathname === '/authorize' && searchParams.get('redirect_uri') !== redirectUrl;
        if (isWrong) res.writeHead(400, { connection: 'close' }).end();
        return isWrong;
      },
    });
    const client = { clientId: 'harbor', redirectUrl };
    const { asked, ready } = troupes.start(port.url, { store: createMemoryTokenStore(), client });
    const back = new URL(await agree(await asked()));
    expect(back.href).toContain(`${redirectUrl}?`);
    back.hostname = '127.0.0.1';
    await (await fetch(back, { headers: { connection: 'close' } })).text();
    await ready();
    expect(port.to('POST /register')).toEqual([]);
  });

  it('may be redirected elsewhere, which somebody else answers.', async () => {
    const port = await servers.start();
    const redirectUri = 'https://harbor.example/back';
    const { troupe, asked, ready } = start(port, { clientId: 'harbor', redirectUri });
    const back = await agree(await asked());
    expect(back).toMatch(/^https:\/\/harbor\.example\/back\?/);
    await troupe.connection('port')?.finishAuth(back);
    await ready();
  });

  it('finds the authorization server where the entry says, if the server says nothing of use.', async () => {
    const port = await servers.start({
      instead: ({ path }, res) => {
        if (path === '/elsewhere') {
          answerJson(res, { ...endpoints(port), issuer: port.origin, response_types_supported: ['code'] });
          return true;
        }
        const isDiscovery = path.includes('.well-known');
        if (isDiscovery) res.writeHead(500).end();
        return isDiscovery;
      },
    });
    const { asked, ready } = start(port, {
      clientId: 'harbor',
      authServerMetadataUrl: `${port.origin}/elsewhere`,
    });
    await signInAt(await asked());
    await ready();
    expect(port.grants()).toEqual(['authorization_code']);
  });

  it('needs no metadata at all with both addresses.', async () => {
    const port = await servers.start({
      instead: ({ path }, res) => {
        const isDiscovery = path.includes('.well-known');
        if (isDiscovery) res.writeHead(500).end();
        return isDiscovery;
      },
    });
    const { authorization_endpoint: authorizationUrl, token_endpoint: tokenUrl } = endpoints(port);
    const { asked, ready } = start(port, { enabled: true, clientId: 'harbor', authorizationUrl, tokenUrl });
    await signInAt(await asked());
    await ready();
    expect(port.grants()).toEqual(['authorization_code']);
  });

  it('is not used for an entry that turns the sign-in off.', async () => {
    const port = await servers.start();
    const { events } = start(port, false);
    const { url } = await events.when('connection.authRequired');
    expect(url).toBeUndefined();
    expect(port.to('POST /register')).toEqual([]);
  });
});

function endpoints({ origin }: AuthorizationServer) {
  return { authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` };
}

function answerJson(res: ServerResponse, value: object): void {
  res.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(value));
}

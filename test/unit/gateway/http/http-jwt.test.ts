import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJwtVerifier } from '../../../../src/gateway/http/http-jwt.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { startProxy } from '../../../support/http-proxy.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const RESOURCE = 'https://mcp.example.com/mcp';
let issuer = '';
let server: Server;
let [key, stranger]: CryptoKey[] = [];
let isDown = false;
let lookups = 0;

beforeAll(async () => {
  const pair = await generateKeyPair('ES256');
  [key, stranger] = [pair.privateKey, (await generateKeyPair('ES256')).privateKey];
  const keys = [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }];
  server = createServer((request, response) => {
    const isKeys = request.url === '/keys';
    if (!isKeys) lookups += 1;
    if (isDown) return void response.writeHead(500, { connection: 'close' }).end();
    const metadata = {
      issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ['code'],
    };
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify(isKeys ? { keys } : metadata));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

const now = (): number => Math.floor(Date.now() / 1_000);

function signed(claims: Readonly<Record<string, unknown>> = {}, by = key): Promise<string> {
  const all: JWTPayload = {
    iss: issuer,
    sub: 'ada',
    aud: RESOURCE,
    exp: now() + 60,
    scope: 'a b',
    ...claims,
  };
  if (by === undefined) throw new Error('no key');
  return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(by);
}

describe('a JWT access token', () => {
  const verify = (token: string) => createJwtVerifier([issuer])(token, { resource: RESOURCE });

  it('is valid if the issuer signed it for this gateway.', async () => {
    const exp = now() + 60;
    for (const aud of [RESOURCE, 'https://mcp.example.com', ['https://mcp.example.com/', 'other']]) {
      expect(await verify(await signed({ aud, exp }))).toEqual({
        subject: `ada of ${issuer}`,
        scopes: ['a', 'b'],
        expiresAt: exp * 1_000,
      });
    }
    expect(await verify(await signed({ scope: undefined, scp: ['c'] }))).toMatchObject({ scopes: ['c'] });
    const odd = { scope: undefined, scp: ['c', { toString: 'd' }, 7] };
    expect(await verify(await signed(odd))).toMatchObject({ scopes: ['c'] });
  });

  it.each<[string, () => Promise<string> | string]>([
    ['is signed with another key', () => signed({}, stranger)],
    ['is for another resource', () => signed({ aud: 'https://other.example.com/mcp' })],
    ['is for another server of this gateway', () => signed({ aud: 'https://mcp.example.com/servers/x/mcp' })],
    ['has no audience', () => signed({ aud: undefined })],
    ['has expired', () => signed({ exp: now() - 60 })],
    ['never expires', () => signed({ exp: undefined })],
    ['is not valid yet', () => signed({ nbf: now() + 600 })],
    ['has no subject', () => signed({ sub: undefined })],
    ['has an empty subject', () => signed({ sub: '' })],
    ['has an object as its subject', () => signed({ sub: { name: 'ada' } })],
    ['has a list as its subject', () => signed({ sub: ['ada'] })],
    ['has a number as its subject', () => signed({ sub: 7 })],
    ['has a number as its issuer', () => signed({ iss: 7 })],
    ['has an object as its issuer', () => signed({ iss: { href: issuer } })],
    ['has a list as its issuer', () => signed({ iss: [issuer] })],
    ['is from another issuer', () => signed({ iss: 'https://evil.example.com' })],
    ['is not signed', () => new UnsecuredJWT({ iss: issuer, sub: 'ada', aud: RESOURCE }).encode()],
    ['is not a JWT', () => 'not-a-jwt'],
    [
      'is signed with a symmetric key',
      () =>
        new SignJWT({ iss: issuer, sub: 'ada', aud: RESOURCE, exp: now() + 60 })
          .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
          .sign(new Uint8Array(32)),
    ],
  ])('is invalid if it %s.', async (_, make) => {
    expect(await verify(await make())).toBeUndefined();
  });

  it('is neither valid nor invalid while its issuer is unreachable, and the issuer is not asked again at once.', async () => {
    const clock = createControlledClock();
    const verifier = createJwtVerifier([issuer], { clock });
    const token = await signed();
    isDown = true;
    await expect(verifier(token, { resource: RESOURCE })).rejects.toThrow();
    const lookupsBefore = lookups;
    await expect(verifier(token, { resource: RESOURCE })).rejects.toThrow();
    expect(lookups).toBe(lookupsBefore);
    isDown = false;
    await clock.advance(10_000);
    expect(await verifier(token, { resource: RESOURCE })).toMatchObject({ scopes: ['a', 'b'] });
  });

  it('is checked by keys that are requested through the proxy of the options, or of the environment.', async () => {
    const port = (server.address() as AddressInfo).port;
    const proxy = await startProxy(() => port);
    const address = `http://${proxy.host}`;
    const token = await signed();
    const options = [{ network: { proxy: address } }, { network: () => ({ proxy: address }) }];
    for (const each of options) {
      const verified = await createJwtVerifier([issuer], each)(token, { resource: RESOURCE });
      expect(verified).toMatchObject({ scopes: ['a', 'b'] });
    }
    expect(proxy.asked).toEqual(Array(4).fill(`127.0.0.1:${port}`));
    expect(proxy.sockets.size).toBe(0);
    await proxy.close();
  });

  it('is checked by keys that are requested with the HTTP client of the host.', async () => {
    const asked: string[] = [];
    const network = {
      fetch: (url: Parameters<typeof fetch>[0], init?: RequestInit) => {
        asked.push(new URL(url instanceof Request ? url.url : url).pathname);
        return fetch(url, {
          ...init,
          headers: { ...Object.fromEntries(new Headers(init?.headers)), connection: 'close' },
        });
      },
    };
    await createJwtVerifier([issuer], { network })(await signed(), { resource: RESOURCE });
    expect(asked).toEqual(['/.well-known/oauth-authorization-server', '/keys']);
  });

  it('is not accepted from an issuer whose keys are not fetched over https.', () => {
    for (const address of ['http://auth.example.com', 'not an address', 'ftp://x']) {
      expect(() => createJwtVerifier([address])).toThrow(/https:\/\//);
    }
  });
});

import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useAuthorizationServers } from '../../support/authorization-server.js';
import { bounded, useSigningTroupes } from '../../support/signing-troupes.js';

useLeakCheck();
useCrashWatch();
const servers = useAuthorizationServers();
const troupes = useSigningTroupes();

const SECRET = 'hush-hush-secret';

describe('a client with credentials of its own', () => {
  it('fetches its token with its secret before the first request, and again when the token is refused', async () => {
    const port = await servers.start({ secrets: { robot: SECRET } });
    const client = {
      clientId: 'robot',
      clientSecret: SECRET,
      issuer: port.origin,
      grant: 'client-credentials',
    } as const;
    const { troupe, events, ready } = troupes.start(port.url, { store: createMemoryTokenStore(), client });
    await ready();
    expect(port.server.seen.every(({ path, headers }) => path !== '/mcp' || headers.authorization)).toBe(
      true,
    );
    port.revokeAll();
    await troupe.connection('port')!.callTool('sail', {}, { timeoutMs: 10_000 });
    expect(port.grants()).toEqual(['client_credentials', 'client_credentials']);
    expect(events.of('connection.authRequired')).toEqual([]);
    expect(JSON.stringify([events.all, troupe.status])).not.toContain(SECRET);
  });

  it('signs an assertion with its private key', async () => {
    const port = await servers.start();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const client = {
      clientId: 'robot',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      algorithm: 'ES256',
      issuer: port.origin,
      grant: 'client-credentials',
    } as const;
    const { ready } = troupes.start(port.url, { store: createMemoryTokenStore(), client });
    await ready();
    const form = new URLSearchParams(port.to('POST /token')[0]?.body);
    expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    const [, claims = ''] = form.get('client_assertion')?.split('.') ?? [];
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      iss: 'robot',
      sub: 'robot',
      aud: port.origin,
    });
  });

  it.each([['pkcs1'], ['pkcs8']] as const)('accepts its private key as %s', async (type) => {
    const port = await servers.start();
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const client = {
      clientId: 'robot',
      privateKey: privateKey.export({ type, format: 'pem' }).toString(),
      issuer: port.origin,
      grant: 'client-credentials',
    } as const;
    const { events, ready } = troupes.start(port.url, { store: createMemoryTokenStore(), client });
    await ready();
    expect(events.of('connection.retrying')).toEqual([]);
  });

  it.each<readonly [string, string, string]>([
    ['is not a key', 'hush-hush-key', 'privateKey'],
    [
      'is for another algorithm',
      generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
      'prime256v1',
    ],
  ])('fails at once if its private key %s, and sends nothing to the server', async (_, privateKey, part) => {
    const port = await servers.start();
    const client = {
      clientId: 'robot',
      privateKey,
      issuer: port.origin,
      grant: 'client-credentials',
    } as const;
    const { troupe, events } = troupes.start(port.url, { store: createMemoryTokenStore(), client });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({ code: 'config-invalid', message: expect.stringContaining(part) });
    expect(JSON.stringify([events.all, troupe.status])).not.toContain('hush-hush');
    expect(port.server.seen).toEqual([]);
  });

  it('fails with the error of the authorization server if its secret is wrong', async () => {
    const port = await servers.start({ secrets: { robot: 'another' } });
    const client = {
      clientId: 'robot',
      clientSecret: SECRET,
      issuer: port.origin,
      grant: 'client-credentials',
    } as const;
    const { events } = troupes.start(port.url, { store: createMemoryTokenStore(), client });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({
      code: 'auth-required',
      message: expect.stringContaining('invalid_client'),
    });
    expect(JSON.stringify(failure)).not.toContain(SECRET);
  });

  it('sends its secret to no authorization server but its own', async () => {
    const port = await servers.start();
    const client = {
      clientId: 'robot',
      clientSecret: SECRET,
      issuer: 'https://login.example',
      grant: 'client-credentials',
    } as const;
    const { events } = troupes.start(port.url, { store: createMemoryTokenStore(), client });
    const { failure } = await bounded(events.when('connection.failed'));
    expect(failure).toMatchObject({
      code: 'auth-required',
      message: expect.stringContaining('https://login.example/'),
      hint: expect.stringContaining("'issuer'"),
    });
    expect(port.to('POST /token')).toEqual([]);
    const sent = port.server.seen.map(({ headers, body }) => `${headers.authorization}${body}`).join('');
    expect(sent).not.toContain(SECRET);
    expect(sent).not.toContain(Buffer.from(`robot:${SECRET}`).toString('base64'));
  });
});

import { describe, expect, it } from 'vitest';
import type { ProtectedResource } from '../../../../src/gateway/http/http-oauth.js';
import { serveHttp } from '../../../../src/gateway/http/serve-http.js';
import type { ServeHttpOptions } from '../../../../src/gateway/http/serve-http-options.js';
import { createControlledClock } from '../../../support/controlled-clock.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { call, initialize, LATEST, ofSession } from '../../../support/gateway-http-client.js';
import { endServicesAfterEach, serving } from '../http-service.js';
import { StandInGateway } from '../serve-stand-in.js';

useLeakCheck();
useCrashWatch();
endServicesAfterEach();

const ISSUER = 'https://auth.example.com';
const bearer = (token: string): { readonly authorization: string } => ({ authorization: `Bearer ${token}` });

/** Knows ada and bob, and records each request to verify a token. */
function people(asked: string[] = []): ProtectedResource {
  return {
    issuers: [ISSUER],
    requiredScopes: ['mcp:use'],
    verifyToken: async (token, { resource }) => {
      asked.push(`${token} ${resource}`);
      if (token === 'broken') throw new Error('the token broken leaked');
      if (token === 'weak') return { subject: 'ada', scopes: ['other'] };
      return ['ada', 'bob'].includes(token) ? { subject: token, scopes: ['mcp:use'] } : undefined;
    },
  };
}

describe('a probe', () => {
  it.each(['/health', '/healthz', '/livez', '/readyz', '/healthz?full=1'])(
    'needs neither a token nor a name of the service: %s.',
    async (path) => {
      const { ask } = await serving({ token: 'quay-token-7' });
      for (const method of ['GET', 'HEAD']) {
        const reply = await ask({ method, path, headers: { host: 'pod.example', accept: '*/*' } });
        expect(reply.status).toBe(200);
        const status = path === '/readyz' ? 'ready' : 'ok';
        expect(await reply.text()).toBe(method === 'GET' ? JSON.stringify({ status }) : '');
      }
      const posted = await ask({ method: 'POST', path });
      expect(posted.status).toBe(404);
      await posted.text();
    },
  );
});

describe('access to the service', () => {
  it.each([
    ['evil.example', 403],
    ['127.0.0.1', 403],
    ['127.0.0.1:1', 403],
    ['localhost:PORT', 200],
    ['LocalHost:PORT', 200],
    ['[::1]:PORT', 200],
    ['127.0.0.1:PORT', 200],
    ['mcp.example.com', 200],
  ])('is decided by the Host header: %s.', async (name, status) => {
    const { ask, service } = await serving({ allowedHosts: ['MCP.example.com'] });
    const host = name.replace('PORT', String(service.port));
    const reply = await ask({ body: initialize(), headers: { host } });
    expect(reply.status).toBe(status);
    if (status === 403) expect(await reply.json()).toMatchObject({ id: null, error: { code: -32000 } });
    else await reply.text();
  });

  it.each([
    ['http://evil.example', 403],
    ['null', 403],
    ['http://localhost:6274', 200],
    ['https://app.example', 200],
    ['vscode-webview://a1', 200],
    ['http://127.0.0.1:PORT', 200],
  ])('is decided by the Origin header: %s.', async (origin, status) => {
    const { ask, service } = await serving({
      allowedOrigins: ['http://localhost:6274/', 'https://App.example:443', 'vscode-webview://a1'],
    });
    const own = origin.replace('PORT', String(service.port));
    const reply = await ask({ body: initialize(), headers: { origin: own } });
    await reply.text();
    expect(reply.status).toBe(status);
  });

  it('includes preflight requests from pages of an allowed origin, and from no others.', async () => {
    const { ask } = await serving({ allowedOrigins: ['http://localhost:6274'], token: 'secret' });
    const allowed = await ask({ method: 'OPTIONS', headers: { origin: 'http://localhost:6274' } });
    expect([allowed.status, allowed.headers]).toMatchObject([
      204,
      {
        'access-control-allow-origin': 'http://localhost:6274',
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-expose-headers': 'mcp-session-id, www-authenticate',
        'access-control-allow-headers': expect.stringContaining('mcp-session-id'),
      },
    ]);
    const other = await ask({ method: 'OPTIONS', headers: { origin: 'http://other.example' } });
    expect([other.status, other.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    expect((await ask({ method: 'OPTIONS' })).status).toBe(401);
  });

  it('requires the token if there is one, and the token is in no answer and no log.', async () => {
    const token = 'correct-horse.battery~staple';
    const { ask, begin, logged } = await serving({ token });
    for (const headers of [{}, bearer('wrong'), bearer(`${token}x`), { authorization: `Basic ${token}` }]) {
      const reply = await ask({ body: initialize(), headers });
      const isMissing = !('authorization' in headers);
      expect([reply.status, reply.headers['www-authenticate']]).toEqual([
        401,
        isMissing ? 'Bearer realm="mcp-troupe"' : 'Bearer realm="mcp-troupe", error="invalid_token"',
      ]);
      expect(await reply.text()).not.toContain('horse');
    }
    const id = await begin({ headers: bearer(token) });
    expect((await ask({ body: call(1), headers: ofSession(id) })).status).toBe(401);
    expect((await ask({ body: call(1), headers: ofSession(id, bearer(token)) })).status).toBe(200);
    expect(logged.join()).not.toContain('horse');
  });

  it.each<[string, ServeHttpOptions, RegExp]>([
    ['that other computers can reach without a token', { host: '0.0.0.0' }, /0\.0\.0\.0.* token/],
    ['that other computers can reach over IPv6 without a token', { host: '::' }, /::.* token/],
    ['with an invalid host', { host: 'a b', token: 'x' }, /'a b'/],
    ['with a token that no header can carry', { token: 'a b' }, /token/],
    ['with an empty token', { token: '' }, /token/],
    ['with an invalid public address', { publicUrl: 'ftp://x' }, /'ftp:\/\/x'/],
    ['without an issuer', { oauth: { issuers: [], verifyToken: async () => undefined } }, /issuer/],
    ['with a port out of range', { port: 99_999 }, /'port'.*65535/],
    ['with a port that is a string', { port: '87oo' as never }, /'port'.*string/],
    ['with a token that is not a string', { token: 5 as never }, /'token'.*number/],
    ['without a verifier', { oauth: { issuers: [ISSUER] } as never }, /'oauth'.*'verifyToken'/],
    [
      'with a verifier that is not a function',
      { oauth: { issuers: [ISSUER], verifyToken: 'x' as never } },
      /'oauth\.verifyToken'.*string/,
    ],
    ['with host names that are not a list', { allowedHosts: 'a.example' as never }, /'allowedHosts'/],
    ['with a host name that is a URL', { allowedHosts: ['https://a.example'] }, /https:\/\/a\.example/],
    [
      'with invalid limits',
      { maxHttpSessions: 'many' as never, maxBodyBytes: -1, events: { maxBytes: '4 MiB' as never } },
      /'maxHttpSessions'.*'maxBodyBytes'.*'events.maxBytes'/,
    ],
    ['with a token of null', { host: '0.0.0.0', token: null as never }, /'token'.*null/],
    ['with host names of null', { allowedHosts: null as never }, /'allowedHosts'.*null/],
    [
      'with scopes of null',
      { oauth: { issuers: [ISSUER], verifyToken: async () => undefined, requiredScopes: null as never } },
      /'oauth\.requiredScopes'.*null/,
    ],
    ['with an invalid logger', { logger: {} as never }, /'logger'.*'debug'.*'warn'.*'error'/],
    ['with a clock of null', { clock: null as never }, /'clock'/],
    ['with an unknown option', { prot: 80 } as never, /'prot'.*'port'/],
  ])('is safe by construction: a service %s does not start.', async (_, options, message) => {
    await expect(serveHttp(new StandInGateway(), options)).rejects.toThrow(message);
  });

  it('from other computers requires the token, and any Host header is accepted.', async () => {
    const { ask } = await serving({ host: '0.0.0.0', token: 'secret' });
    const reply = await ask({ body: initialize(), headers: { host: 'nas.local:80', ...bearer('secret') } });
    expect([reply.status, await reply.json()]).toMatchObject([200, { id: 'init' }]);
  });
});

describe('a protected resource', () => {
  it('publishes its authorization servers for each of its addresses.', async () => {
    const { ask, service } = await serving({ oauth: people() });
    const { origin } = new URL(service.url);
    for (const [path, resource] of [
      ['', `${origin}/`],
      ['/mcp', `${origin}/mcp`],
      ['/servers/git/mcp', `${origin}/servers/git/mcp`],
    ]) {
      const reply = await ask({ method: 'GET', path: `/.well-known/oauth-protected-resource${path}` });
      expect([reply.status, await reply.json()]).toMatchObject([
        200,
        { resource, authorization_servers: [ISSUER], scopes_supported: ['mcp:use'] },
      ]);
    }
    const refused = await ask({ body: initialize() });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      `Bearer realm="mcp-troupe", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
    ]);
  });

  it.each(['//', '//evil.example/mcp', '/\\evil.example/mcp', '/nothing'])(
    'publishes nothing for a path that is not one of its addresses: %s.',
    async (path) => {
      const { ask, logged } = await serving({ oauth: people() });
      const reply = await ask({ method: 'GET', path: `/.well-known/oauth-protected-resource${path}` });
      expect([reply.status, await reply.text()]).toEqual([404, expect.not.stringContaining('evil')]);
      expect(logged).toEqual([]);
    },
  );

  it('does not exist without an authorization server.', async () => {
    const { ask } = await serving();
    const reply = await ask({ method: 'GET', path: '/.well-known/oauth-protected-resource' });
    expect(reply.status).toBe(404);
  });

  it('has tokens verified for the requested address, as clients know it.', async () => {
    const asked: string[] = [];
    const { begin, ask, service } = await serving({
      oauth: people(asked),
      publicUrl: 'https://mcp.example.com/ignored',
      allowedHosts: [],
    });
    const host = `127.0.0.1:${service.port}`;
    await begin({ headers: { host, ...bearer('ada') } });
    await begin({ path: '/servers/git/mcp?x=1', headers: { host: 'mcp.example.com', ...bearer('bob') } });
    expect(asked).toEqual(['ada https://mcp.example.com/mcp', 'bob https://mcp.example.com/servers/git/mcp']);
    expect(service.url).toBe('https://mcp.example.com/mcp');
    const wrong = await ask({ body: initialize(), headers: bearer('mallory') });
    expect([wrong.status, wrong.headers['www-authenticate']]).toMatchObject([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
  });

  it('names the missing scope.', async () => {
    const { ask } = await serving({ oauth: people() });
    const reply = await ask({ body: initialize(), headers: bearer('weak') });
    expect([reply.status, reply.headers['www-authenticate']]).toMatchObject([
      403,
      expect.stringContaining('error="insufficient_scope", scope="mcp:use"'),
    ]);
  });

  it('answers with 503 if the verifier fails or hangs, and does not repeat the error.', async () => {
    const clock = createControlledClock();
    const hanging: ProtectedResource = { issuers: [ISSUER], verifyToken: () => new Promise(() => {}) };
    const broken = await serving({ oauth: people() });
    const hung = await serving({ oauth: hanging, clock });
    const failed = await broken.ask({ body: initialize(), headers: bearer('broken') });
    expect([failed.status, (await failed.text()) + broken.logged.join()]).toMatchObject([
      503,
      expect.not.stringContaining('leaked'),
    ]);
    const asking = hung.ask({ body: initialize(), headers: bearer('ada') });
    await expect.poll(() => clock.pending).toEqual([10_000]);
    await clock.advance(10_000);
    expect((await asking).status).toBe(503);
  });

  it.each([
    ['null', null, 401],
    ['true', true, 503],
    ['the claims of a token', { sub: 'ada', scope: 'mcp:use' }, 503],
    ['no subject', { scopes: ['mcp:use'] }, 503],
    ['no scopes', { subject: 'ada' }, 503],
    ['an empty subject', { subject: '', scopes: ['mcp:use'] }, 503],
    ['an expiry that is not a time', { subject: 'ada', scopes: ['mcp:use'], expiresAt: '2030-01-01' }, 503],
  ])('admits nobody, and logs the reason, if the verifier returns %s.', async (_, verdict, status) => {
    const { ask, logged } = await serving({
      oauth: { ...people(), verifyToken: async () => verdict as never },
    });
    const reply = await ask({ body: initialize(), headers: bearer('ada') });
    await reply.text();
    expect(reply.status).toBe(status);
    if (status === 503) expect(logged.join()).toContain("'verifyToken'");
  });

  it('keeps a session for the user who started it; for all others it does not exist.', async () => {
    const { begin, post, listen, ask } = await serving({ oauth: people(), token: 'house' });
    const id = await begin({ headers: bearer('ada') });
    for (const other of ['bob', 'house']) {
      expect((await post(id, call(1), bearer(other))).status).toBe(404);
      expect((await listen(id, bearer(other))).status).toBe(404);
      const ended = await ask({ method: 'DELETE', headers: ofSession(id, bearer(other)) });
      expect(ended.status).toBe(404);
    }
    expect((await post(id, call(1), bearer('ada'))).status).toBe(200);
  });

  it('ends a stream when the token of its request expires, and lets it be resumed with a new one.', async () => {
    const clock = createControlledClock();
    const oauth: ProtectedResource = {
      issuers: [ISSUER],
      verifyToken: async (token) => ({
        subject: 'ada',
        scopes: [],
        expiresAt: token === 'old' ? clock.now() + 60_000 : clock.now() + 600_000,
      }),
    };
    const { begin, post, listen, gateway } = await serving({ oauth, clock });
    const id = await begin({ headers: bearer('old') });
    const broken = await post(id, call(1, 'hold'), bearer('old'));
    const cursor = (await broken.event())?.id ?? '';
    await clock.advance(60_000);
    expect(await broken.event()).toBeUndefined();
    gateway.last.release(1);
    const resumed = await listen(id, { 'last-event-id': cursor, ...bearer('new') });
    expect(await resumed.messages()).toMatchObject([{ id: 1, result: { released: true } }]);
  });

  it('refuses an expired token.', async () => {
    const clock = createControlledClock();
    const over = { subject: 'ada', scopes: [], expiresAt: clock.now() };
    const { ask } = await serving({ oauth: { issuers: [ISSUER], verifyToken: async () => over }, clock });
    const reply = await ask({ body: initialize({ protocolVersion: LATEST }), headers: bearer('ada') });
    expect(reply.status).toBe(401);
  });
});

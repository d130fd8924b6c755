/** How requests reach a server: through a proxy, with own certificates, over a socket, by a client of the host. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { classify, toFailure } from '../../../../machines/policy/failure.js';
import type { HttpServerConfig } from '../../../../src/config/entry/server-config.js';
import type { TransportError } from '../../../../src/failures/transport-error.js';
import { systemClock } from '../../../../src/ports.js';
import type { SessionTransport } from '../../../../src/transports/session-transport.js';
import { createHttpTransport } from '../../../../src/transports/http/http-fallback.js';
import { openNetwork } from '../../../../src/transports/http/network.js';
import type { NetworkOption } from '../../../../src/transports/http/network-options.js';
import { startProxy, type TestProxy } from '../../../support/http-proxy.js';
import { mcp, startServer, type TestServer } from '../../../support/http-server.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import {
  failureOf,
  INITIALIZE,
  open,
  record,
  request,
  type SessionRecord,
} from '../../../support/session-record.js';
import { CERTIFICATE, KEY } from './self-signed.js';

useLeakCheck();

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0).toReversed()) await close();
});

async function connect(
  config: HttpServerConfig,
  option?: NetworkOption,
): Promise<{ transport: SessionTransport; recorded: SessionRecord }> {
  const openExchange = await openNetwork({ name: 'a', config }, option);
  const transport = createHttpTransport({
    url: config.url,
    headers: config.headers,
    clock: systemClock,
    openExchange,
    stop: { deleteMs: 0 },
  });
  closing.push(() => transport.close());
  return { transport, recorded: record(transport) };
}

async function refused(config: HttpServerConfig, option?: NetworkOption): Promise<TransportError> {
  const { transport } = await connect(config, option);
  await transport.start();
  return failureOf(transport.send(INITIALIZE));
}

async function works({
  transport,
  recorded,
}: {
  transport: SessionTransport;
  recorded: SessionRecord;
}): Promise<void> {
  await open(transport);
  await transport.send(request(1, 'tools/list'));
  expect(await recorded.answerTo(1)).toMatchObject({ result: { method: 'tools/list' } });
}

async function behindProxy(): Promise<{ proxy: TestProxy; server: TestServer }> {
  const server = await startServer(mcp({ sessionId: 's-1' }));
  closing.push(() => server.close());
  const proxy = await startProxy(() => Number(new URL(server.origin).port));
  closing.push(() => proxy.close());
  return { proxy, server };
}

/** A server behind TLS, for `localhost`. */
async function secure(options: https.ServerOptions = {}): Promise<{ port: number; clients: unknown[] }> {
  const clients: unknown[] = [];
  const answer = mcp();
  const server = https.createServer({ key: KEY, cert: CERTIFICATE, ...options }, (req, res) => {
    const socket = req.socket as import('node:tls').TLSSocket;
    clients.push(socket.getPeerCertificate().subject?.CN);
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      const rpc = body === '' ? {} : (JSON.parse(body) as { id?: number; method?: string });
      answer(
        { method: req.method!, path: req.url!, headers: req.headers, body, rpc, over: Promise.resolve() },
        res,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  return { port: (server.address() as AddressInfo).port, clients };
}

const useEnvironment = (variables: Record<string, string>): void => {
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']) {
    vi.stubEnv(name, undefined);
    vi.stubEnv(name.toLowerCase(), undefined);
  }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
};

describe('A proxy', () => {
  it('of the environment gets the whole address of an http: server, and its credentials', async () => {
    const { proxy, server } = await behindProxy();
    useEnvironment({ HTTP_PROXY: `http://ann:p%40ss@${proxy.host}` });
    await works(await connect({ url: 'http://far.invalid/mcp', headers: { 'x-key': 'k' } }));
    expect(new Set(proxy.asked)).toEqual(new Set(['far.invalid']));
    expect(proxy.authorization).toBe(`Basic ${Buffer.from('ann:p@ss').toString('base64')}`);
    expect(server.seen[0]?.headers).toMatchObject({ host: 'far.invalid', 'x-key': 'k' });
    expect(server.seen[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('opens a tunnel to an https: server, which is used by several requests', async () => {
    const { port } = await secure();
    const proxy = await startProxy(() => port);
    closing.push(() => proxy.close());
    useEnvironment({ HTTPS_PROXY: `http://ann:secret@${proxy.host}`, HTTP_PROXY: 'http://127.0.0.1:1' });
    await works(
      await connect(
        { url: 'https://localhost/mcp', proxy: `http://ann:secret@${proxy.host}` },
        { ca: CERTIFICATE },
      ),
    );
    expect(proxy.asked.every((what) => what === 'CONNECT localhost:443')).toBe(true);
    expect(proxy.asked.length).toBeLessThan(4);
    expect(proxy.authorization).toBe(`Basic ${Buffer.from('ann:secret').toString('base64')}`);
  });

  it('is not used for an exception, nor for this computer', async () => {
    const { proxy, server } = await behindProxy();
    useEnvironment({ HTTP_PROXY: `http://${proxy.host}` });
    await works(await connect({ url: server.url }));
    useEnvironment({ ALL_PROXY: `http://${proxy.host}`, NO_PROXY: '.invalid' });
    expect((await refused({ url: 'http://far.invalid/mcp' })).failure.code).toBe('address-refused');
    expect(proxy.asked).toEqual([]);
  });

  it('of the entry is used even for this computer, and false uses none', async () => {
    const { proxy, server } = await behindProxy();
    useEnvironment({ HTTP_PROXY: 'http://127.0.0.1:1' });
    await works(await connect({ url: server.url, proxy: proxy.host }));
    expect(proxy.asked).toContain(new URL(server.url).host);
    const asked = proxy.asked.length;
    await works(await connect({ url: server.url, proxy: false }, { proxy: proxy.host }));
    expect(proxy.asked).toHaveLength(asked);
  });

  it.each(['http', 'https'])(
    'that is away is named, with the target and without credentials: %s',
    async (scheme) => {
      useEnvironment({ ALL_PROXY: 'http://ann:topsecret@127.0.0.1:1' });
      const { failure, written } = await refused({ url: `${scheme}://far.invalid/mcp` });
      expect(failure).toMatchObject({ code: 'address-refused' });
      expect(failure.message).toMatch(/127\.0\.0\.1:1\b.*far\.invalid.*ECONNREFUSED/);
      expect(JSON.stringify(failure)).not.toContain('topsecret');
      expect(written).toBe(false);
      expect(classify(toFailure({ ...failure, phase: 'launch', at: 0 }))).toBe('retry');
    },
  );

  it.each([
    ['http', 407, 'permanent'],
    ['https', 407, 'permanent'],
    ['https', 403, 'permanent'],
    ['https', 502, 'retry'],
  ])('that refuses is named: %s, %i', async (scheme, status, verdict) => {
    const { proxy } = await behindProxy();
    proxy.status = status;
    useEnvironment({ ALL_PROXY: `http://ann:topsecret@${proxy.host}` });
    const { failure, written } = await refused({ url: `${scheme}://far.invalid/mcp` });
    expect(failure).toMatchObject({ http: { status } });
    expect(failure.message).toContain(proxy.host);
    expect(failure.message).toContain('far.invalid');
    expect(JSON.stringify(failure)).not.toContain('topsecret');
    expect(written).toBe(false);
    expect(classify(toFailure({ ...failure, phase: 'launch', at: 0 }))).toBe(verdict);
  });

  it('that opens no tunnel is left as soon as the session is closed', async () => {
    const { proxy } = await behindProxy();
    proxy.isSilent = true;
    useEnvironment({ ALL_PROXY: `http://${proxy.host}` });
    const { transport } = await connect({ url: 'https://far.invalid/mcp' });
    await transport.start();
    const sent = failureOf(transport.send(INITIALIZE));
    await vi.waitFor(() => expect(proxy.asked).toEqual(['CONNECT far.invalid:443']), 10_000);
    await transport.close();
    expect((await sent).failure.code).toBe('connection-lost');
    await vi.waitFor(() => expect(proxy.sockets.size).toBe(0), 10_000);
  });

  it('of a kind that cannot be used is a mistake in the configuration', async () => {
    useEnvironment({ ALL_PROXY: 'socks5://ann:topsecret@127.0.0.1:1080' });
    const { failure } = await refused({ url: 'https://far.invalid/mcp' });
    expect(failure).toMatchObject({ code: 'config-invalid' });
    // Names of variables have no case on Windows.
    expect(failure.message).toMatch(/ALL_PROXY/i);
    expect(failure.message).not.toContain('topsecret');
  });
});

describe('Certificates', () => {
  let folder = '';
  const file = async (name: string, text: string): Promise<string> => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-certificates-'));
    const made = folder;
    closing.push(() => rm(made, { recursive: true }));
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };

  it('of a further authority are trusted, from the entry or the host', async () => {
    const { port } = await secure();
    const url = `https://localhost:${port}/mcp`;
    const ca = await file('ca.pem', CERTIFICATE);
    await works(await connect({ url, ca }));
    await works(await connect({ url, ca: [ca] }, { ca: CERTIFICATE }));
    await works(await connect({ url }, ({ name }) => (name === 'a' ? { ca } : undefined)));
    const { failure } = await refused({ url });
    expect(failure).toMatchObject({
      code: 'address-refused',
      hint: expect.stringContaining("'ca'") as string,
    });
  });

  it('of a client are shown to a server that asks for one', async () => {
    const { port, clients } = await secure({ requestCert: true, rejectUnauthorized: true, ca: CERTIFICATE });
    const url = `https://localhost:${port}/mcp`;
    const [cert, key] = [await file('cert.pem', CERTIFICATE), await file('key.pem', KEY)];
    await works(await connect({ url, cert, key }, { ca: CERTIFICATE }));
    expect(clients[0]).toBe('localhost');
    await refused({ url }, { ca: CERTIFICATE });
  });

  it.each([
    [{ ca: '/no/such/file.pem' }, /'ca'.*\/no\/such\/file\.pem.*ENOENT/],
    [{ ca: '-----BEGIN CERTIFICATE-----\nbroken' }, /'ca' contains no PEM certificate/],
    [
      { cert: CERTIFICATE, key: '-----BEGIN PRIVATE KEY-----\nsecret-part' },
      /'cert' and 'key' cannot be used/,
    ],
  ])('that cannot be used are a mistake in the configuration', async (option, message) => {
    const opened = openNetwork({ name: 'a', config: { url: 'https://far.invalid/' } }, option);
    const { failure } = await failureOf(opened);
    expect(failure.code).toBe('config-invalid');
    expect(failure.message).toMatch(message);
    expect(failure.message).not.toContain('secret-part');
  });
});

describe('A socket of this computer', () => {
  it('leads to its server, whatever the proxy', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'troupe socket-'));
    const path = join(folder, 'mcp.sock');
    const seen: string[] = [];
    const answer = mcp();
    const server = http.createServer((req, res) => {
      seen.push(req.url ?? '');
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => {
        const rpc = body === '' ? {} : (JSON.parse(body) as { id?: number; method?: string });
        answer(
          { method: req.method!, path: req.url!, headers: req.headers, body, rpc, over: Promise.resolve() },
          res,
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    closing.push(async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await rm(folder, { recursive: true });
    });
    useEnvironment({ ALL_PROXY: 'http://127.0.0.1:1' });
    const { transport, recorded } = await connect({
      url: `unix://${path.replaceAll(' ', '%20')}#/tools/mcp`,
    });
    await works({ transport, recorded });
    expect(new Set(seen)).toEqual(new Set(['/tools/mcp']));
    expect(transport.url).toMatch(/^unix:\/\/\/.*mcp\.sock#\/tools\/mcp$/);
  });

  it('that is not there is named', async () => {
    const { failure, written } = await refused({ url: 'unix:///no/such.sock#/mcp' });
    expect(failure).toMatchObject({ code: 'address-refused', hint: expect.any(String) as string });
    expect(failure.message).toContain('unix:///no/such.sock');
    expect(written).toBe(false);
  });
});

describe('A client of the host', () => {
  it('sends every request: a fetch', async () => {
    const server = await startServer(mcp({ sessionId: 's-1' }));
    closing.push(() => server.close());
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      const { href } = new URL(url);
      asked.push(href);
      return globalThis.fetch(href.replace('https://far.invalid', server.origin), init);
    };
    await works(await connect({ url: 'https://far.invalid/mcp' }, { fetch }));
    expect(asked.length).toBe(server.seen.length);
  });

  it('sends every request: a dispatcher of undici', async () => {
    const server = await startServer(mcp({ sessionId: 's-1' }));
    closing.push(() => server.close());
    const dispatcher = new Agent({ connect: { host: '127.0.0.1' } });
    closing.push(() => dispatcher.close());
    await works(await connect({ url: server.url }, () => ({ dispatcher })));
    const { failure, written } = await refused({ url: 'http://127.0.0.1:1/mcp' }, { dispatcher });
    expect(failure.code).toBe('address-refused');
    expect(written).toBe(false);
  });
});

describe('An address of IPv6', () => {
  it('leads to its server', async () => {
    const server = http.createServer((req, res) => {
      req.resume();
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end('{"jsonrpc":"2.0","id":0,"result":{}}');
    });
    await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    const { transport, recorded } = await connect({
      url: `http://[::1]:${(server.address() as AddressInfo).port}/mcp`,
    });
    await transport.start();
    await transport.send(INITIALIZE);
    expect(recorded.messages).toHaveLength(1);
    await transport.close();
  });
});

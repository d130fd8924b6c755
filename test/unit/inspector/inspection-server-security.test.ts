/** Which requests the inspection server answers, and that none can harm the runtime. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogSink } from '../../../src/event-log/record/record-options.js';
import { FileSource } from '../../../src/inspector/file-source.js';
import { LiveSource, type LiveParts } from '../../../src/inspector/live-source.js';
import { INSPECTION_PATHS } from '../../../src/inspector/page-protocol.js';
import { openInspectionServer, type InspectionServer } from '../../../src/inspector/inspection-server.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { systemClock } from '../../../src/ports.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useInotify } from '../../support/inotify.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess, useTroupes } from '../../support/test-troupe.js';
import { SAMPLE_LINES, toBytes } from '../../support/sample-log.js';
import { PageClient } from '../../support/page-client.js';
import { inTime } from '../../support/time-limit.js';

useInotify();
useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

const PARROT = fileURLToPath(new URL('../../support/parrot.mjs', import.meta.url));
const SAMPLE = toBytes(SAMPLE_LINES).toString();
const API = Object.values(INSPECTION_PATHS);

let folder: string;
const servers: InspectionServer[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-page-'));
  mkdirSync(join(folder, 'page', 'assets'), { recursive: true });
  writeFileSync(join(folder, 'outside.txt'), 'not for pages');
  writeFileSync(join(folder, 'page', 'index.html'), '<!doctype html><title>page</title>');
  writeFileSync(join(folder, 'page', 'assets', 'page.js'), 'export {};');
  symlinkSync(join(folder, 'outside.txt'), join(folder, 'page', 'assets', 'link.txt'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  rmSync(folder, { recursive: true });
});

/** A server that shows a log, with a page in the folder of the test. */
async function showing(log: string, page = join(folder, 'page')): Promise<PageClient> {
  const file = join(folder, 'log.jsonl');
  writeFileSync(file, log);
  const source = new FileSource([{ label: '', parts: [file] }], 'log.jsonl', systemClock);
  const server = await openInspectionServer({ source, clock: systemClock, port: 0, folder: page });
  servers.push(server);
  return new PageClient(server.url);
}

async function inspected(servers: Record<string, ServerConfig> = {}) {
  const test = troupes.make({
    servers: { files: inProcess(new ScriptedServer({ tools: [tool('read')] })), ...servers },
  });
  const { url } = await test.troupe.inspect();
  return { ...test, page: new PageClient(url) };
}

/** Sends raw bytes and returns the whole answer. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.setEncoding('latin1');
  let answer = '';
  socket.on('data', (text: string) => (answer += text));
  socket.write(bytes);
  // Not `once` of `node:events`: the server may reset the connection after its answer.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await inTime(closed, 15_000, () => new Error('the server does not close the connection'));
  return answer;
}

describe('the inspection server answers', () => {
  it.each(API)('%s only with the right token.', async (path) => {
    const { page, troupe } = await inspected();
    await troupe.start();
    const method = path === INSPECTION_PATHS.command ? 'POST' : 'GET';
    const body = JSON.stringify({ server: 'files', command: 'connection.stop' });
    const wrong = [undefined, '', 'x', `${page.token}x`, page.token.slice(1), page.token.toUpperCase()];
    for (const token of wrong) {
      const answer = await page.ask(path, { method, body, token });
      expect([token, answer.status]).toEqual([token, 401]);
      expect(answer.body).not.toContain('files');
    }
    const inQuery = await page.ask(`${path}?token=${page.token}`, { method, body, token: undefined });
    expect(inQuery.status).toBe(401);
    const basic = await page.ask(path, {
      method,
      body,
      token: undefined,
      headers: { authorization: `Basic ${page.token}` },
    });
    expect(basic.status).toBe(401);
    expect(troupe.connection('files')?.state).toBe('ready');
  });

  it('only requests with its own Host header, so that DNS rebinding fails.', async () => {
    const { page } = await inspected();
    const { port } = page;
    for (const path of ['/', ...API]) {
      for (const host of [
        'evil.example',
        `evil.example:${port}`,
        `127.0.0.1:${port + 1}`,
        '127.0.0.1',
        '[::1]',
      ]) {
        const { status } = await page.ask(path, { headers: { host } });
        expect([path, host, status]).toEqual([path, host, 403]);
      }
    }
    expect((await page.ask(INSPECTION_PATHS.tools, { headers: { host: `localhost:${port}` } })).status).toBe(
      200,
    );
    const without = await raw(port, `GET ${INSPECTION_PATHS.tools} HTTP/1.0\r\n\r\n`);
    expect(without).toMatch(/^HTTP\/1\.1 40[03] /);
  });

  it('no request from another origin, even with the token.', async () => {
    const { page, troupe } = await inspected();
    await troupe.start();
    const { port } = page;
    const body = JSON.stringify({ server: 'files', command: 'connection.stop' });
    const origins = [
      'https://evil.example',
      'null',
      `http://127.0.0.1:${port + 1}`,
      `https://127.0.0.1:${port}`,
    ];
    for (const origin of origins) {
      const { status } = await page.ask(INSPECTION_PATHS.command, {
        method: 'POST',
        body,
        headers: { origin },
      });
      expect([origin, status]).toEqual([origin, 403]);
    }
    for (const site of ['cross-site', 'same-site', 'none']) {
      const { status } = await page.ask(INSPECTION_PATHS.tools, { headers: { 'sec-fetch-site': site } });
      expect([site, status]).toEqual([site, 403]);
    }
    expect(troupe.connection('files')?.state).toBe('ready');
    const own = { origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' };
    expect((await page.ask(INSPECTION_PATHS.tools, { headers: own })).status).toBe(200);
  });

  it('with headers that restrict the browser.', async () => {
    const page = await showing(SAMPLE);
    for (const path of ['/', '/assets/page.js', '/nothing', INSPECTION_PATHS.stream]) {
      const { headers } = await page.ask(path);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; /);
      expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:|\*/);
    }
  });

  it('with a compressed script, under its name, to a program that accepts Brotli and to one that does not.', async () => {
    writeFileSync(join(folder, 'page', 'assets', 'worker.js.br'), brotliCompressSync('export {};'));
    const page = await showing(SAMPLE);
    const address = `http://127.0.0.1:${page.port}/assets/worker.js`;
    const asked = async (encoding: string): Promise<unknown[]> => {
      const response = await fetch(address, { headers: { 'accept-encoding': encoding } });
      const { headers } = response;
      return [headers.get('content-encoding'), headers.get('content-type'), await response.text()];
    };
    const type = 'text/javascript; charset=utf-8';
    expect(await asked('gzip, br')).toEqual(['br', type, 'export {};']);
    expect(await asked('identity')).toEqual([null, type, 'export {};']);
  });

  it('with files of the page only.', async () => {
    const page = await showing(SAMPLE);
    const index = await page.ask('/', { token: undefined });
    expect(index).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(await page.ask('/assets/page.js', { token: undefined })).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/javascript; charset=utf-8' },
      body: 'export {};',
    });
    const ways = [
      '/../outside.txt',
      '/assets/../../outside.txt',
      '/assets/..%2f..%2foutside.txt',
      '/%2e%2e/outside.txt',
      '/%2e%2e%2foutside.txt',
      '/..%5coutside.txt',
      '/..\\outside.txt',
      '/....//outside.txt',
      '/%252e%252e/outside.txt',
      '/assets/link.txt',
      '/assets',
      '/assets/',
      '//outside.txt',
      `/${join(folder, 'outside.txt')}`,
      '/assets/page.js%00.txt',
      '/%c0%ae%c0%ae/outside.txt',
    ];
    for (const way of ways) {
      const { body } = await page.ask(way);
      expect([way, body.includes('not for pages')]).toEqual([way, false]);
      const bytes = await raw(
        page.port,
        `GET ${way} HTTP/1.1\r\nHost: 127.0.0.1:${page.port}\r\nConnection: close\r\n\r\n`,
      );
      expect([way, bytes.includes('not for pages')]).toEqual([way, false]);
    }
  });

  it('with an instruction if the page is not built.', async () => {
    const page = await showing(SAMPLE, join(folder, 'nothing-here'));
    const { status, body } = await page.ask('/');
    expect(status).toBe(503);
    expect(body).toContain("'npm run build'");
    expect((await page.ask('/assets/page.js')).status).toBe(404);
    mkdirSync(join(folder, 'nothing-here'));
    writeFileSync(join(folder, 'nothing-here', 'index.html'), 'built meanwhile');
    expect((await page.ask('/')).body).toBe('built meanwhile');
  });

  it('with the allowed methods to a wrong one, and with an error to an invalid request.', async () => {
    const { page } = await inspected();
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH', 'POST']) {
      const { status, headers } = await page.ask(INSPECTION_PATHS.stream, { method });
      expect([method, status, headers.allow]).toEqual([method, 405, 'GET, HEAD']);
    }
    expect((await page.ask(INSPECTION_PATHS.command)).status).toBe(405);
    expect((await page.ask('/api/unknown')).status).toBe(404);
    expect((await page.ask('/', { method: 'POST' })).status).toBe(405);
    for (const line of [
      'GET http://127.0.0.1/ HTTP/1.1',
      'OPTIONS * HTTP/1.1',
      'nonsense',
      'CONNECT a:1 HTTP/1.1',
    ])
      expect(
        await raw(page.port, `${line}\r\nHost: 127.0.0.1:${page.port}\r\nConnection: close\r\n\r\n`),
      ).not.toMatch(/^HTTP\/1\.1 200/);
  });
});

describe('the inspection server withstands', () => {
  it('requests larger than the limit.', async () => {
    const { page, troupe } = await inspected();
    await troupe.start();
    const answer = await page.ask(INSPECTION_PATHS.command, {
      method: 'POST',
      body: Buffer.alloc(1 << 20, 'x'),
    });
    expect(answer.status).toBe(413);
    // Without a content length that could be checked first.
    const head = `POST ${INSPECTION_PATHS.command} HTTP/1.1\r\nHost: 127.0.0.1:${page.port}\r\nAuthorization: Bearer ${page.token}\r\n`;
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const chunked = await raw(page.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}${chunk}`);
    expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
    const header = await raw(page.port, `GET / HTTP/1.1\r\nX-Long: ${'x'.repeat(64 * 1_024)}\r\n\r\n`);
    expect(header).toMatch(/^HTTP\/1\.1 431 /);
    expect(troupe.connection('files')?.state).toBe('ready');
  });

  it('more pages than a browser has connections for.', async () => {
    const { page } = await inspected();
    const streams = await Promise.all(Array.from({ length: 5 }, () => page.watch()));
    const { status, body } = await page.ask(INSPECTION_PATHS.stream);
    expect([status, body]).toEqual([503, expect.stringContaining('5 pages')]);
    await streams.pop()?.leave();
    await expect
      .poll(async () => (await page.ask(INSPECTION_PATHS.stream, { method: 'HEAD' })).status)
      .toBe(200);
    const another = await page.watch();
    for (const stream of [another, ...streams]) await stream.leave();
  });

  it('sockets that are cut at any point.', async () => {
    const { page, troupe } = await inspected();
    await troupe.start();
    const host = `Host: 127.0.0.1:${page.port}\r\nAuthorization: Bearer ${page.token}\r\n`;
    const begun = [
      'GET',
      `GET / HTTP/1.1\r\n`,
      `POST ${INSPECTION_PATHS.command} HTTP/1.1\r\n${host}Content-Length: 100\r\n\r\n{"conn`,
      `GET ${INSPECTION_PATHS.stream} HTTP/1.1\r\n${host}\r\n`,
      `GET ${INSPECTION_PATHS.log} HTTP/1.1\r\n${host}\r\n`,
    ];
    for (const bytes of begun) {
      const socket: Socket = connect(page.port, '127.0.0.1');
      await once(socket, 'connect');
      await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    expect((await page.ask(INSPECTION_PATHS.tools)).status).toBe(200);
    expect((await troupe.callTool('mcp__files__read')).isError).not.toBe(true);
  });

  it('a page that does not read while a lot happens: it gets the rest later, and nothing waits for it.', async () => {
    let sink: LogSink | undefined;
    const source = new LiveSource({
      history: 0,
      isReadOnly: false,
      recorded: () => undefined,
      clock: systemClock,
      title: 'busy',
      record: (target) => {
        sink = typeof target === 'object' && 'target' in target ? (target.target as LogSink) : undefined;
        return Promise.resolve({ close: () => Promise.resolve() });
      },
      connections: () => [],
      review: () => undefined,
      onchanged: () => () => {},
      ...({} as Pick<LiveParts, 'system' | 'connection' | 'tools' | 'mask'>),
    });
    const server = await openInspectionServer({ source, clock: systemClock, port: 0 });
    servers.push(server);
    const page = new PageClient(server.url);
    const [slow, fast] = [await page.watch(), await page.watch()];
    await Promise.all([slow, fast].map((stream) => stream.until(({ messages }) => messages.length > 0)));
    slow.pause();
    const entry = `{"pad":"${'x'.repeat(64 * 1_024)}"}\n`;
    for (let part = 1; part <= 8; part += 1) {
      if (part > 1) await sink?.rotate?.();
      await sink?.write(`{"header":${part}}\n`);
      for (let count = 0; count < 100; count += 1) await sink?.write(entry);
      await fast.until((seen) => seen.of('log').length === part * 101);
    }
    expect(fast.of('resync')).toEqual([]);
    slow.resume();
    await slow.until((seen) => {
      const last = seen.messages.at(-1);
      return seen.of('resync').length > 0 && last?.kind === 'log' && last.lines === entry;
    });
    const [resync] = slow.of('resync');
    expect(resync?.missed).toBeGreaterThan(300);
    expect(slow.messages[slow.messages.indexOf(resync as never) + 1]).toMatchObject({
      lines: '{"header":8}\n',
    });
    await slow.leave();
    await fast.leave();
  });

  it('servers whose names and texts are markup.', async () => {
    const markup = '</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> \u2028 ${x} $& $1';
    const name = '<b>files</b>';
    const server = new ScriptedServer({
      on: {
        initialize: () => ({
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: markup, version: markup },
        }),
      },
      tools: [{ ...tool('read'), title: markup, description: markup }],
    });
    const { page, troupe } = await inspected({ [name]: inProcess(server) });
    await troupe.start();
    const stream = await page.watch();
    await stream.until((seen) => seen.log.includes('alert(2)') && seen.of('status').length > 0);
    expect(stream.of('status')[0]?.rows.find((row) => row.server === name)?.serverInfo?.name).toBe(markup);
    const tools = await page.ask(`${INSPECTION_PATHS.tools}?server=${encodeURIComponent(name)}`);
    expect(tools.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(tools.body)).toMatchObject([{ description: markup, title: markup }]);
    await stream.leave();
  });

  it('a server that repeats its secrets: none is in any byte that is served.', async () => {
    const secret = 'sk-inspect "2Secret"/ä';
    const troupe = createTroupe({
      servers: {
        parrot: { command: process.execPath, args: [PARROT, 'polite'], env: { PARROT_KEY: secret } },
        refusing: {
          command: process.execPath,
          args: [PARROT, 'refusing'],
          env: { PARROT_KEY: secret },
          policy: { maxAttempts: 1 },
        },
      },
    });
    try {
      const { url } = await troupe.inspect();
      const page = new PageClient(url);
      const stream = await page.watch();
      await stream.until((seen) => seen.log !== '');
      await troupe.start();
      await troupe
        .connection('parrot')
        ?.callTool('refuse', {})
        .catch(() => {});
      await troupe
        .connection('parrot')
        ?.callTool('die', {})
        .catch(() => {});
      await stream.until((seen) => seen.log.includes('session.lost'));
      await page.command('parrot', 'connection.retry');
      const bodies = [JSON.stringify(stream.messages), stream.log];
      for (const path of [INSPECTION_PATHS.tools, INSPECTION_PATHS.log])
        bodies.push((await page.ask(path)).body);
      expect(bodies.join()).toContain('xstate.done.actor.readTools');
      const all = bodies.join('\n');
      for (const piece of ['sk-inspect', '2Secret']) {
        const at = all.indexOf(piece);
        expect(at === -1 ? '' : all.slice(Math.max(0, at - 200), at + 100)).toBe('');
      }
      await stream.leave();
    } finally {
      await troupe.close();
    }
  });
});

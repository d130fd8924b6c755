/** The gateway behind nginx, with the file of docs/examples/service. Needs nginx: see `tools/optional-programs.mjs`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { ask, initialize, ofSession, type Reply } from '../../support/gateway-http-client.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { endServicesAfterEach, serving, type Serving } from '../../unit/gateway/http-service.js';

useLeakCheck();
endServicesAfterEach();

const PUBLIC = 'http://mcp.example.com';
const TOKEN = 'quay-token-7';
const EXAMPLE = new URL('../../../docs/examples/service/nginx.conf', import.meta.url);
const authorization = `Bearer ${TOKEN}`;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** The file as it is, but with these servers, without TLS, and in one process that writes only into a folder of its own. */
async function proxying(services: readonly Serving[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-nginx-'));
  const port = await freePort();
  const servers = services.map(({ service }) => `server 127.0.0.1:${service.port};`).join('\n');
  const site = readFileSync(EXAMPLE, 'utf8')
    .replace('server 127.0.0.1:8700;', servers)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*\n/gm, '');
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  );
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr warn; events {} http { access_log off; ${places.join(' ')}\n${site} }`,
  );
  const env = { PATH: `${process.env['PATH']}${delimiter}/usr/sbin` };
  const nginx = spawn('nginx', ['-p', folder, '-c', file, '-e', 'stderr'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  nginx.stderr.on('data', (chunk: Buffer) => (errors += String(chunk)));
  const ended = once(nginx, 'close');
  ends.push(async () => {
    nginx.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
    expect(
      errors.replaceAll(/^.*(buffered to a temporary file|could be set only|reopening).*\n/gm, ''),
    ).not.toMatch(/\[emerg\]|\[alert\]/);
  });
  await expect
    .poll(
      () =>
        ask(port, { method: 'GET', path: '/none' }).then(
          () => true,
          () => errors,
        ),
      { timeout: 5_000 },
    )
    .toBe(true);
  return port;
}

const gatewayOf = (): Promise<Serving> => serving({ token: TOKEN, publicUrl: PUBLIC });
const headers = { authorization, host: 'mcp.example.com' };
const call = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

async function begin(port: number): Promise<string> {
  const reply = await ask(port, { body: initialize(), headers });
  await reply.text();
  expect(reply.status).toBe(200);
  return reply.headers['mcp-session-id'] as string;
}

function post(port: number, session: string, body: object): Promise<Reply> {
  return ask(port, { body, headers: ofSession(session, headers) });
}

describe('behind nginx', () => {
  it('events reach the client as they come, the token is needed, and probes stay inside.', async () => {
    const behind = await gatewayOf();
    const port = await proxying([behind]);
    expect((await ask(port, { body: initialize(), headers: { host: headers.host } })).status).toBe(401);
    for (const path of ['/readyz', '/healthz', '/metrics'])
      expect((await ask(port, { method: 'GET', path, headers })).status).toBe(404);

    const session = await begin(port);
    const listening = await ask(port, { method: 'GET', headers: ofSession(session, headers) });
    const held = await post(port, session, call(1, 'hold'));
    const { last } = behind.gateway;
    last.send({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }, 1);
    last.send({ method: 'notifications/tools/list_changed' });
    const came = async (reply: Reply): Promise<unknown> => {
      for (;;) {
        const event = await reply.event();
        if (event?.message !== undefined || event === undefined) return event?.message?.['method'];
      }
    };
    expect(await came(held)).toBe('notifications/progress');
    expect(await came(listening)).toBe('notifications/tools/list_changed');
    last.release(1);
    expect((await held.messages()).at(-1)).toMatchObject({ id: 1, result: { released: true } });
    listening.leave();

    const [fits, exceeds] = [1.5, 5].map((mebibytes) =>
      call(2, 'echo', { text: 'x'.repeat(mebibytes * 1024 * 1024) }),
    );
    expect((await (await post(port, session, fits!)).messages())[0]).toMatchObject({ id: 2 });
    expect((await post(port, session, exceeds!)).status).toBe(413);
  });

  it('a gateway that drains gets no new client, and keeps those that it has.', async () => {
    const [leaving, staying] = [await gatewayOf(), await gatewayOf()];
    const port = await proxying([leaving, staying]);
    leaving.service.drain();
    for (let client = 1; client <= 4; client += 1) await begin(port);
    expect([leaving.service.sessions, staying.service.sessions]).toEqual([0, 4]);
  });

  it('calls in flight finish while the gateway closes.', async () => {
    const behind = await gatewayOf();
    const port = await proxying([behind]);
    const held = await post(port, await begin(port), call(1, 'hold'));
    const closing = behind.service.close();
    behind.gateway.last.release(1);
    expect((await held.messages()).at(-1)).toMatchObject({ id: 1, result: { released: true } });
    await closing;
    expect((await ask(port, { body: initialize(), headers })).status).toBe(502);
  });
});

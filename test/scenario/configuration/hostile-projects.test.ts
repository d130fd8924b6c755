/** A project file that somebody else wrote gets nothing before the user trusts it. */
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { serverCommand } from '../../../src/lifecycle/server-command.js';
import { createMemoryTokenStore } from '../../../src/auth/stores/token-store.js';
import { createMemoryTrustStore } from '../../../src/trust/trust-store.js';
import { discoverServers } from '../../../src/servers/discover.js';
import type { TroupeOptions } from '../../../src/options.js';
import { createTroupe, type Troupe } from '../../../src/runtime/troupe.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';

const SECRETS = { SECRET: 'secret-1', TOKEN: 'secret-2' };

describe('a hostile project file', () => {
  useLeakCheck();
  useCrashWatch();
  const made: Troupe[] = [];
  let root: string;
  let web: Server;
  let origin: string;
  /** Path and header of every request. */
  const requests: { readonly url: string | undefined; readonly token: unknown }[] = [];
  const authorizations: unknown[] = [];

  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'troupe-hostile-')));
    web = createServer((request, response) => {
      requests.push({ url: request.url, token: request.headers['x-token'] });
      authorizations.push(request.headers.authorization);
      response.writeHead(request.url === '/secure' ? 401 : 500).end();
    }).listen(0, '127.0.0.1');
    await once(web, 'listening');
    origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await Promise.all(made.splice(0).map((troupe) => troupe.close()));
    requests.splice(0);
    authorizations.splice(0);
  });
  afterAll(async () => {
    web.closeAllConnections();
    web.close();
    await once(web, 'close');
    await rm(root, { recursive: true, force: true });
  });

  const at = (name: string): string => join(root, name);

  /** Variables of the host, and the names of those that were read. */
  function watchedEnv() {
    const seen = new Set<string>();
    const env = new Proxy<Record<string, string>>(SECRETS, {
      get(target, name) {
        seen.add(String(name));
        return Reflect.get(target, name) as string;
      },
      has(target, name) {
        seen.add(String(name));
        return Reflect.has(target, name);
      },
      getOwnPropertyDescriptor(target, name) {
        seen.add(String(name));
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
      ownKeys(target) {
        seen.add('all');
        return Reflect.ownKeys(target);
      },
    });
    return { env, seen: () => [...seen].filter((name) => name !== 'TROUPE_TIMEOUT_MS').toSorted() };
  }

  async function make(servers: object, options: TroupeOptions = {}) {
    await writeFile(at('.mcp.json'), JSON.stringify({ mcpServers: servers }));
    const troupe = createTroupe({
      config: { path: at('.mcp.json'), scope: 'project' },
      policy: { maxAttempts: 1 },
      ...options,
    });
    made.push(troupe);
    return { troupe, events: recordEvents(troupe.events$) };
  }

  const writing = (name: string) => ({
    command: process.execPath,
    args: ['-e', `fs.writeFileSync(${JSON.stringify(at(name))}, '')`, '${SECRET}'],
  });

  it('has nothing spawned, expanded or fetched before it is trusted, and all of that afterwards', async () => {
    const { env, seen } = watchedEnv();
    const headers = { 'X-Token': '${TOKEN}' };
    const { troupe, events } = await make(
      {
        runs: writing('ran'),
        lazy: { ...writing('ran-lazily'), start: 'lazy' },
        http: { type: 'http', url: `${origin}/http`, headers },
        sse: { type: 'sse', url: `${origin}/sse/\${SECRET}` },
        either: { url: `${origin}/either?key=\${SECRET:-none}` },
      },
      { env },
    );
    const report = await troupe.start();
    await troupe.settled();
    await discoverServers({ config: { path: at('.mcp.json'), scope: 'project' } });
    expect(report).toMatchObject({ ready: [], failed: [] });
    expect(troupe.status.map(({ substate }) => substate)).toEqual(
      Array.from({ length: 5 }, () => 'awaitingTrust'),
    );
    expect(seen()).toEqual([]);
    expect(requests).toEqual([]);
    expect([existsSync(at('ran')), existsSync(at('ran-lazily'))]).toEqual([false, false]);
    await expect(troupe.connection('runs')?.callTool('anything')).rejects.toMatchObject({
      code: 'NOT_READY',
    });
    expect(seen()).toEqual([]);

    // Shows that the checks above would have noticed a leak.
    await expect(troupe.connection('http')?.trust()).rejects.toThrow();
    expect(requests[0]).toEqual({ url: '/http', token: 'secret-2' });
    expect(seen()).toContain('TOKEN');
    await expect(troupe.connection('runs')?.trust()).rejects.toThrow();
    expect([existsSync(at('ran')), existsSync(at('ran-lazily'))]).toEqual([true, false]);
    expect(requests.every(({ url }) => url === '/http')).toBe(true);
    expect(JSON.stringify([events.all, troupe.status])).not.toMatch(/secret-[12]/);
  });

  it('has nothing spawned or expanded if it is refused', async () => {
    const { env, seen } = watchedEnv();
    const { troupe } = await make({ runs: writing('refused') }, { env });
    await troupe.start();
    troupe.connection('runs')?.deny();
    await troupe.settled();
    expect(troupe.connection('runs')?.status).toMatchObject({
      state: 'failed',
      error: { code: 'trust-denied' },
    });
    expect([seen(), existsSync(at('refused'))]).toEqual([[], false]);
  });

  it('can name a remote server that needs nothing from the host, which is reached without trust only if the host says so', async () => {
    const headers = { 'X-Token': '${MINE}' };
    const servers = {
      plain: { type: 'http', url: `${origin}/plain`, env: { MINE: 'x' }, headers },
      reading: { type: 'http', url: `${origin}/reading`, env: { MINE: '${TOKEN}' }, headers },
    };
    const asking = await make(servers);
    const { pending } = await asking.troupe.start();
    expect(pending.map(({ server }) => server)).toEqual(['plain', 'reading']);
    expect(requests).toEqual([]);

    const lax = await make(servers, { trust: 'programs-only' });
    const report = await lax.troupe.start();
    expect(report.failed).toMatchObject([{ server: 'plain', failure: { http: { status: 500 } } }]);
    expect(report.pending.map(({ server }) => server)).toEqual(['reading']);
    expect(requests).not.toEqual([]);
    for (const request of requests) expect(request).toEqual({ url: '/plain', token: 'x' });
  });

  it.each(['programs-only', 'remote-only'] as const)(
    'gets no sign-in that the user has for its address before it is trusted, even with %s',
    async (trust) => {
      const url = `${origin}/secure`;
      const kept = {
        tokens: { access_token: 'secret-3', token_type: 'Bearer' },
        expiresAt: Date.now() + 3_600_000,
      };
      const trustStore = createMemoryTrustStore();
      const auth = {
        store: createMemoryTokenStore([[{ server: url, client: '' }, kept]]),
        interactive: false,
      };
      const first = await make({ secure: { type: 'http', url } }, { trust, trustStore, auth });
      void first.troupe.start();
      await vi.waitUntil(() => authorizations.length > 0);
      expect(authorizations.filter((value) => value !== undefined)).toEqual([]);
      expect(first.troupe.connection('secure')?.status.authUrl).toBeNull();
      await first.troupe.close();

      const asking = await discoverServers({ config: { path: at('.mcp.json'), scope: 'project' } });
      for (const { trustRequest } of asking.servers)
        if (trustRequest !== null) await trustStore.trust(trustRequest);
      const second = await make({ secure: { type: 'http', url } }, { trust, trustStore, auth });
      void second.troupe.start();
      await vi.waitUntil(() => authorizations.includes('Bearer secret-3'));
    },
  );

  it('cannot add a second header to a request, by its text or by the value of a variable', async () => {
    const split = { 'X-Token': 'a\r\nX-Evil: 1' };
    const { troupe } = await make(
      {
        literal: { type: 'http', url: `${origin}/literal`, headers: split },
        variable: { type: 'http', url: `${origin}/variable`, headers: { 'X-Token': '${SPLIT}' } },
        name: { type: 'http', url: `${origin}/name`, headers: { 'X-Token: 1\r\nX-Evil': '1' } },
      },
      { env: { SPLIT: split['X-Token'] }, trust: 'all' },
    );
    const { failed } = await troupe.start();
    expect(failed.map(({ server, failure }) => `${server}: ${failure.code}`).toSorted()).toEqual([
      'literal: config-invalid',
      'name: config-invalid',
      'variable: config-invalid',
    ]);
    expect(requests).toEqual([]);
  });

  it('shows the user everything that decides what would run, and no value of a variable', async () => {
    const { troupe } = await make(
      {
        runs: {
          command: './run',
          args: ['a'.repeat(100_000)],
          cwd: '../../..',
          env: { NODE_OPTIONS: '--require ./evil.js', LD_PRELOAD: '${SECRET}' },
          inheritEnv: ['TOKEN'],
        },
      },
      { env: SECRETS },
    );
    await troupe.start();
    const { trustRequest } = troupe.connection('runs')?.status ?? {};
    expect(trustRequest).toMatchObject({
      command: './run',
      args: ['a'.repeat(100_000)],
      folder: root,
      cwd: '../../..',
      variables: ['SECRET', 'TOKEN'],
      env: { LD_PRELOAD: '${SECRET}', NODE_OPTIONS: '--require ./evil.js' },
    });
    expect(JSON.stringify(trustRequest)).not.toMatch(/secret-[12]/);
  });

  it('cannot change an input that its trusted entry refers to', async () => {
    const fileWith = (program: string): string =>
      JSON.stringify({
        servers: { asks: { command: '${input:program}' } },
        inputs: [{ id: 'program', default: program }],
      });
    const trustStore = createMemoryTrustStore();
    const first = await make({}, { trustStore });
    await writeFile(at('.mcp.json'), fileWith('no-such-harmless-program'));
    await first.troupe.start();
    const asks = first.troupe.connection('asks');
    expect(asks?.status.trustRequest).toMatchObject({ inputs: { program: 'no-such-harmless-program' } });
    await expect(asks?.trust()).rejects.toMatchObject({ failure: { code: 'command-not-found' } });

    const second = await make({}, { trustStore });
    await writeFile(at('.mcp.json'), fileWith('no-such-evil-program'));
    await second.troupe.start();
    expect(second.troupe.connection('asks')?.status).toMatchObject({
      substate: 'awaitingTrust',
      trustRequest: { inputs: { program: 'no-such-evil-program' } },
    });
  });

  it('cannot replace the entry while the user trusts the one that was shown', async () => {
    const { troupe } = await make({ runs: { command: 'no-such-harmless-program' } }, { env: SECRETS });
    await troupe.start();
    const runs = troupe.connection('runs');
    const hash = runs?.status.trustRequest?.hash ?? '';
    await writeFile(at('.mcp.json'), JSON.stringify({ mcpServers: { runs: writing('swapped') } }));
    await troupe.reload();
    await expect(runs?.trust({ hash })).rejects.toMatchObject({ code: 'TRUST_REQUIRED', server: 'runs' });
    expect(runs?.status).toMatchObject({ substate: 'awaitingTrust' });
    expect(existsSync(at('swapped'))).toBe(false);
    await expect(runs?.trust({ hash: runs.status.trustRequest?.hash ?? '' })).rejects.toThrow();
    expect(existsSync(at('swapped'))).toBe(true);
  });

  it('gets no answer of the user without trust, not even one that was given for another of its servers', async () => {
    const asked: unknown[] = [];
    const { troupe } = await make(
      {},
      {
        askInput: ({ server, id }) => {
          asked.push([server, id]);
          return 'secret-2';
        },
      },
    );
    const headers = { 'X-Token': '${input:token}' };
    const inputs = [{ id: 'token', description: 'The token for the good server', password: true }];
    const mcpServers = {
      good: { type: 'http', url: `${origin}/good`, headers },
      evil: { type: 'http', url: `${origin}/evil`, headers },
      evilPath: { type: 'http', url: `${origin}/\${input:token}` },
    };
    await writeFile(at('.mcp.json'), JSON.stringify({ mcpServers, inputs }));
    const { pending } = await troupe.start();
    expect(pending.map(({ server }) => server)).toEqual(['good', 'evil', 'evilPath']);
    expect([asked, requests]).toEqual([[], []]);
    expect(troupe.connection('good')?.status.trustRequest).toMatchObject({
      url: `${origin}/good`,
      headers: ['X-Token'],
      asks: ['token'],
    });
    await expect(troupe.connection('good')?.trust()).rejects.toThrow();
    expect(asked).toEqual([['good', 'token']]);
    expect(requests).not.toEqual([]);
    for (const request of requests) expect(request).toEqual({ url: '/good', token: 'secret-2' });
  });

  it('cannot put control characters into messages by the name of a server', async () => {
    const name = '\u001B[2J\u202Eevil\nserver';
    const { troupe, events } = await make({ [name]: { command: 'x' }, ['__proto__']: { command: 'x' } });
    const report = await troupe.start();
    expect(report.ready).toEqual([]);
    const messages = events.of('diagnostic').map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringContaining("'__proto__'"));
    for (const message of messages) expect(message).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
    expect(serverCommand('trust', name)).not.toContain('evil');
  });
});

import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { metaOf, NEW } from '../../support/stateless-http-client.js';
import { EVERYTHING, faulty, MISSING, QUICK, useTeam } from '../../support/team.js';
import { MAIN, runTroupe, TroupeProcess, type Finished } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
});
const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
const call = (id: number, name: string, args: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
/** Characters of an answer that does not fit into a pipe. */
const LONG = 4_000_000;
const LOG_LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|warn|error) \S+ \S/;

const quick = (): string => team().write('quick.json', { quick: QUICK });
const mixed = (): string => team().write('mixed.json', { everything: EVERYTHING, missing: MISSING });

interface Message {
  readonly id?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: Readonly<Record<string, unknown>>;
}

/** The messages on stdout. Expects that every line of stderr is a line of the log. */
function messagesOf({ stdout, stderr }: Pick<Finished, 'stdout' | 'stderr'>): readonly Message[] {
  for (const line of stderr.split('\n').slice(0, -1)) expect(line).toMatch(LOG_LINE);
  const lines = stdout.split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as Message);
}

describe('troupe serve on stdin and stdout', () => {
  it('answers requests of both eras on the same pipe.', async () => {
    const stateless = (id: string, method: string, params: object = {}): string =>
      JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: metaOf() } });
    const echo = { name: 'mcp__quick__echo', arguments: { message: 'x' } };
    const lines = [
      stateless('discover', 'server/discover'),
      stateless('before', 'tools/call', echo),
      INITIALIZE,
      INITIALIZED,
      call(2, echo.name, echo.arguments),
      stateless('after', 'tools/call', echo),
      stateless('ping', 'ping'),
    ];
    const finished = await runTroupe(['serve', '--config', quick()], { stdin: lines.join('\n') });
    const answers = messagesOf(finished).filter(({ id }) => id !== undefined);
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    const content = [{ type: 'text', text: 'Echo: x' }];
    expect([finished.code, answers.length]).toEqual([0, 6]);
    expect(byId.get('discover')).toMatchObject({ result: { supportedVersions: [NEW] } });
    for (const id of ['before', 'after'])
      expect(byId.get(id)).toMatchObject({ result: { resultType: 'complete', content } });
    expect(byId.get(1)).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
    expect(byId.get(2)?.result).toEqual({ content });
    expect(byId.get('ping')).toMatchObject({ error: { code: -32601 } });
  });

  it('answers every piped request once, and logs only to stderr.', async () => {
    const lines = [
      INITIALIZE,
      INITIALIZED,
      'no JSON',
      call(2, 'mcp__everything__echo', { message: 'ä' }),
      call(3, 'mcp__missing__x'),
      JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'no/such' }),
    ];
    const finished = await runTroupe(['serve', '--verbose', '--config', mixed()], {
      stdin: lines.join('\n'),
    });
    const answers = messagesOf(finished).filter(({ id }) => id !== undefined);
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    expect([finished.code, answers.length, byId.size]).toEqual([0, 5, 5]);
    expect(byId.get(2)).toMatchObject({ result: { content: [{ type: 'text', text: 'Echo: ä' }] } });
    expect(byId.get(3)?.result?.['isError'] ?? byId.get(3)?.error).toBeTruthy();
    expect(byId.get(4)).toMatchObject({ error: { code: -32601 } });
    expect(byId.get(null)).toMatchObject({ error: { code: -32700 } });
    expect(finished.stderr).toMatch(/ error missing failed: command-not-found/);
    expect(finished.stderr).toMatch(/ info everything ready, \d+ tools/);
    expect(finished.stderr).toMatch(/ debug /);
  });

  it('does not start itself recursively if its own entry is among its servers.', async () => {
    const config = join(team().folder, 'self.json');
    const self = {
      command: process.execPath,
      args: [MAIN, 'serve', '--config', config],
      policy: { maxAttempts: 1 },
    };
    team().write('self.json', { self, quick: QUICK });
    const stdin = [INITIALIZE, INITIALIZED, call(2, 'mcp__quick__echo', { message: 'ä' })].join('\n');
    const serve = TroupeProcess.start(['serve', '--config', config], {
      stdin: `${stdin}\n`,
      keepsStdin: true,
    });
    await serve.saw(/ error self failed: process-exited: .*code 2\. .*its own entry is among them/, 'stderr');
    await serve.saw(/"id":2,/);
    serve.signal('SIGTERM');
    expect(messagesOf(await serve.finished()).find(({ id }) => id === 2)).toHaveProperty('result');
  });

  it('lets a call in flight finish after a signal, and exits with 0.', async () => {
    const serve = TroupeProcess.start(['serve', '--config', quick()], { keepsStdin: true });
    serve.type([INITIALIZE, INITIALIZED, call(2, 'mcp__quick__wait', { ms: 1_500 })].join('\n'));
    await serve.saw(/ info quick ready/, 'stderr');
    await serve.saw(/"id":1,/);
    serve.signal('SIGINT');
    const finished = await serve.finished();
    expect([finished.code, finished.signal]).toEqual([0, null]);
    expect(messagesOf(finished).find(({ id }) => id === 2)).toMatchObject({
      result: { content: [{ text: 'waited' }] },
    });
  });

  it('aborts calls at the second signal, and leaves no server behind.', async () => {
    const config = team().write('deaf.json', { deaf: faulty('deaf-to-shutdown'), quick: QUICK });
    const serve = TroupeProcess.start(['serve', '--grace-period', '60000', '--config', config], {
      keepsStdin: true,
    });
    serve.type([INITIALIZE, INITIALIZED].join('\n'));
    await serve.saw(/ info quick ready/, 'stderr');
    await serve.saw(/ info deaf ready/, 'stderr');
    serve.type(call(2, 'mcp__quick__wait', { ms: 100_000 }));
    await serve.saw(/"id":1,/);
    serve.signal('SIGTERM');
    await serve.saw(/ info gateway Stopping; /, 'stderr');
    await serve.signalAgain('SIGTERM');
    await serve.saw(/ info gateway Stopping at once\./, 'stderr');
    const finished = await serve.finished();
    expect([finished.code, finished.signal]).toEqual([0, null]);
  });

  const withLongAnswer = (): TroupeProcess => {
    const long = call(2, 'mcp__quick__echo', { message: 'x'.repeat(LONG) });
    const stdin = [INITIALIZE, INITIALIZED, long].join('\n');
    return TroupeProcess.start(['serve', '--config', quick()], { stdin, leavesStdout: true });
  };

  it('ends even if its client does not read, and drops the unread answers.', async () => {
    const serve = withLongAnswer();
    await serve.saw(/ warn gateway The client does not read: /, 'stderr');
    serve.readStdout();
    const { code, stdout } = await serve.finished();
    expect(code).toBe(0);
    expect(stdout.length).toBeLessThan(LONG);
  });

  it('waits for a client that reads slowly.', async () => {
    const serve = withLongAnswer();
    await serve.saw(/ quick stopped /, 'stderr');
    serve.readStdout();
    const { code, stdout, stderr } = await serve.finished();
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('does not read')]);
    expect(stdout.length).toBeGreaterThan(LONG);
  });

  it('offers no tools if no server is configured, then those of a server that is added, and ends when the client stops reading.', async () => {
    const home = join(team().folder, 'new');
    mkdirSync(join(home, '.cursor'), { recursive: true });
    const unset = { XDG_CONFIG_HOME: '', CODEX_HOME: '', CLAUDE_CONFIG_DIR: '', APPDATA: '' };
    const serve = TroupeProcess.start(['serve'], {
      cwd: home,
      env: { ...unset, HOME: home, USERPROFILE: home },
      keepsStdin: true,
    });
    serve.type([INITIALIZE, INITIALIZED].join('\n'));
    await serve.saw(/ warn gateway No server is configured/, 'stderr');
    await serve.saw(/"id":1,/);
    serve.type(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }));
    await serve.saw(/"tools":\[\]/);
    writeFileSync(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { quick: QUICK } }));
    await serve.saw(/ info gateway The configuration has changed: added quick\./, 'stderr');
    await serve.saw(/notifications\/tools\/list_changed/);
    serve.type(call(3, 'mcp__quick__echo', { message: 'late' }));
    await serve.saw(/Echo: late/);
    serve.hangUp();
    serve.type(call(4, 'mcp__quick__echo', { message: 'x' }));
    expect(await serve.finished()).toMatchObject({ code: 0, signal: null });
  });
});

describe('troupe serve --http', () => {
  const TOKEN = 'very-secret-token';

  it('prints its address, accepts the token of the environment and those of an issuer, and exits with 0.', async () => {
    const { issuer, tokenFor } = await startIssuer();
    const words = ['serve', '--http', '--json', '--verbose', '--oauth-issuer', issuer, '--config', quick()];
    const serve = TroupeProcess.start(words, { env: { TROUPE_SERVE_TOKEN: TOKEN } });
    await serve.saw(/\n/);
    const { url } = JSON.parse(serve.stdout) as { readonly url: string };
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const post = (more: Readonly<Record<string, string>>): Promise<Response> => {
      const accept = 'application/json, text/event-stream';
      const headers = { connection: 'close', accept, 'content-type': 'application/json', ...more };
      return fetch(url, { method: 'POST', headers, body: INITIALIZE });
    };
    const refused = await post({});
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const [, metadataUrl = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    expect([refused.status, await refused.json()]).toMatchObject([401, { jsonrpc: '2.0', id: null }]);
    const metadata = await fetch(metadataUrl, { headers: { connection: 'close' } });
    expect(await metadata.json()).toMatchObject({ resource: url, authorization_servers: [issuer] });
    const other = await tokenFor('https://other.example.com/mcp');
    for (const [token, status] of [
      [await tokenFor(url), 200],
      [other, 401],
    ] as const)
      expect((await post({ authorization: `Bearer ${token}` })).status).toBe(status);
    const client = new Client({ name: 'test', version: '1' });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    await client.connect(transport);
    const { content } = await client.callTool({ name: 'mcp__quick__echo', arguments: { message: 'http' } });
    expect(content).toEqual([{ type: 'text', text: 'Echo: http' }]);
    await transport.terminateSession();
    await client.close();
    serve.signal('SIGTERM');
    const { code, stdout, stderr } = await serve.finished();
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 1]);
    for (const secret of [TOKEN, other]) expect(stdout + stderr).not.toContain(secret);
    for (const line of stderr.split('\n').slice(0, -1)) expect(line).toMatch(LOG_LINE);
  });
});

describe('troupe serve --http without a token of the user', () => {
  const start = async (words: readonly string[]) => {
    const env = { XDG_STATE_HOME: join(team().folder, 'state') };
    const serve = TroupeProcess.start(['serve', '--http', '--json', ...words, '--config', quick()], { env });
    await serve.saw(/\n/);
    const { url, tokenFile } = JSON.parse(serve.stdout) as {
      readonly url: string;
      readonly tokenFile?: string;
    };
    const status = async (authorization?: string): Promise<number> => {
      const accept = 'application/json, text/event-stream';
      const headers = { connection: 'close', accept, 'content-type': 'application/json' };
      const all = authorization === undefined ? headers : { ...headers, authorization };
      return (await fetch(url, { method: 'POST', headers: all, body: INITIALIZE })).status;
    };
    const stop = async (): Promise<Finished> => {
      serve.signal('SIGTERM');
      return serve.finished();
    };
    return { serve, tokenFile, status, stop };
  };

  it('makes one, prints it, keeps it in a private file, and uses it again.', async () => {
    const tokens: string[] = [];
    for (let run = 0; run < 2; run += 1) {
      const { serve, tokenFile = '', status, stop } = await start([]);
      await serve.saw(/Authorization: Bearer \S+\n/, 'stderr');
      const [, printed = ''] = /Authorization: Bearer (\S+)/.exec(serve.stderr) ?? [];
      tokens.push(printed);
      expect(readFileSync(tokenFile, 'utf8').trim()).toBe(printed);
      expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
      expect([await status(), await status(`Bearer ${printed}`)]).toEqual([401, 200]);
      await stop();
    }
    expect(new Set(tokens).size).toBe(1);
  });

  it('needs none with --no-token, and says who may ask.', async () => {
    const { tokenFile, status, stop } = await start(['--no-token']);
    expect([tokenFile, await status()]).toEqual([undefined, 200]);
    const { stderr } = await stop();
    expect(stderr).toMatch(/ warn gateway .*every user/);
  });
});

/** An authorization server that publishes its keys, and a function that issues tokens. */
async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }];
  const server = createServer(({ url }, response) => {
    const metadata = {
      issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ['code'],
    };
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify(url === '/keys' ? { keys } : metadata));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokenFor = (audience: string): Promise<string> =>
    new SignJWT({ iss: issuer, sub: 'ada', aud: audience })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setExpirationTime('1 minute')
      .sign(privateKey);
  return { issuer, tokenFor };
}

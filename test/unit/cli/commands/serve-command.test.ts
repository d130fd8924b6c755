import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../../support/run-command.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useInotify } from '../../../support/inotify.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { FakeStream } from '../../../support/fake-stream.js';
import { joinServeChain } from '../../../../src/cli/serving/serve-chain.js';
import { ConfigError } from '../../../../src/errors.js';
import { childEnvironment } from '../../../../src/transports/stdio/child-environment.js';

useInotify();
useLeakCheck();
useCrashWatch();

const TOKEN = 'very-secret-token';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
const STATUS = { jsonrpc: '2.0', id: 3, method: 'resources/read', params: { uri: 'troupe://status' } };

let folder: string;
const file = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-serve-'));
  writeFileSync(file('none.json'), '{ "mcpServers": {} }');
  writeFileSync(file('broken.json'), '{ "mcpServers": ');
  writeFileSync(file('two.json'), '{ "mcpServers": { "a": { "command": "a" }, "b": { "command": "b" } } }');
});

afterAll(() => rmSync(folder, { recursive: true }));

async function serve(words: readonly string[], stdin: Readable = Readable.from([])) {
  const [stdout, stderr] = [new FakeStream(), new FakeStream()];
  const code = await run(['serve', ...words], { stdout, stderr, stdin, env: {} });
  return { code, stdout: stdout.written, stderr: stderr.written };
}

/** By id. */
function answersIn(stdout: string): readonly object[] {
  const lines = stdout.trimEnd().split('\n');
  const messages = lines.map((line) => JSON.parse(line) as { readonly id?: number });
  return messages.filter(({ id }) => id !== undefined).toSorted((a, b) => Number(a.id) - Number(b.id));
}

describe('troupe serve', () => {
  it.each<[string, readonly string[], string, RegExp]>([
    [
      'access from other computers without a token',
      ['--http', '--no-token', '--host', '0.0.0.0'],
      'two.json',
      /--host 0\.0\.0\.0 .*--no-token .*--oauth-issuer /,
    ],
    ['a token without HTTP', ['--token', TOKEN], 'two.json', /--token .*--http/],
    ['no token without HTTP', ['--no-token'], 'two.json', /--no-token .*--http/],
    ['a token and none', ['--http', '--token', TOKEN, '--no-token'], 'two.json', /--token .*--no-token/],
    ['none and a token', ['--http', '--no-token', '--token', TOKEN], 'two.json', /--token .*--no-token/],
    [
      'an issuer without https',
      ['--http', '--oauth-issuer', 'http://auth.example.com'],
      'two.json',
      /https:/,
    ],
    ['--bare with several servers', ['--bare'], 'two.json', /--bare .*: a, b/],
    ['--bare without a server', ['--bare'], 'none.json', /none\.json/],
    ['a file that is broken', [], 'broken.json', /broken\.json/],
    ['a missing file', [], 'no-such.json', /no-such\.json/],
  ])(
    'does not start for %s: exit code 2 and a sentence that says what to do.',
    async (_, words, name, message) => {
      const finished = await serve([...words, '--config', file(name)]);
      expect([finished.code, finished.stdout]).toEqual([2, '']);
      expect(finished.stderr).toMatch(message);
      expect(finished.stderr).not.toContain(TOKEN);
    },
  );

  it('answers piped input and ends with it; --bare renames nothing.', async () => {
    const stdin = new PassThrough();
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call' };
    const params = { name: 'echo', arguments: { message: 'bare' } };
    stdin.end(`${JSON.stringify(INITIALIZE)}\n${JSON.stringify({ ...call, params })}`);
    const server = fileURLToPath(new URL('../../../support/quick-server.mjs', import.meta.url));
    const { code, stdout } = await serve(['--bare', '--add', `quick=${process.execPath} ${server}`], stdin);
    expect([code, answersIn(stdout)]).toMatchObject([
      0,
      [
        { id: 1, result: { serverInfo: { name: 'mcp-troupe' } } },
        { id: 2, result: { content: [{ text: 'Echo: bare' }] } },
      ],
    ]);
  });

  it('fails with 1 if the port is taken, and says what to do.', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const { code, stderr } = await serve([`--http=${port}`, '--config', file('none.json')]);
    holder.close();
    await once(holder, 'close');
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${port} of 127.0.0.1`)]);
  });

  it('offers only its status if the file has no servers yet.', async () => {
    const stdin = new PassThrough();
    stdin.end([INITIALIZE, LIST, STATUS].map((message) => `${JSON.stringify(message)}\n`).join(''));
    const { code, stdout, stderr } = await serve(['--config', file('none.json')], stdin);
    expect([code, answersIn(stdout)]).toMatchObject([
      0,
      [
        { id: 1, result: { serverInfo: { name: 'mcp-troupe' } } },
        { id: 2, result: { tools: [] } },
        { id: 3, result: { contents: [{ uri: 'troupe://status' }] } },
      ],
    ]);
    expect(stderr).toMatch(/ warn gateway No server is configured/);
  });
});

const FOUND = { config: [], add: [] };
const added = (command: string) => [{ name: 'a', config: { command } }];
/** The environment that a gateway passes to the servers that it starts. */
const behind = (flags: Parameters<typeof joinServeChain>[0], cwd: string, host = {}) => {
  const env: Record<string, string | undefined> = { ...host };
  joinServeChain(flags, env, cwd);
  return childEnvironment(env);
};

describe('a gateway behind a gateway', () => {
  it.each([
    ['the same discovered files', FOUND, '/srv/app', FOUND, '/srv/app'],
    [
      'the same file',
      { config: ['a.json'], add: [] },
      '/srv/app',
      { config: ['../srv/app/a.json'], add: [] },
      '/x',
    ],
    [
      'the same --add flags',
      { config: [], add: added('x') },
      '/srv/app',
      { config: [], add: added('x') },
      '/y',
    ],
  ])('is refused for %s.', (_, first, there, second, here) => {
    const env = behind(first, there);
    expect(() => joinServeChain(second, { ...env }, here)).toThrow(ConfigError);
    expect(() => joinServeChain(second, behind({ config: ['b.json'], add: [] }, here, env), here)).toThrow(
      ConfigError,
    );
  });

  it.each([
    ['another folder', FOUND, '/srv/app', FOUND, '/srv/app/sub'],
    [
      'another file',
      { config: ['a.json'], add: [] },
      '/srv/app',
      { config: ['b.json'], add: [] },
      '/srv/app',
    ],
    [
      'a file instead of the discovered files',
      FOUND,
      '/srv/app',
      { config: ['a.json'], add: [] },
      '/srv/app',
    ],
    [
      'another server',
      { config: [], add: added('x') },
      '/srv/app',
      { config: [], add: added('y') },
      '/srv/app',
    ],
  ])('is started like any other server for %s.', (_, first, there, second, here) => {
    expect(() => behind(second, here, behind(first, there))).not.toThrow();
  });

  it('is not refused once the first gateway has ended.', () => {
    const env = { PATH: '/bin' };
    joinServeChain(FOUND, env, '/srv/app')();
    expect(env).toEqual({ PATH: '/bin' });
    const inner: Record<string, string | undefined> = behind(FOUND, '/srv/app');
    const before = { ...inner };
    joinServeChain(FOUND, inner, '/elsewhere')();
    expect(inner).toEqual(before);
  });
});

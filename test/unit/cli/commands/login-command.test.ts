import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../../support/run-command.js';
import { userFolder } from '../../../../src/storage/folders.js';
import { FakeStream } from '../../../support/fake-stream.js';
import { useInotify } from '../../../support/inotify.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { createWatch } from '../../../support/watch.js';
import { useAuthorizationServers, type AuthorizationServer } from '../../../support/authorization-server.js';
import { agree, signInAt, visit } from '../../../support/person.js';
import { bounded } from '../../../support/signing-troupes.js';

useInotify();
useLeakCheck();
const servers = useAuthorizationServers();

/** The folders of the user's data, by platform. */
const PLACES = ['XDG_DATA_HOME', 'HOME', 'LOCALAPPDATA'] as const;
const before = PLACES.map((name) => process.env[name]);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-login-'));
});
beforeEach(() => {
  for (const name of PLACES) process.env[name] = mkdtempSync(join(folder, 'data-'));
});
afterEach(() => {
  PLACES.forEach((name, index) => {
    if (before[index] === undefined) delete process.env[name];
    else process.env[name] = before[index];
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

class WatchedStream extends FakeStream {
  readonly #watch = createWatch();

  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: () => void): void {
    super._write(chunk, encoding, done);
    this.#watch.changed();
  }

  async matching(pattern: RegExp): Promise<string> {
    await this.#watch.until(() => pattern.test(this.written));
    return pattern.exec(this.written)?.[1] ?? '';
  }
}

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function start(...args: readonly string[]) {
  return startWith(Readable.from([]), ...args);
}

function startWith(stdin: NodeJS.ReadableStream, ...args: readonly string[]) {
  const [stdout, stderr] = [new WatchedStream(), new WatchedStream()];
  const finished = run(args, { stdout, stderr, stdin, env: {} }).then((code): Finished => ({
    code,
    stdout: stdout.written,
    stderr: stderr.written,
  }));
  return { stderr, finished: bounded(finished) };
}

function configure(servers: Readonly<Record<string, unknown>>): string {
  const file = join(mkdtempSync(join(folder, 'config-')), 'servers.json');
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  return file;
}

async function login(port: AuthorizationServer, ...flags: readonly string[]): Promise<Finished> {
  const { stderr, finished } = start('login', 'port', '--add', `port=${port.url}`, ...flags);
  await signInAt(await bounded(stderr.matching(/^(http:\S+authorize\S+)$/m)));
  return finished;
}

describe('troupe login', () => {
  it('prints where to sign in, waits, and verifies the sign-in, which the other commands use from then on.', async () => {
    const port = await servers.start();
    const add = ['--add', `port=${port.url}`];
    const done = await login(port);
    expect(done).toMatchObject({ code: 0, stdout: 'port: signed in, 1 tool\n' });
    expect(existsSync(join(await userFolder('data'), 'sign-ins'))).toBe(true);
    expect(done.stderr).toMatch(/^Sign in to port in your browser:\nhttp:\/\/127\.0\.0\.1:\d+\/authorize\?/);
    expect(await start('login', 'port', ...add).finished).toMatchObject({
      code: 0,
      stdout: 'port: no sign-in was needed, 1 tool\n',
    });
    port.expireAll();
    expect(await start('tools', ...add).finished).toMatchObject({ code: 0 });
    expect(port.grants()).toEqual(['authorization_code', 'refresh_token']);
  });

  it('accepts the final address of a browser on another machine, and reports a wrong one.', async () => {
    const port = await servers.start();
    const stdin = new PassThrough();
    const { stderr, finished } = startWith(stdin, 'login', 'port', '--add', `port=${port.url}`);
    const back = await agree(await bounded(stderr.matching(/^(http:\S+authorize\S+)$/m)));
    const wrong = new URL(back);
    wrong.searchParams.set('state', 'other');
    stdin.write(`${wrong.href}\n`);
    await bounded(stderr.matching(/(state is wrong)/));
    stdin.write(`  ${back}  \n`);
    expect(await finished).toMatchObject({ code: 0, stdout: 'port: signed in, 1 tool\n' });
  });

  it('prints only JSON on stdout with --json.', async () => {
    const { stdout } = await login(await servers.start(), '--json');
    expect(JSON.parse(stdout)).toEqual({ server: 'port', signedIn: true, toolCount: 1 });
  });

  it('fails with the cause if no sign-in is possible.', async () => {
    const port = await servers.start({ metadata: { issuer: 'https://bank.example' } });
    const { code, stdout, stderr } = await start('login', 'port', '--add', `port=${port.url}`).finished;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('identifies itself as another one');
  });

  it('reports why an answer was rejected, and keeps waiting.', async () => {
    const port = await servers.start();
    const { stderr, finished } = start('login', 'port', '--add', `port=${port.url}`);
    const right = new URL(await agree(await bounded(stderr.matching(/^(http:\S+authorize\S+)$/m))));
    const wrong = new URL(right);
    wrong.searchParams.set('code', 'code-of-yesterday');
    expect((await visit(wrong.href)).status).toBe(400);
    await bounded(stderr.matching(/^The sign-in to port failed: (invalid_grant)$/m));
    await visit(right.href);
    expect(await finished).toMatchObject({ code: 0, stdout: 'port: signed in, 1 tool\n' });
  });

  it('fails if the sign-in cannot be stored, and reports why.', async () => {
    const file = configure({});
    for (const name of PLACES) process.env[name] = file;
    const { code, stdout, stderr } = await login(await servers.start());
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^The store of sign-ins cannot be used \(.+\); the sign-in to 'port' is lost/m);
  });

  it.each<readonly [string, unknown, RegExp]>([
    ['a program', { command: 'node' }, /'port' is not a remote server/],
    [
      'a server with a key of its own',
      { url: 'http://127.0.0.1:1/', headers: { authorization: 'Bearer x' } },
      /hold Authorization/,
    ],
  ])('refuses %s.', async (_, entry, message) => {
    const { code, stderr } = await start('login', 'port', '--config', configure({ port: entry })).finished;
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('refuses a server that is not configured.', async () => {
    const config = configure({ port: { url: 'http://127.0.0.1:1/' } });
    const { code, stderr } = await start('login', 'prot', '--config', config).finished;
    expect([code, stderr]).toEqual([2, expect.stringContaining("no server is called 'prot'")]);
  });
});

describe('two accounts at one address', () => {
  it('are signed in and out separately.', async () => {
    const port = await servers.start();
    const config = configure({
      home: { url: port.url },
      work: { url: port.url, oauth: { account: 'work' } },
    });
    const signIn = async (server: string, ...flags: string[]): Promise<Finished> => {
      const { stderr, finished } = start('login', server, '--config', config, ...flags);
      await signInAt(await bounded(stderr.matching(/^(http:\S+authorize\S+)$/m)));
      return finished;
    };
    const signOut = (server: string, ...flags: string[]) =>
      start('logout', server, '--config', config, ...flags).finished;
    expect((await signIn('home')).stdout).toBe('home: signed in, 1 tool\n');
    const work = await signIn('work', '--json');
    expect(work.stderr).toMatch(/^Sign in to work \(account work\) in your browser:/);
    expect(JSON.parse(work.stdout)).toEqual({
      server: 'work',
      account: 'work',
      signedIn: true,
      toolCount: 1,
    });
    expect(port.to('POST /register')).toHaveLength(2);
    expect((await signOut('work')).stdout).toBe('work (account work): signed out\n');
    expect(JSON.parse((await signOut('work', '--json')).stdout)).toEqual({
      server: 'work',
      account: 'work',
      result: 'none',
    });
    expect((await start('login', 'home', '--config', config).finished).stdout).toBe(
      'home: no sign-in was needed, 1 tool\n',
    );
  });
});

describe('troupe logout', () => {
  it('deletes the sign-in, revokes it at the authorization server, and other commands start no new one.', async () => {
    const port = await servers.start();
    const add = ['--add', `port=${port.url}`];
    await login(port);
    expect(await start('logout', 'port', ...add).finished).toMatchObject({
      code: 0,
      stdout: 'port: signed out\n',
    });
    expect(new URLSearchParams(port.to('POST /revoke')[0]?.body).get('token')).toMatch(/^refresh-/);
    const checked = await start('check', ...add).finished;
    expect(checked.code).toBe(1);
    expect(port.to('POST /register')).toHaveLength(1);
    const again = await start('logout', 'port', ...add, '--json').finished;
    expect([again.code, JSON.parse(again.stdout)]).toEqual([0, { server: 'port', result: 'none' }]);
  });

  it('reports that there was no sign-in if one was only started, and deletes what was stored of it.', async () => {
    const port = await servers.start();
    const add = ['--add', `port=${port.url}`];
    const { stderr, finished } = start('login', 'port', ...add);
    const url = new URL(await bounded(stderr.matching(/^(http:\S+authorize\S+)$/m)));
    const back = new URL(url.searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('state', url.searchParams.get('state') ?? '');
    await visit(back.href);
    expect((await finished).code).toBe(1);
    expect(await start('logout', 'port', ...add).finished).toMatchObject({
      code: 0,
      stdout: 'port: was not signed in\n',
    });
    await login(port);
    expect(port.to('POST /register')).toHaveLength(2);
  });

  it('revokes at an authorization server whose metadata is at another address.', async () => {
    const documents = (origin: string): Readonly<Record<string, object>> => ({
      '/somewhere': { resource: `${origin}/mcp`, authorization_servers: [`${origin}/tenant`] },
      '/.well-known/oauth-authorization-server/tenant': {
        issuer: `${origin}/tenant`,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        revocation_endpoint: `${origin}/revoke`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      },
    });
    const port: AuthorizationServer = await servers.start({
      instead: ({ path, headers }, res) => {
        const document = documents(port.origin)[path];
        if (document !== undefined) {
          const type = { 'content-type': 'application/json', connection: 'close' };
          return res.writeHead(200, type).end(JSON.stringify(document)) !== undefined;
        }
        if (path.startsWith('/.well-known/')) return res.writeHead(404).end() !== undefined;
        if (path !== '/mcp' || headers.authorization !== undefined) return false;
        const challenge = 'Bearer resource_metadata="/somewhere"';
        return res.writeHead(401, { 'www-authenticate': challenge }).end() !== undefined;
      },
    });
    await login(port);
    await start('logout', 'port', '--add', `port=${port.url}`).finished;
    expect(port.to('POST /revoke')).toHaveLength(1);
  });

  it('needs only the address of an entry.', async () => {
    const port = await servers.start();
    await login(port);
    const config = configure({
      port: {
        url: '${PLACE}/mcp',
        env: { PLACE: port.url.replace(/\/mcp$/, '') },
        headers: { 'X-Berth': '${NO_SUCH_VARIABLE}' },
      },
    });
    expect(await start('logout', 'port', '--config', config).finished).toMatchObject({
      code: 0,
      stdout: 'port: signed out\n',
    });
  });

  it('reports a missing variable in an address, and what to do.', async () => {
    const config = configure({ port: { url: 'https://${NO_SUCH_VARIABLE}/mcp' } });
    const { code, stderr } = await start('logout', 'port', '--config', config).finished;
    expect([code, stderr]).toEqual([
      2,
      "troupe: Server 'port' needs a variable that is not set: NO_SUCH_VARIABLE (in 'url'). " +
        'Set it before the host starts, or give a default: ${NAME:-value}. A literal $NAME is written $$NAME.\n',
    ]);
  });

  it('works if the server is gone.', async () => {
    const port = await servers.start();
    await login(port);
    await port.server.close();
    expect(await start('logout', 'port', '--add', `port=${port.url}`).finished).toMatchObject({
      code: 0,
      stdout: 'port: signed out here; the authorization server was not notified\n',
    });
    const files = readdirSync(process.env['XDG_DATA_HOME'] ?? '', { recursive: true });
    expect(files.filter((file) => String(file).endsWith('.json'))).toEqual([]);
  });
});

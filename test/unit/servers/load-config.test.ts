import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig, readSource } from '../../../src/servers/load-config.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';

const FIXTURES = fileURLToPath(new URL('../config/fixtures', import.meta.url));
const LAMP = '{ "mcpServers": { "hall": { "command": "lamp" } } }';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-config-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function written(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

describe('loading', () => {
  it('no source gives no server and no problem', async () => {
    expect(await loadConfig({ cwd: folder })).toEqual({
      servers: [],
      refused: [],
      problems: [],
      sources: [],
      missing: [],
      heldBack: [],
      uncounted: [],
      dropped: [],
    });
  });

  it("a file gives its servers, unexpanded, and their paths start from the host's folder", async () => {
    const config = 'fixtures/env-defaults.mcp.json';
    const loaded = await loadConfig({ config: { path: config, trust: 'all' }, cwd: dirname(FIXTURES) });
    expect(loaded.servers).toMatchObject([
      {
        name: 'hall',
        source: config,
        scope: 'given',
        baseDir: dirname(FIXTURES),
        config: { command: '${LANTERN_NODE:-node}', env: { LANTERN_ROOM: '${LANTERN_ROOM}' } },
        shadows: [],
      },
    ]);
    const path = join(FIXTURES, 'env-defaults.mcp.json');
    expect(loaded.sources).toEqual([{ id: path, scope: 'given', path, ok: true }]);
    expect(loaded.problems).toEqual([]);
  });

  it("the servers of the host gives them the user's home folder", async () => {
    const loaded = await loadConfig({ servers: { hall: { command: 'lamp' } }, cwd: folder });
    expect(loaded.servers).toMatchObject([{ name: 'hall', scope: 'host', baseDir: homedir() }]);
    expect(loaded.sources).toEqual([{ id: 'host', scope: 'host', ok: true }]);
  });

  it('prefers the host over files, and a file over later ones', async () => {
    const loaded = await loadConfig({
      servers: { stays: { command: 'mine' } },
      config: ['reload-after.mcp.json', 'reload-before.mcp.json'],
      cwd: FIXTURES,
    });
    expect(
      Object.fromEntries(loaded.servers.map(({ name, source, shadows }) => [name, [source, ...shadows]])),
    ).toEqual({
      stays: ['the servers option', 'reload-after.mcp.json', 'reload-before.mcp.json'],
      changes: ['reload-after.mcp.json', 'reload-before.mcp.json'],
      arrives: ['reload-after.mcp.json'],
      leaves: ['reload-before.mcp.json'],
    });
  });

  it('reads a file named twice once', async () => {
    const names = ['with-bom.mcp.json', './with-bom.mcp.json', join(FIXTURES, 'with-bom.mcp.json')];
    const loaded = await loadConfig({ config: names, cwd: FIXTURES });
    expect(loaded.sources).toHaveLength(1);
    expect(loaded.servers).toMatchObject([{ name: 'hall', shadows: [] }]);
  });

  it('keeps valid servers beside invalid ones', async () => {
    const { servers, refused, sources } = await loadConfig({
      config: 'one-wrong-entry.mcp.json',
      cwd: FIXTURES,
    });
    expect(servers.map(({ name }) => name)).toEqual(['hall']);
    expect(sources).toMatchObject([{ ok: true }]);
    expect(refused.map(({ name, failure }) => `${name} ${failure.code}: ${failure.message}`)).toEqual([
      expect.stringMatching(/^wrong-command config-invalid: .*:4:24: .*'command'/),
      expect.stringMatching(/^wrong-args config-invalid: .*:5:40: .*'args'/),
      expect.stringMatching(/^empty-entry config-invalid: .*:6:5: /),
      expect.stringMatching(/^not-an-object config-invalid: .*:7:5: /),
    ]);
  });

  it("reports what is wrong with the host's own servers", async () => {
    const servers = { good: { command: 'x' }, bad: { comand: 'x' } } as unknown as Record<
      string,
      ServerConfig
    >;
    const loaded = await loadConfig({ servers, cwd: folder });
    expect(loaded.servers).toMatchObject([{ name: 'good' }]);
    expect(loaded.refused).toMatchObject([{ name: 'bad', source: 'the servers option' }]);
    expect(loaded.problems).toMatchObject([
      { code: 'unknown-field', source: 'the servers option', server: 'bad', field: 'comand' },
      { code: 'missing-target', source: 'the servers option', server: 'bad' },
    ]);
  });

  it('reports a servers option that is not an object', async () => {
    const loaded = await loadConfig({ servers: [] as unknown as Record<string, ServerConfig>, cwd: folder });
    expect(loaded.sources).toMatchObject([
      { id: 'host', ok: false, message: expect.stringContaining('a list') },
    ]);
  });
});

describe('a source that cannot be read', () => {
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error('secret'), { code }));

  it.each([
    ['ENOENT', 'file-not-found', /no such file/],
    ['EACCES', 'file-unreadable', /permission denied/],
    ['EPERM', 'file-unreadable', /operation not permitted/],
    ['EISDIR', 'file-unreadable', /folder/],
    ['ENOTDIR', 'file-unreadable', /part of its path/],
    ['ELOOP', 'file-unreadable', /cycle/],
    ['ENAMETOOLONG', 'file-unreadable', /too long/],
    ['EIO', 'file-unreadable', /EIO/],
  ])('%s is reported as %s', async (errno, code, reason) => {
    const { sources, problems } = await loadConfig({ config: 'x.json', cwd: '/srv' }, failing(errno));
    const message = expect.stringMatching(reason) as unknown;
    expect(problems).toEqual([{ code, source: 'x.json', message }]);
    const path = resolve('/srv/x.json');
    expect(sources).toEqual([{ id: path, scope: 'given', path, ok: false, message }]);
  });

  it('is reported, and stops no other source', async () => {
    await written('lamp.json', LAMP);
    const reason = (pattern: RegExp) => expect.stringMatching(pattern) as unknown;
    const config = ['missing.json', '.', 'lamp.json/x', 'a\0b', 'lamp.json'];
    const { servers, sources } = await loadConfig({ config, cwd: folder });
    expect(servers).toMatchObject([{ name: 'hall' }]);
    expect(sources.map(({ message }) => message)).toEqual([
      reason(/^missing\.json: .*no such file/),
      reason(/^\.: .*folder/),
      reason(/^lamp\.json\/x: .*(part of its path|no such file)/),
      reason(/^a\\u\{0\}b: .*ERR_INVALID_ARG_VALUE/),
      undefined,
    ]);
  });

  it('is reported if it is a link to itself', async () => {
    await symlink('loop.json', join(folder, 'loop.json'));
    const { sources } = await loadConfig({ config: 'loop.json', cwd: folder });
    expect(sources).toMatchObject([{ message: expect.stringMatching(/^loop\.json: .*cycle/) }]);
  });

  it('is reported if its text is not a configuration', async () => {
    const { sources, problems } = await loadConfig({ config: 'cut-short.mcp.json', cwd: FIXTURES });
    expect(sources).toMatchObject([
      { ok: false, message: expect.stringMatching(/^cut-short\.mcp\.json:3:\d+: /) },
    ]);
    expect(problems).toHaveLength(1);
  });

  it('is reported if it is far too large', async () => {
    await written('large.json', ' '.repeat(10 * 1024 * 1024 + 1));
    const { sources } = await loadConfig({ config: 'large.json', cwd: folder });
    expect(sources).toMatchObject([{ ok: false, message: expect.stringContaining('larger than 10 MiB') }]);
  });
});

describe('a source that is not an ordinary file', () => {
  const pipe = async (name: string): Promise<string> => {
    const path = join(folder, name);
    await promisify(execFile)('mkfifo', [path]);
    return path;
  };

  it('is not read if it was only discovered: a repository can contain a link to anything.', async () => {
    const project = await mkdtemp(join(folder, 'repo-'));
    await symlink(await pipe('endless'), join(project, '.mcp.json'));
    await mkdir(join(project, '.vscode'));
    await symlink('/dev/zero', join(project, '.vscode', 'mcp.json'));
    const loaded = await loadConfig({ discover: { cwd: project, user: false }, cwd: folder });
    expect(loaded.problems).toEqual([
      { code: 'file-unreadable', source: '.mcp.json', message: expect.stringContaining('pipe') },
      { code: 'file-unreadable', source: '.vscode/mcp.json', message: expect.stringContaining('device') },
    ]);
    expect(loaded.sources.map(({ ok }) => ok)).toEqual([false, false]);
  });

  it('is not read if the host says that it belongs to a project.', async () => {
    const path = await pipe('of-a-project');
    const loaded = await loadConfig({ config: { path, scope: 'project' }, cwd: folder });
    expect(loaded.problems).toMatchObject([{ code: 'file-unreadable' }]);
  });

  it('is refused if the host names it, because a second reading would find nothing, or never end.', async () => {
    const path = await pipe('given');
    const socket = join(folder, 'socket');
    const server = createServer().listen(socket);
    await once(server, 'listening');
    const { sources } = await loadConfig({ config: [path, '/dev/zero', socket], cwd: folder });
    server.close();
    await once(server, 'close');
    expect(sources.map(({ message }) => message)).toEqual([
      expect.stringContaining('pipe'),
      expect.stringContaining('device'),
      expect.stringContaining('socket'),
    ]);
  });
});

describe('a text file', () => {
  it.each<[story: string, content: Buffer]>([
    ['UTF-8', Buffer.from(LAMP)],
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${LAMP}`)],
    ['UTF-16, little end first', Buffer.from(`\uFEFF${LAMP}`, 'utf16le')],
    ['UTF-16, big end first', Buffer.from(`\uFEFF${LAMP}`, 'utf16le').swap16()],
    ['exactly the largest size', Buffer.from(LAMP.padEnd(4 * 1024 * 1024))],
  ])('may be %s', async (_, content) => {
    await written('encoded.json', content);
    const { servers, problems } = await loadConfig({ config: 'encoded.json', cwd: folder });
    expect(problems).toEqual([]);
    expect(servers).toMatchObject([{ name: 'hall' }]);
  });
});

describe('a file that is not text', () => {
  it('is refused as a whole: a password in it would be changed.', async () => {
    const config = '{ "mcpServers": { "caf\u00E9": { "command": "lamp" } } }';
    await written('latin1.json', Buffer.from(config, 'latin1'));
    await written('utf8.json', config);
    const loaded = await loadConfig({ config: ['latin1.json', 'utf8.json'], cwd: folder });
    expect(loaded.sources).toMatchObject([
      { ok: false, message: expect.stringMatching(/^latin1\.json: .*UTF-8/) },
      { ok: true },
    ]);
    expect(loaded.servers.map(({ name, source }) => [name, source])).toEqual([['caf\u00E9', 'utf8.json']]);
  });
});

describe('a source with a given text', () => {
  it('is not read again, and starts from its own folder or that of the user', async () => {
    const never = () => Promise.reject(new Error('read'));
    const source = { id: 'found', scope: 'project', text: LAMP } as const;
    const inline = await readSource(source, '/srv', never);
    expect([...(inline?.entries.keys() ?? [])]).toEqual(['hall']);
    expect(inline?.baseDir).toBe('/srv');
    const file = await readSource({ ...source, path: '/repo/.mcp.json', baseDir: '/repo' }, '/srv', never);
    expect(file?.baseDir).toBe('/repo');
  });
});

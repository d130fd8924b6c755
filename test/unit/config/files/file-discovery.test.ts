import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig, type LoadOptions } from '../../../../src/servers/load-config.js';
import { isInProject } from '../../../../src/config/files/file-discovery.js';
import type { Machine } from '../../../../src/config/files/known-sources.js';
import { THIS_PLATFORM } from '../../../../src/platform/platform.js';
import { problemLine } from '../../../support/problem-line.js';
import { readConfigFile } from '../../../../src/config/files/sources.js';
import { toTrustRequest } from '../../../../src/trust/trust-rules.js';
import { useLeakCheck } from '../../../support/leak-check.js';

const mcpJson = (servers: object): string => JSON.stringify({ mcpServers: servers });

/** The desktop programs of another system are elsewhere. */
const isWindows = THIS_PLATFORM.name === 'win32';
const AT = { platform: isWindows ? 'win32' : 'linux', env: {} } as const;
const GOOSE = isWindows ? 'AppData/Roaming/Block/goose/config/config.yaml' : '.config/goose/config.yaml';
const slashed = (path: string): string => path.replaceAll('\\', '/');

describe('discovery', () => {
  useLeakCheck();
  let home: string;
  let root: string;
  let machine: Machine;

  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'troupe-home-')));
    root = join(home, 'work', 'project');
    machine = { ...AT, home, ownFolder: join(home, '.config', 'troupe') };
    await write(
      'work/project/.mcp.json',
      mcpJson({ lamps: { command: './lamps' }, both: { command: 'theirs' } }),
    );
    await write(
      'work/project/.vscode/mcp.json',
      '{ "servers": { "boats": { "url": "https://boats.example/mcp" } } }',
    );
    await write('work/project/.claude/settings.json', '{ "permissions": {} }');
    await write('work/project/src/deep/file', '');
    await write('.config/troupe/mcp.json', mcpJson({ both: { command: 'mine' }, own: { command: 'own' } }));
    await write(
      '.cursor/mcp.json',
      mcpJson({ both: { command: 'cursor' }, search: { command: 's', env: { KEY: 'k-1' } } }),
    );
    await write(
      '.codex/config.toml',
      '[mcp_servers.own]\ncommand = "codex"\n[mcp_servers.codex]\ncommand = "c"\n',
    );
    await write(GOOSE, 'extensions:\n  goose: { type: stdio, cmd: g }\n');
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  async function write(name: string, text: string): Promise<void> {
    const path = join(home, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }

  const load = (options: Partial<LoadOptions> = {}) =>
    loadConfig({ cwd: join(root, 'src', 'deep'), machine, discover: true, ...options });

  it('is off by default, and reads nothing then.', async () => {
    for (const discover of [undefined, false] as const) {
      const never = () => Promise.reject(new Error('read'));
      const options = { cwd: root, machine, ...(discover === undefined ? {} : { discover }) };
      expect(await loadConfig(options, never)).toMatchObject({ servers: [], sources: [] });
    }
  });

  it('finds all existing files, each server with its source, and does not mention missing files.', async () => {
    const { servers, sources, problems } = await load();
    expect(
      servers.map(({ name, source, scope }) => `${name}: ${slashed(source)} (${scope})`).toSorted(),
    ).toEqual([
      'boats: .vscode/mcp.json (project)',
      'both: ~/.config/troupe/mcp.json (user)',
      'codex: ~/.codex/config.toml (user)',
      `goose: ~/${GOOSE} (user)`,
      'lamps: .mcp.json (project)',
      'own: ~/.config/troupe/mcp.json (user)',
      'search: ~/.cursor/mcp.json (user)',
    ]);
    expect(sources.map(({ id, ok }) => [slashed(id.slice(home.length + 1)), ok])).toEqual([
      ['work/project/.mcp.json', true],
      ['work/project/.vscode/mcp.json', true],
      ['.config/troupe/mcp.json', true],
      ['.cursor/mcp.json', true],
      ['.codex/config.toml', true],
      [GOOSE, true],
    ]);
    expect(problems.map(problemLine)).toEqual([".mcp.json: server 'both': untrusted-entry"]);
  });

  it('resolves paths of a project’s entries from its root, wherever in the project the file is.', async () => {
    const { servers } = await load();
    const folders = servers.filter(({ scope }) => scope === 'project').map(({ baseDir }) => baseDir);
    expect(folders).toEqual([root, root]);
  });

  it('can exclude the project or the user, and can start in another folder.', async () => {
    const names = async (options: Partial<LoadOptions>) =>
      (await load(options)).servers.map(({ name }) => name).toSorted();
    expect(await names({ discover: { project: false } })).toEqual([
      'both',
      'codex',
      'goose',
      'own',
      'search',
    ]);
    expect(await names({ discover: { user: false } })).toEqual(['boats', 'both', 'lamps']);
    expect(await names({ cwd: home, discover: { cwd: 'work/project', user: false } })).toHaveLength(3);
    expect(await names({ cwd: home, discover: { user: false } })).toEqual([]);
  });

  it('comes after the host’s servers and after given files, which are not read twice.', async () => {
    const { servers, sources } = await load({
      cwd: root,
      servers: { lamps: { command: 'hosts' } },
      config: '.vscode/mcp.json',
    });
    const find = (server: string) => servers.find(({ name }) => name === server);
    expect(find('lamps')).toMatchObject({ scope: 'host', shadows: ['.mcp.json'] });
    expect(find('boats')).toMatchObject({ scope: 'project', shadows: [] });
    expect(sources.filter(({ path }) => path?.includes('.vscode') === true)).toHaveLength(1);
  });

  it('returns the entries that the filter drops, with their values, and frees their names.', async () => {
    const asked: string[] = [];
    const { servers, dropped } = await load({
      discover: {
        filter: ({ server }, source) => {
          asked.push(`${server} ${source.kind} ${source.scope}`);
          return server !== 'search' && source.kind !== 'troupe';
        },
      },
    });
    expect(asked).toContain('search cursor user');
    expect(asked).toContain('lamps mcp.json project');
    expect(dropped).toContainEqual({
      server: 'search',
      config: { type: 'stdio', command: 's', env: { KEY: 'k-1' } },
      source: {
        kind: 'cursor',
        name: join('~', '.cursor', 'mcp.json'),
        scope: 'user',
        path: join(home, '.cursor', 'mcp.json'),
      },
    });
    const find = (server: string) => servers.find(({ name }) => name === server);
    expect(find('search')).toBeUndefined();
    expect(find('both')).toMatchObject({ source: join('~', '.cursor', 'mcp.json') });
    expect(find('own')).toMatchObject({ source: join('~', '.codex', 'config.toml') });
  });

  it('drops an entry if the filter throws, and reports why.', async () => {
    const { dropped, problems } = await load({
      discover: {
        user: false,
        filter: ({ server }) => {
          if (server === 'lamps') throw new Error('no idea');
          return true;
        },
      },
    });
    expect(dropped.map(({ server }) => server)).toEqual(['lamps']);
    expect(problems.map(problemLine)).toEqual([".mcp.json: server 'lamps': filter-failed"]);
  });

  it('drops an entry if the filter is asynchronous, since a promise would be truthy.', async () => {
    const filter = ((): Promise<never> => Promise.reject(new Error('too late'))) as never;
    const { dropped, problems } = await load({ discover: { user: false, filter } });
    expect(dropped.map(({ server }) => server)).toContain('lamps');
    expect(problems.map(problemLine)).toContain(".mcp.json: server 'lamps': filter-failed");
  });

  it('takes extensions last, and reports their invalid entries.', async () => {
    const wrong = { command: 5 } as unknown as { command: string };
    const { servers, refused, sources } = await load({
      discover: {
        user: false,
        extensions: { weather: { lamps: { command: 'e' }, rain: { command: 'r' }, wrong } },
      },
    });
    expect(servers.find(({ name }) => name === 'rain')).toMatchObject({
      source: "extension 'weather'",
      scope: 'extension',
    });
    // An extension is as trusted as the user: a project does not take a name from it without trust.
    expect(servers.find(({ name }) => name === 'lamps')).toMatchObject({ scope: 'extension' });
    expect(refused).toMatchObject([{ name: 'wrong' }]);
    expect(sources.at(-1)).toEqual({ id: "extension 'weather'", scope: 'extension', ok: true });
  });

  it('reports a file that exists but cannot be read, and reads the others.', async () => {
    const failing = (path: string) =>
      path.endsWith('config.toml')
        ? Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }))
        : readConfigFile(path);
    const { servers, sources } = await loadConfig({ cwd: root, machine, discover: true }, failing);
    expect(sources.filter(({ ok }) => !ok)).toMatchObject([
      { message: expect.stringMatching(/^~[\\/]\.codex[\\/]config\.toml: .*permission denied/) },
    ]);
    expect(servers.map(({ name }) => name)).toContain('goose');
  });

  it('lets a project take a name once its entry is trusted, by the user or by policy.', async () => {
    const { heldBack } = await load();
    expect(heldBack).toMatchObject([{ name: 'both', scope: 'project', config: { command: 'theirs' } }]);
    const trusted = new Set(heldBack.map((spec) => toTrustRequest(spec).hash));
    const byHand = await load({ isTrusted: (spec) => trusted.has(toTrustRequest(spec).hash) });
    const byPolicy = await load({ trust: 'all' });
    for (const { servers, heldBack: rest, problems } of [byHand, byPolicy]) {
      expect(servers.find(({ name }) => name === 'both')).toMatchObject({
        source: '.mcp.json',
        shadows: [join('~', '.config', 'troupe', 'mcp.json'), join('~', '.cursor', 'mcp.json')],
      });
      expect(rest).toEqual([]);
      expect(problems).toEqual([]);
    }
  });

  it('reads all files at the same time.', async () => {
    let open = 0;
    let most = 0;
    const slow = async (path: string): Promise<string> => {
      most = Math.max(most, (open += 1));
      await new Promise(setImmediate);
      open -= 1;
      return readConfigFile(path);
    };
    await loadConfig({ cwd: root, machine, discover: true }, slow);
    expect(most).toBeGreaterThan(10);
  });
});

describe('the settings of Claude Code', () => {
  useLeakCheck();

  it.each(['project/.claude/settings.json', 'project/.claude/settings.local.json', '.claude/settings.json'])(
    'turn off servers of the project’s file, and say so: %s',
    async (settings) => {
      const home = await realpath(await mkdtemp(join(tmpdir(), 'troupe-claude-')));
      onTestFinished(() => rm(home, { recursive: true, force: true }));
      const files: Readonly<Record<string, string>> = {
        'project/.mcp.json': mcpJson({ lamps: { command: 'lamps' }, boats: { command: 'boats' } }),
        '.cursor/mcp.json': mcpJson({ mine: { command: 'mine' } }),
        [settings]: '{ "disabledMcpjsonServers": ["lamps", "mine"], "enableAllProjectMcpServers": true }',
      };
      for (const [name, content] of Object.entries(files)) {
        await mkdir(dirname(join(home, name)), { recursive: true });
        await writeFile(join(home, name), content);
      }
      const machine: Machine = { platform: 'linux', home, env: {}, ownFolder: undefined };
      const { servers, problems } = await loadConfig({ cwd: join(home, 'project'), machine, discover: true });
      const off = servers.filter(({ config }) => config.enabled === false).map(({ name }) => name);
      expect(off).toEqual(['lamps']);
      expect(servers.map(({ scope, name }) => `${scope} ${name}`)).toEqual([
        'user mine',
        'project lamps',
        'project boats',
      ]);
      expect(problems).toMatchObject([{ severity: 'warning', server: 'lamps', source: '.mcp.json' }]);
    },
  );
});

describe('a file of the user inside a project', () => {
  useLeakCheck();
  const folders: string[] = [];
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

  const ENTRY = mcpJson({ lamps: { command: 'lamps' } });
  const TOML = '[mcp_servers.lamps]\ncommand = "lamps"\n';

  interface Case {
    readonly files: Readonly<Record<string, string>>;
    readonly home: string;
    readonly cwd: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly own?: string;
    /** A link to make, and where it leads. */
    readonly link?: readonly [path: string, target: string];
  }

  async function scopesOf({ files, home, cwd, env = {}, own, link }: Case): Promise<readonly unknown[]> {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'troupe-inside-')));
    folders.push(base);
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(base, name)), { recursive: true });
      await writeFile(join(base, name), content);
    }
    await mkdir(join(base, home), { recursive: true });
    if (link !== undefined) await symlink(join(base, link[1]), join(base, link[0]));
    const machine: Machine = {
      platform: THIS_PLATFORM.name,
      home: join(base, home),
      env: Object.fromEntries(Object.entries(env).map(([name, path]) => [name, join(base, path)])),
      ownFolder: join(base, own ?? `${home}/.config/troupe`),
    };
    const { servers } = await loadConfig({ cwd: join(base, cwd), machine, discover: true });
    return servers.map(({ scope }) => scope);
  }

  it.each<[story: string, Case]>([
    [
      'around the nearest mark',
      {
        files: { 'h/repo/.git/HEAD': '', 'h/repo/.codex/config.toml': TOML, 'h/repo/pk/.mcp.json': '{}' },
        home: 'h',
        cwd: 'h/repo/pk',
        env: { CODEX_HOME: 'h/repo/.codex' },
      },
    ],
    [
      'around two marks, the outer one no repository',
      {
        files: {
          'h/repo/.mcp.json': '{}',
          'h/repo/.codex/config.toml': TOML,
          'h/repo/a/.git': 'gitdir: /x',
          'h/repo/a/b/.mcp.json': '{}',
        },
        home: 'h',
        cwd: 'h/repo/a/b',
        env: { CODEX_HOME: 'h/repo/.codex' },
      },
    ],
    [
      'whose folder is the home folder',
      {
        files: { 'hr/.git/HEAD': '', 'hr/.claude.json': ENTRY, 'hr/pk/.mcp.json': '{}' },
        home: 'hr',
        cwd: 'hr/pk',
      },
    ],
    [
      'that has the home folder inside',
      {
        files: { 'rr/.git/HEAD': '', 'rr/home/.claude.json': ENTRY, 'rr/pk/.mcp.json': '{}' },
        home: 'rr/home',
        cwd: 'rr/pk',
      },
    ],
    [
      'that has Troupe’s folder inside',
      {
        files: { 'h/repo/.git/HEAD': '', 'h/repo/cfg/troupe/mcp.json': ENTRY, 'h/repo/pk/.mcp.json': '{}' },
        home: 'h',
        cwd: 'h/repo/pk',
        own: 'h/repo/cfg/troupe',
      },
    ],
    [
      'that a link of the working folder leads into',
      {
        files: {
          'h/repo/.git/HEAD': '',
          'h/repo/.codex/config.toml': TOML,
          'h/repo/pk/.mcp.json': '{}',
        },
        home: 'h',
        cwd: 'h/short',
        link: ['h/short', 'h/repo/pk'],
        env: { CODEX_HOME: 'h/repo/.codex' },
      },
    ],
  ])('%s is the project’s', async (_, given) => {
    expect(await scopesOf(given)).toEqual(['project']);
  });

  it('warns if an argument of an entry that starts at home names that folder.', async () => {
    const home = await realpath(await mkdtemp(join(tmpdir(), 'troupe-start-')));
    folders.push(home);
    const entries = {
      files: { command: 'npx', args: ['files', '.', '..', './a', '../b', '.a', '...'] },
      moved: { command: 'npx', args: ['.'], cwd: '${workspaceFolder}' },
      code: { command: 'sh', args: ['-c', './a'] },
    };
    await writeFile(join(home, '.claude.json'), mcpJson(entries));
    const machine: Machine = { platform: 'linux', home, env: {}, ownFolder: undefined };
    const { problems } = await loadConfig({ cwd: '/srv', machine, discover: true });
    expect(problems.map(({ severity, server, field }) => [severity, server, field])).toEqual(
      [1, 2, 3, 4].map((index) => ['warning', 'files', `args[${index}]`]),
    );
  });

  it.each<[story: string, Case]>([
    [
      'at home',
      {
        files: { 'h/.claude.json': ENTRY, 'h/repo/.git/HEAD': '', 'h/repo/pk/.mcp.json': '{}' },
        home: 'h',
        cwd: 'h/repo/pk',
      },
    ],
    [
      'at home, beside a file with the name of a project’s',
      {
        files: { 'h/.claude.json': ENTRY, 'h/.vscode/mcp.json': '{}', 'h/repo/.git/HEAD': '' },
        home: 'h',
        cwd: 'h/repo',
      },
    ],
    [
      'in another repository that the user named',
      {
        files: { 'h/dot/.git/HEAD': '', 'h/dot/codex/config.toml': TOML, 'h/repo/.git/HEAD': '' },
        home: 'h',
        cwd: 'h/repo',
        env: { CODEX_HOME: 'h/dot/codex' },
      },
    ],
  ])('remains the user’s %s', async (_, given) => {
    expect(await scopesOf(given)).toEqual(['user']);
  });
});

describe('a given file', () => {
  useLeakCheck();

  const folders: string[] = [];
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

  async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'troupe-given-')));
    folders.push(folder);
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), content);
    }
    return folder;
  }

  it.each<[story: string, files: Readonly<Record<string, string>>, path: string, isOfProject: boolean]>([
    ['in a repository', { 'work/p/.git/HEAD': '', 'work/p/a.json': '' }, 'work/p/a.json', true],
    ['deep in a repository', { 'work/p/.git/HEAD': '', 'work/p/x/y/a.json': '' }, 'work/p/x/y/a.json', true],
    ['that does not exist, in a repository', { 'work/p/.git/HEAD': '' }, 'work/p/a.json', true],
    ['with the name of a project’s', { 'work/p/.mcp.json': '' }, 'work/p/.mcp.json', true],
    ['beside one of a project', { 'work/p/.mcp.json': '', 'work/p/a.json': '' }, 'work/p/a.json', true],
    ['of a work tree', { 'work/p/.git': 'gitdir: /x', 'work/p/a.json': '' }, 'work/p/a.json', true],
    ['anywhere else', { 'work/a.json': '' }, 'work/a.json', false],
    ['at home', { '.git/HEAD': '', 'a.json': '' }, 'a.json', false],
    ['of the user', { '.config/.git/HEAD': '', '.config/x/a.json': '' }, '.config/x/a.json', false],
    [
      'of the user, in a folder with two dots',
      { '.config/..x/.git/HEAD': '', '.config/..x/a.json': '' },
      '.config/..x/a.json',
      false,
    ],
    ['of another host', { '.cursor/.git/HEAD': '', '.cursor/mcp.json': '' }, '.cursor/mcp.json', false],
  ])('%s', async (_, files, path, isOfProject) => {
    const home = await folderWith(files);
    const machine: Machine = { platform: 'linux', home, env: {}, ownFolder: join(home, '.config/troupe') };
    expect(await isInProject(join(home, path), { cwd: '/srv', machine })).toBe(isOfProject);
  });

  it('that is a link into a repository is of the project, wherever the link is', async () => {
    const home = await folderWith({ 'work/p/.git/HEAD': '', 'work/p/a.json': '', '.config/x/y': '' });
    const machine: Machine = { platform: 'linux', home, env: {}, ownFolder: undefined };
    const link = join(home, '.config/x/a.json');
    await symlink(join(home, 'work/p/a.json'), link);
    expect(await isInProject(link, { cwd: '/srv', machine })).toBe(true);
  });

  it('has its servers named in problems so that no character can be taken for another.', async () => {
    const strange = mcpJson({ 'l\u0430mps\u200b': { command: 'lamps', nonsense: 1 } });
    const { problems } = await loadConfig({ config: 'a.json', cwd: '/srv' }, () => Promise.resolve(strange));
    const lines = problems.map(problemLine).join('\n');
    expect(lines).toContain('l\\u{430}mps\\u{200b}');
    expect(lines).not.toMatch(/[\u0430\u200b]/);
  });

  it('starts at home if the working folder is one that everybody can write to.', async () => {
    const home = await folderWith({ 'shared/a.json': mcpJson({ lamps: { command: 'lamps' } }) });
    const machine: Machine = { platform: 'linux', home, env: {}, ownFolder: undefined };
    const startOf = async () => {
      const { servers } = await loadConfig({ config: 'a.json', cwd: join(home, 'shared'), machine });
      return servers.map(({ baseDir }) => baseDir);
    };
    expect(await startOf()).toEqual([join(home, 'shared')]);
    await chmod(join(home, 'shared'), 0o1777);
    expect(await startOf()).toEqual([home]);
  });

  it.each<[story: string, path: string, everybodys: string]>([
    ['in that folder', 'shared/a.json', 'shared'],
    ['that a link in that folder leads to', 'shared/link.json', 'shared'],
    ['behind a link that leads into that folder', 'own/link.json', 'shared'],
    ['in a folder of another host', 'own/.vscode/mcp.json', 'own/.vscode'],
  ])('is refused as a project’s if everybody can write to its folder: %s', async (_, path, everybodys) => {
    const entry = mcpJson({ lamps: { command: 'lamps' } });
    const home = await folderWith({
      'shared/a.json': entry,
      'own/b.json': entry,
      'own/.vscode/mcp.json': entry,
    });
    await symlink(join(home, 'own/b.json'), join(home, 'shared/link.json'));
    await symlink(join(home, 'shared/a.json'), join(home, 'own/link.json'));
    const machine: Machine = { platform: 'linux', home, env: {}, ownFolder: undefined };
    const loadAs = async (config: NonNullable<LoadOptions['config']>) =>
      loadConfig({ config, cwd: join(home, 'own'), machine });
    const file = join(home, path);
    expect((await loadAs({ path: file, scope: 'project' })).servers).toHaveLength(1);
    await chmod(join(home, everybodys), 0o1777);
    const { servers, sources } = await loadAs({ path: file, scope: 'project' });
    expect(servers).toEqual([]);
    expect(sources).toMatchObject([{ path: file, ok: false, message: expect.stringContaining(file) }]);
    // Who trusts the file says so, and nothing starts in that folder all the same.
    const trusted = await loadAs({ path: file, scope: 'project', trust: 'all' });
    expect(trusted.servers).toMatchObject([{ scope: 'given' }]);
    expect(trusted.servers[0]?.baseDir).not.toBe(join(home, everybodys));
  });

  it('inside a project needs trust, unless it is declared trusted, and its paths stay the same.', async () => {
    const root = await folderWith({ '.git/HEAD': '', 'sub/a.json': text });
    const scopeOf = async (config: NonNullable<LoadOptions['config']>) => {
      const { servers } = await loadConfig({ config, cwd: root });
      return servers.map(({ scope, baseDir }) => [scope, baseDir]);
    };
    expect(await scopeOf('sub/a.json')).toEqual([['project', root]]);
    expect(await scopeOf({ path: 'sub/a.json' })).toEqual([['project', root]]);
    expect(await scopeOf({ path: 'sub/a.json', trust: 'all' })).toEqual([['given', root]]);
    expect(await scopeOf({ path: 'sub/a.json', scope: 'given' })).toEqual([['given', root]]);
    expect(await scopeOf({ path: 'sub/a.json', scope: 'project' })).toEqual([['project', join(root, 'sub')]]);
    expect(await scopeOf({ path: 'sub/a.json', scope: 'project', trust: 'all' })).toEqual([
      ['given', join(root, 'sub')],
    ]);
  });
  const text = mcpJson({ lamps: { command: 'lamps' } });
  const read = () => Promise.resolve(text);

  it('can be declared part of the project, and then uses its own folder.', async () => {
    const config = [{ path: 'sub/a.json', scope: 'project' } as const, { path: 'b.json' }, 'c.json'];
    const { servers, sources } = await loadConfig({ config, cwd: '/srv' }, read);
    expect(sources.map(({ path, scope }) => [path, scope])).toEqual([
      [resolve('/srv/sub/a.json'), 'project'],
      [resolve('/srv/b.json'), 'given'],
      [resolve('/srv/c.json'), 'given'],
    ]);
    expect(servers).toMatchObject([{ name: 'lamps', source: 'b.json', shadows: ['sub/a.json', 'c.json'] }]);
    const alone = await loadConfig({ config: { path: 'sub/a.json', scope: 'project' }, cwd: '/srv' }, read);
    expect(alone.servers).toMatchObject([{ scope: 'project', baseDir: resolve('/srv/sub') }]);
  });

  it.each([
    ['x.toml', '[mcp_servers.lamps]\ncommand = "lamps"'],
    ['x.yaml', 'mcpServers:\n  lamps:\n    command: lamps'],
    ['x.yml', 'extensions:\n  lamps:\n    type: stdio\n    cmd: lamps'],
    ['x.jsonc', '{ "context_servers": { "lamps": { "command": { "path": "lamps" } } } }'],
  ])('is read according to its extension, with the keys of any host: %s', async (config, content) => {
    const { servers, problems } = await loadConfig({ config, cwd: '/srv' }, () => Promise.resolve(content));
    expect(problems).toEqual([]);
    expect(servers).toMatchObject([{ name: 'lamps', config: { type: 'stdio', command: 'lamps' } }]);
  });

  it.each([
    ['x.toml', '', 'empty-file', '[mcp_servers.NAME]'],
    ['x.yaml', 'a: 1', 'no-servers', "'mcpServers', 'servers'"],
    ['x.json', '', 'empty-file', '{ "mcpServers": { "NAME"'],
  ])('without servers is an error in terms of its syntax: %s %j', async (config, content, code, hint) => {
    const { problems } = await loadConfig({ config, cwd: '/srv' }, () => Promise.resolve(content));
    expect(problems.map(problemLine)).toEqual([`${config}:1:1: ${code}`]);
    expect(problems[0]?.message).toContain(hint);
  });
});

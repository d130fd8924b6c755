/** Entries of a project in a file that is elsewhere or is used elsewhere. */
import { execSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepFolder } from '../../../src/cli/import-file.js';
import { run } from '../../support/run-command.js';
import { expandConfig } from '../../../src/config/entry/expand.js';
import type { ServerSpec } from '../../../src/config/entry/server-spec.js';
import type {
  HttpServerConfig,
  ServerConfig,
  StdioServerConfig,
} from '../../../src/config/entry/server-config.js';
import { FIELD_ROWS } from '../../../src/config/entry/entry-fields.js';
import { mapTexts, type TextField } from '../../../src/config/entry/entry-texts.js';
import { FakeStream } from '../../support/fake-stream.js';
import { stubUser } from '../../support/stub-user.js';

const PROJECT = resolve('/home/ada/project');

const EVE = resolve('/home/eve');

function spec(config: ServerConfig, scope: ServerSpec['scope'] = 'project'): ServerSpec {
  return { name: 'a', source: '.mcp.json', scope, shadows: [], baseDir: PROJECT, config, hash: '' };
}

const kept = (config: ServerConfig, file = '/srv/all.json') => keepFolder(spec(config), file);

describe('the folder of an entry', () => {
  it.each<[StdioServerConfig, string]>([
    [{ command: 'npx', args: ['-y', 'server', './data'] }, PROJECT],
    [{ command: './run' }, PROJECT],
    [{ command: './run', cwd: 'tools' }, join(PROJECT, 'tools')],
    [{ command: './run', cwd: '../other' }, resolve('/home/ada/other')],
    [{ command: './run', cwd: '${workspaceFolder}/tools' }, `${PROJECT}/tools`],
  ])('of %j is written out as %s.', (config, cwd) => {
    expect(kept(config)).toEqual({ spec: spec({ ...config, cwd }), isWritten: true, unclear: [] });
  });

  it.each<[string, ServerConfig]>([
    ['is absolute', { command: 'x', cwd: '/srv/x', envFile: '/srv/.env' }],
    ['is in the home folder', { command: 'x', cwd: '~/x', envFile: '${userHome}/.env' }],
    ['does not exist, for a remote server', { url: 'https://x.example/mcp', proxy: 'http://proxy' }],
    ['is absolute, for certificates', { url: 'https://x.example/mcp', ca: ['/a.pem', '~/b.pem'] }],
    ['does not exist, for a socket', { url: 'unix:///run/x.sock' }],
  ])('that %s stays as it is.', (_, config) => {
    expect(kept(config)).toEqual({ spec: spec(config), isWritten: false, unclear: [] });
  });

  it.each<[ServerConfig, readonly string[]]>([
    [{ command: 'x', cwd: '${PLACE}/x' }, ['cwd']],
    [{ command: 'x', cwd: '/x', envFile: '${input:FILE}' }, ['envFile']],
    [{ url: 'https://x.example', ca: ['/a.pem', '$CA'], cert: '${CERT:-c.pem}' }, ['ca[1]', 'cert']],
  ])('that depends on a variable stays as it is and is reported as unclear: %j', (config, unclear) => {
    expect(kept(config)).toEqual({ spec: spec(config), isWritten: false, unclear });
  });

  it.each<[scope: ServerSpec['scope'], base: string]>([
    ['project', PROJECT],
    ['given', PROJECT],
    ['user', '${userHome}'],
  ])('is written out in every field that starts from it, in an entry of scope %s.', (scope, base) => {
    stubUser({ home: PROJECT });
    const at = (file: string) => `${base}${sep}${file.replaceAll('/', sep)}`;
    const keepOf = (config: ServerConfig) => keepFolder(spec(config, scope), '/srv/all.json').spec.config;
    const local = keepOf({ command: './x', cwd: 'a', envFile: '.env.${STAGE}/../b', args: ['./y'] });
    const remote = keepOf({
      url: 'https://x.example/mcp',
      ca: ['a.pem', './b.pem'],
      cert: '../c.pem',
      key: 'keys/${workspaceFolderBasename}.pem',
      headersHelper: './headers "$ROOM"',
    });
    const single = keepOf({ url: 'https://x.example/mcp', ca: 'a.pem' });
    vi.unstubAllEnvs();
    expect(local).toEqual({
      command: './x',
      cwd: at('a'),
      envFile: `${base}${sep}.env.\${STAGE}/../b`,
      args: ['./y'],
    });
    expect(remote).toMatchObject({ ca: [at('a.pem'), at('b.pem')], cert: resolve('/home/ada/c.pem') });
    expect(remote).toMatchObject({
      key: scope === 'project' ? at('keys/project.pem') : `${base}${sep}keys/\${workspaceFolderBasename}.pem`,
      headersHelper: expect.stringMatching(/^cd .*project['"] .*exit 1.*\.\/headers "\$ROOM"$/),
    });
    expect(single).toMatchObject({ ca: at('a.pem') });
  });

  it('of every field of an entry that is a path or a program is known.', () => {
    const fieldsBut = (left: string) =>
      Object.fromEntries(FIELD_ROWS.flatMap(([name]) => (name === left ? [] : [[name, 'x']])));
    const local = { ...fieldsBut('url'), args: ['x'], env: { A: 'x' } };
    const remote = { ...fieldsBut('command'), headers: { A: 'x' }, oauth: { scope: 'x' }, env: { A: 'x' } };
    const found = new Map<unknown, TextField['startsIn']>();
    for (const config of [local, remote] as unknown as readonly ServerConfig[])
      mapTexts(config, (text, { path: [field], startsIn }) => {
        found.set(field, startsIn);
        return text;
      });
    // Who adds a field decides whether it starts from the folder of the entry.
    expect(Object.fromEntries(found)).toEqual({
      command: undefined,
      args: undefined,
      env: undefined,
      envFile: 'path-by-file',
      cwd: 'path',
      url: undefined,
      headers: undefined,
      headersHelper: 'shell',
      oauth: undefined,
      proxy: undefined,
      ca: 'path',
      cert: 'path',
      key: 'path',
    });
  });

  it('is the one that a program for headers runs in, whatever its name.', () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-helper-')));
    const odd = join(root, `it's "odd" $HOME \`x\` \${userHome} & more`);
    mkdirSync(odd);
    const moved = keepFolder(
      { ...spec({ url: 'https://x.example', headersHelper: 'pwd; pwd # done' }), baseDir: odd },
      '/srv/a.json',
    );
    const expansion = expandConfig({ ...moved.spec, baseDir: '/' }, { env: {}, home: '/home/eve' });
    const { headersHelper = '' } = 'config' in expansion ? (expansion.config as HttpServerConfig) : {};
    expect(execSync(headersHelper, { cwd: '/', encoding: 'utf8' })).toBe(`${odd}\n${odd}\n`);
    rmSync(odd, { recursive: true });
    // It runs nowhere else.
    expect(() => execSync(headersHelper, { cwd: '/', stdio: 'ignore' })).toThrow();
    rmSync(root, { recursive: true });
  });

  it('of a file of variables is the one in which it is found.', () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-env-file-')));
    mkdirSync(join(root, '.vscode'));
    const place = {
      ...spec({ command: 'x', cwd: '/', envFile: '.env' }),
      baseDir: root,
      fileDir: join(root, '.vscode'),
    };
    const envFileIn = (file: string): unknown =>
      (keepFolder(place, join(root, file)).spec.config as StdioServerConfig).envFile;
    const both = () => [envFileIn('all.json'), envFileIn('.mcp.json')];
    expect(both()).toEqual([join(root, '.vscode/.env'), join('.vscode', '.env')]);
    writeFileSync(join(root, '.env'), '');
    expect(both()).toEqual([join(root, '.env'), '.env']);
    writeFileSync(join(root, '.vscode/.env'), '');
    expect(both()).toEqual([join(root, '.vscode/.env'), join('.vscode', '.env')]);
    rmSync(root, { recursive: true });
  });

  it('is written out only in the fields that name it.', () => {
    const { spec: written } = kept({
      url: 'https://x.example/${workspaceFolderBasename}',
      headers: { 'X-Where': '${workspaceFolder:-none} of ${USER}', 'X-Home': '${userHome}' },
    });
    expect(written.config).toEqual({
      url: 'https://x.example/project',
      headers: { 'X-Where': `${PROJECT} of \${USER}`, 'X-Home': '${userHome}' },
    });
  });

  it('is not written out if the file is in the same project folder.', () => {
    const config = { command: './run', args: ['${workspaceFolder}'] };
    const unchanged = { spec: spec(config), isWritten: false, unclear: [] };
    expect(kept(config, `${PROJECT}/.mcp.json`)).toEqual(unchanged);
    expect(kept(config, `${PROJECT}/sub/.mcp.json`).isWritten).toBe(true);
    expect(kept(config, `${PROJECT}/all.json`).isWritten).toBe(true);
    const given = spec(config, 'given');
    expect(keepFolder(given, `${PROJECT}/all.json`)).toEqual({ ...unchanged, spec: given });
    const remote = { url: 'https://x.example/mcp', headersHelper: './h', ca: 'a.pem' };
    expect(kept(remote, `${PROJECT}/.mcp.json`)).toEqual({ ...unchanged, spec: spec(remote) });
  });

  it.each(['host', 'extension'] as const)(
    'of an entry that has none is decided by the host (%s).',
    (scope) => {
      const config = { command: './run' };
      expect(keepFolder(spec(config, scope), '/srv/all.json').isWritten).toBe(false);
    },
  );

  it.each<[config: ServerConfig & { command: string }, baseDir: string, cwd: string]>([
    [{ command: 'npx' }, EVE, '${userHome}'],
    [{ command: 'npx', cwd: 'sub' }, EVE, `\${userHome}${sep}sub`],
    [{ command: 'npx', cwd: '../ada' }, EVE, resolve('/home/ada')],
    [{ command: 'npx' }, resolve('/'), resolve('/')],
  ])('of an entry of the user that starts at home is written out: %j in %s', (config, baseDir, cwd) => {
    stubUser({ home: EVE });
    const { spec: written, isWritten } = keepFolder({ ...spec(config, 'user'), baseDir }, '/srv/all.json');
    vi.unstubAllEnvs();
    expect(isWritten).toBe(true);
    expect(written.config).toEqual({ ...config, cwd });
  });

  it('is the same after expansion, even if its name contains a dollar sign.', () => {
    const odd = { ...spec({ command: './run', cwd: '$SUB' }), baseDir: '/home/$USER and ${x}' };
    const plain = { ...odd, config: { command: './run', args: ['$SUB'] } };
    const context = { env: { SUB: 's', USER: 'eve', x: 'y' }, home: '/home/eve' };
    const { spec: written } = keepFolder(plain, '/srv/all.json');
    expect(expandConfig({ ...written, baseDir: '/elsewhere' }, context)).toEqual(
      expandConfig(plain, context),
    );
    expect(keepFolder(odd, '/srv/all.json').unclear).toEqual(['cwd']);
  });
});

describe('troupe import', () => {
  let root: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-import-')));
    mkdirSync(join(root, 'project', 'sub'), { recursive: true });
    stubUser({ home: root, config: join(root, 'config') });
    vi.stubEnv('CODEX_HOME', join(root, 'codex'));
    vi.stubEnv('CLAUDE_CONFIG_DIR', join(root, 'claude'));
    vi.spyOn(process, 'cwd').mockReturnValue(join(root, 'project', 'sub'));
    const mcpServers = {
      lamp: { command: './lamp', args: ['./lamps'] },
      moved: { command: './lamp', cwd: '${PLACE}' },
      far: { url: 'https://far.example/mcp' },
    };
    writeFileSync(join(root, 'project', '.mcp.json'), JSON.stringify({ mcpServers }));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  it('keeps the folder of every entry and reports which folders it wrote out.', async () => {
    const [stdout, stderr] = [new FakeStream(), new FakeStream()];
    const output = join(root, 'all.json');
    const code = await run(['import', '--output', output], {
      stdout,
      stderr,
      stdin: new PassThrough(),
      env: {},
    });
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual({
      mcpServers: {
        lamp: { type: 'stdio', command: './lamp', args: ['./lamps'], cwd: join(root, 'project') },
        moved: { type: 'stdio', command: './lamp', cwd: '${PLACE}' },
        far: { url: 'https://far.example/mcp' },
      },
    });
    expect(stderr.written).toContain(
      `${output} names the folder in which these servers start, so that they work wherever the file is used: lamp\n`,
    );
    expect(stderr.written).toContain(
      `a variable decides whether a path is absolute; if not, it starts from another folder in ${output}: moved (cwd)\n`,
    );
  });
});

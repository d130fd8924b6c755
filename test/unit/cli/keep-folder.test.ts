/** Entries of a project in a file that is elsewhere or is used elsewhere. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepFolder } from '../../../src/cli/import-file.js';
import { run } from '../../../src/cli/program.js';
import { expandConfig } from '../../../src/config/entry/expand.js';
import type { ServerSpec } from '../../../src/config/entry/server-spec.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';
import { FakeStream } from '../../support/fake-stream.js';
import { stubUser } from '../../support/stub-user.js';

const PROJECT = '/home/ada/project';

function spec(config: ServerConfig, scope: ServerSpec['scope'] = 'project'): ServerSpec {
  return { name: 'a', source: '.mcp.json', scope, shadows: [], baseDir: PROJECT, config, hash: '' };
}

const kept = (config: ServerConfig, file = '/srv/all.json') => keepFolder(spec(config), file);

describe('the folder of an entry', () => {
  it.each<[ServerConfig & { command: string }, string]>([
    [{ command: 'npx', args: ['-y', 'server', './data'] }, PROJECT],
    [{ command: './run' }, PROJECT],
    [{ command: './run', cwd: 'tools' }, `${PROJECT}/tools`],
    [{ command: './run', cwd: '../other' }, '/home/ada/other'],
    [{ command: './run', cwd: '${workspaceFolder}/tools' }, `${PROJECT}/tools`],
  ])('of %j is written out as %s.', (config, cwd) => {
    const { spec: written, folder } = kept(config);
    expect(folder).toBe('written');
    expect(written.config).toEqual({ ...config, cwd });
  });

  it.each<[string, ServerConfig]>([
    ['is absolute', { command: 'x', cwd: '/srv/x' }],
    ['is in the home folder', { command: 'x', cwd: '~/x' }],
    ['does not exist, for a remote server', { url: 'https://x.example/mcp' }],
  ])('that %s stays as it is.', (_, config) => {
    expect(kept(config)).toEqual({ spec: spec(config), folder: 'as-it-was' });
  });

  it('that depends on a variable stays as it is and is reported as unclear.', () => {
    const config = { command: 'x', cwd: '${PLACE}/x' };
    expect(kept(config)).toEqual({ spec: spec(config), folder: 'unclear' });
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
    expect(kept(config, `${PROJECT}/.mcp.json`)).toEqual({ spec: spec(config), folder: 'as-it-was' });
    expect(kept(config, `${PROJECT}/sub/.mcp.json`).folder).toBe('written');
    expect(kept(config, `${PROJECT}/all.json`).folder).toBe('written');
  });

  it.each(['given', 'host', 'extension'] as const)(
    'of an entry that has none is decided by the host (%s).',
    (scope) => {
      const config = { command: './run' };
      expect(keepFolder(spec(config, scope), '/srv/all.json').folder).toBe('as-it-was');
    },
  );

  it.each<[config: ServerConfig & { command: string }, baseDir: string, cwd: string]>([
    [{ command: 'npx' }, '/home/eve', '${userHome}'],
    [{ command: 'npx', cwd: 'sub' }, '/home/eve', '${userHome}/sub'],
    [{ command: 'npx' }, '/', '/'],
  ])('of an entry of the user that starts at home is written out: %j in %s', (config, baseDir, cwd) => {
    stubUser({ home: '/home/eve' });
    const { spec: written, folder } = keepFolder({ ...spec(config, 'user'), baseDir }, '/srv/all.json');
    vi.unstubAllEnvs();
    expect(folder).toBe('written');
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
    expect(keepFolder(odd, '/srv/all.json').folder).toBe('unclear');
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
      `a variable decides the working folder, which may differ when started from ${output}: moved\n`,
    );
  });
});

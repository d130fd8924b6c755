import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { EVERYTHING, useTeam } from '../../support/team.js';
import { runTroupe } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

const UNTRUSTED = ".mcp.json: server 'own': is not trusted, so the entry of ~/.cursor/mcp.json is used\n";
const UNSET = { XDG_CONFIG_HOME: '', CODEX_HOME: '', CLAUDE_CONFIG_DIR: '', APPDATA: '' };

function put(name: string, content: object | string): void {
  const path = join(team().folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}

/** Runs the command in a folder of a user whose home has only the files of the suite. */
function run(place: string, ...args: readonly string[]) {
  const cwd = join(team().folder, place);
  const home = join(team().folder, place.split('/')[0] ?? '');
  return runTroupe(args, { cwd, env: { ...UNSET, HOME: home, USERPROFILE: home } });
}

beforeAll(() => {
  put('ada/project/.git/HEAD', '');
  put('ada/project/src/main.c', '');
  put('ada/project/.mcp.json', {
    mcpServers: {
      lamps: { command: 'lamps', args: ['--room', 'the hall'], env: { KEY: 'secret-1', ROOM: '${ROOM}' } },
      own: { command: 'theirs' },
      wrong: { command: 5 },
    },
  });
  put('ada/.cursor/mcp.json', {
    mcpServers: { own: { ...EVERYTHING }, off: { command: 'x', disabled: true } },
  });
  put('ada/.codex/config.toml', '[mcp_servers.ferry]\nurl = "https://ferry.example/mcp?key=secret-2"\n');
  put('bob/empty/file', '');
  put('eve/project/.git/HEAD', '');
  put('eve/.gemini/settings.json', '{ "mcpServers": ');
});

describe('troupe config', () => {
  it('shows every server, its source and the entries that it shadows, but no secret.', async () => {
    const { code, stdout, stderr } = await run('ada/project/src', 'config');
    expect(code).toBe(1);
    expect(stdout).toContain(
      [
        '? lamps  .mcp.json, needs trust',
        '    command: lamps --room "the hall"',
        '    env: {"KEY":"***","ROOM":"${ROOM}"}',
      ].join('\n'),
    );
    expect(stdout).toMatch(/^✓ own {2}~\/\.cursor\/mcp\.json\n(?: {4}.*\n)* {4}shadows: \.mcp\.json$/m);
    expect(stdout).toContain('- off  ~/.cursor/mcp.json, disabled');
    expect(stdout).toContain('    url: https://ferry.example/mcp?key=***');
    expect(stdout).toMatch(/✗ wrong\n {4}\.mcp\.json:1:\d+: server 'wrong', field 'command': expected/);
    expect(stdout).toMatch(/\n5 servers from 3 sources\n$/);
    expect(stderr).toBe(UNTRUSTED);
    expect(stdout + stderr).not.toContain('secret');
  });

  it('prints the same as JSON.', async () => {
    const { stdout } = await run('ada/project', 'config', '--json');
    const { servers, problems } = JSON.parse(stdout) as {
      servers: Record<string, unknown>;
      problems: object[];
    };
    expect(servers).toMatchObject({
      lamps: { source: '.mcp.json', enabled: true, trusted: false, config: { env: { KEY: '***' } } },
      own: { source: '~/.cursor/mcp.json', enabled: true, trusted: true, shadows: ['.mcp.json'] },
      off: { enabled: false, trusted: true },
      wrong: { source: '.mcp.json', config: null, enabled: false },
    });
    expect(problems).toMatchObject([
      { code: 'wrong-type', severity: 'error', server: 'wrong', field: 'command', line: 1 },
      { code: 'untrusted-entry', severity: 'warning', server: 'own' },
    ]);
    expect(stdout).not.toContain('secret');
  });

  it('adds a server to those that are found, and replaces those with the given files.', async () => {
    const names = async (...args: readonly string[]): Promise<readonly string[]> => {
      const { stdout } = await run('ada/project', 'config', '--json', ...args);
      return Object.keys((JSON.parse(stdout) as { servers: object }).servers).toSorted();
    };
    const found = await names();
    expect(await names('--add', 'a=b c')).toEqual([...found, 'a'].toSorted());
    const given = await names('--config', '.mcp.json');
    expect(given).not.toContain('off');
    expect(await names('--config', '.mcp.json', '--discover')).toEqual(found);
  });

  it('shows an added server alone with --no-discover.', async () => {
    const { code, stdout } = await run('ada/project', 'config', '--json', '--add', 'a=b c', '--no-discover');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      servers: {
        a: {
          source: 'the servers option',
          config: { type: 'stdio', command: 'b', args: ['c'] },
          enabled: true,
          trusted: true,
          shadows: [],
        },
      },
      problems: [],
    });
  });

  it('prints the schema of a configuration file.', async () => {
    const { code, stdout } = await run('bob/empty', 'config', '--schema');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ properties: { mcpServers: { type: 'object' } } });
  });
});

describe('a command without --config and --add', () => {
  it('uses the configuration that it finds, and starts no server of an untrusted project.', async () => {
    const { code, stdout, stderr } = await run('ada/project', 'tools', 'own');
    expect([code, stderr]).toEqual([0, UNTRUSTED]);
    expect(stdout).toContain('echo(message: string)');
    const refused = await run('ada/project', 'tools', 'lamps');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('lamps  needs trust; to trust it: troupe trust lamps');
  });

  it.each(['check', 'up', 'tools', 'config', 'import'])(
    'fails with a hint if it finds no configuration: %s.',
    async (command) => {
      const { code, stdout, stderr } = await run('bob/empty', command);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^troupe: no servers found .*--config FILE or --add/);
    },
  );

  it('reports a file that it cannot read.', async () => {
    const alone = await run('eve/project', 'check');
    expect(alone.code).toBe(2);
    expect(alone.stderr).toMatch(/^troupe: ~\/\.gemini\/settings\.json:1:\d+: the text ends too early/);
    put('eve/project/.mcp.json', { mcpServers: { ferry: { url: 'https://ferry.example/mcp' } } });
    const { code, stdout, stderr } = await run('eve/project', 'config');
    expect(code).toBe(1);
    expect(stdout).toContain('ferry');
    expect(stderr).toMatch(/^~\/\.gemini\/settings\.json:1:\d+: the text ends too early/);
  });
});

describe('troupe import', () => {
  const written = (name: string): unknown => JSON.parse(readFileSync(join(team().folder, name), 'utf8'));

  it('writes the merged configuration without expanding variables, and warns of possible secrets.', async () => {
    const { code, stdout, stderr } = await run('ada/project', 'import', '--output', 'all.json');
    expect([code, stdout]).toEqual([1, '4 servers written to all.json\n']);
    expect(written('ada/project/all.json')).toMatchObject({
      mcpServers: {
        lamps: {
          command: 'lamps',
          env: { KEY: 'secret-1', ROOM: '${ROOM}' },
          cwd: join(team().folder, 'ada/project'),
        },
        own: { command: EVERYTHING.command },
        off: { enabled: false },
        ferry: { url: 'https://ferry.example/mcp?key=secret-2' },
      },
    });
    expect(stderr).toContain('left out: .mcp.json:1:');
    expect(stderr).toContain(
      'all.json names the folder in which these servers start, so that they work wherever the file is used: own, off, lamps\n',
    );
    expect(stderr).toContain(
      'all.json holds entries of project files that are not trusted; if you give it with --config, they start without asking: lamps\n',
    );
    expect(stderr).toContain('all.json holds values as written, which may be secrets, of: ferry, lamps\n');
    expect(stdout + stderr).not.toContain('secret-');
  });

  it('replaces a file only with --force.', async () => {
    const before = readFileSync(join(team().folder, 'ada/project/.mcp.json'), 'utf8');
    const { code, stdout, stderr } = await run('ada/project', 'import');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/\ntroupe: '\.mcp\.json' exists already; --force replaces it\n$/);
    expect(readFileSync(join(team().folder, 'ada/project/.mcp.json'), 'utf8')).toBe(before);
    const forced = await run('bob/empty', 'import', '--add', 'a=b', '--force', '--json');
    expect(forced).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(forced.stdout)).toMatchObject({ servers: ['a'] });
    expect(existsSync(join(team().folder, 'bob/empty/.mcp.json'))).toBe(true);
  });

  it('reports why a file cannot be written.', async () => {
    const { code, stderr } = await run(
      'bob/empty',
      'import',
      '--add',
      'a=b',
      '--output',
      'no/such/folder.json',
    );
    expect(code).toBe(2);
    expect(stderr).toBe("troupe: 'no/such/folder.json' cannot be written: ENOENT\n");
  });
});

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { QUICK, useTeam } from '../../support/team.js';
import { runTroupe } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

let number = 0;
let project = '';
let env: Readonly<Record<string, string>> = {};

/** Each test has its own project and its own user. */
beforeEach(() => {
  number += 1;
  const home = join(team().folder, `home-${number}`);
  project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  env = { HOME: home, XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'data') };
});

const troupe = (...args: readonly string[]) => runTroupe(args, { cwd: project, env });
const read = (name: string): string => readFileSync(join(project, name), 'utf8');
const QUICK_WORDS = ['--', QUICK.command, ...QUICK.args];

describe('a command that edits', () => {
  it('makes a file, adds a trusted server, switches it off and on, and removes it.', async () => {
    expect(await troupe('init')).toMatchObject({ code: 0 });
    expect(await troupe('init')).toMatchObject({ code: 2 });
    expect(await troupe('add', 'quick', ...QUICK_WORDS)).toMatchObject({
      code: 0,
      stdout: 'quick added to .mcp.json\n',
    });
    expect(JSON.parse(read('.mcp.json'))).toEqual({ mcpServers: { quick: QUICK } });
    expect(await troupe('check')).toMatchObject({ code: 0 });
    const added = read('.mcp.json');
    expect(await troupe('disable', 'quick')).toMatchObject({ code: 0 });
    expect((await troupe('config')).stdout).toContain('quick  .mcp.json, disabled');
    expect(await troupe('enable', 'quick')).toMatchObject({ code: 0 });
    expect(read('.mcp.json')).toBe(added);
    expect((await troupe('config')).stdout).toMatch(/^✓ quick {2}\.mcp\.json\n/);
    expect(await troupe('remove', 'quick')).toMatchObject({ code: 0 });
    expect(JSON.parse(read('.mcp.json'))).toEqual({ mcpServers: {} });
    await troupe('add', '--user', 'other', ...QUICK_WORDS);
    expect(await troupe('config')).toMatchObject({ code: 0, stderr: '' });
  });

  it('keeps comments, permissions and what others wrote, and gives no trust to it.', async () => {
    const text = '{\n  // theirs\n  "mcpServers": {\n    "theirs": { "command": "x" } // mine?\n  }\n}\n';
    writeFileSync(join(project, '.mcp.json'), text);
    chmodSync(join(project, '.mcp.json'), 0o640);
    expect(await troupe('add', 'mine', ...QUICK_WORDS)).toMatchObject({ code: 0 });
    expect(await troupe('disable', 'theirs')).toMatchObject({ code: 0 });
    const enabled = await troupe('enable', 'theirs');
    expect(enabled.stderr).toContain('troupe trust theirs');
    for (const kept of ['// theirs', '// mine?']) expect(read('.mcp.json')).toContain(kept);
    expect(statSync(join(project, '.mcp.json')).mode & 0o777).toBe(0o640);
    const { stdout } = await troupe('config', '--json');
    const { servers } = JSON.parse(stdout) as { servers: Record<string, { trusted: boolean }> };
    expect([servers['mine']?.trusted, servers['theirs']?.trusted]).toEqual([true, false]);
  });

  it("writes the user's own file, and variables as references.", async () => {
    expect(
      await troupe('add', 'db', 'uvx some-server', '--user', '--env=TOKEN', '--env=MODE=ro', '--json'),
    ).toMatchObject({ code: 0 });
    const own = JSON.parse(readFileSync(join(env['XDG_CONFIG_HOME']!, 'troupe/mcp.json'), 'utf8')) as object;
    expect(own).toEqual({
      mcpServers: {
        db: { command: 'uvx', args: ['some-server'], env: { TOKEN: '${TOKEN}', MODE: 'ro' } },
      },
    });
    expect(await troupe('remove', 'db')).toMatchObject({ code: 0 });
  });

  it('leaves files of other programs and TOML alone, unless it can keep all of them.', async () => {
    const cursor = join(project, '.cursor/mcp.json');
    mkdirSync(join(project, '.cursor'));
    writeFileSync(cursor, '{ "mcpServers": { "theirs": { "command": "x" } } }');
    const refused = await troupe('disable', 'theirs');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(`--config ${cursor}`);
    expect(await troupe('disable', 'theirs', '--config', cursor)).toMatchObject({ code: 0 });
    expect(readFileSync(cursor, 'utf8')).toContain('"enabled": false');

    const toml = join(project, 'codex.toml');
    writeFileSync(toml, '# mine\n[mcp_servers.a]\ncommand = "a"\n');
    expect(await troupe('add', 'b', 'b --now', '--config', toml)).toMatchObject({ code: 0 });
    expect(readFileSync(toml, 'utf8')).toMatch(/^# mine\n[^]*\n\[mcp_servers\.b\]\n/);
    const line = await troupe('remove', 'a', '--config', toml);
    expect(line).toMatchObject({ code: 2 });
    expect(line.stderr).toContain(`${toml}:2: `);
  });

  it.each([
    ['a name that is taken', ['add', 'theirs', 'y'], '--force'],
    ['a broken entry', ['add', 'bad', 'https://'], 'url'],
    ['an address of another kind', ['add', 'bad', 'ftp://example.com'], 'url'],
    ['an address with arguments', ['add', 'bad', 'https://example.com', 'x'], 'address'],
    ['an unknown server', ['remove', 'their'], "did you mean 'theirs'?"],
    ['a header for a command', ['add', 'bad', 'x', '--header', 'A: b'], '--header'],
  ])('refuses %s and changes nothing.', async (_, words, reason) => {
    const text = '{ "mcpServers": { "theirs": { "command": "x" } } }';
    writeFileSync(join(project, '.mcp.json'), text);
    const { code, stdout, stderr } = await troupe(...words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(reason);
    expect(read('.mcp.json')).toBe(text);
  });

  it('refuses a read-only file and a pipe, and waits for neither.', async () => {
    const text = '{ "mcpServers": {} }';
    writeFileSync(join(project, '.mcp.json'), text);
    chmodSync(join(project, '.mcp.json'), 0o444);
    const readOnly = await troupe('add', 'mine', ...QUICK_WORDS);
    expect([readOnly.code, readOnly.stdout, read('.mcp.json')]).toEqual([2, '', text]);
    expect(readOnly.stderr).toContain('read-only');
    execFileSync('mkfifo', [join(project, 'pipe.json')]);
    const pipe = await troupe('add', '--config', 'pipe.json', 'mine', ...QUICK_WORDS);
    expect([pipe.code, pipe.stderr]).toEqual([2, 'troupe: pipe.json is a pipe; give a file\n']);
  });

  it('names the next command so that it can be copied.', async () => {
    const { stderr } = await troupe('add', 'my files', 'x', '--config', 'some.json');
    expect(stderr).toContain("troupe check 'my files' --config some.json\n");
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { CRASHING, QUICK, useTeam } from '../../support/team.js';
import { runTroupe } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

interface Finding {
  readonly about: string;
  readonly name: string;
  readonly level: string;
  readonly message: string;
  readonly advice: readonly string[];
}

async function examine(words: readonly string[] = [], more: Readonly<Record<string, string>> = {}) {
  const project = join(team().folder, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const env = {
    HOME: team().folder,
    XDG_CONFIG_HOME: join(team().folder, 'config'),
    HTTPS_PROXY: 'http://u:secret@p',
    ...more,
  };
  const { code, stdout, stderr } = await runTroupe(['doctor', ...words], { cwd: project, env });
  expect(`${stdout}${stderr}`).not.toContain('secret');
  return { code, stdout };
}

describe('troupe doctor', () => {
  it('examines machine, files and servers, and fails if one is wrong.', async () => {
    const config = team().write('some.json', {
      quick: QUICK,
      crashing: CRASHING,
      chatty: {
        ...CRASHING,
        args: ['-e', 'console.log("hello"); setInterval(() => {}, 1e3)'],
        startTimeoutMs: 2_000,
      },
      off: { command: 'x', enabled: false },
      wrong: { command: 7 },
    });
    const { code, stdout } = await examine(['--json', '--config', config]);
    expect(code).toBe(1);
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: readonly Finding[] };
    expect(ok).toBe(false);
    const servers = findings.filter(({ about }) => about === 'server');
    expect(Object.fromEntries(servers.map(({ name, level }) => [name, level]))).toEqual({
      quick: 'ok',
      crashing: 'error',
      chatty: 'error',
      off: 'note',
      wrong: 'error',
    });
    const crashing = servers.find(({ name }) => name === 'crashing');
    expect(crashing?.advice.join('\n')).toContain('cannot open the');
    const chatty = servers.find(({ name }) => name === 'chatty');
    expect(chatty?.advice.join('\n')).toContain('Only MCP messages belong on stdout');
    expect(findings.find(({ name }) => name === config)).toMatchObject({ about: 'source', level: 'ok' });
    expect(findings.find(({ name }) => name === '.mcp.json')).toMatchObject({ level: 'note' });
    expect(findings.find(({ name }) => name === 'proxy')).toMatchObject({ level: 'note' });
  });

  it('is content without servers and with good ones, and reports an unreadable file.', async () => {
    expect((await examine()).code).toBe(0);
    const good = team().write('good.json', { quick: QUICK });
    const near = JSON.parse(
      (await examine(['--json', '--config', '../good.json', '--add', 'x=no-such'])).stdout,
    ) as {
      findings: readonly Finding[];
    };
    const sources = near.findings.filter(({ about, level }) => about === 'source' && level === 'ok');
    expect(sources.map(({ name, message }) => [name, message])).toEqual([
      ['--add', '1 server used'],
      [good, '1 server used'],
    ]);
    const { code, stdout } = await examine(['quick', '--config', good]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/\n {2}✓ quick: runs .*\n\nNothing is wrong\.\n$/),
    ]);
    writeFileSync(join(team().folder, 'project/.mcp.json'), '{ "mcpServers": ');
    expect((await examine()).stdout).toMatch(/✗ \.mcp\.json: /);
  });

  it('names servers that another file overrides, servers with the same entry, and what is wrong with PATH.', async () => {
    const first = team().write('first.json', { quick: QUICK, again: QUICK });
    const second = team().write('second.json', { quick: CRASHING });
    const env = { PATH: 'bin' };
    const { code, stdout } = await examine(['--json', '--config', first, '--config', second], env);
    const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
    expect(code).toBe(0);
    const messageOf = (wanted: string, level: string): string | undefined =>
      findings.find((each) => each.name === wanted && each.level === level)?.message;
    expect(messageOf(second, 'ok')).toMatch(/^0 servers used; quick is taken from .*first\.json$/);
    expect(messageOf('again', 'warning')).toContain('the same entry as quick');
    expect(findings.find(({ name }) => name === 'PATH')?.advice).toHaveLength(2);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { CRASHING, EVERYTHING, faulty, MISSING, useTeam } from '../../support/team.js';
import { runTroupe } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

describe('troupe tools', () => {
  it('lists the tools of the ready servers, and reports why others are missing.', async () => {
    const config = team().write('some.json', { everything: EVERYTHING, missing: MISSING });
    const { code, stdout, stderr } = await runTroupe(['tools', '--config', config]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^everything \(\d+ tools\)\n/);
    expect(stdout).toContain('\n  echo(message: string)\n      Echoes back the input string\n');
    expect(stdout).not.toContain('missing');
    expect(stderr).toContain("✗ missing  command-not-found: The command 'no-such-command' was not found.\n");
  });

  it('prints JSON with every field of every tool.', async () => {
    const config = team().write('json.json', { everything: EVERYTHING });
    const { code, stdout, stderr } = await runTroupe(['tools', '--json', '--config', config]);
    expect([code, stderr]).toEqual([0, '']);
    const tools = JSON.parse(stdout) as Record<string, unknown>[];
    const fields =
      'name server tool title description inputSchema outputSchema annotations requiresConfirmation';
    for (const tool of tools) expect(Object.keys(tool).join(' ')).toBe(fields);
    expect(tools.find(({ tool }) => tool === 'echo')).toMatchObject({
      name: 'mcp__everything__echo',
      server: 'everything',
      outputSchema: null,
      inputSchema: { type: 'object' },
      requiresConfirmation: null,
    });
  });

  it('prints the best matches of a search, with their servers and whole definitions.', async () => {
    const config = team().write('search.json', { everything: EVERYTHING, plain: faulty('plain') });
    const { code, stdout } = await runTroupe([
      'tools',
      '--search',
      'adding numbers',
      '--schema',
      '--config',
      config,
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}everything\/get-sum\(a: number, b: number\)\n/);
    expect(stdout).toContain('"name": "mcp__everything__get-sum"');
    const json = await runTroupe(['tools', 'everything', '--search', 'sum', '--json', '--config', config]);
    expect(JSON.parse(json.stdout)).toMatchObject([{ tool: 'get-sum', matches: { sum: expect.anything() } }]);
    const none = await runTroupe(['tools', '--search', 'zzzzzz', '--config', config]);
    expect([none.code, none.stdout]).toEqual([0, '']);
  });

  it('starts only the named servers, even if other entries are wrong.', async () => {
    const journal = join(team().folder, 'journal');
    const config = team().write('one.json', {
      plain: faulty('plain'),
      other: faulty('plain', `--journal=${journal}`),
      crashing: CRASHING,
      wrong: { command: 7, argz: [] },
    });
    const { code, stdout, stderr } = await runTroupe(['tools', 'plain', '--config', config]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^plain \(3 tools\)\n/);
    expect(() => readFileSync(journal)).toThrow('ENOENT');
  });
});

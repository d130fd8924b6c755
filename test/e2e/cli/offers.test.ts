import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { EVERYTHING, MISSING, useTeam } from '../../support/team.js';
import { runTroupe } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

const everything = (): string => team().write('everything.json', { everything: EVERYTHING });
const mixed = (): string => team().write('mixed.json', { everything: EVERYTHING, missing: MISSING });

describe('troupe resources', () => {
  it('lists resources and templates of the ready servers, and reports why others are missing.', async () => {
    const { code, stdout, stderr } = await runTroupe(['resources', '--config', mixed()]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^everything \(\d+ resources, 2 templates\)\n/);
    expect(stdout).toContain('\n  demo://resource/dynamic/text/{resourceId}  text/plain\n');
    expect(stderr).toContain('✗ missing  command-not-found: ');
  });

  it('prints JSON with every field of every entry.', async () => {
    const { code, stdout } = await runTroupe(['resources', 'everything', '--json', '--config', mixed()]);
    expect(code).toBe(0);
    const lists = JSON.parse(stdout) as Record<string, readonly object[]>;
    const fields = ['server', 'name', 'title', 'description', 'mimeType', 'annotations'];
    for (const each of lists['resources'] ?? [])
      expect(Object.keys(each)).toEqual(['uri', ...fields, 'size']);
    for (const each of lists['resourceTemplates'] ?? [])
      expect(Object.keys(each)).toEqual(['uriTemplate', ...fields]);
    expect([lists['resources']?.length, lists['resourceTemplates']?.length]).not.toContain(0);
  });
});

describe('troupe read', () => {
  it('prints text, writes data to a file, and replaces no file unasked.', async () => {
    const text = await runTroupe(['read', 'demo://resource/dynamic/text/1', '--config', everything()]);
    expect([text.code, text.stderr]).toEqual([0, '']);
    expect(text.stdout).toMatch(/^Resource 1: /);

    const file = join(team().folder, 'blob');
    const blob = ['read', 'demo://resource/dynamic/blob/1', '--output', file, '--config', everything()];
    expect(await runTroupe(blob)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const written = readFileSync(file, 'utf8');
    expect(written).toMatch(/^Resource 1: /);
    const again = await runTroupe(blob);
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toContain('--force');
    expect(readFileSync(file, 'utf8')).toBe(written);
  });

  it('prints the unchanged result as JSON.', async () => {
    const uri = 'demo://resource/dynamic/text/2';
    const { stdout } = await runTroupe(['read', uri, '--json', '--server=everything', '--config', mixed()]);
    expect(JSON.parse(stdout)).toMatchObject({ contents: [{ uri, mimeType: 'text/plain' }] });
  });

  it.each([
    ['lists the URI', 'demo://nothing', [], /no server lists 'demo:\/\/nothing'/],
    ['has the name', 'demo://nothing', ['--server', 'nobody'], /no server is called 'nobody'/],
  ])('reports that no server %s.', async (_, uri, words, reason) => {
    const config = team().write('two.json', { one: EVERYTHING, two: { ...EVERYTHING, enabled: false } });
    const twice = ['--add', `other=${EVERYTHING.command} ${EVERYTHING.args.join(' ')}`];
    const { code, stdout, stderr } = await runTroupe(['read', uri, ...words, '--config', config, ...twice]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(reason);
  });
});

describe('troupe prompts', () => {
  it('lists prompts with their arguments, the required ones first.', async () => {
    const { code, stdout } = await runTroupe(['prompts', '--config', everything()]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^everything \(4 prompts\)\n/);
    expect(stdout).toContain('\n  args-prompt(city, state?)\n');
    const json = await runTroupe(['prompts', '--json', '--config', everything()]);
    expect(JSON.parse(json.stdout)).toContainEqual({
      name: 'mcp__everything__simple-prompt',
      server: 'everything',
      prompt: 'simple-prompt',
      title: expect.anything(),
      description: expect.anything(),
      arguments: [],
    });
  });
});

describe('troupe prompt', () => {
  it.each([['mcp__everything__args-prompt'], ['everything', 'args-prompt']])(
    'fills in a prompt: %s %s',
    async (...words) => {
      const { code, stdout, stderr } = await runTroupe([
        'prompt',
        ...words,
        'city=Lima',
        '--config',
        everything(),
      ]);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/^user: .*Lima/);
    },
  );

  it.each([
    ['needs an argument', ['everything/args-prompt'], 'the prompt needs city=…'],
    ['does not exist', ['everything/arg-prompt'], "did you mean 'everything/args-prompt'?"],
    ['is not of a server', ['args-prompt'], 'SERVER/PROMPT'],
  ])('reports a prompt that %s.', async (_, words, reason) => {
    const { code, stdout, stderr } = await runTroupe(['prompt', ...words, '--config', everything()]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(reason);
  });
});

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { MISSING, QUICK, useTeam } from '../../support/team.js';
import { MAIN, runTroupe } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

let config = '';
let env: Readonly<Record<string, string>> = {};
beforeAll(async () => {
  config = team().write('servers.json', { quick: QUICK, missing: MISSING });
  env = { TROUPE_CACHE: join(team().folder, 'cache') };
  await runTroupe(['tools', 'quick', '--config', config], { env });
});

async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runTroupe(['__complete', '--', ...words], { env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
}

describe('completion', () => {
  it('proposes commands, options, choices and shells.', async () => {
    expect(await complete('comp')).toEqual(['completion']);
    expect(await complete('check', '--att')).toEqual(['--attempts']);
    expect(await complete('machine', 'm')).toEqual(['manager']);
    expect(await complete('completion', '')).toEqual(['bash', 'zsh', 'fish', 'powershell']);
    expect(await complete('--config', '')).toEqual([]);
  });

  it('proposes servers, and tools of earlier runs with their arguments, and starts none.', async () => {
    const given = ['--config', config];
    expect(await complete(...given, 'check', '')).toEqual(['quick', 'missing']);
    expect(await complete(...given, 'check', 'quick', '')).toEqual(['missing']);
    const [tool = ''] = await complete(...given, 'call', 'quick/');
    expect(tool).toMatch(/^quick\/\w+$/);
    expect(await complete(...given, 'call', 'quick', '')).toContain(tool.slice('quick/'.length));
    expect(await complete(...given, 'call', 'missing', '')).toEqual([]);
  });

  it('works in bash.', () => {
    const shell = [
      `troupe() { '${process.execPath}' '${MAIN}' "$@"; }`,
      'eval "$(troupe completion bash)"',
      `COMP_WORDS=(troupe --config '${config}' check mis) COMP_CWORD=4`,
      '_troupe; printf "%s\\n" "${COMPREPLY[@]}"',
    ];
    const printed = execFileSync('bash', ['--norc', '-c', shell.join('\n')], { encoding: 'utf8' });
    expect(printed).toBe('missing\n');
  });
});

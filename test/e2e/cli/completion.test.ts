import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { MISSING, QUICK, useTeam } from '../../support/team.js';
import { TerminalProcess } from '../../support/terminal-process.js';
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
    expect(await complete('machine', '--format=m')).toEqual(['--format=mermaid']);
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
});

describe('completion works', () => {
  /** What each shell needs to begin with, apart from its own files; it has a prompt of its own, without colors. */
  const SHELLS: Readonly<Record<string, { readonly words: readonly string[]; readonly setUp: string }>> = {
    bash: {
      words: ['--norc', '--noprofile', '-i'],
      setUp: 'PS1="ready> "; eval "$(troupe completion bash)"',
    },
    zsh: {
      words: ['-f', '-i'],
      setUp: 'PROMPT="ready> "; autoload -Uz compinit; compinit -u -D; eval "$(troupe completion zsh)"',
    },
    fish: {
      words: ['--no-config', '-i'],
      setUp: 'function fish_prompt; echo -n "ready> "; end; troupe completion fish | source',
    },
  };

  it.each(Object.keys(SHELLS))('in %s.', async (name) => {
    const { words, setUp } = SHELLS[name] ?? { words: [], setUp: '' };
    const colons = team().write('colons.json', { 'a:b': QUICK });
    const folder = join(team().folder, name);
    mkdirSync(folder);
    symlinkSync(MAIN, join(folder, 'troupe'));
    const path = `${folder}:${dirname(process.execPath)}:${process.env['PATH']}`;
    const shell = new TerminalProcess(name, words, {
      cwd: folder,
      env: { ...env, PATH: path, HOME: folder },
      columns: 200,
    });
    /** Whether the line is that after the tabulator key. */
    const completes = async (line: string, expected: string): Promise<void> => {
      const isThere = (text: string): boolean =>
        text.split('\n').some((each) => each.trimEnd() === `ready> ${expected}`);
      shell.type(`${line}\t`);
      expect(await shell.until(() => isThere(shell.text), `it completed ${line}`)).toSatisfy(isThere);
      shell.type('\u0015');
    };
    try {
      await shell.shows(/[$%>#]/);
      shell.type(`${setUp}; clear\r`);
      await shell.shows(/^ready>$/);
      await completes('troupe comp', 'troupe completion');
      await completes(`troupe --config '${config}' check mis`, `troupe --config '${config}' check missing`);
      await completes(
        `troupe --config '${config}' call quick/e`,
        `troupe --config '${config}' call quick/echo`,
      );
      await completes(`troupe --config '${colons}' check a:`, `troupe --config '${colons}' check a:b`);
      await completes('troupe machine m', 'troupe machine manager');
      await completes('troupe machine manager --format m', 'troupe machine manager --format mermaid');
      await completes('troupe machine manager --format=m', 'troupe machine manager --format=mermaid');
    } finally {
      await shell.close();
    }
  });

  it('in pwsh.', () => {
    const script = [
      `function troupe { & '${process.execPath}' '${MAIN}' @args }`,
      'troupe completion powershell | Out-String | Invoke-Expression',
      "[System.Management.Automation.CommandCompletion]::CompleteInput('troupe comp', 11, $null).CompletionMatches.CompletionText",
    ];
    const printed = execFileSync('pwsh', ['-NoProfile', '-Command', script.join('\n')], { encoding: 'utf8' });
    expect(printed.trim()).toBe('completion');
  });
});

/** The workflows of the hosted CI call what a developer calls, on every system and version that is supported. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, '.github/workflows');

interface Job {
  readonly 'runs-on': string;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
}

const jobs = readdirSync(FOLDER).flatMap((file) => {
  const workflow = parse(readFileSync(join(FOLDER, file), 'utf8')) as { readonly jobs: Record<string, Job> };
  return Object.entries(workflow.jobs);
});
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const commands = jobs.flatMap(([name, { steps }]) =>
  steps.flatMap(({ run }) => (run === undefined ? [] : [[name, run] as const])),
);

/** The systems that the jobs with a matrix run on, each with the versions of Node. */
const runs = jobs.flatMap(([, job]) => {
  const { os = [job['runs-on']], node = [] } = job.strategy?.matrix ?? {};
  return os.flatMap((system) => node.map((version) => `${system} ${version}`));
});

describe('the workflows', () => {
  it.each(commands)('of the job %s call a command of this project: %s', (_, command) => {
    const [program, ...words] = command.split(' ');
    if (program === 'node') return expect(existsSync(join(ROOT, words[0] ?? ''))).toBe(true);
    expect(program).toBe('npm');
    if (words[0] === 'ci') return undefined;
    const script = words[0] === 'run' ? words[1] : words[0];
    return expect(Object.keys(manifest.scripts)).toContain(script);
  });

  it('run the whole gate somewhere.', () => {
    expect(commands.map(([, command]) => command)).toContain('npm test');
  });

  it.each(['ubuntu-latest', 'macos-latest', 'windows-latest'])(
    'run on %s with each version of Node.',
    (os) => {
      for (const version of ['20.19', '22', '24', '26']) expect(runs).toContain(`${os} ${version}`);
    },
  );
});

/** The command that runs any kit of the format in any folder and does not pass a case that it cannot run. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { isAlive } from '../../support/tools/faults.js';

const LIMIT_MS = 60_000;
const here = (name: string) => fileURLToPath(new URL(`../../../tools/faults/${name}`, import.meta.url));

const PLAIN = {
  id: 'plain',
  kind: 'control',
  start: {
    via: 'stdio',
    command: 'node',
    args: ['faulty-stdio.mjs', '--mode=plain', '--journal={{journal}}'],
  },
  steps: [{ do: 'connect' }, { do: 'list' }, { do: 'stop' }],
  checks: {
    state: 'ready',
    tools: ['echo', 'lamp_set', 'lamp_status'],
    journal: { spawn: { min: 1, max: 1 } },
  },
};
const OTHER = { ...PLAIN, id: 'other', checks: { state: 'failed' } };

let scratch = '';
let kit = '';
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'troupe-kit-'));
  kit = join(scratch, 'a kit, with spaces & 100%');
  mkdirSync(kit);
  for (const name of ['faulty-stdio.mjs', 'faulty-http.mjs', 'configs']) {
    cpSync(here(`kit/${name}`), join(kit, name), { recursive: true });
  }
});
afterAll(() => rmSync(scratch, { recursive: true }));

function write(cases: readonly object[]): string {
  const file = join(kit, 'cases.json');
  writeFileSync(file, JSON.stringify({ cases }));
  return file;
}

const run = (cases: readonly object[], ...flags: string[]) => call(['--cases', write(cases), ...flags]);

function call(flags: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [here('main.mjs'), ...flags], {
    encoding: 'utf8',
    timeout: LIMIT_MS,
    ...options,
  });
  return { status, stdout, stderr };
}

/** Runs a case that takes long, with its own folder for temporary files. */
async function runLong(kase: object) {
  const temporary = mkdtempSync(join(scratch, 'tmp-'));
  const journal = join(temporary, 'journal');
  const start = {
    ...PLAIN.start,
    args: ['faulty-stdio.mjs', '--mode=deaf-to-shutdown', `--journal=${journal}`],
  };
  const runner = spawn(
    process.execPath,
    [here('main.mjs'), '--cases', write([{ ...PLAIN, id: 'long', start, ...kase }, OTHER])],
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, TMPDIR: temporary } },
  );
  const over = once(runner, 'exit');
  await until(() => journalOf(journal).some(({ method }) => method === 'tools/list'));
  const pids = new Set(journalOf(journal).map(({ pid }) => pid));
  return { runner, over, temporary, isServerAlive: () => [...pids].some(isAlive) };
}

function journalOf(file: string): { pid: number; method?: string }[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let left = LIMIT_MS / 2; left > 0 && !isTrue(); left -= 20) await pause(20);
}

useLeakCheck({ settleMs: 15_000 });

describe('The fault runner', { timeout: LIMIT_MS }, () => {
  it('runs a kit in another folder, and exits with 0 if every case passed.', () => {
    const { status, stdout } = run([PLAIN]);
    expect(stdout).toMatch(/^id +kind +passed +what differed\nplain +control +yes/);
    expect(stdout).toMatch(/1 passed, 0 failed in \d+\.\d s\n$/);
    expect(status).toBe(0);
  });

  it('exits with 1 if a case failed, and prints the differences.', () => {
    const wrong = { ...PLAIN, id: 'wrong', checks: { tools: ['kettle'], stateNot: 'ready' } };
    const { status, stdout } = run([
      PLAIN,
      wrong,
      { ...PLAIN, id: 'unread', checks: { shiny: true } },
      { ...PLAIN, id: 'undone', steps: [{ do: 'dance' }] },
    ]);
    expect(stdout).toMatch(/wrong +control +NO +tools: echo, lamp_set, lamp_status; wanted kettle/);
    expect(stdout).toMatch(/state is ready/);
    expect(stdout).toMatch(/unread +control +NO +checks has an unknown check: 'shiny'/);
    expect(stdout).toMatch(/undone +control +NO +steps\[0\]\.do is unknown: "dance"/);
    expect(stdout).toMatch(/1 passed, 3 failed/);
    expect(status).toBe(1);
  });

  it('runs only the requested cases.', () => {
    const { status, stdout } = run([PLAIN, OTHER], '--only', 'plain');
    expect(stdout).not.toMatch(/other/);
    expect(status).toBe(0);
    const wrong = { ...OTHER, problems: [], steps: [] };
    const both = run([PLAIN, wrong, { ...wrong, id: 'third' }], '--only', 'other,third', '--jobs', '1');
    expect(both.stdout).toMatch(/\nother .*\nthird .*\n\n0 passed, 2 failed/s);
    expect(both.stdout).not.toMatch(/plain/);
  });

  it('resolves a file against its own working folder or that of npm, and accepts a folder.', () => {
    const file = write([PLAIN]);
    const [above, name] = [dirname(kit), relative(dirname(kit), file)];
    expect(call(['--cases', name], { cwd: above })).toMatchObject({ status: 0 });
    expect(call(['--cases', name], { env: { ...process.env, INIT_CWD: above } })).toMatchObject({
      status: 0,
    });
    expect(call(['--cases', kit])).toMatchObject({ status: 0 });
  });

  it('ignores the Troupe settings of its environment.', () => {
    write([PLAIN]);
    const env = { ...process.env, TROUPE_TIMEOUT_MS: '1' };
    expect(call(['--cases', kit], { env })).toMatchObject({ status: 0 });
  });

  it('prints the verdicts as JSON.', () => {
    const { status, stdout } = run([OTHER], '--json');
    const ms = expect.any(Number) as unknown;
    expect(JSON.parse(stdout)).toEqual({
      ms,
      verdicts: [
        { id: 'other', kind: 'control', passed: false, differences: ['state is ready, wanted failed'], ms },
      ],
    });
    expect(status).toBe(1);
  });

  it('prints its usage with --help.', () => {
    expect(call(['--help'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Usage: .*--cases FILE.*--only ID/s),
      stderr: '',
    });
  });

  it('fails a case that cannot be run as written.', () => {
    const { stdout } = run([
      { ...PLAIN, id: 'headers', client: { headers: { a: 'b' } } },
      { ...PLAIN, id: 'sse', client: { transport: 'sse' } },
      { ...PLAIN, id: 'load', steps: [{ do: 'load' }] },
      { ...PLAIN, id: 'no-http', steps: [{ do: 'connect' }, { do: 'poke', action: 'heal' }] },
      { ...PLAIN, id: 'no-server', steps: [{ do: 'list' }] },
      { ...PLAIN, id: 'no-start', start: { via: 'http', command: './nothing' } },
      { ...PLAIN, id: 'no-line', start: { via: 'http', command: 'node', args: ['-e', 'console.log([])'] } },
    ]);
    expect(stdout).toMatch(/headers +control +NO +client\.headers can be given to a server of 'http' only/);
    expect(stdout).toMatch(/sse +control +NO +client\.transport cannot be 'sse'/);
    expect(stdout).toMatch(/load +control +NO +'load' is not a step of a case that starts via 'stdio'/);
    expect(stdout).toMatch(/no-http +control +NO +step 2 \(poke\): there is no HTTP server to poke/);
    expect(stdout).toMatch(/no-server +control +NO +step 1 \(list\): the host is not open/);
    expect(stdout).toMatch(/no-start +control +NO +.*the HTTP server did not start: .*ENOENT/);
    expect(stdout).toMatch(/no-line +control +NO +.*its first line is not an address: \[\]/);
  });

  it.each<[string, readonly object[], readonly string[], RegExp]>([
    ['a case that does not exist', [PLAIN], ['--only', 'absent'], /has no case absent/],
    ['an unknown flag', [PLAIN], ['--loud'], /--loud/],
    ['an argument that is not a flag', [PLAIN], ['plain'], /plain/],
    ['zero jobs', [PLAIN], ['--jobs', '0'], /--jobs should be 1 or more: 0/],
    ['a file without cases', [], [], /has no cases/],
    ['a missing file', [], ['--cases', 'nothing.json'], /nothing\.json.*ENOENT/],
  ])('exits with 2 if there is nothing to run: %s.', (_, cases, flags, problem) => {
    const stderr = expect.stringMatching(problem) as unknown;
    expect(run(cases, ...flags)).toEqual({ status: 2, stdout: '', stderr });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends the running cases and starts no more on %s.', async (signal, code) => {
    const steps = [{ do: 'connect' }, { do: 'wait', ms: 600_000 }];
    const { runner, over, temporary, isServerAlive } = await runLong({ steps });
    let stdout = '';
    runner.stdout.setEncoding('utf8').on('data', (chunk) => (stdout += chunk));
    runner.kill(signal);
    expect(await over).toEqual([code, null]);
    expect(isServerAlive()).toBe(false);
    expect(stdout).toMatch(/long +control +NO +the run was interrupted/);
    expect(readdirSync(temporary)).toEqual(['journal']);
  });

  it('leaves no server behind if it is killed.', async () => {
    const steps = [{ do: 'connect' }, { do: 'wait', ms: 600_000 }];
    const { runner, over, isServerAlive } = await runLong({ steps });
    runner.kill('SIGKILL');
    await over;
    await until(() => !isServerAlive());
    expect(isServerAlive()).toBe(false);
  });
});

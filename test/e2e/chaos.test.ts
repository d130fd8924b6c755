/** The chaos command, and a short chaos run: a few seconds instead of the minutes in CI. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useLeakCheck } from '../support/leak-check.js';

const LIMIT_MS = 150_000;
const MAIN = fileURLToPath(new URL('../../tools/chaos/main.mjs', import.meta.url));

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-chaos-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Sends SIGINT when stderr contains `interruptAt`. */
async function run(
  args: readonly string[],
  { interruptAt, env = {} }: { readonly interruptAt?: string; readonly env?: Record<string, string> } = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, ['--expose-gc', MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  let isInterrupted = interruptAt === undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    if (isInterrupted || !stderr.includes(interruptAt ?? '')) return;
    isInterrupted = true;
    child.kill('SIGINT');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

useLeakCheck();

describe('A chaos run', { timeout: LIMIT_MS }, () => {
  it('of a few seconds leaves every connection ready or with a reason, every call settled, and nothing behind.', async () => {
    const log = join(folder, 'events.jsonl');
    const args = ['--connections', '12', '--minutes', '0.13', '--seed', '12', '--json', '--log', log];
    const { code, stdout, stderr } = await run(args);
    const { passed, seed, figures, faults } = JSON.parse(stdout);
    expect(faults, `the events: ${stderr}`).toEqual([]);
    expect({ passed, seed, code }).toEqual({ passed: true, seed: 12, code: 0 });
    expect(figures['at the end'].ready + figures['at the end'].explained).toBe(12);
    expect(figures.calls.answered).toBeGreaterThan(0);
    expect(figures.events['connection.lost']).toBeGreaterThan(0);
    const types = readFileSync(log, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).type);
    expect(types).toEqual(
      expect.arrayContaining(['chaos.run', 'chaos.step', 'connection.lost', 'call.finished']),
    );
  });

  it('that fails reports why and how to repeat it, and keeps the events.', async () => {
    const code = encodeURIComponent(
      "if (process.argv[1]?.endsWith('main.mjs')) setTimeout(() => Promise.reject(new Error('boom')), 2000)",
    );
    const args = ['--connections', '3', '--minutes', '0.02', '--seed', '9'];
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${code}`, TMPDIR: folder };
    const { code: exitCode, stdout } = await run(args, { env });
    expect(stdout).toMatch(/^FAILED: unhandled rejection: Error: boom/m);
    expect(stdout).toContain('npm run chaos -- --connections 3 --minutes 0.02 --seed 9');
    const [log = ''] = /(?<=the events are in ).*/.exec(stdout) ?? [];
    expect(readFileSync(log, 'utf8')).toMatch(/^{"type":"chaos.run",.*"seed":9/m);
    expect(exitCode).toBe(1);
  });

  it('that is interrupted closes everything, leaves no log and reports no verdict.', async () => {
    const args = ['--connections', '6', '--minutes', '5', '--seed', '6'];
    const { code, stdout, stderr } = await run(args, { interruptAt: 'warming up' });
    expect(stderr).toMatch(/interrupted: closing everything/);
    expect(stdout).toMatch(/interrupted: no verdict/);
    expect(stdout).not.toMatch(/FAILED/);
    expect(code).toBe(130);
  });

  it.each([
    [['--minutes', 'soon'], "--minutes must be a number, not 'soon'."],
    [['--minutes', '0'], '--minutes must be more than 0 and at most 1440.'],
    [['--connections', '2'], "--connections must be a whole number from 3 to 1000, not '2'."],
    [['--seed', '1.5'], "--seed must be a whole number from 0 to 4294967295, not '1.5'."],
    [['--loud'], "Unknown option '--loud'"],
  ])('with the arguments %j does not start, and the message names the mistake.', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('prints its usage with --help.', async () => {
    const { code, stdout } = await run(['--help']);
    expect(stdout).toMatch(/--connections N.*--minutes M.*--seed N/s);
    expect(code).toBe(0);
  });
});

import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/ports.js';
import { runCommand, type CommandRun } from '../../../../src/transports/stdio/run-command.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const LONG_MS = 60_000;

function run(command: string, over: Partial<CommandRun> = {}): Promise<string> {
  return runCommand({
    command,
    name: 'helper',
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'] ?? '', WORD: 'fig' },
    limitMs: LONG_MS,
    clock: systemClock,
    signal: new AbortController().signal,
    ...over,
  });
}

/** The shell is another one on Windows, and Node is the same. */
const node = (code: string): string => `"${process.execPath}" -e "${code}"`;

describe('a command that is run once', () => {
  it('gives what it prints, with its own environment and folder.', async () => {
    const code = `console.log(process.env.WORD, process.env.HOME); console.log(process.cwd()); console.error('noise')`;
    expect(await run(node(code))).toBe(`fig undefined\n${tmpdir()}\n`);
  });

  it('fails with its exit code and the end of its stderr.', async () => {
    await expect(
      run(node(`console.log('out'); console.error('no ticket'); process.exitCode = 3`)),
    ).rejects.toMatchObject({
      failure: { code: 'process-exited', exit: { code: 3, signal: null }, stderrTail: ['no ticket'] },
    });
  });

  it('fails with the signal that ended it.', async () => {
    await expect(run('kill -9 $$')).rejects.toMatchObject({
      failure: { code: 'process-exited', exit: { code: null, signal: 'SIGKILL' } },
    });
  });

  it('fails where it cannot be started.', async () => {
    await expect(run(node(''), { cwd: '/no/such/folder' })).rejects.toMatchObject({
      failure: { code: 'spawn-failed' },
    });
  });

  it('is ended with all that it has started, after its limit.', async () => {
    await expect(run('sleep 300 & sleep 300', { limitMs: 50 })).rejects.toMatchObject({
      failure: { code: 'launch-timeout' },
    });
  });

  it('is ended by its signal, and rejects with the reason.', async () => {
    const over = new AbortController();
    const running = run(node('setInterval(() => {}, 1_000)'), { signal: over.signal });
    over.abort(new Error('closed'));
    await expect(running).rejects.toThrow('closed');
    await expect(run(node(''), { signal: over.signal })).rejects.toThrow('closed');
  });

  it('is ended where it prints without end.', async () => {
    await expect(run(node(`setInterval(() => console.log('y'.repeat(100_000)))`))).rejects.toMatchObject({
      failure: { code: 'spawn-failed' },
    });
  });

  it('leaves nothing of what it has left in the background.', async () => {
    expect(await run('sleep 300 & echo done')).toBe('done\n');
  });
});

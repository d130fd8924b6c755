import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { livingProcesses } from '../../../src/transports/stdio/process-table.js';
import { trackLeaks } from '../../support/leak-check.js';

const AT_ONCE = { settleMs: 0 };
const IDLE = ['-e', 'setInterval(() => {}, 1000); console.log("up")'];

describe('the leak check', () => {
  it('passes if everything has ended', async () => {
    const leaks = trackLeaks();
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'close');
    await expect(leaks.expectNone()).resolves.toBeUndefined();
  });

  it('waits a moment for resources that are about to end', async () => {
    const leaks = trackLeaks();
    spawn(process.execPath, ['-e', '']);
    await expect(leaks.expectNone()).resolves.toBeUndefined();
  });

  it('names a child process that still runs', async () => {
    const leaks = trackLeaks(AT_ONCE);
    const child = spawn(process.execPath, IDLE);
    await once(child.stdout, 'data');
    await expect(leaks.expectNone()).rejects.toThrow(`process ${child.pid}:`);
    child.kill('SIGKILL');
    await once(child, 'close');
  });

  it('finds an orphan by the process group of the child that started it', async () => {
    const leaks = trackLeaks(AT_ONCE);
    const child = spawn('sh', ['-c', 'sleep 60 & echo $!'], {
      detached: true,
      env: { PATH: process.env['PATH'] },
    });
    const orphan = await numberPrintedBy(child);
    if (child.exitCode === null) await once(child, 'exit');
    await expect(leaks.expectNone()).rejects.toThrow(`process ${orphan}:`);
    await end(orphan);
    child.stdout.destroy();
    child.stderr.destroy();
  });

  it('finds an orphan that left every group by its inherited mark', async () => {
    const leaks = trackLeaks(AT_ONCE);
    const script = `const kid = require('node:child_process').spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
      kid.unref(); console.log(kid.pid)`;
    const child = spawn(process.execPath, ['-e', script], { detached: true });
    const orphan = await numberPrintedBy(child);
    if (child.exitCode === null) await once(child, 'exit');
    await expect(leaks.expectNone()).rejects.toThrow(`process ${orphan}: sleep 60`);
    await end(orphan);
  });

  it('names a socket that still listens', async () => {
    const leaks = trackLeaks(AT_ONCE);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    await expect(leaks.expectNone()).rejects.toThrow('active resource: TCPServerWrap');
    server.close();
    await once(server, 'close');
  });

  it('names a timer that still runs', async () => {
    const leaks = trackLeaks(AT_ONCE);
    // Several: what is active is counted, and a timer of the test runner may end meanwhile.
    const timers = Array.from({ length: 5 }, () => setInterval(() => {}, 60_000));
    await expect(leaks.expectNone()).rejects.toThrow('active resource: Timeout');
    for (const timer of timers) clearInterval(timer);
  });

  it('names a file that is still open', async () => {
    const leaks = trackLeaks(AT_ONCE);
    const fd = openSync(import.meta.filename, 'r');
    await expect(leaks.expectNone()).rejects.toThrow(`file descriptor: ${import.meta.filename}`);
    closeSync(fd);
  });

  it('names a listener left on the process', async () => {
    const leaks = trackLeaks(AT_ONCE);
    const listener = (): void => {};
    process.on('SIGUSR2', listener);
    await expect(leaks.expectNone()).rejects.toThrow('listener on process: SIGUSR2');
    process.off('SIGUSR2', listener);
  });
});

async function numberPrintedBy({ stdout }: { stdout: NodeJS.ReadableStream }): Promise<number> {
  const [line] = (await once(stdout, 'data')) as [Buffer];
  return Number(String(line));
}

/** Ends an orphaned process, and waits until it is dead. */
async function end(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => livingProcesses()?.some((process) => process.pid === pid)).toBe(false);
}

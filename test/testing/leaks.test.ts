/** What `expectNoLeaks` finds, and what it lets pass. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectNoLeaks, trackLeaks } from '../../src/testing/leaks.js';

const SHORT = { settleMs: 100 };

describe('expectNoLeaks', () => {
  it('gives what was run, where nothing is left.', async () => {
    expect(await expectNoLeaks(() => 7)).toBe(7);
  });

  it('waits for what only needs a moment.', async () => {
    await expect(expectNoLeaks(() => void setTimeout(() => {}, 50))).resolves.toBeUndefined();
  });

  it('names what listens and was left.', async () => {
    const server = createServer();
    onTestFinished(() => void server.close());
    const run = async (): Promise<void> => {
      server.listen(0);
      await once(server, 'listening');
    };
    await expect(expectNoLeaks(run, SHORT)).rejects.toThrow(
      /^Left behind:\n(- .*\n)*- active resource: TCPServerWrap/,
    );
  });

  it('names the process that is left.', async () => {
    const leaks = trackLeaks(SHORT);
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    const left = await leaks.whatIsLeft();
    expect(left.join('\n')).toContain(`process ${child.pid}:`);
  });

  it('lets through what was thrown before.', async () => {
    const run = (): void => {
      process.on('SIGUSR2', handler);
      throw new Error('first');
    };
    const handler = (): void => {};
    onTestFinished(() => void process.off('SIGUSR2', handler));
    await expect(expectNoLeaks(run, SHORT)).rejects.toThrow('first');
  });
});

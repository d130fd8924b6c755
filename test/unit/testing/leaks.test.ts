/** What `expectNoLeaks` finds, and what it accepts. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectNoLeaks, trackLeaks } from '../../../src/testing/leaks.js';
import { WAIT_LIMIT_MS } from '../../support/time-limit.js';

const SHORT = { settleMs: 100 };
const KIT = new URL('../../../dist/bundle/src/testing/index.js', import.meta.url).href;

describe('expectNoLeaks', () => {
  it('gives the result of the function if nothing is left.', async () => {
    expect(await expectNoLeaks(() => 7)).toBe(7);
  });

  it('waits for resources that are about to end.', async () => {
    await expect(expectNoLeaks(() => void setTimeout(() => {}, 50))).resolves.toBeUndefined();
  });

  it('names a timer, even if another one ends in the meantime.', async () => {
    const other = setTimeout(() => {}, 60_000);
    let left: NodeJS.Timeout | undefined;
    onTestFinished(() => clearTimeout(left));
    const run = async (): Promise<void> => {
      await Promise.resolve();
      clearTimeout(other);
      left = setTimeout(() => {}, 60_000);
    };
    await expect(expectNoLeaks(run, SHORT)).rejects.toThrow(
      /^Left behind:\n- active resource: Timeout\n\s+at run \(.*leaks\.test\.ts:\d+:\d+\)$/,
    );
  });

  it('accepts timers that are over, cleared or hold nothing.', async () => {
    let free: NodeJS.Timeout | undefined;
    onTestFinished(() => clearTimeout(free));
    const run = async (): Promise<void> => {
      await pause(1);
      clearTimeout(setTimeout(() => {}, 60_000));
      free = setTimeout(() => {}, 60_000).unref();
    };
    await expect(expectNoLeaks(run, { settleMs: 0 })).resolves.toBeUndefined();
  });

  it('ignores what Node opens once and keeps.', () => {
    const script = `
      import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
      import { spawn, spawnSync } from 'node:child_process';
      import { watch } from 'node:fs';
      import { once } from 'node:events';
      import { expectNoLeaks } from ${JSON.stringify(KIT)};
      await expectNoLeaks(async () => {
        const server = createServer().listen(0);
        await once(server, 'listening');
        server.close();
        await once(server, 'close');
        watch('.').close();
        await once(spawn(process.execPath, ['-e', '']), 'close');
      });
      process.stdout.write('nothing');`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: WAIT_LIMIT_MS,
    });
    expect(stdout, stderr).toBe('nothing');
  });

  it('names a listener that is left.', async () => {
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

  it('names a process on one short line, even if its command is a whole program.', async () => {
    const leaks = trackLeaks(SHORT);
    const program = `setInterval(() => {}, 1000);${'\n// a line'.repeat(100)}`;
    const child = spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    const [line = ''] = (await leaks.whatIsLeft()).filter((one) => one.startsWith('process '));
    expect(line).toContain('setInterval(() => {}, 1000); // a line // a line');
    expect(line).not.toContain('\n');
    expect(line.length).toBeLessThan(300);
  });

  it('accepts only a function.', async () => {
    await expect(expectNoLeaks(Promise.resolve() as never)).rejects.toThrow(
      new TypeError('expectNoLeaks requires a function.'),
    );
  });

  it('passes on an error of the function.', async () => {
    const run = (): void => {
      process.on('SIGUSR2', handler);
      throw new Error('first');
    };
    const handler = (): void => {};
    onTestFinished(() => void process.off('SIGUSR2', handler));
    await expect(expectNoLeaks(run, SHORT)).rejects.toThrow('first');
  });
});

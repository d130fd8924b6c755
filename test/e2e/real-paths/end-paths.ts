/** What a child causes that does not end when it is told to. */
import { describe, expect, it } from 'vitest';
import type { ServerScript } from '../../../src/testing/server-script.js';
import { ChildLife } from './child-life.js';
import { LIMIT_MS, QUICK } from './life.js';
import { standStill } from './stand-still.js';

const SILENT = { fault: 'silent' } as const;
const STUBBORN: ServerScript = { stubborn: true };
const BRIEF: typeof QUICK = { ...QUICK, stop: { drainMs: 0, deleteMs: 0, stdinEndMs: 100, termMs: 100 } };
/** The longest that a close may take with it. */
const BRIEF_MS = 1_200;

export function endPaths(): void {
  describe('a real child that does not end', { timeout: LIMIT_MS }, () => {
    it('will not go: it is stopped three times over, or waited for.', async () => {
      const life = await ChildLife.begin({ ...STUBBORN, on: { 'tools/call': SILENT } });
      await life.reaches('ready');
      const call = life.call();
      call.catch(() => {});
      life.command('restart');
      await life.reaches('shuttingDown.draining');
      life.command('restart');
      for (const _ of [1, 2, 3, 4]) life.command('stop');
      await life.reaches('stopped');
      await expect(call).rejects.toThrow();
    });

    it('has calls that take longer than they may when it is stopped.', async () => {
      const policy = { ...QUICK, stop: { drainMs: 100 } };
      const life = await ChildLife.begin({ on: { 'tools/call': SILENT } }, { policy });
      await life.reaches('ready');
      const call = life.call();
      call.catch(() => {});
      await life.connection.restart();
      await expect(call).rejects.toThrow();
      expect(life.path).toMatch(/^ready/);
    });

    it('is silent and will not go: that takes a little longer than it may.', async () => {
      const policy = { ...QUICK, releaseTimeoutMs: 400 };
      const life = await ChildLife.begin({ ...STUBBORN, on: { ping: [SILENT, SILENT, {}] } }, { policy });
      await life.tells('connection.failed');
      expect(life.connection.status.error).toMatchObject({ code: 'not-released' });
      await life.reaches('ready');
      expect(life.connection.status.generation).toBe(2);
    });

    it('is silent and will not go: that takes much longer than it may, and whoever wants it back has to wait.', async () => {
      const policy = { ...QUICK, releaseTimeoutMs: 50, stop: { stdinEndMs: 500, termMs: 500 } };
      const life = await ChildLife.begin({ ...STUBBORN, on: { ping: [SILENT, SILENT, {}] } }, { policy });
      for (const type of ['connection.retry', 'connection.start'] as const) {
        await life.answers('failed.settled', type);
        await life.reaches('failed.settled');
      }
      await life.comesBack();
      expect(life.connection.status.generation).toBe(2);
    });

    it('is killed where the host stands still while it is closed.', async () => {
      const life = await ChildLife.begin(STUBBORN, { policy: BRIEF, start: 'lazy', idleStopMs: 200 });
      await life.lists('echo');
      await life.reaches('shuttingDown.closing');
      standStill(BRIEF_MS);
      await life.takes('killSession, branch 0, to connection.configuring.dormant');
      await life.connection.start();
      const restarted = life.connection.restart();
      await life.reaches('shuttingDown.closing');
      standStill(BRIEF_MS);
      await life.takes('killSession, branch 1, to connection.configuring');
      await restarted;
      expect(life.path).toMatch(/^ready/);
    });

    it('is not gone at once when it is killed.', async () => {
      const policy = { ...BRIEF, releaseTimeoutMs: 1 };
      const life = await ChildLife.begin(STUBBORN, { policy });
      await life.reaches('ready');
      life.command('restart');
      await life.reaches('shuttingDown.closing');
      standStill(BRIEF_MS);
      await life.reaches('failed');
      await life.comesBack();
      for (const _ of [1, 2, 3]) life.command('stop');
      await life.reaches('stopped');
      expect(life.connection.status.error).toMatchObject({ code: 'not-released' });
    });
  });
}

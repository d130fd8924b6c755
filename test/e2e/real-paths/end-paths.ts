/** Transitions that a child causes that does not exit on request. */
import { describe, expect, it } from 'vitest';
import type { ServerScript } from '../../../src/testing/server-script.js';
import { ChildLife } from './child-life.js';
import { LIMIT_MS, QUICK } from './life.js';
import { standStill } from './stand-still.js';
import { reload, RESTART } from './chart-events.js';

const SILENT = { fault: 'silent' } as const;
const STUBBORN: ServerScript = { stubborn: true };
const BRIEF: typeof QUICK = { ...QUICK, stop: { drainMs: 0, deleteMs: 0, stdinEndMs: 100, termMs: 100 } };
/** The longest time that a close takes with this policy. */
const BRIEF_MS = 1_200;

export function endPaths(): void {
  describe('a real child that does not end', { timeout: LIMIT_MS }, () => {
    it('is stopped and restarted repeatedly while it shuts down.', async () => {
      const life = await ChildLife.begin({ ...STUBBORN, on: { 'tools/call': SILENT } });
      await life.reaches('ready');
      const call = life.call();
      life.command('restart');
      await life.reaches('shuttingDown.draining');
      life.command('restart');
      for (const _ of [1, 2, 3, 4]) life.command('stop');
      await life.reaches('stopped');
      await expect(call).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    });

    it('has a call that takes longer than the drain time.', async () => {
      const policy = { ...QUICK, stop: { drainMs: 100 } };
      const life = await ChildLife.begin({ on: { 'tools/call': SILENT } }, { policy });
      await life.reaches('ready');
      const call = life.call();
      await life.connection.restart();
      await expect(call).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
      expect(life.path).toMatch(/^ready/);
    });

    it('is silent, and its release takes slightly longer than its limit.', async () => {
      const policy = { ...QUICK, releaseTimeoutMs: 400 };
      const life = await ChildLife.begin({ ...STUBBORN, on: { ping: [SILENT, SILENT, {}] } }, { policy });
      await life.emits('connection.failed');
      expect(life.connection.status.error).toMatchObject({ code: 'not-released' });
      await life.reaches('ready');
      expect(life.connection.status.generation).toBe(2);
    });

    it('is silent, and its release takes much longer than its limit, so retries and starts have to wait.', async () => {
      const policy = { ...QUICK, releaseTimeoutMs: 50, stop: { stdinEndMs: 500, termMs: 500 } };
      const life = await ChildLife.begin({ ...STUBBORN, on: { ping: [SILENT, SILENT, {}] } }, { policy });
      for (const path of ['failed.unreleased.releasing', 'failed.unreleased.waiting']) {
        for (const type of ['connection.retry', 'connection.start'] as const) await life.answers(path, type);
      }
      await life.reaches('failed.unreleased.waiting');
      await life.comesBack();
      expect(life.connection.status.generation).toBe(2);
    });

    it.each([
      ['permanent', 'protocol-version', { protocolVersion: '1999-01-01' }],
      ['exhausted', 'server-error', { on: { 'tools/list': { error: { code: -32_000, message: 'busy' } } } }],
    ] satisfies [string, string, ServerScript][])(
      'fails and is not released in time: %s.',
      async (kind, code, script) => {
        const policy = { ...QUICK, maxAttempts: 1, releaseTimeoutMs: 50 };
        const life = await ChildLife.begin({ ...STUBBORN, ...script }, { policy });
        await life.reaches(`failed.${kind}.releasing`);
        await life.reaches('failed.unreleased.waiting');
        expect(life.connection.status.error).toMatchObject({ code });
      },
    );

    it('is killed if the host is blocked while it closes.', async () => {
      const life = await ChildLife.begin(STUBBORN, { policy: BRIEF, start: 'lazy', idleStopMs: 200 });
      await life.lists('echo');
      await life.reaches('shuttingDown.closing');
      standStill(BRIEF_MS);
      await life.takes('done.actor.killSession');
      await life.reaches('configuring.dormant');
      await life.connection.start();
      const restarted = life.connection.restart();
      await life.reaches('shuttingDown.closing');
      standStill(BRIEF_MS);
      await restarted;
      expect(life.path).toMatch(/^ready/);
    });

    it('does not end immediately when it is killed.', async () => {
      const policy = { ...BRIEF, releaseTimeoutMs: 1 };
      const life = await ChildLife.begin(STUBBORN, { policy, start: 'lazy', idleStopMs: 200 });
      await life.lists('echo');
      for (const commands of [[], [RESTART], [() => reload()]]) {
        await life.receives('ready', ...commands);
        await life.reaches('shuttingDown.closing');
        standStill(BRIEF_MS);
        await life.reaches('failed.unreleased');
        await life.comesBack();
      }
      for (const _ of [1, 2, 3]) life.command('stop');
      await life.reaches('stopped');
      expect(life.connection.status.error).toMatchObject({ code: 'not-released' });
    });
  });
}

/** Commands and calls that reach a real child while it starts, is lost, has failed, is dormant or shuts down. */
import { describe, expect, it } from 'vitest';
import { ChildLife } from './child-life.js';
import { LIMIT_MS } from './life.js';
import { reload, RESTART, RETRY, START, STOP, waitingCall } from './chart-events.js';

const CRASH = { fault: 'crash' } as const;
const LAZY = { start: 'lazy', idleStopMs: 200 } as const;

export function commandPaths(): void {
  describe('a real child in any state', { timeout: LIMIT_MS }, () => {
    it('is restarted and reloaded while it starts.', async () => {
      const life = await ChildLife.begin();
      await life.receives('handshaking', RESTART);
      await life.receives('handshaking', reload());
      await life.receives('shuttingDown', RESTART, START, waitingCall());
      await life.reaches('ready');
      await life.receives('ready', RESTART, reload(), RESTART);
      await life.reaches('handshaking');
      await life.reaches('ready');
      expect(life.connection.status.generation).toBe(4);
    });

    it('is restarted, reloaded and stopped after it was lost.', async () => {
      const life = await ChildLife.begin();
      for (const command of [RESTART, () => reload(), STOP]) {
        await life.reaches('ready');
        await life.send(CRASH);
        await life.receives('reconnecting', command);
      }
      await life.reaches('stopped');
      expect(life.connection.status.error).toBeNull();
    });

    it('is started, retried, restarted and reloaded after it has failed.', async () => {
      const life = await ChildLife.begin({ protocolVersion: '1999-01-01' });
      for (const command of [RETRY, START]) await life.receives('failed.permanent.releasing', command);
      for (const command of [RETRY, RESTART, () => reload()]) {
        await life.receives('failed.permanent.waiting', command);
        await life.reaches('handshaking');
      }
      await life.reaches('failed.permanent.waiting');
      expect(life.connection.status.error).toMatchObject({ code: 'protocol-version' });
    });

    it('is started or called while its entry is resolved, and while it is dormant.', async () => {
      const life = await ChildLife.begin({}, LAZY);
      await life.receives('configuring.resolving', waitingCall(), waitingCall());
      await life.receives('configuring.dormant', START);
      await life.receives('ready', { type: 'connection.refresh' });
      await life.receives('configuring.dormant', waitingCall());
      await life.reaches('ready');
      await life.receives('configuring.dormant', RESTART);
      await life.reaches('ready');
      expect(life.connection.status.generation).toBe(4);
    });

    it('is reloaded while it is dormant, and started or called meanwhile.', async () => {
      const life = await ChildLife.begin({}, LAZY);
      for (const request of [START, RESTART, waitingCall]) {
        await life.reaches('configuring.dormant');
        await life.receives('configuring.dormant', reload(false), request, request);
        await life.reaches('ready');
      }
      await life.receives('configuring.dormant', reload(false), STOP);
      await life.reaches('stopped');
      expect(life.connection.status.generation).toBe(4);
    });

    it('is started, called, reloaded and stopped while it shuts down to become dormant.', async () => {
      const life = await ChildLife.begin({}, LAZY);
      for (const command of [START, RESTART, waitingCall, () => reload(), STOP]) {
        await life.reaches('ready');
        await life.receives('shuttingDown', command);
      }
      await life.reaches('stopped');
      expect(life.connection.status.error).toBeNull();
    });
  });
}

/** What children cause in the chart of the manager: while they start, while they end, and where one dies of a mistake. */
import { describe, expect, it } from 'vitest';
import type { ConnectionEvent } from '../../../machines/connection.events.js';
import type { ManagerEvent } from '../../../machines/manager.machine.js';
import { createTroupe } from '../../../src/troupe.js';
import { actorOf, SERVER } from './account.js';
import { ChildLife, controlled } from './child-life.js';
import { LIMIT_MS } from './life.js';

const SLOW = { on: { initialize: { afterMs: 600 } } } as const;

/** Tells the manager itself, as nobody does who asks the troupe. */
function tellManager(...events: ManagerEvent[]): void {
  for (const event of events) actorOf('manager').send(event);
}

export function fleetPaths(): void {
  describe('a fleet of real children', { timeout: LIMIT_MS }, () => {
    it('is closed before it was started.', async () => {
      const { config } = await controlled();
      const troupe = createTroupe({ servers: { [SERVER]: config } });
      await troupe.close();
      expect(actorOf('manager').getSnapshot().value).toBe('stopped');
    });

    it('starts slowly: one more is added, and it is not waited for beyond the gate.', async () => {
      const life = await ChildLife.begin(SLOW, {}, { startGateMs: 200 });
      await life.reaches('handshaking');
      const second = await controlled();
      const added = life.troupe.add('second', second.config);
      await life.takes('after.startGate');
      expect(life.path).toMatch(/^handshaking/);
      tellManager({ type: 'slot.expired', name: SERVER }, { type: 'clock.jumped' });
      await (await added).ready();
      await life.reaches('ready');
      expect(life.troupe.tools.map(({ server }) => server).toSorted()).toEqual([SERVER, 'second']);
    });

    it('is closed while it starts, and told so twice.', async () => {
      const life = await ChildLife.begin(SLOW);
      await life.reaches('handshaking');
      const closed = life.troupe.close();
      tellManager(
        { type: 'child.wantsSlot', name: SERVER, slot: true, retry: false },
        { type: 'manager.stop' },
      );
      await closed;
      await untilOver(life);
      expect(life.path).toBe('stopped');
    });

    it('has a connection that dies of a mistake, and leaves no process.', async () => {
      const life = await ChildLife.begin();
      await life.reaches('ready');
      await life.isTold('ready', mistaken());
      await life.reaches('failed');
      await untilOver(life);
      expect(life.connection.status.error).toMatchObject({ code: 'internal' });
    });

    it('has a connection that dies of a mistake while it is closed, and leaves no process.', async () => {
      const life = await ChildLife.begin({ on: { 'tools/call': { fault: 'silent' } } });
      await life.reaches('ready');
      life.call().catch(() => {});
      const closed = life.troupe.close();
      await life.isTold('shuttingDown.draining', mistaken());
      await closed;
      await untilOver(life);
      expect(life.connection.status.error).toMatchObject({ code: 'internal' });
    });
  });
}

/** Nothing sends that: numbers are missing which the next effect needs. */
function mistaken(): ConnectionEvent {
  const { policy } = actorOf('connection').getSnapshot().context;
  return { type: 'policy.changed', policy: { ...policy, ping: null, stop: null } as never };
}

async function untilOver({ program }: ChildLife): Promise<void> {
  await expect.poll(() => program.isRunning, { timeout: LIMIT_MS / 3 }).toBe(false);
}

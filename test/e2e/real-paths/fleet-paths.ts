/** Transitions of the manager chart: while children start, while they end, and if a connection crashes by a bug. */
import { describe, expect, it } from 'vitest';
import type { ConnectionEvent } from '../../../machines/connection/connection.events.js';
import type { ManagerEvent } from '../../../machines/manager/manager.events.js';
import { createMemoryEngine } from '../../../src/fleet/memory-engine.js';
import { createFleet } from '../../../src/fleet/stores.js';
import { createTroupe } from '../../../src/runtime/troupe.js';
import { actorOf, SERVER } from './account.js';
import { ChildLife, controlled } from './child-life.js';
import { LIMIT_MS } from './life.js';

const SLOW = { on: { initialize: { afterMs: 600 } } } as const;

/** Sends events to the manager itself, without the checks of the troupe. */
function sendToManager(...events: ManagerEvent[]): void {
  for (const event of events) actorOf('manager').send(event);
}

export function fleetPaths(): void {
  describe('a fleet of real children', { timeout: LIMIT_MS }, () => {
    it('is closed before it has started.', async () => {
      const { config } = await controlled();
      const troupe = createTroupe({ servers: { [SERVER]: config } });
      await troupe.close();
      expect(actorOf('manager').getSnapshot().value).toMatchObject({ phase: 'closed' });
      sendToManager({ type: 'manager.stop' });
      expect(actorOf('manager').getSnapshot().value).toMatchObject({ phase: 'closed' });
    });

    it('gets each state of the network twice, and a second command to open.', async () => {
      const { config } = await controlled();
      const troupe = createTroupe({ servers: { [SERVER]: config } });
      for (const online of [true, false, false, true]) troupe.setOnline(online);
      const starting = troupe.start();
      sendToManager({ type: 'manager.open' });
      await starting;
      expect(troupe.connection(SERVER)?.state).toBe('ready');
      await troupe.close();
    });

    it('waits for two retries of the retry budget.', async () => {
      const life = await ChildLife.begin({}, {}, { retryBudget: { burst: 2, everyMs: 50 } });
      await life.reaches('ready');
      const retries = ['one', 'two'].map((name) => ({ name, slot: false, retry: true }));
      for (const claim of retries) sendToManager({ type: 'child.wantsSlot', ...claim });
      await life.takes('after.refill.manager.budget.refilling, branch 1');
      await life.takes('after.refill.manager.budget.refilling, branch 0');
      await expect.poll(() => actorOf('manager').getSnapshot().context.retries).toBe(2);
    });

    it('has a retry that its fleet allows.', async () => {
      const fleet = createFleet({ engine: createMemoryEngine(), key: 'ab'.repeat(32) });
      const life = await ChildLife.begin({}, {}, { retryBudget: { burst: 1, everyMs: 50 }, fleet });
      await life.reaches('ready');
      sendToManager(
        { type: 'child.wantsSlot', name: 'one', slot: false, retry: true },
        { type: 'retry.allowed', name: 'one' },
      );
      expect(actorOf('manager').getSnapshot().context.waiting).toEqual([]);
    });

    it('gets back a start, gets one more server, and is closed while its retry budget fills up.', async () => {
      const life = await ChildLife.begin({}, {}, { retryBudget: { burst: 1, everyMs: 60_000 } });
      await life.reaches('ready');
      sendToManager(
        { type: 'child.wantsSlot', name: 'one', slot: true, retry: false },
        { type: 'child.leftStart', name: 'one' },
        { type: 'child.wantsSlot', name: 'two', slot: false, retry: true },
      );
      const second = await controlled();
      await (await life.troupe.add('second', second.config)).ready();
      expect(life.troupe.tools.map(({ server }) => server).toSorted()).toEqual([SERVER, 'second']);
      await life.troupe.connection('second')?.stop();
      await life.troupe.close();
      expect(actorOf('manager').getSnapshot().value).toMatchObject({ phase: 'closed' });
    });

    it('starts slowly: one child is added, and the start gate ends before the first is ready.', async () => {
      const life = await ChildLife.begin(SLOW, {}, { startGateMs: 200 });
      await life.reaches('handshaking');
      const second = await controlled();
      const added = life.troupe.add('second', second.config);
      await life.takes('after.startGate');
      expect(life.path).toMatch(/^handshaking/);
      sendToManager(
        { type: 'child.wantsSlot', name: SERVER, slot: true, retry: false },
        { type: 'cores.idle', busyCores: 9 },
        { type: 'slot.expired', name: SERVER },
        { type: 'clock.jumped' },
      );
      await (await added).ready();
      await life.reaches('ready');
      expect(life.troupe.tools.map(({ server }) => server).toSorted()).toEqual([SERVER, 'second']);
    });

    it('is closed while it starts, with a second stop.', async () => {
      const life = await ChildLife.begin(SLOW);
      await life.reaches('handshaking');
      const closed = life.troupe.close();
      sendToManager(
        { type: 'child.wantsSlot', name: SERVER, slot: true, retry: false },
        { type: 'retry.allowed', name: SERVER },
        { type: 'manager.stop' },
      );
      await closed;
      await untilStopped(life);
      expect(life.path).toBe('stopped');
    });

    it('has a connection that crashes by a bug, and leaves no process behind.', async () => {
      const life = await ChildLife.begin();
      await life.reaches('ready');
      await life.receives('ready', brokenEvent());
      await life.reaches('failed');
      await untilStopped(life);
      expect(life.connection.status.error).toMatchObject({ code: 'internal' });
    });

    it('has a connection that crashes by a bug while it starts, then again while it stops.', async () => {
      const life = await ChildLife.begin(SLOW);
      await life.reaches('handshaking');
      await life.receives('handshaking', null as unknown as ConnectionEvent);
      await life.reaches('failed');
      actorOf('connection').send(brokenEvent());
      await life.connection.stop();
      expect(life.path).toBe('stopped');
      await untilStopped(life);
    });

    it('has a connection that crashes by a bug while it closes, and leaves no process behind.', async () => {
      const life = await ChildLife.begin({ on: { 'tools/call': { fault: 'silent' } } });
      await life.reaches('ready');
      void life.call();
      const closed = life.troupe.close();
      await life.receives('shuttingDown.draining', brokenEvent());
      await closed;
      await untilStopped(life);
      expect(life.path).toBe('stopped');
    });
  });
}

/** An event that is never sent: it lacks values that the next effect needs. */
function brokenEvent(): ConnectionEvent {
  const { policy } = actorOf('connection').getSnapshot().context;
  return { type: 'policy.changed', policy: { ...policy, ping: null, stop: null } as never };
}

async function untilStopped({ program }: ChildLife): Promise<void> {
  await expect.poll(() => program.isRunning, { timeout: LIMIT_MS / 3 }).toBe(false);
}

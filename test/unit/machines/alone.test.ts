/** The connection chart outside of a troupe: in a plain actor, in XState's graph, and as a child of another machine. */
import { createActor, createMachine, fromPromise, setup, waitFor, type AnyActorRef } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { describe, expect, it } from 'vitest';
import type {
  BoundedSessionInput,
  ConnectionInput,
  OpenTransportInput,
  OpenTransportOutput,
  ResolveConfigInput,
  ResolveConfigOutput,
  Settled,
} from '../../../machines/connection/connection.events.js';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { managed } from '../../../machines/connection/connection.managed.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { DEFAULT_POLICY } from '../../../machines/policy/policy.js';
import { restorable } from '../../../machines/restore.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { HeldEffects } from '../../support/held-effects.js';
import { useLeakCheck } from '../../support/leak-check.js';

const INPUT: ConnectionInput = {
  name: 'docs',
  transport: 'stdio',
  policy: { ...DEFAULT_POLICY, backoff: { kind: 'fixed', delaysMs: [0, 5_000] }, maxAttempts: 3 },
  seed: 1,
  generation: 0,
  online: true,
  wanted: true,
  crash: null,
  isAttempted: false,
};

const settled = { startedAt: 0, at: 0 };
const failure = { code: 'process-exited', message: 'It exited.', phase: 'launch', at: 0 } as const;

/** Opening fails, everything else works. */
const failing = connectionMachine.provide({
  actors: {
    resolveConfig: fromPromise<ResolveConfigOutput, ResolveConfigInput>(async () => ({
      kind: 'resolved',
      ...settled,
    })),
    openTransport: fromPromise<OpenTransportOutput, OpenTransportInput>(async () => Promise.reject(failure)),
    releaseSession: fromPromise<Settled, BoundedSessionInput>(async () => settled),
  },
});

const isBackingOff = (actor: AnyActorRef) =>
  waitFor(actor, (snapshot) => snapshot.hasTag('backingOff'), { timeout: 1_000 });

describe('the connection chart alone', () => {
  useLeakCheck();

  it('runs in a plain actor: it asks nobody for its start.', async () => {
    const clock = createControlledClock();
    const actor = createActor(failing, { input: INPUT, clock });
    const emitted: string[] = [];
    actor.on('*', ({ type }) => emitted.push(type));
    actor.start();
    await isBackingOff(actor);
    expect(actor.getSnapshot().status).toBe('active');
    expect(emitted).toEqual(['attempting', 'released', 'retrying']);
    expect(actor.getSnapshot().context).toMatchObject({ isAttempted: true, attempt: 1 });
    actor.stop();
  });

  it('is a child of any machine, which it sends nothing.', async () => {
    const clock = createControlledClock();
    const heard: string[] = [];
    const host = setup({
      actors: { connection: failing },
      actions: { note: ({ event }) => void heard.push(event.type) },
    }).createMachine({
      invoke: { id: 'docs', src: 'connection', input: INPUT },
      on: { '*': { actions: 'note' } },
    });
    const actor = createActor(host, { clock }).start();
    await isBackingOff(actor.getSnapshot().children['docs'] as AnyActorRef);
    expect(heard).toEqual([]);
    actor.stop();
  });

  it('is explored by XState’s graph tools.', () => {
    const paths = getShortestPaths(connectionMachine, {
      input: INPUT,
      events: [{ type: 'connection.stop', reason: 'stop' }, { type: 'connection.retry' }] as never,
    });
    expect(paths.map(({ state }) => Object.keys(state.value as object)[0])).toContain('shuttingDown');
  });

  it('asks a parent that grants starts, if it is managed.', async () => {
    const reports: unknown[] = [];
    const host = setup({
      actors: { connection: managed(failing) },
      actions: { note: ({ event }) => void reports.push(event) },
    }).createMachine({
      invoke: { id: 'docs', src: 'connection', input: INPUT },
      on: { 'child.*': { actions: 'note' } },
    });
    const clock = createControlledClock();
    const actor = createActor(host, { clock }).start();
    const docs = actor.getSnapshot().children['docs'] as AnyActorRef;
    await waitFor(docs, (snapshot) => snapshot.matches({ starting: { launching: 'waitingForSlot' } }));
    docs.send({ type: 'slot.granted' });
    await isBackingOff(docs);
    expect(reports).toEqual([
      { type: 'child.wantsSlot', name: 'docs', slot: true, retry: false },
      { type: 'child.leftStart', name: 'docs' },
      { type: 'child.settled', name: 'docs' },
    ]);
    actor.stop();
  });

  it('keeps the slots that a host has filled itself.', () => {
    const leaveStart = () => {};
    const machine = managed(connectionMachine.provide({ actions: { leaveStart } }));
    expect(machine.implementations.actions).toMatchObject({ leaveStart });
    expect(machine.implementations.actions['claimStart']).not.toBe(
      connectionMachine.implementations.actions['claimStart'],
    );
  });
});

describe('a restored snapshot', () => {
  useLeakCheck();

  it('of a connection that waits for its next attempt sets the timer again.', async () => {
    const clock = createControlledClock();
    const actor = createActor(failing, { input: INPUT, clock }).start();
    await isBackingOff(actor);
    await clock.advance(0);
    await isBackingOff(actor);
    const snapshot = JSON.parse(JSON.stringify(actor.getPersistedSnapshot())) as never;
    actor.stop();
    expect(clock.pending).toEqual([]);

    const restored = createActor(failing, { snapshot, input: INPUT, clock });
    expect(clock.pending).toEqual([]);
    restored.start();
    const { attempt, delayMs } = restored.getSnapshot().context;
    expect([attempt, delayMs, clock.pending]).toEqual([2, 5_000, [5_000]]);
    await clock.advance(5_000);
    await isBackingOff(restored).catch(() => {});
    expect(restored.getSnapshot().context.attempt).toBe(3);
    restored.stop();
    expect(clock.pending).toEqual([]);
  });

  it.each([
    ['a number', { after: { 70: 'on' } }],
    ['a name', { after: { soon: 'on' } }],
  ])('of any machine sets a delay given as %s, also after provide', async (_, off) => {
    const clock = createControlledClock();
    const lamp = restorable(createMachine({ initial: 'off', states: { off, on: {} } } as never));
    const provided = lamp.provide({ delays: { soon: () => 70 } });
    const actor = createActor(provided, { clock }).start();
    const snapshot = actor.getPersistedSnapshot();
    actor.stop();
    const restored = createActor(provided, { snapshot, clock }).start();
    expect(clock.pending).toEqual([70]);
    await clock.advance(70);
    expect(restored.getSnapshot().value).toBe('on');
    restored.stop();
  });

  it('of a manager is refused while a connection holds a start slot.', async () => {
    const clock = createControlledClock();
    const effects = new HeldEffects(() => clock.now());
    const machine = managerMachine.provide({ actors: { connection: effects.machine } });
    const input = { startSlots: 1, slotHoldMs: 500, startGateMs: 10_000, retryBurst: 1, retryEveryMs: 50 };
    const manager = createActor(machine, { input, clock }).start();
    manager.send({ type: 'manager.open' });
    const { crash: _, isAttempted: __, online: ___, ...spec } = INPUT;
    manager.send({ type: 'manager.start', specs: [{ source: 'a test', input: spec }] });
    await clock.advance(0);
    effects.succeed('docs', 'resolveConfig', {});
    await clock.advance(0);
    expect(manager.getSnapshot().context.holders).toEqual(['docs']);
    const snapshot = manager.getPersistedSnapshot();
    manager.stop();
    const restored = createActor(machine, { input, clock, snapshot });
    restored.subscribe({ error: () => {} });
    expect(restored.getSnapshot()).toMatchObject({ status: 'error' });
    expect(String((restored.getSnapshot() as { error?: unknown }).error)).toMatch(/docs held a start slot/);
  });
});

/** Root machines other than the manager: how they start, crash and end, and who observes that. */
import { setImmediate as turn } from 'node:timers/promises';
import { createActor, setup, type AnyActorRef } from 'xstate';
import { describe, expect, it } from 'vitest';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { NumberedClock } from '../../../src/actor-system/numbered-clock.js';
import { observeCopies, type InspectionCopy } from '../../../src/inspector/inspection-copies.js';
import { RootSupervisor, type RootCrash } from '../../../src/actor-system/root-actors.js';
import { NO_MASK } from '../../../src/secrets/secrets.js';
import { SAMPLE_HEADER } from '../../support/sample-log.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { HeldConfiguration } from '../../support/held-configuration.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();
useCrashWatch();

interface Input {
  readonly fragile: boolean;
  readonly crash?: string;
}

/** Crashes on `break`, or at its start if it is fragile; ends on `finish`. */
const machine = setup({
  types: { context: {} as Input, input: {} as Input, events: {} as { type: 'break' } | { type: 'finish' } },
  actions: {
    die: () => {
      throw new Error('a bug');
    },
  },
  guards: {
    isFragile: ({ context }) => {
      if (context.fragile) throw new Error('born broken');
      return false;
    },
  },
}).createMachine({
  context: ({ input }) => input,
  initial: 'working',
  states: {
    working: {
      always: { guard: 'isFragile', target: 'over' },
      on: { break: { actions: 'die' }, finish: 'over' },
    },
    over: { type: 'final' },
  },
});

const STURDY: Input = { fragile: false };

function make() {
  const clock = createControlledClock();
  const timers = new NumberedClock(clock);
  const crashes: RootCrash[] = [];
  const roots = new RootSupervisor(timers, (crash) => crashes.push(crash));
  return { clock, timers, crashes, roots };
}

const statusOf = (ref: AnyActorRef | undefined): string | undefined =>
  (ref?.getSnapshot() as { readonly status: string } | undefined)?.status;

describe('a root machine', () => {
  it('exists until it has ended.', () => {
    const { roots } = make();
    const ref = roots.start('signIn:1', machine, STURDY);
    expect([...roots.all]).toEqual([ref]);
    expect(roots.ref('signIn:1')).toBe(ref);
    ref.send({ type: 'finish' });
    expect([[...roots.all], roots.ref('signIn:1')]).toEqual([[], undefined]);
  });

  it('that crashes is restarted with the cause, except the fifth time within 30 s.', async () => {
    const { clock, roots, crashes } = make();
    roots.start('signIn:1', machine, STURDY);
    for (let count = 0; count < 5; count += 1) {
      expect(statusOf(roots.ref('signIn:1'))).toBe('active');
      roots.ref('signIn:1')?.send({ type: 'break' });
      await clock.advance(7_000);
    }
    expect(crashes).toEqual(
      [true, true, true, true, false].map((restarts) => ({ id: 'signIn:1', message: 'a bug', restarts })),
    );
    expect(roots.ref('signIn:1')?.getSnapshot()).toMatchObject({
      status: 'error',
      context: { fragile: false, crash: 'a bug' },
    });
    roots.stop();
  });

  it('that crashes now and then is always restarted.', async () => {
    const { clock, roots, crashes } = make();
    roots.start('signIn:1', machine, STURDY);
    for (let count = 0; count < 10; count += 1) {
      roots.ref('signIn:1')?.send({ type: 'break' });
      await clock.advance(7_501);
    }
    expect(crashes.filter(({ restarts }) => !restarts)).toEqual([]);
    expect(statusOf(roots.ref('signIn:1'))).toBe('active');
    roots.stop();
  });

  it('that crashes at its start is given up, and affects no other machine.', async () => {
    const { roots, crashes } = make();
    const other = roots.start('signIn:1', machine, STURDY);
    roots.start('signIn:2', machine, { fragile: true });
    await turn();
    expect(crashes.at(-1)).toEqual({ id: 'signIn:2', message: 'born broken', restarts: false });
    expect([statusOf(other), statusOf(roots.ref('signIn:2'))]).toEqual(['active', 'error']);
    roots.stop();
  });

  it('is not restarted once all are stopped.', async () => {
    const { roots } = make();
    const ref = roots.start('signIn:1', machine, STURDY);
    ref.send({ type: 'break' });
    roots.stop();
    await turn();
    expect([...roots.all]).toEqual([]);
  });

  it('reaches a follower before its first state, until the follower leaves.', async () => {
    const { roots } = make();
    const met: string[] = [];
    const unfollow = roots.follow((ref) => {
      ref.system.inspect(({ type, actorRef }) => met.push(`${type} ${(actorRef as AnyActorRef).id}`));
    });
    roots.start('signIn:1', machine, STURDY);
    expect(met[0]).toBe('@xstate.event signIn:1');
    unfollow();
    roots.start('signIn:2', machine, STURDY);
    expect(met.join()).not.toContain('signIn:2');
    roots.stop();
  });
});

describe('an inspector', () => {
  it('gets existing and later machines, with their effects, each one in a separate system.', async () => {
    const { clock, timers, roots } = make();
    const input = SAMPLE_HEADER.input as never;
    const manager = createActor(managerMachine, { input, clock: timers }).start();
    const begin = (id: string): HeldConfiguration => {
      const held = new HeldConfiguration();
      const policy = { restMs: 1, mostMs: 1, retryAfterMs: [] };
      roots.start(id, held.machine, { policy, readable: true });
      return held;
    };
    begin('configuration');
    const copies: InspectionCopy[] = [];
    const { introduce, detach } = observeCopies({
      system: { manager, timers, roots },
      mask: () => NO_MASK,
      next: (copy) => copies.push(copy),
      failed: (error) => {
        throw error;
      },
    });
    introduce();
    const held = begin('configuration:2');
    held.send({ type: 'files.changed', at: clock.now() });
    const met = copies.filter(({ type }) => type === '@xstate.actor');
    expect(met.map(({ actorRef, rootId }) => [actorRef.sessionId, rootId])).toEqual([
      ['$', '$'],
      ['$:configuration#1', '$:configuration#1'],
      ['$:configuration#1/watchFiles#1', '$:configuration#1'],
      ['$:configuration:2#1', '$:configuration:2#1'],
      ['$:configuration:2#1/watchFiles#1', '$:configuration:2#1'],
    ]);
    expect(copies.at(-1)).toMatchObject({
      type: '@xstate.snapshot',
      rootId: '$:configuration:2#1',
      snapshot: { value: 'changed' },
    });
    const countBefore = copies.length;
    detach();
    begin('configuration:3').send({ type: 'files.changed', at: clock.now() });
    expect(copies).toHaveLength(countBefore);
    roots.stop();
    manager.stop();
  });
});

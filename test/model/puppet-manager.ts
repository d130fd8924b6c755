/** The real manager over children that do nothing but end or die when they are told. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'vitest';
import {
  assign,
  createActor,
  setup,
  type ActorRefFrom,
  type AnyMachineSnapshot,
  type EventObject,
  type StateValue,
} from 'xstate';
import type { ConnectionInput } from '../../machines/connection.events.js';
import {
  managerMachine,
  type ManagerContext,
  type ManagerEvent,
  type ManagerInput,
} from '../../machines/manager.machine.js';
import { doneEvent, errorEvent, type EdgeDriver, type EdgeOptions } from '../../src/testing/edge-paths.js';
import type { ChartEdges } from '../support/chart-edges.js';
import { createControlledClock } from '../support/controlled-clock.js';
import { childSpec } from '../support/manager-driver.js';

const INPUT: ManagerInput = {
  startSlots: 1,
  slotHoldMs: 500,
  startGateMs: 10_000,
  cachedGateMs: 250,
  retryBurst: 1,
  retryEveryMs: 1_000,
};

const puppet = setup({
  types: { context: {} as { reportedSettled: boolean; cached: boolean }, input: {} as ConnectionInput },
  actions: {
    die: assign(() => {
      throw new Error('told to');
    }),
  },
}).createMachine({
  context: ({ input }) => ({ reportedSettled: false, cached: input.cached }),
  initial: 'living',
  states: {
    living: { on: { 'puppet.end': 'over', 'puppet.die': { actions: 'die' } } },
    over: { type: 'final' },
  },
});

/** A manager of puppets. */
export const PUPPET_MANAGER = managerMachine.provide({ actors: { connection: puppet as never } });

/** Everything that can happen to a manager of `alpha` and of `beta`, whose tools are cached. */
export const MANAGER_MODEL: EdgeOptions = {
  inputs: [INPUT],
  events: (snapshot) => [
    ...TOLD,
    ...ownTimersOf(snapshot),
    ...newcomerTo(snapshot),
    ...endsOf(snapshot),
    ...timersOf(snapshot),
  ],
  key: (snapshot) => JSON.stringify([snapshot.value, snapshot.context, Object.keys(snapshot.children)]),
};

const TOLD: readonly ManagerEvent[] = [
  { type: 'manager.start', specs: [] },
  { type: 'manager.start', specs: [childSpec('alpha'), childSpec('beta', { cached: true })] },
  { type: 'manager.stop' },
  { type: 'network.changed', online: false, at: 0 },
  { type: 'network.changed', online: true, at: 0 },
  { type: 'clock.jumped' },
  { type: 'child.wantsSlot', name: 'alpha', slot: true, retry: false },
  { type: 'child.wantsSlot', name: 'beta', slot: false, retry: true },
  { type: 'child.leftStart', name: 'alpha' },
  { type: 'child.settled', name: 'alpha', cached: false },
  { type: 'child.settled', name: 'beta', cached: true },
];

const contextOf = (snapshot: AnyMachineSnapshot): ManagerContext => snapshot.context as ManagerContext;

/** Those that end leave in the reverse order, since a manager that stops only counts them. */
function endsOf(snapshot: AnyMachineSnapshot): EventObject[] {
  const last = Object.keys(snapshot.children)[contextOf(snapshot).alive - 1];
  return last === undefined ? [] : [doneEvent(last, {}), errorEvent(last, new Error('told to'))];
}

function timersOf(snapshot: AnyMachineSnapshot): EventObject[] {
  return snapshot._nodes.flatMap((node) => node.after.map(({ eventType }) => ({ type: String(eventType) })));
}

/** What it tells itself after a while, where it has set that timer. */
function ownTimersOf(snapshot: AnyMachineSnapshot): ManagerEvent[] {
  const { holders, retries, retryBurst } = contextOf(snapshot);
  return [
    ...holders.map((name) => ({ type: 'slot.expired' as const, name })),
    ...(retries < retryBurst ? [{ type: 'budget.refill' as const }] : []),
  ];
}

function newcomerTo(snapshot: AnyMachineSnapshot): ManagerEvent[] {
  return 'gamma' in snapshot.children ? [] : [{ type: 'manager.add', spec: childSpec('gamma') }];
}

export class PuppetManager implements EdgeDriver {
  readonly clock = createControlledClock();
  readonly #manager: ActorRefFrom<typeof managerMachine>;

  constructor(input: unknown, edges: ChartEdges) {
    this.#manager = createActor(PUPPET_MANAGER, {
      input: input as ManagerInput,
      clock: this.clock,
      inspect: edges.count,
    });
    this.#manager.start();
  }

  state(): StateValue {
    return this.#manager.getSnapshot().value;
  }

  get context(): ManagerContext {
    return this.#manager.getSnapshot().context;
  }

  async perform(event: EventObject): Promise<void> {
    const { type } = event;
    const { actorId = '' } = event as { actorId?: string };
    const child = this.#manager.getSnapshot().children[actorId];
    if (type.startsWith('xstate.done.actor.')) child?.send({ type: 'puppet.end' } as never);
    else if (type.startsWith('xstate.error.actor.')) child?.send({ type: 'puppet.die' } as never);
    else if (type.startsWith('xstate.after.')) await this.clock.advance(delayOf(type));
    else this.#manager.send(event as ManagerEvent);
    await turn();
    this.#expectInvariants();
  }

  #expectInvariants(): void {
    const { holders, waiting, retries, alive, startSlots, retryBurst } = this.context;
    expect(holders.length).toBeLessThanOrEqual(startSlots);
    expect(new Set([...holders, ...waiting.map(({ name }) => name)]).size).toBe(
      holders.length + waiting.length,
    );
    expect(retries).toBeGreaterThanOrEqual(0);
    expect(retries).toBeLessThanOrEqual(retryBurst);
    const living = Object.values(this.#manager.getSnapshot().children).filter(
      (child) => child?.getSnapshot().status === 'active',
    );
    expect(living).toHaveLength(alive);
    const { value } = this.#manager.getSnapshot();
    if (value === 'stopped') expect([alive, this.clock.pending]).toEqual([0, []]);
  }
}

function delayOf(type: string): number {
  return type.includes('.startGate.') ? INPUT.startGateMs : INPUT.cachedGateMs;
}

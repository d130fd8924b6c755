/** The real manager over stub children that only end or crash on request. */
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
import { crashIn, type Crash } from '../../../machines/connection/connection.crash.js';
import type { ConnectionInput } from '../../../machines/connection/connection.events.js';
import type { ManagerContext, ManagerEvent, ManagerInput } from '../../../machines/manager/manager.events.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { doneEvent, errorEvent, type EdgeDriver, type EdgeOptions } from '../../../src/testing/edge-paths.js';
import type { ChartEdges } from '../../support/chart-edges.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { childSpec } from '../../support/manager-driver.js';

const INPUT: ManagerInput = {
  startSlots: 1,
  slotHoldMs: 500,
  startGateMs: 10_000,
  retryBurst: 2,
  retryEveryMs: 1_000,
};

/** The error of a crashing child, which is then replaced or given up. */
function deathOf(name: string, isStillborn: boolean): Error {
  const { input } = childSpec(name);
  const remains = { input: { ...input, isAttempted: false }, ending: null, isReplacement: false, at: 0 };
  const crash: Crash = { message: 'crash requested', remains, isStillborn };
  return Object.assign(new Error('crash requested'), { crash });
}

const puppet = setup({
  types: {
    context: {} as { name: string },
    input: {} as ConnectionInput,
    events: {} as { type: 'puppet.end' } | { type: 'puppet.die'; isStillborn: boolean },
  },
  actions: {
    die: assign(({ context }, { isStillborn }: { isStillborn: boolean }) => {
      throw deathOf(context.name, isStillborn);
    }),
  },
}).createMachine({
  context: ({ input }) => ({ name: input.name }),
  initial: 'living',
  states: {
    living: {
      on: {
        'puppet.end': 'over',
        'puppet.die': {
          actions: { type: 'die', params: ({ event }) => ({ isStillborn: event.isStillborn }) },
        },
      },
    },
    over: { type: 'final' },
  },
});

/** A manager of stub children. */
export const PUPPET_MANAGER = managerMachine.provide({ actors: { connection: puppet as never } });

/** All events of a manager of `alpha` and `beta`. */
export const MANAGER_MODEL: EdgeOptions = {
  inputs: [INPUT, { ...INPUT, sharesRetries: true }],
  events: (snapshot) => [
    ...EXTERNAL_EVENTS,
    ...ownTimersOf(snapshot),
    ...newcomerTo(snapshot),
    ...endsOf(snapshot),
    ...timersOf(snapshot),
  ],
  key: (snapshot) => JSON.stringify([snapshot.value, snapshot.context, Object.keys(snapshot.children)]),
};

const EXTERNAL_EVENTS: readonly ManagerEvent[] = [
  { type: 'manager.open' },
  { type: 'manager.start', specs: [] },
  { type: 'manager.start', specs: [childSpec('alpha'), childSpec('beta')] },
  { type: 'manager.stop' },
  { type: 'network.changed', online: false, at: 0 },
  { type: 'network.changed', online: true, at: 0 },
  { type: 'clock.jumped' },
  { type: 'cores.idle', busyCores: 0 },
  { type: 'cores.idle', busyCores: 9 },
  { type: 'child.wantsSlot', name: 'alpha', slot: true, retry: false },
  { type: 'child.wantsSlot', name: 'beta', slot: false, retry: true },
  { type: 'child.wantsSlot', name: 'gamma', slot: false, retry: true },
  { type: 'retry.allowed', name: 'beta' },
  { type: 'child.leftStart', name: 'alpha' },
  { type: 'child.settled', name: 'alpha' },
  { type: 'child.settled', name: 'beta' },
];

const contextOf = (snapshot: AnyMachineSnapshot): ManagerContext => snapshot.context as ManagerContext;

/** Children end in reverse order, because a manager that stops only counts them. */
function endsOf(snapshot: AnyMachineSnapshot): EventObject[] {
  const last = Object.keys(snapshot.children)[contextOf(snapshot).alive - 1];
  if (last === undefined) return [];
  return [doneEvent(last, {}), errorEvent(last, deathOf(last, false)), errorEvent(last, deathOf(last, true))];
}

function timersOf(snapshot: AnyMachineSnapshot): EventObject[] {
  return snapshot._nodes.flatMap((node) => node.after.map(({ eventType }) => ({ type: String(eventType) })));
}

/** The timer events of the manager, if the timer is set. */
function ownTimersOf(snapshot: AnyMachineSnapshot): ManagerEvent[] {
  return contextOf(snapshot).holders.map((name) => ({ type: 'slot.expired', name }));
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
    const { actorId = '', error } = event as { actorId?: string; error?: unknown };
    const child = this.#manager.getSnapshot().children[actorId];
    if (type.startsWith('xstate.done.actor.')) child?.send({ type: 'puppet.end' } as never);
    else if (type.startsWith('xstate.error.actor.'))
      child?.send({ type: 'puppet.die', isStillborn: crashIn(error)?.isStillborn } as never);
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
    if (value.phase === 'closed') expect([alive, this.clock.pending]).toEqual([0, []]);
  }
}

function delayOf(type: string): number {
  if (type.includes('.refill.')) return INPUT.retryEveryMs;
  return INPUT.startGateMs;
}

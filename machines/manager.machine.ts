/**
 * The parent of all connections.
 *
 * Owns: which connections exist, who may start now (start slots and the retry budget), when the first attempts count
 * as over (start gate: nobody waits long for a server whose tools are cached), whether the network is up (network gate),
 * and the orderly end. Does not own: what a connection does.
 *
 * N1. No map of children in context: the actor system has them. The start slots hold names, never more than wait.
 * N2. Everything is spawned in one assign and announced before it starts, so that no first state is lost and the
 *     cost of a start grows linearly.
 * N3. Every end of a child is handled, an error included; no error of a child climbs.
 * N4. While stopping, ended children are only counted. The tree is never stopped child by child.
 * N5. A retry of a remote server begins with a share of the budget, which fills up again one by one; what a person
 *     asks for needs none.
 * N6. A slot is given back on leaving the start (before every orderly end), on the child's death, or after
 *     `slotHoldMs`; giving back is idempotent.
 * N7. Once stopping, no start is granted any more and no timer is left.
 *
 * Longer than most files because a chart is read as one piece; its arithmetic is in `policy/start-queue.ts`.
 */
import { assign, emit, enqueueActions, setup, stopChild, type ActorRefFrom } from 'xstate';
import type {
  ConnectionFact,
  ConnectionInput,
  ConnectionOutput,
  ConnectionReport,
} from './connection.events.js';
import { connectionMachine } from './connection.machine.js';
import { grantStarts, type Waiting } from './policy/start-queue.js';

export interface ManagerInput {
  /** Most stdio servers in their start at the same time. At least 1. */
  readonly startSlots: number;
  /** Milliseconds after which a start that neither ended nor failed gives its slot back. */
  readonly slotHoldMs: number;
  /** Milliseconds after which `starting` is over whatever the children do. */
  readonly startGateMs: number;
  /** Milliseconds after which it waits no longer for connections whose tools are cached. */
  readonly cachedGateMs: number;
  /** Attempts at remote servers nobody asked for that may begin at once, all connections together. At least 1. */
  readonly retryBurst: number;
  /** Milliseconds after which one more of them may begin. */
  readonly retryEveryMs: number;
}

export interface ManagerContext extends ManagerInput {
  /** Names of the connections that hold a start slot. */
  readonly holders: readonly string[];
  /** Connections that wait for a slot or for their share of the retry budget, first come first served. */
  readonly waiting: readonly Waiting[];
  /** What is left of the retry budget. */
  readonly retries: number;
  /** Connections of the first start whose first attempt is not over. */
  readonly unsettled: number;
  /** Those among them whose tools are cached. */
  readonly unsettledCached: number;
  /** Living children. */
  readonly alive: number;
  readonly online: boolean;
}

/** A connection to be spawned, and the source that names it. */
export interface ChildSpec {
  readonly source: string;
  readonly input: Omit<ConnectionInput, 'online'>;
}

export type ManagerEvent =
  | { readonly type: 'manager.start'; readonly specs: readonly ChildSpec[] }
  | { readonly type: 'manager.add'; readonly spec: ChildSpec }
  | { readonly type: 'manager.stop' }
  | { readonly type: 'network.changed'; readonly online: boolean; readonly at: number }
  | { readonly type: 'clock.jumped' }
  | { readonly type: 'slot.expired'; readonly name: string }
  | { readonly type: 'budget.refill' }
  | ConnectionReport;

export type ManagerEmitted =
  | { readonly type: 'started'; readonly connections: number }
  | { readonly type: 'stopped' }
  | { readonly type: 'added'; readonly name: string; readonly source: string }
  | { readonly type: 'ended'; readonly name: string; readonly output: ConnectionOutput }
  | { readonly type: 'crashed'; readonly name: string; readonly message: string };

type Child = ActorRefFrom<typeof connectionMachine>;

/** What the actor system knows of the manager's own children. */
interface Parent {
  getSnapshot(): { readonly children: Partial<Record<string, Child>> };
}

const slotTimer = (name: string) => `slot.${name}`;
const REFILL_TIMER = 'budget';

const isWaiting = (context: ManagerContext, name: string) =>
  context.waiting.some((claim) => claim.name === name);

function livingChildren(parent: Parent): Child[] {
  return Object.values(parent.getSnapshot().children).filter(
    (child): child is Child => child?.getSnapshot().status === 'active',
  );
}

/** What one connection fewer to wait for changes. */
function oneSettled(context: ManagerContext, isCached: boolean): Partial<ManagerContext> {
  return {
    unsettled: context.unsettled - 1,
    unsettledCached: context.unsettledCached - Number(isCached),
  };
}

/** `xstate.done.actor.NAME` and `xstate.error.actor.NAME` carry the child's id as `actorId`. */
interface ChildEnd {
  readonly actorId: string;
}

const manager = setup({
  types: {
    context: {} as ManagerContext,
    events: {} as ManagerEvent,
    input: {} as ManagerInput,
    emitted: {} as ManagerEmitted,
    children: {} as { [name: string]: 'connection' },
  },
  actors: { connection: connectionMachine },
  guards: {
    isAllSettled: ({ context }) => context.unsettled <= 0,
    isUncachedSettled: ({ context }) => context.unsettled <= context.unsettledCached,
    isNobodyLeft: ({ context }) => context.alive <= 0,
    holdsOrWaits: ({ context }, params: { name: string }) =>
      context.holders.includes(params.name) || isWaiting(context, params.name),
    isNewcomer: ({ context }, params: { name: string }) =>
      !context.holders.includes(params.name) && !isWaiting(context, params.name),
    isChange: ({ context, event }) => event.type === 'network.changed' && event.online !== context.online,
  },
  delays: {
    startGate: ({ context }) => context.startGateMs,
    cachedGate: ({ context }) => context.cachedGateMs,
  },
  actions: {
    spawnAll: enqueueActions(({ enqueue }, params: { specs: readonly ChildSpec[] }) => {
      for (const { input, source } of params.specs) {
        enqueue.emit({ type: 'added', name: input.name, source });
      }
      enqueue.assign(({ context, spawn }) => {
        for (const { input } of params.specs) {
          spawn('connection', { id: input.name, input: { ...input, online: context.online } });
        }
        return { alive: context.alive + params.specs.length };
      });
    }),
    awaitAll: assign(({ context }, params: { specs: readonly ChildSpec[] }) => ({
      unsettled: context.unsettled + params.specs.length,
      unsettledCached: context.unsettledCached + params.specs.filter(({ input }) => input.cached).length,
    })),
    emitStarted: emit((_, params: { specs: readonly ChildSpec[] }) => ({
      type: 'started' as const,
      connections: params.specs.length,
    })),
    emitStopped: emit({ type: 'stopped' as const }),
    emitEnded: emit((_, params: { name: string; output: ConnectionOutput }) => ({
      type: 'ended' as const,
      ...params,
    })),
    emitCrashed: emit((_, params: { name: string; message: string }) => ({
      type: 'crashed' as const,
      ...params,
    })),
    countSettled: assign(({ context }, params: { cached: boolean }) => oneSettled(context, params.cached)),
    /** A child that died before it could report the end of its first attempt. */
    countDiedUnsettled: assign(({ context, self }, params: { name: string }) => {
      const child = (self as Parent).getSnapshot().children[params.name]?.getSnapshot().context;
      return child?.reportedSettled === true ? {} : oneSettled(context, child?.cached === true);
    }),
    countEnd: assign({ alive: ({ context }) => context.alive - 1 }),
    dropChild: stopChild((_, params: { name: string }) => params.name),
    queueForStart: assign(({ context }, params: Waiting) => ({ waiting: [...context.waiting, params] })),
    grantStarts: enqueueActions(({ enqueue, context }) => {
      const { granted, left } = grantStarts(context.waiting, {
        slots: context.startSlots - context.holders.length,
        retries: context.retries,
      });
      if (granted.length === 0) return;
      const holders = granted.filter(({ slot }) => slot).map(({ name }) => name);
      const spent = granted.filter(({ retry }) => retry).length;
      enqueue.assign({
        holders: [...context.holders, ...holders],
        waiting: left,
        retries: context.retries - spent,
      });
      for (const { name } of granted) {
        enqueue.sendTo(({ self }) => self.getSnapshot().children[name] ?? self, { type: 'slot.granted' });
      }
      for (const name of holders) {
        enqueue.raise({ type: 'slot.expired', name }, { id: slotTimer(name), delay: context.slotHoldMs });
      }
      const isFull = context.retries === context.retryBurst;
      if (isFull && spent > 0) {
        enqueue.raise({ type: 'budget.refill' }, { id: REFILL_TIMER, delay: context.retryEveryMs });
      }
    }),
    refillBudget: enqueueActions(({ enqueue, context }) => {
      const retries = context.retries + 1;
      enqueue.assign({ retries });
      if (retries === context.retryBurst) return;
      enqueue.raise({ type: 'budget.refill' }, { id: REFILL_TIMER, delay: context.retryEveryMs });
    }),
    giveBackSlot: enqueueActions(({ enqueue, context }, params: { name: string }) => {
      enqueue.assign({
        holders: context.holders.filter((name) => name !== params.name),
        waiting: context.waiting.filter(({ name }) => name !== params.name),
      });
      enqueue.cancel(slotTimer(params.name));
    }),
    abandonStarts: enqueueActions(({ enqueue, context }) => {
      for (const name of context.holders) enqueue.cancel(slotTimer(name));
      enqueue.cancel(REFILL_TIMER);
      enqueue.assign({ holders: [], waiting: [], retries: context.retryBurst });
    }),
    setOnline: assign({ online: ({ context }) => !context.online }),
    tellAll: enqueueActions(({ enqueue, self }, params: { fact: ConnectionFact }) => {
      for (const child of livingChildren(self)) enqueue.sendTo(child, params.fact);
    }),
    stopAll: enqueueActions(({ enqueue, self }) => {
      for (const child of livingChildren(self)) {
        enqueue.sendTo(child, { type: 'connection.stop', reason: 'close' });
      }
    }),
  },
});

const reported = ({ event }: { event: { cached: boolean } }) => ({ cached: event.cached });
const named = ({ event }: { event: { name: string } }) => ({ name: event.name });
const specsOf = ({ event }: { event: { specs: readonly ChildSpec[] } }) => ({ specs: event.specs });
const claimOf = ({ event }: { event: Waiting }): Waiting => ({
  name: event.name,
  slot: event.slot,
  retry: event.retry,
});
const networkFact = ({ event }: { event: { online: boolean; at: number } }): { fact: ConnectionFact } => ({
  fact: event.online ? { type: 'network.online', at: event.at } : { type: 'network.offline' },
});
const newcomer = ({ event }: { event: { spec: ChildSpec } }) => ({ specs: [event.spec] });
const ended = ({ event }: { event: ChildEnd }) => ({ name: event.actorId });
const endedWith = ({ event }: { event: ChildEnd & { output: unknown } }) => ({
  name: event.actorId,
  output: event.output as ConnectionOutput,
});
const crashedWith = ({ event }: { event: ChildEnd & { error: unknown } }) => ({
  name: event.actorId,
  message: event.error instanceof Error ? event.error.message : String(event.error),
});

export const managerMachine = manager.createMachine({
  id: 'manager',
  options: { maxIterations: 100 },
  context: ({ input }) => ({
    ...input,
    holders: [],
    waiting: [],
    retries: input.retryBurst,
    unsettled: 0,
    unsettledCached: 0,
    alive: 0,
    online: true,
  }),
  initial: 'idle',
  on: {
    'child.wantsSlot': {
      guard: { type: 'isNewcomer', params: named },
      actions: [{ type: 'queueForStart', params: claimOf }, 'grantStarts'],
    },
    'child.leftStart': {
      guard: { type: 'holdsOrWaits', params: named },
      actions: [{ type: 'giveBackSlot', params: named }, 'grantStarts'],
    },
    'slot.expired': { actions: [{ type: 'giveBackSlot', params: named }, 'grantStarts'] },
    'budget.refill': { actions: ['refillBudget', 'grantStarts'] },
    'network.changed': {
      guard: 'isChange',
      actions: ['setOnline', { type: 'tellAll', params: networkFact }],
    },
    'clock.jumped': { actions: { type: 'tellAll', params: { fact: { type: 'clock.jumped' } } } },
    'xstate.done.actor.*': {
      actions: ['countEnd', { type: 'dropChild', params: ended }, { type: 'emitEnded', params: endedWith }],
    },
    'xstate.error.actor.*': {
      actions: [
        { type: 'giveBackSlot', params: ended },
        'grantStarts',
        'countEnd',
        { type: 'countDiedUnsettled', params: ended },
        { type: 'dropChild', params: ended },
        { type: 'emitCrashed', params: crashedWith },
      ],
    },
  },
  states: {
    idle: {
      description: 'Nothing was asked for yet.',
      on: {
        'manager.start': {
          target: 'starting',
          actions: [
            { type: 'awaitAll', params: specsOf },
            { type: 'spawnAll', params: specsOf },
            { type: 'emitStarted', params: specsOf },
          ],
        },
        'manager.stop': { target: 'stopped', actions: 'emitStopped' },
      },
    },
    starting: {
      description: 'First attempts are under way; nobody waits for the slowest beyond the gate.',
      initial: 'forAll',
      after: { startGate: 'running' },
      on: {
        'child.settled': { actions: { type: 'countSettled', params: reported } },
        'manager.add': {
          actions: [
            { type: 'awaitAll', params: newcomer },
            { type: 'spawnAll', params: newcomer },
          ],
        },
        'manager.stop': { target: 'stopping', actions: ['abandonStarts', 'stopAll'] },
      },
      states: {
        forAll: {
          description: 'A moment in which also those may become ready whose tools are cached.',
          always: { guard: 'isAllSettled', target: '#manager.running' },
          after: { cachedGate: 'forUncached' },
        },
        forUncached: {
          description: 'Only those are waited for of which nothing is known.',
          always: { guard: 'isUncachedSettled', target: '#manager.running' },
        },
      },
    },
    running: {
      description: 'Every first attempt is over, or was given up waiting for.',
      on: {
        'child.settled': {},
        'manager.add': {
          actions: { type: 'spawnAll', params: newcomer },
        },
        'manager.stop': { target: 'stopping', actions: ['abandonStarts', 'stopAll'] },
      },
    },
    stopping: {
      description: 'All connections end at the same time.',
      always: { guard: 'isNobodyLeft', target: 'stopped', actions: 'emitStopped' },
      on: {
        'child.settled': {},
        'child.wantsSlot': {},
        'child.leftStart': {},
        'manager.stop': { actions: 'stopAll' },
        'xstate.done.actor.*': { actions: ['countEnd', { type: 'emitEnded', params: endedWith }] },
        'xstate.error.actor.*': { actions: ['countEnd', { type: 'emitCrashed', params: crashedWith }] },
      },
    },
    stopped: { description: 'Everything has ended. Resting, so that late events harm nobody.' },
  },
});

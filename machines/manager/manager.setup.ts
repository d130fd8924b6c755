/** The guards and actions of the manager chart. Their arithmetic is in `policy/start-queue.ts`. */
import {
  assign,
  emit,
  enqueueActions,
  setup,
  stateIn,
  stopChild,
  type ActorRefFrom,
  type GuardPredicate,
} from 'xstate';
import { mayBeReplaced, nextInput, type Crash } from '../connection/connection.crash.js';
import type { ConnectionFact, ConnectionOutput } from '../connection/connection.events.js';
import type { ConnectionMachine } from '../connection/connection.machine.js';
import { managed } from '../connection/connection.managed.js';
import type {
  ChildSpec,
  Death,
  ManagerContext,
  ManagerEmitted,
  ManagerEvent,
  ManagerInput,
  ManagerTag,
} from './manager.events.js';
import { allowRetry, grantStarts, idleHolders, type Waiting } from '../policy/start-queue.js';

type Child = ActorRefFrom<ConnectionMachine>;

/** The children of the manager's actor. */
interface Parent {
  getSnapshot(): { readonly children: Partial<Record<string, Child>> };
}

/** Whether the network is up, for a new child. Only the region `network` keeps that. */
const isOnline = stateIn<ManagerContext, ManagerEvent, undefined>({ network: 'online' }) as GuardPredicate<
  ManagerContext,
  ManagerEvent,
  undefined,
  never
>;

const slotTimer = (name: string) => `slot.${name}`;

const isWaiting = (context: ManagerContext, name: string) =>
  context.waiting.some((claim) => claim.name === name);

function livingChildren(parent: Parent): Child[] {
  return Object.values(parent.getSnapshot().children).filter(
    (child): child is Child => child?.getSnapshot().status === 'active',
  );
}

function withoutClaims(context: ManagerContext, names: readonly string[]): Partial<ManagerContext> {
  return {
    holders: context.holders.filter((name) => !names.includes(name)),
    waiting: context.waiting.filter(({ name }) => !names.includes(name)),
  };
}

export const manager = setup({
  types: {
    context: {} as ManagerContext,
    events: {} as ManagerEvent,
    input: {} as ManagerInput,
    emitted: {} as ManagerEmitted,
    tags: {} as ManagerTag,
    children: {} as { [name: string]: 'connection' },
  },
  /** Without effects. */
  actors: { connection: managed() },
  guards: {
    isAllSettled: ({ context }) => context.unsettled <= 0,
    isNobodyLeft: ({ context }) => context.alive <= 0,
    mayBeReplaced: (_, params: { crash: Crash | undefined }) =>
      params.crash !== undefined && mayBeReplaced(params.crash),
    holdsOrWaits: ({ context }, params: { name: string }) =>
      context.holders.includes(params.name) || isWaiting(context, params.name),
    asksFleet: ({ context }, params: { name: string }) =>
      context.waiting.some(({ name, asksFleet }) => asksFleet === true && name === params.name),
    isSpent: ({ context }) => context.retries < context.retryBurst,
    lacksOne: ({ context }) => context.retries === context.retryBurst - 1,
    isUp: (_, params: { online: boolean }) => params.online,
    isDown: (_, params: { online: boolean }) => !params.online,
  },
  delays: {
    startGate: ({ context }) => context.startGateMs,
    refill: ({ context }) => context.retryEveryMs,
  },
  actions: {
    spawnAll: enqueueActions(({ enqueue, check }, params: { specs: readonly ChildSpec[] }) => {
      const online = check(isOnline);
      for (const { input, source } of params.specs) {
        enqueue.emit({ type: 'added', name: input.name, source });
      }
      enqueue.assign(({ context, spawn }) => {
        for (const { input } of params.specs) {
          spawn('connection', {
            id: input.name,
            input: { online, crash: null, isAttempted: false, ...input },
          });
        }
        return { alive: context.alive + params.specs.length };
      });
    }),
    replace: enqueueActions(({ enqueue, check }, { name, crash, failure }: Death) => {
      if (crash === undefined) return;
      const input = nextInput(crash, check(isOnline));
      let next: Child | undefined;
      enqueue.emit({ type: 'crashed', name, failure, isReplaced: true });
      enqueue.assign(({ spawn }) => {
        next = spawn('connection', { id: name, input });
        return {};
      });
      const { ending } = crash.remains;
      if (ending === null) return;
      enqueue.sendTo(({ self }) => next ?? self, { type: 'connection.stop', reason: ending });
    }),
    awaitAll: assign({
      unsettled: ({ context }, params: { specs: readonly ChildSpec[] }) =>
        context.unsettled + params.specs.length,
    }),
    emitStarted: emit((_, params: { specs: readonly ChildSpec[] }) => ({
      type: 'started' as const,
      connections: params.specs.length,
    })),
    emitStopped: emit({ type: 'stopped' as const }),
    emitEnded: emit((_, params: { name: string; output: ConnectionOutput }) => ({
      type: 'ended' as const,
      ...params,
    })),
    emitCrashed: emit((_, { name, failure }: Death) => ({
      type: 'crashed' as const,
      name,
      failure,
      isReplaced: false,
    })),
    countSettled: assign({ unsettled: ({ context }) => context.unsettled - 1 }),
    /** The child died before it reported the end of its first attempt, and is not replaced. */
    countGivenUp: assign({
      unsettled: ({ context }, { crash }: Death) =>
        context.unsettled - Number(crash?.remains.input.isAttempted === false),
    }),
    countEnd: assign({ alive: ({ context }) => context.alive - 1 }),
    dropChild: stopChild((_, params: { name: string }) => params.name),
    queueForStart: assign(({ context }, params: Waiting) => ({ waiting: [...context.waiting, params] })),
    grantStarts: enqueueActions(({ enqueue, context }) => {
      const { granted, left, spent } = grantStarts(context.waiting, {
        slots: context.startSlots - context.holders.length,
        retries: context.retries,
        sharesRetries: context.sharesRetries,
      });
      if (granted.length === 0 && spent === 0) return;
      const holders = granted.filter(({ slot }) => slot).map(({ name }) => name);
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
    }),
    allowRetry: assign({
      waiting: ({ context }, params: { name: string }) => allowRetry(context.waiting, params.name),
    }),
    refillBudget: assign({ retries: ({ context }) => context.retries + 1 }),
    restoreBudget: assign({ retries: ({ context }) => context.retryBurst }),
    giveBackSlot: enqueueActions(({ enqueue, context }, params: { name: string }) => {
      enqueue.assign(withoutClaims(context, [params.name]));
      enqueue.cancel(slotTimer(params.name));
    }),
    giveBackIdleSlots: enqueueActions(({ enqueue, context }, params: { busyCores: number }) => {
      const idle = idleHolders(context.holders, params.busyCores);
      enqueue.assign(withoutClaims(context, idle));
      for (const name of idle) enqueue.cancel(slotTimer(name));
    }),
    abandonStarts: enqueueActions(({ enqueue, context }) => {
      for (const name of context.holders) enqueue.cancel(slotTimer(name));
      enqueue.assign({ holders: [], waiting: [] });
    }),
    broadcast: enqueueActions(({ enqueue, self }, params: { fact: ConnectionFact }) => {
      for (const child of livingChildren(self)) enqueue.sendTo(child, params.fact);
    }),
    stopAll: enqueueActions(({ enqueue, self }) => {
      for (const child of livingChildren(self)) {
        enqueue.sendTo(child, { type: 'connection.stop', reason: 'close' });
      }
    }),
  },
});

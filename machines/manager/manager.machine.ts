/**
 * The parent of all connections.
 *
 * Owns: which connections exist, and, each in its own region, the phase of the troupe (`phase`), which connections may
 * start now (`starts`: start slots and their queue; `budget`: the retries that remote servers share) and whether the
 * network is up (`network`). Does not own: what a connection does.
 *
 * N1. The context has no map of children: the actor system has them. It holds only the names that hold a start slot or wait.
 * N2. Everything is spawned in one assign and announced before it starts, so that no first state is lost and the
 *     cost of a start grows linearly.
 * N3. Every end of a child is handled, including errors, and none escalates. A child that died of an error of the runtime
 *     is replaced at once, with the cause as its input. The event carries all that the manager needs; nothing is counted
 *     twice.
 * N4. While closing, ended children are only counted. The tree is never stopped child by child, and no child is replaced.
 * N5. An automatic retry of a remote server takes one retry from the budget, which refills one at a time, and then, in a
 *     fleet, waits until the runtime says that the fleet's budget allows it. A retry that a person requests takes none.
 * N6. A slot is released when the start ends (before every orderly end), when the child dies, or after `slotHoldMs`.
 *     Releasing is idempotent.
 * N7. Once it is closing, no start is granted and no timer is left.
 */
import { crashFailure, crashIn } from '../connection/connection.crash.js';
import type { ConnectionFact, ConnectionOutput } from '../connection/connection.events.js';
import type { ChildSpec, Death, ManagerContext } from './manager.events.js';
import { manager } from './manager.setup.js';
import type { Waiting } from '../policy/start-queue.js';
import { restorable } from '../restore.js';

/** `xstate.done.actor.NAME` and `xstate.error.actor.NAME` carry the child's id as `actorId`. */
interface ChildEnd {
  readonly actorId: string;
}

const named = ({ event }: { event: { name: string } }) => ({ name: event.name });
const specsOf = ({ event }: { event: { specs: readonly ChildSpec[] } }) => ({ specs: event.specs });
const claimOf = ({ event }: { event: Waiting }): Waiting => ({
  name: event.name,
  slot: event.slot,
  retry: event.retry,
});
const working = ({ event }: { event: { busyCores: number } }) => ({ busyCores: event.busyCores });
const reportedOnline = ({ event }: { event: { online: boolean } }) => ({ online: event.online });
const cameOnline = ({ event }: { event: { at: number } }): { fact: ConnectionFact } => ({
  fact: { type: 'network.online', at: event.at },
});
const newcomer = ({ event }: { event: { spec: ChildSpec } }) => ({ specs: [event.spec] });
const ended = ({ event }: { event: ChildEnd }) => ({ name: event.actorId });
const endedWith = ({ event }: { event: ChildEnd & { output: unknown } }) => ({
  name: event.actorId,
  output: event.output as ConnectionOutput,
});
const died = ({ event }: { event: ChildEnd & { error: unknown } }): Death => {
  const { actorId: name, error } = event;
  const crash = crashIn(error);
  const message = crash?.message ?? (error instanceof Error ? error.message : String(error));
  return { name, crash, failure: crashFailure(message, crash?.remains.at ?? 0) };
};

const chart = manager.createMachine({
  id: 'manager',
  options: { maxIterations: 100 },
  context: ({ input }) => ({
    ...input,
    holders: [],
    waiting: [],
    retries: input.retryBurst,
    unsettled: 0,
    alive: 0,
  }),
  type: 'parallel',
  on: {
    'clock.jumped': { actions: { type: 'broadcast', params: { fact: { type: 'clock.jumped' } } } },
  },
  states: {
    phase: {
      description: 'The life of the troupe.',
      initial: 'idle',
      on: {
        'child.settled': {},
        'manager.stop': { target: '.closing', actions: 'stopAll' },
        'xstate.done.actor.*': {
          actions: [
            'countEnd',
            { type: 'dropChild', params: ended },
            { type: 'emitEnded', params: endedWith },
          ],
        },
        'xstate.error.actor.*': [
          {
            guard: { type: 'mayBeReplaced', params: died },
            actions: [
              { type: 'dropChild', params: ended },
              { type: 'replace', params: died },
            ],
          },
          {
            actions: [
              'countEnd',
              { type: 'countGivenUp', params: died },
              { type: 'dropChild', params: ended },
              { type: 'emitCrashed', params: died },
            ],
          },
        ],
      },
      states: {
        idle: {
          description: 'The start has not been requested.',
          tags: ['idle', 'unstarted'],
          on: { 'manager.open': 'reading' },
        },
        reading: {
          description: 'The sources are being read.',
          tags: 'unstarted',
          on: {
            'manager.open': {},
            'manager.start': {
              target: 'starting',
              actions: [
                { type: 'awaitAll', params: specsOf },
                { type: 'spawnAll', params: specsOf },
                { type: 'emitStarted', params: specsOf },
              ],
            },
          },
        },
        starting: {
          description:
            'First attempts are under way. The start waits for them until the gate, and no longer.',
          always: { guard: 'isAllSettled', target: 'running' },
          after: { startGate: 'running' },
          on: {
            'child.settled': { actions: 'countSettled' },
            'manager.add': {
              actions: [
                { type: 'awaitAll', params: newcomer },
                { type: 'spawnAll', params: newcomer },
              ],
            },
          },
        },
        running: {
          description: 'Every first attempt is over, or the gate has passed.',
          tags: 'settled',
          on: { 'manager.add': { actions: { type: 'spawnAll', params: newcomer } } },
        },
        closing: {
          description: 'All connections end at the same time.',
          tags: ['settled', 'closed'],
          always: { guard: 'isNobodyLeft', target: 'closed', actions: 'emitStopped' },
          on: {
            'manager.stop': { actions: 'stopAll' },
            'xstate.done.actor.*': { actions: ['countEnd', { type: 'emitEnded', params: endedWith }] },
            'xstate.error.actor.*': { actions: ['countEnd', { type: 'emitCrashed', params: died }] },
          },
        },
        closed: {
          description: 'Everything has ended. The state is not final, so that late events do no harm.',
          tags: ['settled', 'closed', 'ended'],
          on: { 'manager.stop': {} },
        },
      },
    },
    starts: {
      description: 'Which connections may begin an attempt now.',
      initial: 'granting',
      states: {
        granting: {
          description: 'Slots are granted first come, first served.',
          on: {
            'child.wantsSlot': [
              { guard: { type: 'holdsOrWaits', params: named } },
              { actions: [{ type: 'queueForStart', params: claimOf }, 'grantStarts'] },
            ],
            'child.leftStart': [
              {
                guard: { type: 'holdsOrWaits', params: named },
                actions: [{ type: 'giveBackSlot', params: named }, 'grantStarts'],
              },
              {},
            ],
            'retry.allowed': [
              {
                guard: { type: 'asksFleet', params: named },
                actions: [{ type: 'allowRetry', params: named }, 'grantStarts'],
              },
              {},
            ],
            'slot.expired': { actions: [{ type: 'giveBackSlot', params: named }, 'grantStarts'] },
            'cores.idle': { actions: [{ type: 'giveBackIdleSlots', params: working }, 'grantStarts'] },
            'xstate.error.actor.*': {
              actions: [{ type: 'giveBackSlot', params: ended }, 'grantStarts'],
            },
            'manager.stop': { target: 'over', actions: 'abandonStarts' },
          },
        },
        over: {
          description: 'No start is granted any more.',
          on: { 'child.wantsSlot': {}, 'child.leftStart': {}, 'retry.allowed': {} },
        },
      },
    },
    budget: {
      description: 'The automatic retries of remote servers, shared by all connections.',
      initial: 'full',
      states: {
        full: { always: { guard: 'isSpent', target: 'refilling' } },
        refilling: {
          description: 'One retry becomes available at a time.',
          after: {
            refill: [
              { guard: 'lacksOne', target: 'full', actions: ['refillBudget', 'grantStarts'] },
              { target: 'refilling', reenter: true, actions: ['refillBudget', 'grantStarts'] },
            ],
          },
          on: { 'manager.stop': { target: 'full', actions: 'restoreBudget' } },
        },
      },
    },
    network: {
      initial: 'online',
      states: {
        online: {
          on: {
            'network.changed': [
              { guard: { type: 'isUp', params: reportedOnline } },
              {
                target: 'offline',
                actions: { type: 'broadcast', params: { fact: { type: 'network.offline' } } },
              },
            ],
          },
        },
        offline: {
          description: 'Remote servers wait; each gets one attempt when the network is back.',
          on: {
            'network.changed': [
              { guard: { type: 'isDown', params: reportedOnline } },
              { target: 'online', actions: { type: 'broadcast', params: cameOnline } },
            ],
          },
        },
      },
    },
  },
});

/** The timers of the slots belong to no state. */
function whyNotRestored(snapshot: object): string | undefined {
  const { holders } = (snapshot as { readonly context: ManagerContext }).context;
  if (holders.length === 0) return undefined;
  return `${holders.join(', ')} held a start slot. Take the snapshot while nothing is starting.`;
}

/**
 * The chart of a whole troupe: it spawns connections, grants start slots and ends them in order. The slot `connection` takes
 * the machine of the connections, passed through `managed`; without one, connections have no effects. A snapshot is restored
 * unless a connection holds a start slot.
 */
export const managerMachine = restorable(chart, whyNotRestored);

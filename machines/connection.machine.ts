/**
 * One connection to one MCP server, over all its sessions.
 *
 * Owns: what state the connection is in and what happens next. Does not own: transports, clients, processes,
 * configuration values, tool definitions (named by connection and generation, kept by the runtime).
 *
 * M1. Context and events are plain JSON; guards read context and event only.
 * M2. Every effect is a named actor slot. It settles with a record carrying `at`, or rejects with a `Failure`; its
 *     limit is in its input and its provider keeps it, so no waiting state is without an end. Timers of the
 *     chart run between sessions and while a storm of changes lasts, never as long as a connection is well.
 * M3. A new session may be opened only after the old one was proven released: every way to `opening` leads through a
 *     `releasing`, `authorizing`, `closing` or `killing` that settled, or `released` was true before. The one exception
 *     is `ready.succession`: beside a session that is reached over a network or in this process, its successor may be
 *     prepared. Never more than these two: one is in use, the other is not in use yet or not any more.
 * M4. A generation is given out once, on each entry of `opening` and of `preparing`; `generation` is that of the session
 *     in use and never goes back.
 * M5. `shuttingDown` is never re-entered; a stop while it is to return makes it final, a second stop moves on one step.
 *
 * Longer than most files because a chart is read as one piece: contexts, updates and events are in the neighbours.
 */
import { assign, emit, enqueueActions, fromCallback, fromPromise, sendParent, setup } from 'xstate';
import type {
  BoundedSessionInput,
  ConnectionContext,
  ConnectionEmitted,
  ConnectionEvent,
  ConnectionInput,
  ConnectionOutput,
  ConnectionTag,
  EnrichCatalogInput,
  EnrichCatalogOutput,
  EntryTerms,
  HandshakeOutput,
  ListToolsOutput,
  OpenTransportOutput,
  PrepareSessionInput,
  PrepareSessionOutput,
  ResolveConfigInput,
  ResolveConfigOutput,
  RetireSessionInput,
  SessionKey,
  Settled,
  StopIntent,
  WatchSessionInput,
} from './connection.events.js';
import * as succession from './connection.succession.js';
import * as update from './connection.update.js';
import * as extras from './extras-plan.js';
import { classify, toFailure, type Failure } from './policy/failure.js';
import type { ConnectionPolicy } from './policy/policy.js';
import type { StartClaim } from './policy/start-queue.js';

function needsNetwork(context: ConnectionContext): boolean {
  return context.transport === 'http' || context.transport === 'sse';
}

function claimOf(context: ConnectionContext): StartClaim {
  return { slot: context.transport === 'stdio', retry: context.unasked && needsNetwork(context) };
}

function mustQueue(context: ConnectionContext): boolean {
  const { slot, retry } = claimOf(context);
  return slot || retry;
}

function notProvided(): Promise<never> {
  return Promise.reject(new Error('this actor slot has no provider'));
}

const connection = setup({
  types: {
    context: {} as ConnectionContext,
    events: {} as ConnectionEvent,
    input: {} as ConnectionInput,
    output: {} as ConnectionOutput,
    emitted: {} as ConnectionEmitted,
    tags: {} as ConnectionTag,
  },
  actors: {
    resolveConfig: fromPromise<ResolveConfigOutput, ResolveConfigInput>(notProvided),
    openTransport: fromPromise<OpenTransportOutput, BoundedSessionInput>(notProvided),
    handshake: fromPromise<HandshakeOutput, BoundedSessionInput>(notProvided),
    listTools: fromPromise<ListToolsOutput, BoundedSessionInput>(notProvided),
    enrichCatalog: fromPromise<EnrichCatalogOutput, EnrichCatalogInput>(notProvided),
    authorize: fromPromise<Settled, SessionKey>(notProvided),
    probe: fromPromise<Settled, BoundedSessionInput>(notProvided),
    prepareSession: fromPromise<PrepareSessionOutput, PrepareSessionInput>(notProvided),
    retireSession: fromPromise<Settled, RetireSessionInput>(notProvided),
    watchSession: fromCallback<ConnectionEvent, WatchSessionInput>(() => {}),
    releaseSession: fromPromise<Settled, BoundedSessionInput>(notProvided),
    drainCalls: fromPromise<Settled, BoundedSessionInput>(notProvided),
    closeSession: fromPromise<Settled, BoundedSessionInput>(notProvided),
    killSession: fromPromise<Settled, BoundedSessionInput>(notProvided),
  },
  guards: {
    isUntrusted: (_, params: { output: ResolveConfigOutput }) => params.output.kind === 'untrusted',
    isDormant: (_, params: { output: ResolveConfigOutput }) => params.output.kind === 'dormant',
    needNotQueue: ({ context }) => !mustQueue(context),
    needsAuthorization: (_, params: { failure: Failure }) => classify(params.failure) === 'authorize',
    mustGiveUp: ({ context }, params: { failure: Failure }) => update.mustGiveUp(context, params.failure),
    needsNetwork: ({ context }) => needsNetwork(context),
    isOnline: ({ context }) => context.online,
    isReleasedLate: ({ context }) => update.isReleasedLate(context),
    isExhausted: ({ context }) => update.isExhausted(context),
    isExhaustedRemote: ({ context }) =>
      update.isExhausted(context) && needsNetwork(context) && context.policy.exhausted.remoteEveryMs > 0,
    mayTryForCall: ({ context, event }) =>
      event.type === 'call.waiting' && update.mayTryForCall(context, event.at),
    isHeldOffline: ({ context }) => needsNetwork(context) && !context.online,
    canOverlap: ({ context, event }) =>
      event.type === 'connection.reload' && context.transport !== 'stdio' && event.transport !== 'stdio',
    cannotBePrepared: (_, params: { output: PrepareSessionOutput }) => params.output.kind !== 'prepared',
    mustTakeTurns: (_, params: { failure: Failure }) => succession.mustTakeTurns(params.failure),
    hasRetiring: ({ context }) => context.retiring !== null,
    isOutdated: ({ context }) => context.next !== null,
    isNotShuttingDown: ({ context }) => context.intent === null,
    isReturning: ({ context }) => update.isReturning(context),
    isEnding: ({ context }) => !update.isReturning(context),
    isIdle: ({ context }) => context.intent === 'idle',
    isWanted: ({ context }) => context.wanted,
    isReleased: ({ context }) => context.released,
    hasChangedMeanwhile: ({ context }) => context.listChangedAt !== null,
    canWaitLonger: ({ context, event }) =>
      event.type === 'catalog.listChanged' && update.canWaitLonger(context, context.listChangedAt, event.at),
    haveExtrasChanged: ({ context }) => context.extras.dueSince !== null,
    canExtrasWait: ({ context, event }) =>
      event.type === 'catalog.extrasChanged' &&
      update.canWaitLonger(context, context.extras.dueSince, event.at),
  },
  delays: {
    backoffDelay: ({ context }) => context.delayMs,
    slowRetryDelay: ({ context }) => context.delayMs,
    listChangedDebounce: ({ context }) => context.policy.listChanged.debounceMs,
  },
  actions: {
    noteTime: assign((_, params: { output: Settled }) => ({ at: params.output.at })),
    beginAttempt: assign(({ context }, params: { output: ResolveConfigOutput }) =>
      params.output.kind === 'resolved' ? update.beginAttempt(context, params.output) : {},
    ),
    beginSession: assign(({ context }) => update.beginSession(context)),
    recordOpened: assign(({ context }, params: { output: OpenTransportOutput }) =>
      update.recordOpened(context, params.output),
    ),
    recordHandshake: assign(({ context }, params: { output: HandshakeOutput }) =>
      update.recordHandshake(context, params.output),
    ),
    recordListed: assign(({ context }, params: { output: ListToolsOutput }) =>
      update.recordListed(context, params.output),
    ),
    recordRefreshed: assign(({ context }, params: { output: ListToolsOutput }) =>
      update.recordRefreshed(context, params.output),
    ),
    recordEnriched: assign(({ context }, params: { output: EnrichCatalogOutput }) =>
      update.recordEnriched(context, params.output),
    ),
    enterReady: assign(({ context }) => update.enterReady(context)),
    recordFailure: assign(({ context }, params: { failure: Failure }) =>
      update.recordFailure(context, params.failure),
    ),
    planRetry: assign(({ context }, params: { failure: Failure }) =>
      update.planRetry(context, params.failure),
    ),
    planNetworkRetry: assign(({ context }, params: { at: number }) =>
      update.planNetworkRetry(context, params.at),
    ),
    planSlowRetry: assign(({ context }) => update.planSlowRetry(context)),
    oneMoreTry: assign(({ context }, params: { unasked: boolean }) =>
      update.oneMoreTry(context, params.unasked),
    ),
    recordReleased: assign((_, params: { output: Settled }) => update.recordReleased(params.output.at)),
    scheduleAttempt: assign(({ context }) => update.scheduleAttempt(context)),
    startOver: assign(() => update.startOver()),
    newRound: assign(() => update.newRound()),
    forgetAttempts: assign({ attempt: 0 }),
    beginShutdown: assign(({ context }, params: { intent: StopIntent }) =>
      update.beginShutdown(context, params.intent),
    ),
    recordClosed: assign((_, params: { output: Settled }) => update.recordClosed(params.output.at)),
    clearIntent: assign({ intent: null }),
    applyReload: assign((_, params: EntryTerms) => succession.applyReload(params)),
    applyPolicy: assign(({ context }, params: { policy: ConnectionPolicy }) =>
      succession.applyPolicy(context, params.policy),
    ),
    planSuccessor: assign(({ context }, params: EntryTerms) => succession.planSuccessor(context, params)),
    takeOver: assign(({ context }) => succession.takeOver(context)),
    succeed: assign(({ context }, params: { output: PrepareSessionOutput }) =>
      params.output.kind === 'prepared' ? succession.succeed(context, params.output) : {},
    ),
    recordOutdated: assign((_, params: { failure: Failure }) => ({ outdated: params.failure })),
    forgetRetired: assign({ retiring: null }),
    noteListChanged: assign(({ context, event }) =>
      event.type === 'catalog.listChanged' ? { listChangedAt: context.listChangedAt ?? event.at } : {},
    ),
    forgetListChanged: assign({ listChangedAt: null }),
    beginListing: assign(({ context }) => ({ extras: extras.beginListing(context.extras) })),
    noteExtrasChanged: assign(({ context, event }) =>
      event.type === 'catalog.extrasChanged'
        ? { extras: extras.noteChanged(context.extras, event.list, event.at) }
        : {},
    ),
    forgetExtrasChanged: assign(({ context }) => ({ extras: extras.forgetChanged(context.extras) })),
    goOnline: assign({ online: true }),
    goOffline: assign({ online: false }),
    emitReady: emit(({ context }) => ({ type: 'ready' as const, toolCount: context.counts.tools })),
    emitLost: emit((_, params: { failure: Failure }) => ({ type: 'lost' as const, failure: params.failure })),
    emitRetrying: emit(({ context }) => ({
      type: 'retrying' as const,
      attempt: context.attempt + 1,
      maxAttempts: context.policy.maxAttempts,
      delayMs: context.delayMs,
      failure: context.failure,
    })),
    emitFailed: emit(({ context }) => ({
      type: 'failed' as const,
      failure: toFailure(context.failure),
      attempt: context.attempt,
      maxAttempts: context.policy.maxAttempts,
    })),
    emitTrustRequired: emit({ type: 'trustRequired' as const }),
    emitAuthRequired: emit({ type: 'authRequired' as const }),
    emitOutdated: emit((_, params: { failure: Failure }) => ({
      type: 'outdated' as const,
      failure: params.failure,
    })),
    requestSlot: enqueueActions(({ enqueue, context }) => {
      if (!mustQueue(context)) return;
      enqueue(sendParent({ type: 'child.wantsSlot', name: context.name, ...claimOf(context) }));
    }),
    leaveStart: enqueueActions(({ enqueue, context }) => {
      if (mustQueue(context)) enqueue(sendParent({ type: 'child.leftStart', name: context.name }));
    }),
    reportSettled: enqueueActions(({ enqueue, context }) => {
      if (context.reportedSettled) return;
      enqueue.assign({ reportedSettled: true });
      enqueue(sendParent({ type: 'child.settled', name: context.name, cached: context.cached }));
    }),
  },
});

const sessionKey = ({ context }: { context: ConnectionContext }) => ({
  name: context.name,
  generation: context.generation,
});

const boundedBy =
  (limit: (policy: ConnectionPolicy) => number) =>
  ({ context }: { context: ConnectionContext }): BoundedSessionInput => ({
    name: context.name,
    generation: context.generation,
    limitMs: limit(context.policy),
  });

const released = boundedBy((policy) => policy.releaseTimeoutMs);

/** Time for every step of the ladder, whichever the transport has, and for the operating system to follow. */
const closed = boundedBy(({ stop }) => Math.max(stop.deleteMs, stop.stdinEndMs + stop.termMs) + 1_000);

/** How long the calls of a session that has been replaced may still take; nothing waits for them. */
const LAST_CALLS_MS = 60_000;

const besides = ({ context }: { context: ConnectionContext }): PrepareSessionInput => {
  const { name, issued, generation, policy, next } = context;
  const { launchTimeoutMs, handshakeTimeoutMs, listTimeoutMs } = next?.policy ?? policy;
  return {
    name,
    generation: issued,
    besides: generation,
    releaseMs: policy.releaseTimeoutMs,
    launchMs: launchTimeoutMs,
    handshakeMs: handshakeTimeoutMs,
    listMs: listTimeoutMs,
  };
};

const replaced = ({ context }: { context: ConnectionContext }): RetireSessionInput => ({
  name: context.name,
  generation: context.retiring ?? 0,
  besides: context.generation,
  drainMs: LAST_CALLS_MS,
  closeMs: closed({ context }).limitMs,
});

const enriching = ({ context }: { context: ConnectionContext }): EnrichCatalogInput => ({
  name: context.name,
  generation: context.generation,
  limitMs: context.policy.listTimeoutMs,
  lists: context.extras.listing,
});

const stopping = ({ event }: { event: { reason: StopIntent } }) => ({ intent: event.reason });

const reloaded = ({ event }: { event: EntryTerms }): EntryTerms => ({
  transport: event.transport,
  policy: event.policy,
});

const toldAt = ({ event }: { event: { at: number } }) => ({ at: event.at });

const changedPolicy = ({ event }: { event: { policy: ConnectionPolicy } }) => ({ policy: event.policy });

const outputOf = <T>({ event }: { event: { output: T } }) => ({ output: event.output });

const rejection = ({ event }: { event: { error: unknown } }) => ({ failure: toFailure(event.error) });

/** Where an attempt goes that failed before it was ready. */
const attemptFailed = [
  {
    guard: { type: 'needsAuthorization', params: rejection },
    target: '#connection.handshaking.authorizing',
    actions: { type: 'recordFailure', params: rejection },
  },
  {
    guard: { type: 'mustGiveUp', params: rejection },
    target: '#connection.failed',
    actions: { type: 'recordFailure', params: rejection },
  },
  {
    target: '#connection.reconnecting',
    actions: [
      { type: 'recordFailure', params: rejection },
      { type: 'planRetry', params: rejection },
    ],
  },
] as const;

const lost = ({ event }: { event: { failure: Failure } }) => ({ failure: event.failure });

/** Where a session goes that was ready and is lost: one of an entry that has changed meanwhile gives way to the new one. */
const sessionLost = <T>(params: T) =>
  [
    {
      guard: 'isOutdated',
      target: '#connection.shuttingDown',
      actions: [
        { type: 'recordFailure', params },
        { type: 'emitLost', params },
        { type: 'beginShutdown', params: { intent: 'reload' } },
        'takeOver',
      ],
    },
    {
      guard: { type: 'needsAuthorization', params },
      target: '#connection.handshaking.authorizing',
      actions: [
        { type: 'recordFailure', params },
        { type: 'emitLost', params },
      ],
    },
    {
      guard: { type: 'mustGiveUp', params },
      target: '#connection.failed',
      actions: [
        { type: 'recordFailure', params },
        { type: 'emitLost', params },
      ],
    },
    {
      target: '#connection.reconnecting',
      actions: [
        { type: 'recordFailure', params },
        { type: 'planRetry', params },
        { type: 'emitLost', params },
      ],
    },
  ] as const;

/** Where a shutdown leads once the session is proven gone. What is idle rests: its catalog is known. */
const sessionClosed = [
  {
    guard: 'isIdle',
    target: '#connection.configuring.dormant',
    actions: [{ type: 'recordClosed', params: outputOf }, 'startOver'],
  },
  {
    guard: 'isReturning',
    target: '#connection.configuring',
    actions: [{ type: 'recordClosed', params: outputOf }, 'startOver'],
  },
  { target: '#connection.stopped', actions: { type: 'recordClosed', params: outputOf } },
] as const;

/** How one begins anew whose session is proven gone. */
const tryAnew = { target: '#connection.configuring', actions: 'newRound' } as const;

/** How a given up connection begins anew. */
const tryAgain = [
  { guard: 'isReleased', ...tryAnew },
  { target: '#connection.reconnecting', actions: 'newRound' },
] as const;

/** What a connection that is out of attempts does for a call. */
const tryForCall = {
  guard: 'mayTryForCall',
  target: '#connection.configuring',
  actions: { type: 'oneMoreTry', params: { unasked: false } },
} as const;

/** Whoever asks for an idle connection while it goes to rest gets it back. */
const comeBack = [
  { guard: 'isIdle', actions: { type: 'beginShutdown', params: { intent: 'restart' } } },
  { guard: 'isReturning' },
] as const;

/** One after the other, by the entry as it is now. */
const inTurn = {
  target: '#connection.shuttingDown',
  actions: [{ type: 'beginShutdown', params: { intent: 'reload' } }, 'takeOver'],
} as const;

/** New before old, where both are reached over a network or in this process. */
const prepareSuccessor = {
  guard: 'canOverlap',
  target: 'preparing',
  reenter: true,
  actions: { type: 'planSuccessor', params: reloaded },
} as const;

export const connectionMachine = connection.createMachine({
  id: 'connection',
  options: { maxIterations: 100 },
  context: ({ input }) => update.initialContext(input),
  output: ({ context }) => ({
    name: context.name,
    reason: context.intent ?? 'stop',
    generation: context.generation,
    attempts: context.attempt,
    readyAt: context.readyAt,
    at: context.at,
  }),
  initial: 'configuring',
  on: {
    'connection.stop': {
      target: '.shuttingDown',
      actions: { type: 'beginShutdown', params: stopping },
    },
    'connection.restart': {
      guard: 'isNotShuttingDown',
      target: '.shuttingDown',
      actions: { type: 'beginShutdown', params: { intent: 'restart' } },
    },
    'connection.reload': {
      guard: 'isNotShuttingDown',
      target: '.shuttingDown',
      actions: [
        'leaveStart',
        { type: 'beginShutdown', params: { intent: 'reload' } },
        { type: 'applyReload', params: reloaded },
      ],
    },
    'network.online': { actions: 'goOnline' },
    'network.offline': { actions: 'goOffline' },
    'clock.jumped': {},
    'policy.changed': { actions: { type: 'applyPolicy', params: changedPolicy } },
  },
  states: {
    configuring: {
      description: 'Finds out what to run and whether it may run.',
      initial: 'resolving',
      entry: 'clearIntent',
      states: {
        resolving: {
          description:
            'Asks for trust, then expands the entry afresh, so that rotated credentials are picked up.',
          invoke: {
            id: 'resolveConfig',
            src: 'resolveConfig',
            input: ({ context }) => ({ name: context.name, wanted: context.wanted }),
            onDone: [
              {
                guard: { type: 'isUntrusted', params: outputOf },
                target: 'awaitingTrust',
                actions: { type: 'noteTime', params: outputOf },
              },
              {
                guard: { type: 'isDormant', params: outputOf },
                target: 'dormant',
                actions: { type: 'noteTime', params: outputOf },
              },
              { target: '#connection.launching', actions: { type: 'beginAttempt', params: outputOf } },
            ],
            onError: { target: '#connection.failed', actions: { type: 'recordFailure', params: rejection } },
          },
          on: {
            'connection.start': [
              { guard: 'isWanted' },
              { target: 'resolving', reenter: true, actions: 'newRound' },
            ],
          },
        },
        awaitingTrust: {
          description: 'A person has to approve the entry; nothing of it was expanded or started.',
          tags: ['settled', 'waitingForPerson'],
          entry: ['emitTrustRequired', 'reportSettled'],
          on: {
            'trust.granted': 'resolving',
            'trust.denied': {
              target: '#connection.failed',
              actions: {
                type: 'recordFailure',
                params: ({ context }) => ({ failure: trustDenied(context) }),
              },
            },
            'connection.retry': 'resolving',
            'connection.start': [{ guard: 'isWanted' }, { actions: 'newRound' }],
          },
        },
        dormant: {
          description: 'Lazy: the catalog is known and nothing is started until someone asks.',
          tags: 'settled',
          entry: 'reportSettled',
          on: { 'connection.start': { target: 'resolving', actions: 'newRound' } },
        },
      },
    },
    launching: {
      description: 'Opens the transport: starts the process or reaches the address.',
      initial: 'waitingForSlot',
      on: { 'connection.start': {} },
      states: {
        waitingForSlot: {
          description:
            'A stdio server waits for one of the start slots, a retry of a remote one for its share of the budget.',
          entry: 'requestSlot',
          always: { guard: 'needNotQueue', target: 'opening' },
          on: { 'slot.granted': 'opening' },
        },
        opening: {
          description: 'The session exists from here on, whatever becomes of it.',
          entry: 'beginSession',
          invoke: {
            id: 'openTransport',
            src: 'openTransport',
            input: boundedBy((policy) => policy.launchTimeoutMs),
            onDone: {
              target: '#connection.handshaking',
              actions: { type: 'recordOpened', params: outputOf },
            },
            onError: attemptFailed,
          },
        },
      },
    },
    handshaking: {
      description: 'Speaks with the server for the first time.',
      initial: 'initializing',
      on: { 'connection.start': {} },
      states: {
        initializing: {
          description: 'MCP initialize and initialized.',
          invoke: {
            id: 'handshake',
            src: 'handshake',
            input: boundedBy((policy) => policy.handshakeTimeoutMs),
            onDone: { target: 'listing', actions: { type: 'recordHandshake', params: outputOf } },
            onError: attemptFailed,
          },
        },
        listing: {
          description: 'The first list of tools, every page.',
          invoke: {
            id: 'listTools',
            src: 'listTools',
            input: boundedBy((policy) => policy.listTimeoutMs),
            onDone: { target: '#connection.ready', actions: { type: 'recordListed', params: outputOf } },
            onError: attemptFailed,
          },
        },
        authorizing: {
          description:
            'The session is released and a person is asked. No clock runs and no attempt is counted.',
          tags: ['settled', 'waitingForPerson'],
          entry: ['leaveStart', 'emitAuthRequired', 'reportSettled'],
          invoke: {
            id: 'authorize',
            src: 'authorize',
            input: sessionKey,
            onDone: {
              target: '#connection.launching.waitingForSlot',
              actions: { type: 'recordReleased', params: outputOf },
            },
            onError: { target: '#connection.failed', actions: { type: 'recordFailure', params: rejection } },
          },
          on: { 'connection.retry': { target: '#connection.reconnecting', actions: 'newRound' } },
        },
      },
    },
    ready: {
      description: 'The server can be used.',
      type: 'parallel',
      tags: ['settled', 'usable'],
      entry: ['leaveStart', 'enterReady', 'forgetListChanged', 'emitReady', 'reportSettled'],
      invoke: {
        id: 'watchSession',
        src: 'watchSession',
        input: ({ context }) => ({
          name: context.name,
          generation: context.generation,
          pingIdleMs: context.policy.ping.idleMs,
          stableMs: context.policy.stableMs,
          idleStopMs: context.policy.idleStopMs,
        }),
      },
      on: {
        'connection.start': {},
        'session.quiet': {},
        'session.lost': sessionLost(lost),
        'session.stable': { actions: 'forgetAttempts' },
        'session.idle': {
          target: 'shuttingDown',
          actions: { type: 'beginShutdown', params: { intent: 'idle' } },
        },
      },
      states: {
        liveness: {
          initial: 'resting',
          states: {
            resting: {
              description: 'The server has spoken lately, or owes nothing.',
              on: { 'session.quiet': 'probing', 'clock.jumped': 'probing' },
            },
            probing: {
              description: 'One ping is out.',
              invoke: {
                id: 'probe',
                src: 'probe',
                input: boundedBy((policy) => policy.ping.timeoutMs),
                onDone: 'resting',
                onError: 'suspect',
              },
            },
            suspect: {
              description: 'One ping was missed; a second miss ends the session.',
              invoke: {
                id: 'probeAgain',
                src: 'probe',
                input: boundedBy((policy) => policy.ping.timeoutMs),
                onDone: 'resting',
                onError: sessionLost(rejection),
              },
            },
          },
        },
        catalog: {
          initial: 'current',
          states: {
            current: {
              on: {
                'catalog.listChanged': { target: 'debouncing', actions: 'noteListChanged' },
                'connection.refresh': 'refreshing',
              },
            },
            debouncing: {
              description: 'Waits for a storm of changes to end, but not for ever.',
              after: { listChangedDebounce: 'refreshing' },
              on: {
                'catalog.listChanged': [
                  { guard: 'canWaitLonger', target: 'debouncing', reenter: true },
                  { actions: 'noteListChanged' },
                ],
                'connection.refresh': 'refreshing',
              },
            },
            refreshing: {
              entry: 'forgetListChanged',
              invoke: {
                id: 'refreshTools',
                src: 'listTools',
                input: boundedBy((policy) => policy.listTimeoutMs),
                onDone: [
                  {
                    guard: 'hasChangedMeanwhile',
                    target: 'debouncing',
                    actions: { type: 'recordRefreshed', params: outputOf },
                  },
                  { target: 'current', actions: { type: 'recordRefreshed', params: outputOf } },
                ],
                onError: [{ guard: 'hasChangedMeanwhile', target: 'debouncing' }, { target: 'stale' }],
              },
              on: {
                'catalog.listChanged': { actions: 'noteListChanged' },
                'connection.refresh': {},
              },
            },
            stale: {
              description: 'The last refresh failed; the old list stays until the next change or a refresh.',
              on: {
                'catalog.listChanged': { target: 'debouncing', actions: 'noteListChanged' },
                'connection.refresh': 'refreshing',
              },
            },
          },
        },
        extras: {
          initial: 'listing',
          states: {
            none: {
              description: 'Nothing is known to have changed beside the tools.',
              on: {
                'catalog.extrasChanged': { target: 'debouncing', actions: 'noteExtrasChanged' },
                'connection.refresh': 'listing',
              },
            },
            debouncing: {
              description: 'Waits for a storm of changes to end, but not for ever.',
              after: { listChangedDebounce: 'listing' },
              on: {
                'catalog.extrasChanged': [
                  {
                    guard: 'canExtrasWait',
                    target: 'debouncing',
                    reenter: true,
                    actions: 'noteExtrasChanged',
                  },
                  { actions: 'noteExtrasChanged' },
                ],
                'connection.refresh': { target: 'listing', actions: 'forgetExtrasChanged' },
              },
            },
            listing: {
              description:
                'Reads resources, templates and prompts, and tells a new session what it is to tell. Best effort.',
              entry: 'beginListing',
              invoke: {
                id: 'enrichCatalog',
                src: 'enrichCatalog',
                input: enriching,
                onDone: [
                  {
                    guard: 'haveExtrasChanged',
                    target: 'debouncing',
                    actions: { type: 'recordEnriched', params: outputOf },
                  },
                  { target: 'none', actions: { type: 'recordEnriched', params: outputOf } },
                ],
                onError: [{ guard: 'haveExtrasChanged', target: 'debouncing' }, { target: 'none' }],
              },
              on: { 'catalog.extrasChanged': { actions: 'noteExtrasChanged' } },
            },
          },
        },
        succession: {
          initial: 'none',
          states: {
            none: {
              description: 'There is one session.',
              always: { guard: 'hasRetiring', target: 'retiring' },
              on: { 'connection.reload': prepareSuccessor },
            },
            preparing: {
              description:
                'The entry has changed: its session is brought up beside the one in use, which stays where that fails.',
              invoke: {
                id: 'prepareSession',
                src: 'prepareSession',
                input: besides,
                onDone: [
                  { guard: { type: 'cannotBePrepared', params: outputOf }, ...inTurn },
                  { target: '#connection.ready', actions: { type: 'succeed', params: outputOf } },
                ],
                onError: [
                  { guard: { type: 'mustTakeTurns', params: rejection }, ...inTurn },
                  {
                    target: 'none',
                    actions: [
                      { type: 'recordOutdated', params: rejection },
                      { type: 'emitOutdated', params: rejection },
                    ],
                  },
                ],
              },
              on: { 'connection.reload': prepareSuccessor, 'session.idle': {} },
            },
            retiring: {
              description: 'The session before takes no calls any more; those it has may finish.',
              invoke: {
                id: 'retireSession',
                src: 'retireSession',
                input: replaced,
                onDone: { target: 'none', actions: 'forgetRetired' },
                onError: { target: 'none', actions: 'forgetRetired' },
              },
              on: { 'connection.reload': prepareSuccessor, 'session.idle': {} },
            },
          },
        },
      },
    },
    reconnecting: {
      description: 'Between two sessions.',
      initial: 'releasing',
      entry: ['leaveStart', 'reportSettled'],
      on: { 'connection.start': {} },
      states: {
        releasing: {
          description: 'The old session is proven gone before a new one may start.',
          invoke: {
            id: 'releaseSession',
            src: 'releaseSession',
            input: released,
            onDone: [
              {
                guard: 'isHeldOffline',
                target: 'offline',
                actions: { type: 'recordReleased', params: outputOf },
              },
              {
                target: 'backingOff',
                actions: [{ type: 'recordReleased', params: outputOf }, 'scheduleAttempt', 'emitRetrying'],
              },
            ],
            onError: { target: '#connection.failed', actions: { type: 'recordFailure', params: rejection } },
          },
          on: { 'connection.retry': { actions: 'newRound' } },
        },
        backingOff: {
          description: 'Waits for its next attempt.',
          after: { backoffDelay: '#connection.configuring' },
          on: {
            'connection.retry': { target: '#connection.configuring', actions: 'newRound' },
            'network.offline': { guard: 'needsNetwork', target: 'offline', actions: 'goOffline' },
          },
        },
        offline: {
          description: 'The network is down: a remote server is not tried until it is back.',
          on: {
            'network.online': {
              target: 'backingOff',
              actions: ['goOnline', { type: 'planNetworkRetry', params: toldAt }, 'emitRetrying'],
            },
            'connection.retry': { target: '#connection.configuring', actions: 'newRound' },
          },
        },
      },
    },
    failed: {
      description: 'Given up, with the cause; only a person, a call or a slow clock tries again.',
      initial: 'releasing',
      entry: ['leaveStart', 'emitFailed', 'reportSettled'],
      states: {
        releasing: {
          invoke: {
            id: 'releaseFailed',
            src: 'releaseSession',
            input: released,
            onDone: [
              {
                guard: 'isReleasedLate',
                target: '#connection.reconnecting.backingOff',
                actions: [{ type: 'recordReleased', params: outputOf }, 'scheduleAttempt', 'emitRetrying'],
              },
              {
                guard: 'isExhaustedRemote',
                target: 'retryingSlowly',
                actions: [{ type: 'recordReleased', params: outputOf }, 'planSlowRetry'],
              },
              {
                guard: 'isExhausted',
                target: 'resting',
                actions: { type: 'recordReleased', params: outputOf },
              },
              { target: 'settled', actions: { type: 'recordReleased', params: outputOf } },
            ],
            onError: 'settled',
          },
          on: {
            'connection.retry': { target: '#connection.reconnecting', actions: 'newRound' },
            'connection.start': { target: '#connection.reconnecting', actions: 'newRound' },
          },
        },
        settled: {
          description:
            'Waits for a person. What was not proven gone has to be before a new session may start.',
          tags: 'settled',
          on: {
            'connection.retry': tryAgain,
            'connection.start': tryAgain,
          },
        },
        resting: {
          description: 'Out of attempts for a cause that may pass: a call gets one more try.',
          tags: 'settled',
          on: {
            'connection.retry': tryAnew,
            'connection.start': tryAnew,
            'call.waiting': tryForCall,
          },
        },
        retryingSlowly: {
          description:
            'Out of attempts, but remote: tried again on a slow clock, for a call, or once back online.',
          tags: 'settled',
          after: {
            slowRetryDelay: {
              guard: 'isOnline',
              target: '#connection.configuring',
              actions: { type: 'oneMoreTry', params: { unasked: true } },
            },
          },
          on: {
            'connection.retry': tryAnew,
            'connection.start': tryAnew,
            'call.waiting': tryForCall,
            'network.online': {
              target: '#connection.reconnecting.backingOff',
              actions: [
                'goOnline',
                { type: 'oneMoreTry', params: { unasked: true } },
                { type: 'planNetworkRetry', params: toldAt },
                'emitRetrying',
              ],
            },
          },
        },
      },
    },
    shuttingDown: {
      description: 'No new calls. What comes after depends on why.',
      initial: 'draining',
      entry: ['leaveStart', 'reportSettled'],
      on: {
        'connection.start': comeBack,
        'connection.restart': comeBack,
        'connection.reload': {
          guard: 'isReturning',
          actions: [
            { type: 'beginShutdown', params: { intent: 'reload' } },
            { type: 'applyReload', params: reloaded },
          ],
        },
        'connection.stop': [
          { guard: 'isReturning', actions: { type: 'beginShutdown', params: stopping } },
          {},
        ],
      },
      states: {
        draining: {
          description: 'Calls in flight may finish; what is left is settled.',
          invoke: {
            id: 'drainCalls',
            src: 'drainCalls',
            input: boundedBy((policy) => policy.stop.drainMs),
            onDone: 'closing',
            onError: 'closing',
          },
          on: { 'connection.stop': { guard: 'isEnding', target: 'closing' } },
        },
        closing: {
          description: 'Courtesy first: session DELETE, end of stdin, SIGTERM.',
          invoke: {
            id: 'closeSession',
            src: 'closeSession',
            input: closed,
            onDone: sessionClosed,
            onError: 'killing',
          },
          on: { 'connection.stop': { guard: 'isEnding', target: 'killing' } },
        },
        killing: {
          description: 'No courtesy: SIGKILL to the whole tree.',
          invoke: {
            id: 'killSession',
            src: 'killSession',
            input: released,
            onDone: sessionClosed,
            onError: [
              {
                guard: 'isReturning',
                target: '#connection.failed',
                actions: [{ type: 'recordFailure', params: rejection }, 'startOver', 'clearIntent'],
              },
              {
                target: '#connection.stopped',
                actions: { type: 'recordFailure', params: rejection },
              },
            ],
          },
        },
      },
    },
    stopped: {
      description: 'Over. A later start makes the next incarnation.',
      type: 'final',
      tags: 'settled',
    },
  },
});

function trustDenied(context: ConnectionContext): Failure {
  return {
    code: 'trust-denied',
    message: `'${context.name}' was not approved.`,
    phase: 'configure',
    at: context.at,
    hint: 'Retry it to be asked again.',
  };
}

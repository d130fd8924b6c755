/**
 * The effects, guards, delays and actions of the connection chart, by name. The files of its parts
 * (`connection.configuring.ts` and so on) say when each is used. Longer than 300 lines because XState infers their types from one
 * `setup`.
 */
import {
  assign,
  emit,
  enqueueActions,
  fromCallback,
  fromPromise,
  raise,
  sendTo,
  setup,
  stateIn,
} from 'xstate';
import type {
  AdoptToolsOutput,
  BoundedSessionInput,
  ConnectionContext,
  ConnectionEmitted,
  ConnectionEvent,
  ConnectionInput,
  ConnectionOutput,
  EnrichCatalogInput,
  EnrichCatalogOutput,
  EntryTerms,
  HandshakeOutput,
  OpenTransportInput,
  OpenTransportOutput,
  ResolveConfigInput,
  ResolveConfigOutput,
  RetireSessionInput,
  ServerList,
  SessionKey,
  Settled,
  StopReason,
  SubscribeOutput,
  WatchLimits,
  WatchSessionEvent,
  WatchSessionInput,
} from './connection.events.js';
import type { ConnectionTag } from './connection.states.js';
import * as succession from './connection.succession.js';
import * as update from './connection.update.js';
import * as lists from './list-plan.js';
import type { ListGroup } from './list-plan.js';
import { classify, toFailure, type Failure } from '../policy/failure.js';
import type { ConnectionPolicy } from '../policy/policy.js';
import { notProvided } from '../not-provided.js';

/** JSON-RPC 2.0 section 5.1. */
export const METHOD_NOT_FOUND = -32601;

/** Parameter of actions that record a failure. */
export interface Failed {
  /** What went wrong, and in which phase. */
  readonly failure: Failure;
}

export function needsNetwork({ transport }: ConnectionContext): boolean {
  return transport === 'http' || transport === 'sse';
}

/** The limits that the watch of a session uses. */
export function watchLimits({ ping, stableMs, idleStopMs }: ConnectionPolicy): WatchLimits {
  return { pingIdleMs: ping.idleMs, stableMs, idleStopMs };
}

export const connection = setup({
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
    openTransport: fromPromise<OpenTransportOutput, OpenTransportInput>(notProvided),
    handshake: fromPromise<HandshakeOutput, BoundedSessionInput>(notProvided),
    readTools: fromPromise<Settled, BoundedSessionInput>(notProvided),
    adoptTools: fromPromise<AdoptToolsOutput, SessionKey>(notProvided),
    enrichCatalog: fromPromise<EnrichCatalogOutput, EnrichCatalogInput>(notProvided),
    authorize: fromPromise<Settled, SessionKey>(notProvided),
    probe: fromPromise<Settled, BoundedSessionInput>(notProvided),
    subscribe: fromPromise<SubscribeOutput, BoundedSessionInput>(notProvided),
    watchSession: fromCallback<WatchSessionEvent, WatchSessionInput>(() => {}),
    retireSession: fromPromise<Settled, RetireSessionInput>(notProvided),
    releaseSession: fromPromise<Settled, BoundedSessionInput>(notProvided),
    drainCalls: fromPromise<Settled, BoundedSessionInput>(notProvided),
    closeSession: fromPromise<Settled, BoundedSessionInput>(notProvided),
    killSession: fromPromise<Settled, BoundedSessionInput>(notProvided),
  },
  guards: {
    hasCrashed: ({ context }) => context.crash !== null,
    isUntrusted: (_, params: { output: ResolveConfigOutput }) => params.output.kind === 'untrusted',
    isDormant: (_, params: { output: ResolveConfigOutput }) => params.output.kind === 'dormant',
    isWanted: ({ context }) => context.wanted,
    /** A parent that grants starts fills this slot and the three actions below (`connection.managed.ts`). */
    needNotQueue: (_) => true,
    needsNetwork: ({ context }) => needsNetwork(context),
    isOnline: ({ context }) => context.online,
    isHeldOffline: ({ context }) => needsNetwork(context) && !context.online,
    isTriedForEver: ({ context }) => needsNetwork(context) && context.policy.exhausted.remoteEveryMs > 0,
    mayTryForCall: ({ context }, params: { at: number }) => update.mayTryForCall(context, params.at),
    needsSignIn: (_, params: Failed) => classify(params.failure) === 'authorize',
    isSignInFruitless: ({ context }, params: Failed) =>
      classify(params.failure) === 'authorize' && update.isSignInFruitless(context, params.failure),
    isPermanent: (_, params: Failed) => classify(params.failure) === 'permanent',
    mayPass: (_, params: Failed) => ['retry', 'renew'].includes(classify(params.failure)),
    isCrashLoop: ({ context }, params: Failed) => update.isCrashLoop(context, params.failure),
    isOutOfAttempts: ({ context }, params: Failed) => update.isOutOfAttempts(context, params.failure),
    isOutdated: ({ context }) => context.next !== null,
    isUnreachable: ({ context }, params: { count: number }) => params.count >= context.policy.maxUnreachable,
    canOverlap: ({ context }, params: EntryTerms) =>
      context.transport !== 'stdio' && params.transport !== 'stdio',
    mustTakeTurns: (_, params: Failed) => succession.mustTakeTurns(params.failure),
    isNewEra: ({ context }) => context.era === 'new',
    hasNothingToReport: (_, params: { output: SubscribeOutput }) => !params.output.isOpen,
    isUnsupported: (_, params: Failed) => params.failure.rpcCode === METHOD_NOT_FOUND,
    maySubscribeAgain: ({ context }, params: { at: number }) => update.maySubscribeAgain(context, params.at),
    isEnding: stateIn('#connection.shuttingDown.purpose.ending'),
    isRetiring: ({ context }) => context.retiring !== null,
    isNothingRetiring: ({ context }) => context.retiring === null,
    hasChanged: ({ context }, params: { group: ListGroup }) => context[params.group].dueSince !== null,
    canWait: ({ context }, params: { group: ListGroup; at: number }) =>
      update.canWaitLonger(context, context[params.group].dueSince, params.at),
  },
  delays: {
    backoffDelay: ({ context }) => context.delayMs,
    slowRetryDelay: ({ context }) => context.delayMs,
    subscriptionDelay: ({ context }) => update.subscriptionDelay(context),
    listChangedDebounce: ({ context }) => context.policy.listChanged.debounceMs,
  },
  actions: {
    noteTime: assign((_, params: { at: number }) => ({ at: params.at })),
    want: assign({ wanted: true }),
    unwant: assign({ wanted: false }),
    goOnline: assign({ online: true }),
    goOffline: assign({ online: false }),

    beginAttempt: assign(({ context }, params: { output: ResolveConfigOutput }) =>
      update.beginAttempt(context, params.output),
    ),
    discountAttempt: assign(({ context }) => update.discountAttempt(context)),
    recordSignIn: assign(({ context }, params: { at: number }) => update.recordSignIn(context, params.at)),
    beginSession: assign(({ context }) => update.beginSession(context)),
    recordOpened: assign((_, params: { output: OpenTransportOutput }) => update.recordOpened(params.output)),
    recordEra: assign((_, params: { output: HandshakeOutput }) => update.recordEra(params.output)),
    beginSubscription: assign({ subscription: update.UNSUBSCRIBED }),
    planSubscription: assign(({ context }, params: { at: number }) =>
      update.planSubscription(context, params.at),
    ),
    recordSubscribed: assign(({ context }, params: { output: SubscribeOutput }) =>
      update.recordSubscribed(context, params.output.at),
    ),
    /** What changed while there was no stream was not reported, so the lists are read again. */
    announceMissed: enqueueActions(({ enqueue, context }, params: { output: SubscribeOutput }) => {
      const { tries, since } = context.subscription;
      if (tries === 0 || since !== null) return;
      const about = { generation: context.generation, at: params.output.at };
      enqueue.raise({ type: 'catalog.listChanged', ...about });
      enqueue.raise({ type: 'catalog.extrasChanged', ...about, list: 'resources' });
      enqueue.raise({ type: 'catalog.extrasChanged', ...about, list: 'prompts' });
    }),
    enterReady: assign(({ context }) => update.enterReady(context)),

    recordFailure: assign((_, params: Failed) => update.recordFailure(params.failure)),
    recordCrashLoop: assign(({ context }, params: Failed) =>
      update.recordFailure(update.crashLoop(context, params.failure)),
    ),
    recordFruitless: assign(({ context }, params: Failed) =>
      update.recordFailure(update.fruitless(context, params.failure)),
    ),
    recordDenial: assign(({ context }) => update.recordFailure(update.trustDenied(context))),
    planRetry: assign(({ context }, params: Failed) => update.planRetry(context, params.failure)),
    planNetworkRetry: assign(({ context }, params: { at: number }) =>
      update.planNetworkRetry(context, params.at),
    ),
    planSlowRetry: assign(({ context }) => update.planSlowRetry(context)),
    allowOneAttempt: assign(({ context }, params: { unasked: boolean }) =>
      update.allowOneAttempt(context, params.unasked),
    ),
    /** A new round that was requested. */
    beginRound: assign(() => ({ ...update.resetAttempts(), wanted: true })),
    resetAttempts: assign(() => update.resetAttempts()),
    forgetAttempts: assign({ attempt: 0, signIns: [] }),

    recordReleased: assign((_, params: { at: number }) => update.recordReleased(params.at)),
    /** The session ended as requested, so earlier failures no longer matter. */
    forgetFailure: assign({ failure: null }),
    recordStop: assign((_, params: { reason: StopReason }) => ({ stopReason: params.reason })),
    announceClosed: raise({ type: 'shutdown.closed' }),
    announceNotClosed: raise({ type: 'shutdown.failed' }),

    applyReload: assign((_, params: EntryTerms) => succession.applyReload(params)),
    wantIfAsked: assign(({ context }, params: { wanted: boolean }) => ({
      wanted: context.wanted || params.wanted,
    })),
    applyNext: assign(({ context }) => succession.applyNext(context)),
    applyPolicy: assign(({ context }, params: { policy: ConnectionPolicy }) =>
      succession.applyPolicy(context, params.policy),
    ),
    changeWatchLimits: sendTo('watchSession', (_, params: { policy: ConnectionPolicy }) => ({
      type: 'limits.changed' as const,
      limits: watchLimits(params.policy),
    })),
    planSuccessor: assign(({ context }, params: EntryTerms) => succession.planSuccessor(context, params)),
    recordSuccessorOpened: assign(({ context }, params: { output: OpenTransportOutput }) =>
      succession.recordSuccessorOpened(context, params.output),
    ),
    recordSuccessorEra: assign(({ context }, params: { output: HandshakeOutput }) =>
      succession.recordSuccessorEra(context, params.output),
    ),
    announceListed: raise({ type: 'catalog.listed' }),
    switchSession: assign(({ context }) => succession.switchSession(context)),
    retireSuccessor: assign(({ context }) => ({ retiring: context.issued })),
    forgetRetired: assign({ retiring: null }),
    giveUpSession: raise(({ context }, params: Failed) => ({
      type: 'session.lost' as const,
      generation: context.generation,
      failure: params.failure,
    })),

    noteChanged: assign(({ context }, params: { group: ListGroup; list: ServerList; at: number }) => ({
      [params.group]: lists.noteChanged(context[params.group], params.list, params.at),
    })),
    beginReading: assign(({ context }, params: { group: ListGroup }) => ({
      [params.group]: lists.beginReading(context[params.group], lists.LIST_GROUPS[params.group]),
    })),
    forgetChanged: assign(({ context }, params: { group: ListGroup }) => ({
      [params.group]: lists.forgetChanged(context[params.group]),
    })),

    emitAttempting: emit(({ context }, params: { output: Settled; ahead: number }) => ({
      type: 'attempting' as const,
      generation: context.issued + params.ahead,
      configuringMs: params.output.at - params.output.startedAt,
    })),
    emitOpened: emit(({ context }, params: { output: OpenTransportOutput }) => ({
      type: 'opened' as const,
      generation: context.issued,
      transport: params.output.transport,
      pid: params.output.pid,
      url: params.output.url,
      queuedMs: Math.max(0, params.output.startedAt - context.at),
      launchingMs: params.output.at - params.output.startedAt,
    })),
    emitInitialized: emit(({ context }, params: { output: HandshakeOutput }) => ({
      type: 'initialized' as const,
      generation: context.issued,
      server: params.output.server,
      handshakingMs: params.output.at - params.output.startedAt,
    })),
    emitListed: emit(({ context }, params: { output: Settled }) => ({
      type: 'listed' as const,
      generation: context.issued,
      listingMs: params.output.at - params.output.startedAt,
    })),
    emitAdopted: emit((_, params: { generation: number; output: AdoptToolsOutput }) => ({
      type: 'adopted' as const,
      generation: params.generation,
      hash: params.output.hash,
      tools: params.output.tools,
    })),
    emitReady: emit(({ context }) => ({
      type: 'ready' as const,
      generation: context.generation,
      at: context.at,
    })),
    emitReleased: emit({ type: 'released' as const }),
    emitLost: emit((_, params: Failed) => ({ type: 'lost' as const, failure: params.failure })),
    emitRetrying: emit(({ context }) => ({
      type: 'retrying' as const,
      attempt: context.attempt + 1,
      maxAttempts: update.attemptLimit(context),
      delayMs: context.delayMs,
      at: context.at,
      failure: context.failure,
    })),
    emitRetryingSlowly: emit(({ context }) => ({
      type: 'retryingSlowly' as const,
      delayMs: context.delayMs,
      at: context.at,
    })),
    emitFailed: emit(({ context }) => ({
      type: 'failed' as const,
      failure: toFailure(context.failure),
      attempt: context.attempt,
      maxAttempts: update.attemptLimit(context),
    })),
    emitTrustRequired: emit({ type: 'trustRequired' as const }),
    emitOutdated: emit((_, params: Failed) => ({ type: 'outdated' as const, failure: params.failure })),

    claimStart: (_) => {},
    leaveStart: (_) => {},
    reportSettled: assign({ isAttempted: true }),
  },
});

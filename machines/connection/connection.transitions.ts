/** Shared parts of the connection chart: functions from events to parameters, and transitions with one meaning. */
import type {
  AdoptToolsOutput,
  BoundedSessionInput,
  ConnectionContext,
  EntryTerms,
  RetireSessionInput,
  SessionKey,
  StopReason,
} from './connection.events.js';
import { seenAtProvenUrl, toFailure, type Failure } from '../policy/failure.js';
import type { ConnectionPolicy } from '../policy/policy.js';

/** The argument of a function that computes parameters or an input. */
export interface Args<TEvent = unknown> {
  readonly context: ConnectionContext;
  readonly event: TEvent;
}

/** Accepted without effect: what the command asks for is already the case. */
export const alreadySo = {};

/** May arrive in this state, and has no effect there. */
export const expected = {};

export const outputOf = <T>({ event }: Args<{ output: T }>) => ({ output: event.output });

export const settledAt = ({ event }: Args<{ output: { at: number } }>) => ({ at: event.output.at });

export const at = ({ event }: Args<{ at: number }>) => ({ at: event.at });

export const policyOf = ({ event }: Args<{ policy: ConnectionPolicy }>) => ({ policy: event.policy });

export const termsOf = ({ event }: Args<EntryTerms>): EntryTerms => ({
  transport: event.transport,
  policy: event.policy,
});

export const wantedBy = ({ event }: Args<{ wanted: boolean }>) => ({ wanted: event.wanted });

/** The failure of an effect. */
export const failureOf = ({ context, event }: Args<{ error: unknown }>) => ({
  failure: seenAtProvenUrl(toFailure(event.error), context.provenUrl),
});

/** The error that the previous incarnation died of. */
export const crashOf = ({ context }: { context: ConnectionContext }) => ({
  failure: toFailure(context.crash),
});

/** The failure by which a session was lost. */
export const lossOf = ({ event }: Args<{ failure: Failure }>) => ({ failure: event.failure });

export const sessionKey = ({ context }: { context: ConnectionContext }): SessionKey => ({
  name: context.name,
  generation: context.generation,
});

export const boundedBy =
  (limit: (policy: ConnectionPolicy) => number) =>
  ({ context }: { context: ConnectionContext }): BoundedSessionInput => ({
    name: context.name,
    generation: context.generation,
    limitMs: limit(context.policy),
  });

export const releasing = boundedBy((policy) => policy.releaseTimeoutMs);

/** Time for every step of an orderly end, on any transport, and for the operating system to follow. */
const closeLimit = ({ stop }: ConnectionPolicy): number =>
  Math.max(stop.deleteMs, stop.stdinEndMs + stop.termMs) + 1_000;

export const closing = boundedBy(closeLimit);

/** How long the calls of a replaced session may still take. Nothing waits for them. */
const LAST_CALLS_MS = 60_000;

/** The former session, or an abandoned successor, which has no calls. */
export const retiring =
  (generationOf: (context: ConnectionContext) => number | null, drainMs = LAST_CALLS_MS) =>
  ({ context }: { context: ConnectionContext }): RetireSessionInput => ({
    name: context.name,
    generation: generationOf(context) ?? 0,
    drainMs,
    closeMs: closeLimit(context.policy),
  });

/** The commands that begin a shutdown. In `shuttingDown` itself they mean something else. */
export const shutdownCommands = {
  'connection.stop': {
    target: '#connection.shuttingDown.purpose.ending',
    actions: {
      type: 'recordStop',
      params: ({ event }: Args<{ reason: StopReason }>) => ({ reason: event.reason }),
    },
  },
  'connection.restart': { target: '#connection.shuttingDown.purpose.restarting', actions: 'want' },
  'connection.reload': {
    target: '#connection.shuttingDown.purpose.reloading',
    actions: [
      { type: 'applyReload', params: termsOf },
      { type: 'wantIfAsked', params: wantedBy },
    ],
  },
} as const;

/** Replaces the session in use by one of the new entry, which cannot run beside it. */
export const reloadInTurn = {
  target: '#connection.shuttingDown.purpose.reloading',
  actions: 'applyNext',
} as const;

/** Transitions for a failure that a sign-in may fix, in order. Each also runs the actions in `also`. */
function whereToSignIn<TParams, TAlso>(params: TParams, also: readonly TAlso[]) {
  return [
    {
      guard: { type: 'isSignInFruitless', params },
      target: '#connection.failed.permanent',
      actions: [{ type: 'recordFruitless', params }, ...also],
    },
    {
      guard: { type: 'needsSignIn', params },
      target: '#connection.configuring.authorizing',
      actions: [{ type: 'recordFailure', params }, ...also],
    },
  ] as const;
}

/** Transitions for any other failure. */
function whereToRetry<TParams, TAlso>(params: TParams, also: readonly TAlso[]) {
  const recorded = { type: 'recordFailure', params } as const;
  return [
    {
      guard: { type: 'isPermanent', params },
      target: '#connection.failed.permanent',
      actions: [recorded, ...also],
    },
    {
      guard: { type: 'isOutOfAttempts', params },
      target: '#connection.failed.exhausted',
      actions: [recorded, ...also],
    },
    {
      target: '#connection.reconnecting',
      actions: [recorded, { type: 'planRetry', params }, ...also],
    },
  ] as const;
}

/** An attempt fails before it is ready. */
export const attemptFailed = [...whereToSignIn(failureOf, []), ...whereToRetry(failureOf, [])] as const;

/** A ready session is lost. If the entry has changed in the meantime, the new entry takes over. */
export function sessionLost<TParams>(params: TParams) {
  const reported = { type: 'emitLost', params } as const;
  return [
    {
      guard: 'isOutdated',
      target: '#connection.shuttingDown.purpose.reloading',
      actions: [{ type: 'recordFailure', params }, reported, 'applyNext'],
    },
    ...whereToSignIn(params, [reported]),
    {
      guard: { type: 'isCrashLoop', params },
      target: '#connection.failed.permanent',
      actions: [{ type: 'recordCrashLoop', params }, reported],
    },
    ...whereToRetry(params, [reported]),
  ] as const;
}

/** The entry could not be resolved, so there is no attempt. */
export const cannotTry = [
  {
    guard: { type: 'mayPass', params: failureOf },
    target: '#connection.failed.exhausted',
    actions: { type: 'recordFailure', params: failureOf },
  },
  { target: '#connection.failed.permanent', actions: { type: 'recordFailure', params: failureOf } },
] as const;

export const inUse = ({ generation }: ConnectionContext): number => generation;

/** A list of tools has become the catalog. */
export const adopted = (generationOf: (context: ConnectionContext) => number) =>
  [
    {
      type: 'emitAdopted',
      params: ({ context, event }: Args<{ output: AdoptToolsOutput }>) => ({
        generation: generationOf(context),
        output: event.output,
      }),
    },
    { type: 'noteTime', params: settledAt },
  ] as const;

/** The session is proven gone. */
export const released = [{ type: 'recordReleased', params: settledAt }, 'emitReleased'] as const;

/** The session could not be proven gone in time. */
export const notReleased = {
  target: '#connection.failed.unreleased',
  actions: { type: 'recordFailure', params: failureOf },
} as const;

/** A person asks for a new round, and no session is left. */
export const tryAnew = { target: '#connection.configuring.resolving', actions: 'beginRound' } as const;

/** A person asks for a new round; the session must be proven gone first. */
export const releaseAndTryAnew = { target: '#connection.reconnecting', actions: 'beginRound' } as const;

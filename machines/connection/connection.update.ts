/**
 * How the context of a connection changes: one pure function per assign, from context and event data to the fields that
 * change. Time and randomness are arguments.
 */
import type {
  ConnectionContext,
  ConnectionInput,
  HandshakeOutput,
  OpenTransportOutput,
  ResolveConfigOutput,
} from './connection.events.js';
import { applyNext, eraIn } from './connection.succession.js';
import { LIST_GROUPS } from './list-plan.js';
import { backoffDelay, jitterOver } from '../policy/backoff.js';
import { type Failure, classify } from '../policy/failure.js';
import type { ConnectionPolicy } from '../policy/policy.js';
import { isImmediateRetry, isReached, recordRestart } from '../policy/restart.js';

type Update = Partial<ConnectionContext>;

const NO_TIMES: readonly number[] = [];

/** There was no stream of changes yet. */
export const UNSUBSCRIBED = { tries: 0, since: null } as const;

/** Upper limit of the jitter for the one attempt that each remote server gets when the network is back. */
const NETWORK_JITTER_MS = 2_000;

/**
 * Copied from the input, not written out: XState adds field by field to an empty object with each assignment, which stays
 * a third of the size if the first context has grown in the same way.
 */
export function initialContext(input: ConnectionInput): ConnectionContext {
  return laidOut({
    issued: input.generation,
    next: null,
    retiring: null,
    stopReason: 'stop',
    unasked: false,
    attempt: 0,
    delayMs: 0,
    losses: NO_TIMES,
    signIns: NO_TIMES,
    at: 0,
    url: null,
    provenUrl: null,
    failure: null,
    era: 'old',
    subscription: UNSUBSCRIBED,
    ...LIST_GROUPS,
    ...input,
  });
}

/** A copy with a layout that all connections share: V8 gives each object with more than 16 copied fields a table of its own. */
export function laidOut(context: ConnectionContext): ConnectionContext {
  return {
    name: context.name,
    transport: context.transport,
    policy: context.policy,
    seed: context.seed,
    generation: context.generation,
    online: context.online,
    wanted: context.wanted,
    crash: context.crash,
    isAttempted: context.isAttempted,
    issued: context.issued,
    next: context.next,
    retiring: context.retiring,
    stopReason: context.stopReason,
    unasked: context.unasked,
    attempt: context.attempt,
    delayMs: context.delayMs,
    losses: context.losses,
    signIns: context.signIns,
    at: context.at,
    url: context.url,
    provenUrl: context.provenUrl,
    failure: context.failure,
    era: context.era,
    subscription: context.subscription,
    tools: context.tools,
    extras: context.extras,
  };
}

/** A server that was launched is wanted until it is idle, so a lazy connection that is lost comes back. */
export function beginAttempt(context: ConnectionContext, { at }: ResolveConfigOutput): Update {
  return {
    ...applyNext(context),
    wanted: true,
    attempt: Math.min(context.attempt + 1, attemptLimit(context)),
    at,
  };
}

export function beginSession({ issued }: ConnectionContext): Update {
  return { generation: issued + 1, issued: issued + 1 };
}

export function recordOpened({ at, url, transport }: OpenTransportOutput): Update {
  return { at, url, transport };
}

export function recordEra(output: HandshakeOutput): Update {
  return { era: eraIn(output) };
}

/** Whether a change announced at `at` may delay the reading that an earlier change is waiting for. */
export function canWaitLonger({ policy }: ConnectionContext, since: number | null, at: number): boolean {
  return at - (since ?? at) <= policy.listChanged.maxWaitMs - policy.listChanged.debounceMs;
}

export function enterReady({ url, provenUrl }: ConnectionContext): Update {
  return {
    failure: null,
    delayMs: 0,
    unasked: false,
    provenUrl: url ?? provenUrl,
    ...LIST_GROUPS,
  };
}

/** A stream of changes that lasted this long counts as a success. */
const LASTING_MS = 30_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** Unsuccessful attempts so far, for a stream that ended or failed now. */
function triesUntil({ subscription: { tries, since } }: ConnectionContext, at: number): number {
  return since !== null && Math.abs(at - since) >= LASTING_MS ? 0 : tries;
}

export function maySubscribeAgain(context: ConnectionContext, at: number): boolean {
  return triesUntil(context, at) < context.policy.maxSubscriptionTries;
}

export function planSubscription(context: ConnectionContext, at: number): Update {
  return { subscription: { tries: triesUntil(context, at) + 1, since: null } };
}

export function recordSubscribed({ subscription }: ConnectionContext, since: number): Update {
  return { subscription: { ...subscription, since } };
}

/** The pause before the stream of changes is opened again. */
export function subscriptionDelay({ subscription: { tries } }: ConnectionContext): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, tries - 1), LONGEST_PAUSE_MS);
}

/** Every attempt of the round is used up; one whose session only expired uses up none. */
export function isOutOfAttempts(context: ConnectionContext, failure: Failure): boolean {
  return !isRenewal(failure) && context.attempt >= attemptLimit(context);
}

/** Attempts in a round. A remote server that was ready at this address is probably back soon, so it gets more of them. */
export function attemptLimit({ provenUrl, policy }: Pick<ConnectionContext, 'provenUrl' | 'policy'>): number {
  return (provenUrl === null ? undefined : policy.maxAttemptsOnceReady) ?? policy.maxAttempts;
}

/** Only the session is gone; the server is fine. */
function isRenewal(failure: Failure): boolean {
  return isLoss(failure) && classify(failure) === 'renew';
}

/** A failure of a session that was ready, and not of an attempt. */
function isLoss(failure: Failure): boolean {
  return failure.phase === 'session';
}

/** With this loss, there were too many within the period. */
export function isCrashLoop(context: ConnectionContext, failure: Failure): boolean {
  return isLoss(failure) && !isRenewal(failure) && isTooOften(context, failure);
}

function isTooOften(context: ConnectionContext, failure: Failure): boolean {
  return recordRestart(context.losses, failure.at, context.policy.intensity).exceeded;
}

/** The server keeps asking for a sign-in. */
export function isSignInFruitless({ signIns, policy }: ConnectionContext, { at }: Failure): boolean {
  return isReached(signIns, at, policy.signIns);
}

export function recordFailure(failure: Failure): Update {
  return { failure, at: failure.at };
}

export function crashLoop({ policy }: ConnectionContext, failure: Failure): Failure {
  const { restarts, periodMs } = policy.intensity;
  return {
    ...failure,
    code: 'crash-loop',
    message: `Lost ${restarts} times within ${Math.round(periodMs / 1000)} s and given up; the last time: ${failure.message}`,
    hint: 'Find out why the server ends, then retry by hand.',
  };
}

export function fruitless({ name, policy }: ConnectionContext, failure: Failure): Failure {
  const { restarts, periodMs } = policy.signIns;
  return {
    ...failure,
    message: `'${name}' has refused the tokens of ${restarts} sign-ins within ${Math.round(periodMs / 1000)} s.`,
    hint: 'The sign-in works, but the server wants something else: ask its operator, then retry.',
  };
}

export function trustDenied({ name, at }: ConnectionContext): Failure {
  return {
    code: 'trust-denied',
    message: `'${name}' was not trusted.`,
    phase: 'configure',
    at,
    hint: 'Retry it to be asked again.',
  };
}

/** An attempt that led to a sign-in is not counted. */
export function discountAttempt({ attempt }: ConnectionContext): Update {
  return { attempt: Math.max(0, attempt - 1) };
}

export function recordSignIn({ signIns, policy }: ConnectionContext, at: number): Update {
  return { at, signIns: recordRestart(signIns, at, policy.signIns).times };
}

/** When the next attempt is due: at once if the loss is forgiven, otherwise after the backoff, and never earlier than the server asks for. */
export function planRetry(context: ConnectionContext, failure: Failure): Update {
  const losses = isLoss(failure)
    ? recordRestart(context.losses, failure.at, lossWindow(context.policy)).times
    : context.losses;
  const limit = attemptLimit(context);
  const attempt = Math.min(context.attempt, isRenewal(failure) ? limit - 1 : limit);
  if (isForgiven(context, failure)) return { attempt, losses, delayMs: askedDelay(failure), unasked: true };
  const { delayMs, seed } = backoffDelay(
    { retry: Math.max(1, attempt), seed: context.seed },
    context.policy.backoff,
  );
  return { attempt, losses, seed, delayMs: Math.max(delayMs, askedDelay(failure)), unasked: true };
}

/** The first loss in a while is forgiven, and so is a session that only expired, unless sessions keep expiring. */
function isForgiven(context: ConnectionContext, failure: Failure): boolean {
  if (!isLoss(failure)) return false;
  const lastLossAt = context.losses.at(-1) ?? null;
  if (isRenewal(failure) && !isTooOften(context, failure)) return true;
  return isImmediateRetry(lastLossAt, failure.at, context.policy.immediateRetryWindowMs);
}

/** The longest wait a server may ask for with `Retry-After`. */
const MAX_ASKED_DELAY_MS = 300_000;

function askedDelay(failure: Failure): number {
  return Math.min(failure.http?.retryAfterMs ?? 0, MAX_ASKED_DELAY_MS);
}

/** Losses are kept as long as either of the two rules that use them needs them. */
function lossWindow(policy: ConnectionPolicy): { restarts: number; periodMs: number } {
  return {
    restarts: Math.max(1, policy.intensity.restarts),
    periodMs: Math.max(policy.intensity.periodMs, policy.immediateRetryWindowMs),
  };
}

/** The session is proven gone. */
export function recordReleased(at: number): Update {
  return { at, retiring: null };
}

/** Attempts, losses and sign-ins of the past are forgotten. */
export function resetAttempts(): Update {
  return { attempt: 0, losses: NO_TIMES, signIns: NO_TIMES, delayMs: 0, unasked: false };
}

export function planNetworkRetry(context: ConnectionContext, at: number): Update {
  const { delayMs, seed } = jitterOver(NETWORK_JITTER_MS, context.seed);
  return { at, delayMs, seed, unasked: true };
}

/** The period of slow retries, give or take a quarter. */
export function planSlowRetry(context: ConnectionContext): Update {
  const { remoteEveryMs } = context.policy.exhausted;
  const jitter = jitterOver(remoteEveryMs / 2, context.seed);
  return { delayMs: Math.round(remoteEveryMs * 0.75) + jitter.delayMs, seed: jitter.seed };
}

/** One attempt more than the round allows. The round stays used up, so the next failure ends it at once. */
export function allowOneAttempt(context: ConnectionContext, unasked: boolean): Update {
  return { attempt: attemptLimit(context) - 1, delayMs: 0, unasked };
}

/** When a call may cause one attempt more than the round allows, milliseconds since the epoch. */
export function nextCallAttemptAt({ failure, policy }: ConnectionContext): number {
  return (failure?.at ?? 0) + policy.exhausted.callAfterMs;
}

/** Whether the last failure is long enough ago for a call to cause an attempt. A clock may be set back, so distance counts. */
export function mayTryForCall({ failure, policy }: ConnectionContext, at: number): boolean {
  return failure !== null && Math.abs(at - failure.at) >= policy.exhausted.callAfterMs;
}

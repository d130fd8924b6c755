/**
 * How the context of a connection changes: one pure function per assign, from context and the facts of an event to
 * the fields that change. Time and randomness come in; nothing is looked up.
 */
import type {
  ConnectionContext,
  ConnectionInput,
  EnrichCatalogOutput,
  HandshakeOutput,
  ListToolsOutput,
  OpenTransportOutput,
  ResolveConfigOutput,
  StopIntent,
} from './connection.events.js';
import { EVERYTHING } from './extras-plan.js';
import { takeOver } from './connection.succession.js';
import { backoffDelay, jitterOver } from './policy/backoff.js';
import type { Failure } from './policy/failure.js';
import { classify } from './policy/failure.js';
import type { ConnectionPolicy } from './policy/policy.js';
import { isImmediateRetry, recordRestart } from './policy/restart.js';

type Update = Partial<ConnectionContext>;

const NO_TIMINGS = {
  configuringMs: null,
  queuedMs: null,
  launchingMs: null,
  handshakingMs: null,
  listingMs: null,
};

/** Widest spread of the single try each remote server gets when the network is back. */
const NETWORK_JITTER_MS = 2_000;

export function initialContext(input: ConnectionInput): ConnectionContext {
  return {
    ...input,
    intent: null,
    issued: input.generation,
    next: null,
    outdated: null,
    retiring: null,
    released: true,
    reportedSettled: false,
    unasked: false,
    attempt: 0,
    delayMs: 0,
    nextAttemptAt: null,
    losses: [],
    configHash: null,
    at: 0,
    readyAt: null,
    pid: null,
    url: null,
    server: null,
    counts: { tools: 0, resources: 0, resourceTemplates: 0, prompts: 0 },
    catalogHash: null,
    failure: null,
    lastExit: null,
    listChangedAt: null,
    extras: EVERYTHING,
    timings: NO_TIMINGS,
  };
}

/** What was launched once is wanted until it is idle: a lazy connection that is lost comes back. Every attempt is by the entry as it is now. */
export function beginAttempt(
  context: ConnectionContext,
  output: ResolveConfigOutput & { kind: 'resolved' },
): Update {
  return {
    ...takeOver(context),
    wanted: true,
    attempt: Math.min(context.attempt + 1, context.policy.maxAttempts),
    configHash: output.hash,
    at: output.at,
    nextAttemptAt: null,
    timings: { ...NO_TIMINGS, configuringMs: output.at - output.startedAt },
  };
}

export function beginSession(context: ConnectionContext): Update {
  const generation = context.issued + 1;
  return { generation, issued: generation, released: false };
}

export function recordOpened(context: ConnectionContext, output: OpenTransportOutput): Update {
  return {
    at: output.at,
    pid: output.pid,
    url: output.url,
    transport: output.transport,
    timings: {
      ...context.timings,
      queuedMs: context.at === 0 ? 0 : output.startedAt - context.at,
      launchingMs: output.at - output.startedAt,
    },
  };
}

export function recordHandshake(context: ConnectionContext, output: HandshakeOutput): Update {
  return {
    at: output.at,
    server: output.server,
    timings: { ...context.timings, handshakingMs: output.at - output.startedAt },
  };
}

export function recordListed(context: ConnectionContext, output: ListToolsOutput): Update {
  return {
    at: output.at,
    catalogHash: output.hash,
    counts: { ...context.counts, tools: output.tools },
    timings: { ...context.timings, listingMs: output.at - output.startedAt },
  };
}

/** A refresh in `ready` changes the catalog but not how long the attempt took. */
export function recordRefreshed(context: ConnectionContext, output: ListToolsOutput): Update {
  return {
    at: output.at,
    catalogHash: output.hash,
    counts: { ...context.counts, tools: output.tools },
  };
}

export function recordEnriched(context: ConnectionContext, output: EnrichCatalogOutput): Update {
  const { resources, resourceTemplates, prompts } = output;
  return { counts: { ...context.counts, resources, resourceTemplates, prompts } };
}

/** Whether one more change, told now, may put off the reading that the first one asked for. */
export function canWaitLonger({ policy }: ConnectionContext, since: number | null, at: number): boolean {
  return at - (since ?? at) <= policy.listChanged.maxWaitMs - policy.listChanged.debounceMs;
}

export function enterReady(context: ConnectionContext): Update {
  return { readyAt: context.at, failure: null, delayMs: 0, unasked: false, extras: EVERYTHING };
}

/** Would one more failure of this kind end the round? */
export function mustGiveUp(context: ConnectionContext, failure: Failure): boolean {
  const verdict = classify(failure);
  if (verdict === 'permanent') return true;
  if (isRenewal(failure)) return false;
  return isCrashLoop(context, failure) || context.attempt >= context.policy.maxAttempts;
}

/** Only the session is gone, the server is well: that uses up no attempt. */
function isRenewal(failure: Failure): boolean {
  return isLoss(failure) && classify(failure) === 'renew';
}

/** A failure of a session that had been ready, as opposed to one of an attempt. */
function isLoss(failure: Failure): boolean {
  return failure.phase === 'session';
}

function isCrashLoop(context: ConnectionContext, failure: Failure): boolean {
  return isLoss(failure) && !isRenewal(failure) && isTooOften(context, failure);
}

function isTooOften(context: ConnectionContext, failure: Failure): boolean {
  return recordRestart(context.losses, failure.at, context.policy.intensity).exceeded;
}

export function recordFailure(context: ConnectionContext, failure: Failure): Update {
  return {
    failure: isCrashLoop(context, failure) ? crashLoop(context, failure) : failure,
    lastExit: failure.exit ?? context.lastExit,
    at: failure.at,
    readyAt: null,
    pid: null,
  };
}

function crashLoop(context: ConnectionContext, failure: Failure): Failure {
  const { restarts, periodMs } = context.policy.intensity;
  return {
    ...failure,
    code: 'crash-loop',
    message: `Lost ${restarts} times within ${Math.round(periodMs / 1000)} s and given up; the last time: ${failure.message}`,
    hint: 'Find out why the server ends, then retry by hand.',
  };
}

/** When the next attempt is due: at once where the loss is forgiven, else after the backoff; never before the server asks. */
export function planRetry(context: ConnectionContext, failure: Failure): Update {
  const losses = isLoss(failure)
    ? recordRestart(context.losses, failure.at, lossWindow(context.policy)).times
    : context.losses;
  const most = isRenewal(failure) ? context.policy.maxAttempts - 1 : context.policy.maxAttempts;
  const attempt = Math.min(context.attempt, most);
  if (isForgiven(context, failure)) return { attempt, losses, delayMs: askedDelay(failure), unasked: true };
  const { delayMs, seed } = backoffDelay(
    { retry: Math.max(1, attempt), seed: context.seed },
    context.policy.backoff,
  );
  return { attempt, losses, seed, delayMs: Math.max(delayMs, askedDelay(failure)), unasked: true };
}

/** The first loss in a while is forgiven, and every session that only expired, unless they expire all the time. */
function isForgiven(context: ConnectionContext, failure: Failure): boolean {
  if (!isLoss(failure)) return false;
  const lastLossAt = context.losses.at(-1) ?? null;
  if (isRenewal(failure) && !isTooOften(context, failure)) return true;
  return isImmediateRetry(lastLossAt, failure.at, context.policy.immediateRetryWindowMs);
}

/** The longest wait a server may ask for with `Retry-After`. */
const LONGEST_ASKED_DELAY_MS = 300_000;

function askedDelay(failure: Failure): number {
  return Math.min(failure.http?.retryAfterMs ?? 0, LONGEST_ASKED_DELAY_MS);
}

/** Losses are remembered as long as either rule that looks at them needs it. */
function lossWindow(policy: ConnectionPolicy): { restarts: number; periodMs: number } {
  return {
    restarts: Math.max(1, policy.intensity.restarts),
    periodMs: Math.max(policy.intensity.periodMs, policy.immediateRetryWindowMs),
  };
}

/** The old session is proven gone. */
export function recordReleased(at: number): Update {
  return { at, pid: null, released: true, retiring: null };
}

/** The session ended as it was told to: what went wrong before no longer matters. */
export function recordClosed(at: number): Update {
  return { ...recordReleased(at), failure: null };
}

export function scheduleAttempt(context: ConnectionContext): Update {
  return { nextAttemptAt: context.at + context.delayMs };
}

/** Attempts and losses of the past are forgotten. */
export function startOver(): Update {
  return { attempt: 0, losses: [], delayMs: 0, nextAttemptAt: null, readyAt: null, unasked: false };
}

/** What a person asks for starts over, and wakes a lazy connection. */
export function newRound(): Update {
  return { ...startOver(), wanted: true };
}

export function planNetworkRetry(context: ConnectionContext, at: number): Update {
  const { delayMs, seed } = jitterOver(NETWORK_JITTER_MS, context.seed);
  return { at, delayMs, seed, nextAttemptAt: at + delayMs, unasked: true };
}

/** What could not be proven gone in time is gone now: the cause has passed. */
export function isReleasedLate({ failure }: ConnectionContext): boolean {
  return failure?.code === 'not-released';
}

/** Every attempt of the round has failed, for a cause that may pass. */
export function isExhausted({ failure }: ConnectionContext): boolean {
  if (failure === null) return false;
  const verdict = classify(failure);
  return verdict === 'retry' || verdict === 'renew';
}

/** The slow clock of a remote server that has given up: a quarter around its period. */
export function planSlowRetry(context: ConnectionContext): Update {
  const { remoteEveryMs } = context.policy.exhausted;
  const jitter = jitterOver(remoteEveryMs / 2, context.seed);
  const delayMs = Math.round(remoteEveryMs * 0.75) + jitter.delayMs;
  return { delayMs, seed: jitter.seed, nextAttemptAt: context.at + delayMs };
}

/** One try beyond the round, which stays exhausted: the next failure ends it at once. */
export function oneMoreTry(context: ConnectionContext, unasked: boolean): Update {
  return { attempt: context.policy.maxAttempts - 1, delayMs: 0, nextAttemptAt: null, unasked };
}

/** Long enough after the last attempt for a call to cause another. */
export function mayTryForCall({ failure, policy }: ConnectionContext, at: number): boolean {
  return failure !== null && Math.abs(at - failure.at) >= policy.exhausted.callAfterMs;
}

/** The shutdown is not the end. */
export function isReturning({ intent }: ConnectionContext): boolean {
  return intent === 'restart' || intent === 'reload' || intent === 'idle';
}

/** A restart wants the server whatever it was; an idle one is not wanted; the rest leave that as it is. */
export function beginShutdown(context: ConnectionContext, intent: StopIntent): Update {
  const wanted = intent === 'restart' || (intent !== 'idle' && context.wanted);
  return { intent, wanted, nextAttemptAt: null };
}

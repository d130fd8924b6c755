/** A context of each chart in which every field has a value. The types make a new field be added here. */
import type { LeaseContext } from '../../../../machines/lease/lease.machine.js';
import type { ConfigurationContext } from '../../../../machines/configuration/configuration.machine.js';
import type { ConnectionContext, NextTerms } from '../../../../machines/connection/connection.events.js';
import type { ManagerContext } from '../../../../machines/manager/manager.events.js';
import type { Failure, HttpRefusal } from '../../../../machines/policy/failure.js';
import type { ConnectionPolicy } from '../../../../machines/policy/policy.js';
import type { ReviewContext } from '../../../../machines/review/review.machine.js';
import type { SignInContext } from '../../../../machines/sign-in/sign-in.events.js';

/** Nothing optional, nothing null, at any depth. */
type Filled<T> = T extends readonly (infer E)[]
  ? readonly Filled<E>[]
  : T extends object
    ? { readonly [K in keyof T]-?: Filled<NonNullable<T[K]>> }
    : T;

const AT = 1_778_574_600_000;

const failure: Filled<Failure> = {
  code: 'internal',
  message: 'A sample.',
  phase: 'session',
  at: AT,
  hint: 'None.',
  url: 'http://localhost/mcp',
  exit: { code: 3, signal: 'SIGKILL' },
  http: { status: 500, bodyStart: '', wwwAuthenticate: '', retryAfterMs: 1 } satisfies Filled<HttpRefusal>,
  canSignIn: false,
  rpcCode: -32_000,
  stderrTail: [],
  stdoutTail: [],
};

const numbers: Omit<Filled<ConnectionPolicy>, 'backoff'> = {
  launchTimeoutMs: 1,
  handshakeTimeoutMs: 1,
  listTimeoutMs: 1,
  releaseTimeoutMs: 1,
  maxAttempts: 1,
  maxAttemptsOnceReady: 1,
  intensity: { restarts: 1, periodMs: 1 },
  signIns: { restarts: 1, periodMs: 1 },
  stableMs: 1,
  immediateRetryWindowMs: 1,
  exhausted: { callAfterMs: 1, remoteEveryMs: 1 },
  maxUnreachable: 1,
  maxSubscriptionTries: 1,
  ping: { idleMs: 1, timeoutMs: 1 },
  listChanged: { debounceMs: 1, maxWaitMs: 1 },
  stop: { drainMs: 1, deleteMs: 1, stdinEndMs: 1, termMs: 1 },
  idleStopMs: 1,
};

/** It has both kinds of backoff, in two places. */
const connection: Filled<ConnectionContext> = {
  name: 'files',
  transport: 'http',
  policy: { ...numbers, backoff: { kind: 'exponential', firstMs: 1, factor: 2, maxMs: 3, jitter: 1 } },
  seed: 1,
  generation: 1,
  online: true,
  wanted: true,
  crash: failure,
  isAttempted: true,
  issued: 1,
  next: {
    transport: 'http',
    policy: { ...numbers, backoff: { kind: 'fixed', delaysMs: [1] } },
    era: 'new',
  } satisfies Filled<NextTerms>,
  era: 'new',
  subscription: { tries: 1, since: AT },
  retiring: 1,
  stopReason: 'stop',
  unasked: false,
  attempt: 1,
  delayMs: 1,
  losses: [AT],
  signIns: [AT],
  at: AT,
  url: 'http://localhost/mcp',
  provenUrl: 'http://localhost/mcp',
  failure,
  tools: { reading: ['tools'], due: [], dueSince: AT },
  extras: { reading: ['prompts'], due: [], dueSince: AT },
};

const manager: Filled<ManagerContext> = {
  startSlots: 1,
  slotHoldMs: 1,
  startGateMs: 1,
  retryBurst: 1,
  retryEveryMs: 1,
  sharesRetries: true,
  holders: ['files'],
  waiting: [{ name: 'git', slot: true, retry: false, asksFleet: true }],
  retries: 1,
  unsettled: 1,
  alive: 1,
};

const configuration: Filled<ConfigurationContext> = {
  policy: { restMs: 1, mostMs: 1, retryAfterMs: [1] },
  readable: true,
  changedAt: AT,
  seenAt: AT,
  asked: 1,
  serving: false,
  retries: 1,
};

const signIn: Filled<SignInContext> = {
  server: 'files',
  attended: true,
  interactive: true,
  crash: 'A sample.',
  held: { token: 1, scopes: [], adopted: false, endsAt: AT, dueAt: AT },
  refused: 1,
  renewable: false,
  ledger: { asked: [], wanted: [] },
  challenged: [],
  renewal: { cause: 'due', scopes: [] },
  attempt: 1,
  waiting: 1,
  asking: [],
  answers: [1],
  failure,
};

const lease: Filled<LeaseContext> = {
  server: 'files',
  policy: { ttlMs: 1, renewMs: 1, retryMs: 1, askMs: 1 },
  token: '1',
  wanted: true,
  crashed: true,
};

const print = { tool: 'read', fingerprint: '0a' };

const review: Filled<ReviewContext> = {
  server: 'files',
  listed: [print],
  accepted: [print],
  held: [{ ...print, reason: 'new' }],
  unkept: [print],
  due: true,
  outdated: true,
};

export const FILLED: Readonly<Record<string, object>> = {
  connection,
  manager,
  configuration,
  signIn,
  lease,
  review,
};

/**
 * The connection chart with every event that can happen to it, ready for `edgePaths`: a host can walk every transition of
 * a connection through its own window, log or service.
 *
 * Time stands still in the model: every `at` is `MODEL_START`, or `LONG_AFTER` later if a rule depends on elapsed time.
 */
import { crashFailure } from '../../machines/connection/connection.crash.js';
import type { AnyMachineSnapshot, EventObject } from 'xstate';
import type {
  ConnectionContext,
  ConnectionEvent,
  ConnectionInput,
  ServerIdentity,
} from '../../machines/connection/connection.events.js';
import type { connectionMachine } from '../../machines/connection/connection.machine.js';
import { managed } from '../../machines/connection/connection.managed.js';
import { METHOD_NOT_FOUND } from '../../machines/connection/connection.setup.js';
import type { Failure, FailureCode, Verdict } from '../../machines/policy/failure.js';
import { DEFAULT_POLICY, type ConnectionPolicy } from '../../machines/policy/policy.js';
import { NEW_VERSION } from '../../machines/policy/protocol-era.js';
import { doneEvent, errorEvent, type EdgeOptions } from './edge-paths.js';

/** The time of everything that happens in the model, in milliseconds since the epoch. */
export const MODEL_START = 1_000_000;

/** Milliseconds after which a call may start another attempt, and a burst of changes has lasted too long. */
export const PAST_ALL_TIMERS_MS = 600_000;

/** Few attempts and sign-ins, so that the paths to their limits are short. Losses have no limit, or a limit of 0. */
const MODEL_POLICY: ConnectionPolicy = {
  ...DEFAULT_POLICY,
  maxAttempts: 2,
  maxSubscriptionTries: 1,
  backoff: { kind: 'fixed', delaysMs: [1_000] },
  intensity: { restarts: 0, periodMs: 30_000 },
  signIns: { restarts: 1, periodMs: 60_000 },
};

/** Options of `edgePaths` for the connection chart, together with the chart. */
export interface ConnectionModel extends EdgeOptions {
  /** The connection chart, as a child of a manager. */
  readonly machine: typeof connectionMachine;
  readonly inputs: readonly unknown[];
  readonly events: (snapshot: AnyMachineSnapshot) => readonly EventObject[];
  readonly key: (snapshot: AnyMachineSnapshot) => readonly string[];
  readonly maxSnapshots: number;
}

const SERVER: ServerIdentity = {
  info: { name: 'sample', version: '1.0.0' },
  capabilities: {},
  protocolVersion: '2025-11-25',
  instructions: null,
};

/** In this model, servers in the process speak the new era, and others the old one. */
const STATELESS_SERVER = { ...SERVER, protocolVersion: NEW_VERSION };

const CODES: Readonly<Record<Verdict, FailureCode>> = {
  retry: 'connection-lost',
  renew: 'session-expired',
  authorize: 'auth-required',
  permanent: 'command-not-found',
};

/**
 * The connection chart with inputs and events that reach every transition, for `edgePaths(model.machine,
 * model)`. The connection is called `files`.
 *
 * @example
 * ```ts
 * import { connectionModel, edgePaths } from 'mcp-troupe/testing';
 *
 * const model = connectionModel();
 * console.log(edgePaths(model.machine, model).missing);
 * ```
 */
export function connectionModel(): ConnectionModel {
  return {
    machine: managed(),
    inputs: [
      start({ transport: 'stdio' }),
      start({ transport: 'stdio', wanted: false }),
      start({ transport: 'stdio', crash: crashFailure('on purpose', 0), isAttempted: true }),
      start({ transport: 'http' }),
      start({ transport: 'in-process' }),
      start({ transport: 'http', online: false }),
      start({ policy: { ...MODEL_POLICY, intensity: { restarts: 1, periodMs: 30_000 } } }),
      start({ crash: { ...failureOf('permanent', 'session'), code: 'internal' } }),
      start({
        transport: 'http',
        policy: { ...MODEL_POLICY, exhausted: { callAfterMs: 30_000, remoteEveryMs: 0 } },
      }),
    ],
    events: (snapshot) => connectionEvents(snapshot, MODEL_START),
    key: pairs(),
    maxSnapshots: 30_000,
  };
}

function start(more: Partial<ConnectionInput>): ConnectionInput {
  return {
    name: 'files',
    transport: 'stdio',
    policy: MODEL_POLICY,
    seed: 1,
    generation: 0,
    online: true,
    wanted: true,
    crash: null,
    isAttempted: false,
    ...more,
  };
}

const contextOf = (snapshot: AnyMachineSnapshot): ConnectionContext => snapshot.context as ConnectionContext;

/**
 * Every pair of facts that guards read: an active state and another one in a parallel region, a state and a number, and so on.
 * No guard reads more than two together, and the product of all facts is a hundred times larger.
 */
function pairs(): (snapshot: AnyMachineSnapshot) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (snapshot) => {
    const facts = factsOf(snapshot);
    const all = facts.join(' ');
    const found = known.get(all);
    if (found !== undefined) return found;
    const group = facts[0]?.split('.')[1] ?? '';
    const made = facts.flatMap((fact, at) => facts.slice(at + 1).map((other) => `${group} ${fact} ${other}`));
    known.set(all, made);
    return made;
  };
}

function factsOf(snapshot: AnyMachineSnapshot): readonly string[] {
  const {
    transport,
    era,
    policy,
    attempt,
    failure,
    unasked,
    signIns,
    wanted,
    online,
    next,
    retiring,
    ...rest
  } = contextOf(snapshot);
  const { tools, extras, subscription } = rest;
  const states = snapshot._nodes
    .filter(({ type }) => type === 'atomic' || type === 'final')
    .map(({ id }) => id);
  return [
    ...states,
    `${transport} ${era} ${policy.exhausted.remoteEveryMs} ${policy.intensity.restarts}`,
    `attempt ${attempt} ${failure === null}`,
    `unasked ${unasked}`,
    `signIns ${signIns.length}`,
    `wanted ${wanted}`,
    `online ${online}`,
    `next ${next === null}`,
    `retiring ${retiring === null}`,
    `tools ${tools.dueSince === null}`,
    `extras ${extras.dueSince === null}`,
    `subscription ${subscription.tries} ${subscription.since === null}`,
  ];
}

/** Every event that can happen to a connection in that snapshot, with samples of its data. All happen at the time `at`. */
export function connectionEvents(snapshot: AnyMachineSnapshot, at: number): EventObject[] {
  return [...endsOf(snapshot, at), ...timersOf(snapshot), ...eventsTo(snapshot, at)];
}

/** A failure for each outcome that the guards of the chart distinguish. */
function failureOf(verdict: Verdict, phase: Failure['phase'], at = MODEL_START): Failure {
  return { code: CODES[verdict], message: `A sample of '${verdict}'.`, phase, at };
}

/** The end of every running effect, with each outcome that makes a difference. */
function endsOf(snapshot: AnyMachineSnapshot, at: number): EventObject[] {
  return snapshot._nodes
    .flatMap((node) => node.invoke)
    .map(({ id, src }) => ({ id, slot: typeof src === 'string' ? src : id }))
    .filter(({ slot }) => slot !== 'watchSession')
    .flatMap(({ id, slot }) => [
      ...outputsOf(slot, contextOf(snapshot)).map((output) =>
        doneEvent(id, { startedAt: at, at, ...output }),
      ),
      ...failuresOf(slot).map((failure) => errorEvent(id, { ...failure, at })),
    ]);
}

function outputsOf(slot: string, { transport, next }: ConnectionContext): object[] {
  switch (slot) {
    case 'resolveConfig':
      return [{ kind: 'resolved' }, { kind: 'untrusted' }, { kind: 'dormant' }];
    case 'openTransport':
      return [
        { transport: next?.transport ?? transport, pid: transport === 'stdio' ? 4_711 : null, url: null },
      ];
    case 'handshake':
      return [{ server: (next?.transport ?? transport) === 'in-process' ? STATELESS_SERVER : SERVER }];
    case 'subscribe':
      return [{ isOpen: true }, { isOpen: false }];
    case 'enrichCatalog':
      return [{ resources: 0, resourceTemplates: 0, prompts: 0 }];
    case 'adoptTools':
      return [{ hash: 'catalog-1', tools: 3 }];
    default:
      return [{}];
  }
}

function failuresOf(slot: string): Failure[] {
  switch (slot) {
    case 'resolveConfig':
      return [
        failureOf('retry', 'configure'),
        failureOf('authorize', 'configure'),
        failureOf('permanent', 'configure'),
      ];
    case 'openTransport':
    case 'handshake':
    case 'readTools':
    case 'adoptTools':
      return [
        failureOf('retry', 'launch'),
        failureOf('authorize', 'launch'),
        failureOf('permanent', 'launch'),
      ];
    case 'subscribe':
      return [failureOf('retry', 'session'), { ...failureOf('retry', 'session'), rpcCode: METHOD_NOT_FOUND }];
    case 'authorize':
      return [failureOf('retry', 'handshake'), failureOf('permanent', 'handshake')];
    case 'probe':
      return [
        failureOf('retry', 'session'),
        failureOf('authorize', 'session'),
        failureOf('permanent', 'session'),
      ];
    case 'releaseSession':
    case 'closeSession':
    case 'killSession':
      return [{ ...failureOf('permanent', 'release'), code: 'not-released' }];
    default:
      return [failureOf('retry', 'list')];
  }
}

function timersOf(snapshot: AnyMachineSnapshot): EventObject[] {
  return snapshot._nodes.flatMap((node) => node.after.map(({ eventType }) => ({ type: String(eventType) })));
}

/** Commands and facts, including the facts of a watched session if there is one. */
function eventsTo(snapshot: AnyMachineSnapshot, at: number): ConnectionEvent[] {
  const { generation, policy } = contextOf(snapshot);
  const always: ConnectionEvent[] = [
    { type: 'connection.start' },
    { type: 'connection.stop', reason: 'stop' },
    { type: 'connection.retry' },
    { type: 'connection.restart' },
    { type: 'connection.refresh' },
    { type: 'connection.reload', transport: 'http', policy, wanted: false },
    { type: 'connection.reload', transport: 'stdio', policy, wanted: true },
    { type: 'trust.granted' },
    { type: 'trust.denied' },
    { type: 'slot.granted' },
    { type: 'network.online', at },
    { type: 'network.offline' },
    { type: 'clock.jumped' },
    { type: 'policy.changed', policy },
    { type: 'call.waiting', at: at + PAST_ALL_TIMERS_MS },
  ];
  if (!snapshot.hasTag('usable')) return always;
  return [
    ...always,
    ...(['retry', 'authorize', 'permanent'] as const).map((verdict) => ({
      type: 'session.lost' as const,
      generation,
      failure: failureOf(verdict, 'session', at),
    })),
    ...[1, policy.maxUnreachable].map((count) => ({
      type: 'session.unreachable' as const,
      generation,
      count,
      failure: failureOf('retry', 'session', at),
    })),
    { type: 'session.stable', generation },
    { type: 'session.idle', generation },
    { type: 'session.quiet', generation },
    { type: 'subscription.ended', generation, at },
    { type: 'subscription.wanted', generation },
    ...[at, at + PAST_ALL_TIMERS_MS].flatMap((changedAt): ConnectionEvent[] => [
      { type: 'catalog.listChanged', generation, at: changedAt },
      { type: 'catalog.extrasChanged', generation, at: changedAt, list: 'resources' },
    ]),
  ];
}

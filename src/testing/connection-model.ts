/**
 * The connection chart, with everything that can happen to it, ready for `edgePaths`: so that a host can walk every
 * transition of a connection through its own window, log or service.
 *
 * Time stands still in it: every `at` is `MODEL_START`, or `LONG_AFTER` it where a rule asks how long ago something was.
 */
import type { AnyMachineSnapshot, EventObject } from 'xstate';
import type {
  ConnectionContext,
  ConnectionEvent,
  ConnectionInput,
  PreparedSession,
  ServerIdentity,
  TransportKind,
} from '../../machines/connection.events.js';
import { connectionMachine } from '../../machines/connection.machine.js';
import { classify, type Failure, type FailureCode, type Verdict } from '../../machines/policy/failure.js';
import { DEFAULT_POLICY, type ConnectionPolicy } from '../../machines/policy/policy.js';
import { doneEvent, errorEvent, type EdgeOptions } from './edge-paths.js';

/** The time of everything that happens in the model, in milliseconds since the epoch. */
export const MODEL_START = 1_000_000;

/** So much later a call may cause another try, and a storm of changes has lasted too long. */
export const LONG_AFTER = 600_000;

/** Few attempts and few losses, so that the shortest ways to their limits are short. */
const MODEL_POLICY: ConnectionPolicy = {
  ...DEFAULT_POLICY,
  maxAttempts: 2,
  backoff: { kind: 'fixed', delaysMs: [1_000] },
  intensity: { restarts: 2, periodMs: 30_000 },
};

export interface ConnectionModel extends EdgeOptions {
  readonly machine: typeof connectionMachine;
  readonly inputs: readonly unknown[];
  readonly events: (snapshot: AnyMachineSnapshot) => readonly EventObject[];
  readonly key: (snapshot: AnyMachineSnapshot) => string;
  readonly limit: number;
}

const SERVER: ServerIdentity = {
  info: { name: 'sample', version: '1.0.0' },
  capabilities: {},
  protocolVersion: '2025-11-25',
  instructions: null,
};

const SETTLED = { startedAt: MODEL_START, at: MODEL_START };

const CODES: Readonly<Record<Verdict, FailureCode>> = {
  retry: 'connection-lost',
  renew: 'session-expired',
  authorize: 'auth-required',
  permanent: 'command-not-found',
};

/** To be given to `edgePaths(model.machine, model)`. The connection is called `files`. */
export function connectionModel(): ConnectionModel {
  return {
    machine: connectionMachine,
    inputs: [
      start({ transport: 'stdio' }),
      start({ transport: 'stdio', wanted: false }),
      start({ transport: 'http' }),
      start({ transport: 'http', online: false }),
      start({
        transport: 'http',
        policy: { ...MODEL_POLICY, exhausted: { callAfterMs: 30_000, remoteEveryMs: 0 } },
      }),
    ],
    events: (snapshot) => [...endsOf(snapshot), ...timersOf(snapshot), ...toldTo(snapshot)],
    key: keyOf,
    limit: 20_000,
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
    cached: false,
    ...more,
  };
}

const contextOf = (snapshot: AnyMachineSnapshot): ConnectionContext => snapshot.context as ConnectionContext;

/** What the guards of the chart ask for. */
function keyOf(snapshot: AnyMachineSnapshot): string {
  const context = contextOf(snapshot);
  const { transport, attempt, online, released, intent, wanted, unasked, failure, losses, listChangedAt } =
    context;
  return JSON.stringify([
    snapshot.value,
    [transport, attempt, online, released, intent, wanted, unasked, losses.length],
    [
      listChangedAt === null,
      context.extras.dueSince === null,
      context.next === null,
      context.retiring === null,
    ],
    [failure === null ? null : classify(failure), failure?.code === 'not-released'],
    context.policy.exhausted.remoteEveryMs,
  ]);
}

function failureOf(verdict: Verdict, phase: Failure['phase']): Failure {
  return { code: CODES[verdict], message: `A sample of '${verdict}'.`, phase, at: MODEL_START };
}

/** Both ends of everything that runs, with every outcome that makes a difference. */
function endsOf(snapshot: AnyMachineSnapshot): EventObject[] {
  return snapshot._nodes
    .flatMap((node) => node.invoke)
    .map(({ id, src }) => ({ id, slot: typeof src === 'string' ? src : id }))
    .filter(({ slot }) => slot !== 'watchSession')
    .flatMap(({ id, slot }) => [
      ...outputsOf(slot, contextOf(snapshot)).map((output) => doneEvent(id, { ...SETTLED, ...output })),
      ...failuresOf(slot).map((failure) => errorEvent(id, failure)),
    ]);
}

function outputsOf(slot: string, { transport, next }: ConnectionContext): object[] {
  switch (slot) {
    case 'resolveConfig':
      return [{ kind: 'resolved', hash: 'config-1' }, { kind: 'untrusted' }, { kind: 'dormant' }];
    case 'openTransport':
      return [{ transport, pid: transport === 'stdio' ? 4_711 : null, url: null }];
    case 'handshake':
      return [{ server: SERVER }];
    case 'listTools':
      return [{ hash: 'catalog-1', tools: 3 }];
    case 'enrichCatalog':
      return [{ resources: 0, resourceTemplates: 0, prompts: 0 }];
    case 'prepareSession':
      return [{ kind: 'prepared', ...prepared(next?.transport ?? transport) }, { kind: 'untrusted' }];
    default:
      return [{}];
  }
}

function prepared(transport: TransportKind): PreparedSession {
  return {
    configHash: 'config-2',
    transport,
    pid: null,
    url: null,
    server: SERVER,
    catalogHash: 'catalog-2',
    tools: 3,
    timings: { configuringMs: 0, queuedMs: 0, launchingMs: 0, handshakingMs: 0, listingMs: 0 },
  };
}

function failuresOf(slot: string): Failure[] {
  const release = { ...failureOf('permanent', 'release'), code: 'not-released' as const };
  switch (slot) {
    case 'openTransport':
    case 'handshake':
    case 'listTools':
      return [
        failureOf('retry', 'launch'),
        failureOf('authorize', 'launch'),
        failureOf('permanent', 'launch'),
      ];
    case 'probe':
      return [
        failureOf('retry', 'session'),
        failureOf('authorize', 'session'),
        failureOf('permanent', 'session'),
      ];
    case 'prepareSession':
      return [failureOf('retry', 'launch'), failureOf('authorize', 'launch')];
    case 'releaseSession':
    case 'closeSession':
    case 'killSession':
      return [release];
    default:
      return [failureOf('retry', 'list')];
  }
}

function timersOf(snapshot: AnyMachineSnapshot): EventObject[] {
  return snapshot._nodes.flatMap((node) => node.after.map(({ eventType }) => ({ type: String(eventType) })));
}

/** Commands and facts; those of a watched session where there is one. */
function toldTo(snapshot: AnyMachineSnapshot): ConnectionEvent[] {
  const { generation, policy } = contextOf(snapshot);
  const told: ConnectionEvent[] = [
    { type: 'connection.start' },
    { type: 'connection.stop', reason: 'stop' },
    { type: 'connection.retry' },
    { type: 'connection.restart' },
    { type: 'connection.refresh' },
    { type: 'connection.reload', transport: 'http', policy },
    { type: 'connection.reload', transport: 'stdio', policy },
    { type: 'trust.granted' },
    { type: 'trust.denied' },
    { type: 'slot.granted' },
    { type: 'network.online', at: MODEL_START },
    { type: 'network.offline' },
    { type: 'clock.jumped' },
    { type: 'policy.changed', policy },
    { type: 'call.waiting', at: MODEL_START + LONG_AFTER },
  ];
  if (!snapshot.matches('ready')) return told;
  return [
    ...told,
    ...(['retry', 'authorize', 'permanent'] as const).map((verdict) => ({
      type: 'session.lost' as const,
      generation,
      failure: failureOf(verdict, 'session'),
    })),
    { type: 'session.stable', generation },
    { type: 'session.idle', generation },
    { type: 'session.quiet', generation },
    ...[MODEL_START, MODEL_START + LONG_AFTER].flatMap((at): ConnectionEvent[] => [
      { type: 'catalog.listChanged', generation, at },
      { type: 'catalog.extrasChanged', generation, at, list: 'resources' },
    ]),
  ];
}

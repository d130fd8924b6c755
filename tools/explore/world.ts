/**
 * The knowledge of the exploration about the charts: the possible events in a state, the possible ends of an effect, which
 * states count as equal, and the invariants. Everything that names a state, an effect or a field of a context is here;
 * therefore the file has over 300 lines.
 *
 * A1. Times are reduced to what guards test: "lately" or "long ago", chosen again with every event that has a time.
 * A2. Counters stay below small limits (`POLICY`); generations are kept relative to the current one.
 * A3. A field that no guard, delay or input reads is a constant; so is a field that will be written before it is read.
 * A4. Sessions are modelled separately from the chart, by the results of the effects. An effect that reports the end of a
 *     session has ended it; an effect that reports a failure to end it may have ended it anyway.
 */
import type { AnyEventObject, StateValue } from 'xstate';
import { remainsOf } from '../../machines/connection/connection.crash.js';
import type {
  ConnectionContext,
  ConnectionInput,
  OpenTransportInput,
  SessionKey,
  TransportKind,
} from '../../machines/connection/connection.events.js';
import { managed } from '../../machines/connection/connection.managed.js';
import { initialContext } from '../../machines/connection/connection.update.js';
import { LIST_GROUPS } from '../../machines/connection/list-plan.js';
import type { ChildSpec, ManagerContext, ManagerInput } from '../../machines/manager/manager.events.js';
import { managerMachine } from '../../machines/manager/manager.machine.js';
import type { Failure } from '../../machines/policy/failure.js';
import { DEFAULT_POLICY, type ConnectionPolicy } from '../../machines/policy/policy.js';
import { publicState } from '../../machines/connection/public-state.js';
import { hasTag } from '../../machines/connection/connection.states.js';
import type { Place, Step } from './pure-actor.js';

export { managerMachine };
export const connectionMachine = managed();

const NOW = 1_000_000;
/** Longer than every window of the policy. */
const LONG = 100_000;

const POLICY: ConnectionPolicy = {
  ...DEFAULT_POLICY,
  maxAttempts: 2,
  backoff: { kind: 'fixed', delaysMs: [1_000] },
  intensity: { restarts: 2, periodMs: 10_000 },
  signIns: { restarts: 2, periodMs: 10_000 },
  immediateRetryWindowMs: 10_000,
  exhausted: { callAfterMs: 10_000, remoteEveryMs: 10_000 },
  listChanged: { debounceMs: 300, maxWaitMs: 2_000 },
  idleStopMs: 60_000,
};

export const MANAGER_INPUT: ManagerInput = {
  startSlots: 1,
  slotHoldMs: 60_000,
  startGateMs: 60_000,
  retryBurst: 1,
  retryEveryMs: 1_000,
};

/** The generations of the current session, of a successor, and of all older ones. */
const IN_USE = 10;
const SUCCESSOR = 11;
const FORMER = 9;

const FAILURES = {
  retry: failure('connection-lost'),
  renew: failure('session-expired'),
  authorize: failure('auth-required'),
  permanent: failure('protocol-version'),
  unreleased: failure('not-released'),
};

type FailureKind = keyof typeof FAILURES;

function failure(code: Failure['code']): Failure {
  return { code, message: '', phase: 'session', at: NOW };
}

/** A session that may be alive. */
interface Live {
  readonly generation: number;
  readonly isStdio: boolean;
  /** Whether the wait for its end timed out. */
  readonly isGivenUp: boolean;
}

export interface Unit extends Place<ConnectionContext> {
  /** `crashed`: the actor died of an internal error and is not replaced yet. */
  readonly fate: 'unborn' | 'alive' | 'ended' | 'crashed';
  readonly live: readonly Live[];
  /** Generation that the entry was resolved for, until its session is opened. */
  readonly planned: number | null;
  /** Whether calls wait for a session. */
  readonly hasCall: boolean;
}

/** An external event of a connection: an event for its actor, or a change of what it has left behind. */
export interface Happening {
  readonly label: string;
  /** Whether it happens by itself sooner or later if nothing interferes. */
  readonly isProgress: boolean;
  /** Whether it cannot repeat forever in a fair run. */
  readonly isBadLuck?: boolean;
  readonly event?: AnyEventObject;
  /** Applied before the actor receives the event. */
  readonly change?: Partial<Pick<Unit, 'live' | 'hasCall' | 'fate' | 'planned'>>;
  /** The event that the manager receives. */
  readonly report?: AnyEventObject;
}

/** The input of a connection. `*` stands for its name. */
export function firstInput(transport: TransportKind): ConnectionInput {
  return { ...specOf('*', transport).input, online: true, crash: null, isAttempted: false };
}

function specOf(name: string, transport: TransportKind): ChildSpec {
  return {
    source: '',
    input: { name, transport, policy: POLICY, seed: 1, generation: 0, wanted: false },
  };
}

function isAt(value: StateValue, path: string): boolean {
  let below: StateValue | undefined = value;
  for (const key of path.split('.')) {
    if (typeof below === 'string') return below === key;
    if (below === undefined || !(key in below)) return false;
    below = below[key];
  }
  return true;
}

// Equality of states.

export function canonicalUnit(unit: Unit): Unit {
  const { value, context, timers, live, planned, hasCall, fate } = unit;
  if (fate === 'ended' || fate === 'crashed') return remainderOf(unit);
  const isPreparing = isAt(value, 'ready.succession.preparing');
  const relative = (generation: number): number => {
    if (generation === context.generation) return IN_USE;
    return isPreparing && generation === context.issued ? SUCCESSOR : FORMER;
  };
  const mayOpen = isPreparing || isAt(value, 'starting.launching.waitingForSlot');
  return {
    value,
    context: { ...canonicalContext(context, value), issued: isPreparing ? SUCCESSOR : IN_USE },
    timers,
    live: distinct(live.map((each) => ({ ...each, generation: relative(each.generation) }))),
    // A first session has the generation after the issued one, a successor the issued one itself.
    planned:
      mayOpen && planned !== null ? planned - context.issued + (isPreparing ? SUCCESSOR : IN_USE) : null,
    hasCall,
    fate,
  };
}

/** The policy is the same everywhere. */
export function keyOfUnit({ context, ...unit }: Unit): unknown {
  return { ...unit, context: { ...context, policy: null, next: context.next?.transport } };
}

function distinct(live: readonly Live[]): readonly Live[] {
  const keyed = new Map(live.map((each) => [JSON.stringify(each), each]));
  return [...keyed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** Of an ended actor, only what its manager and its next incarnation need is left. */
function remainderOf({ context, live, hasCall, fate }: Unit): Unit {
  const last = { ...initialContext(firstInput(context.transport)), generation: IN_USE, issued: IN_USE };
  const isLeft = fate === 'crashed';
  return { value: '', context: last, timers: [], live: isLeft ? live : [], planned: null, hasCall, fate };
}

function canonicalContext(context: ConnectionContext, value: StateValue): ConnectionContext {
  const { policy } = context;
  const isReady = isAt(value, 'ready');
  const due = { due: ['tools' as const], dueSince: NOW };
  return {
    name: '*',
    transport: context.transport,
    policy: POLICY,
    seed: 1,
    generation: IN_USE,
    online: context.online,
    wanted: context.wanted,
    crash: context.crash === null ? null : FAILURES.permanent,
    issued: IN_USE,
    next:
      context.next === null
        ? null
        : {
            transport: context.next.transport,
            policy: POLICY,
            ...(context.next.era !== undefined && { era: context.next.era }),
          },
    retiring: context.retiring === null ? null : FORMER,
    stopReason: 'stop',
    isAttempted: context.isAttempted,
    unasked: context.unasked,
    attempt: context.attempt,
    delayMs: 0,
    losses: context.losses.slice(0, policy.intensity.restarts - 1).map(() => NOW),
    signIns: context.signIns.slice(0, policy.signIns.restarts).map(() => NOW),
    at: NOW,
    url: null,
    provenUrl: null,
    era: context.era,
    subscription: isReady ? { ...context.subscription, since: null } : { tries: 0, since: null },
    failure: isAt(value, 'failed') && context.failure !== null ? FAILURES.retry : null,
    tools: { ...LIST_GROUPS.tools, ...(isReady && context.tools.dueSince !== null ? due : {}) },
    extras: { ...LIST_GROUPS.extras, ...(isReady && context.extras.dueSince !== null ? due : {}) },
  };
}

export function canonicalManager({ value, context, timers }: Place<ManagerContext>): Place<ManagerContext> {
  const isCounting = isAt(value, 'phase.starting');
  return {
    value,
    context: {
      ...context,
      unsettled: isCounting ? context.unsettled : 0,
    },
    timers,
  };
}

// Ends of effects.

interface Outcome {
  readonly label: string;
  readonly output?: object;
  readonly failure?: Failure;
  readonly at?: number;
  readonly change?: Happening['change'];
  readonly isBadLuck?: boolean;
}

const AGES = [
  ['', NOW],
  [', long after the last', NOW + LONG],
] as const;

const succeeds: Outcome = { label: 'succeeds', output: {} };
const allEnd: Outcome = { ...succeeds, change: { live: [] } };

function failsAs(phase: Failure['phase'], ...kinds: readonly FailureKind[]): readonly Outcome[] {
  return kinds.map((kind) => ({ label: `fails (${kind})`, failure: { ...FAILURES[kind], phase } }));
}

/** A ready session is lost, soon or long after the previous loss. */
const losses = (['retry', 'renew', 'authorize', 'permanent'] as const).flatMap((kind) =>
  AGES.map(([age, at]) => ({ label: `${kind}${age}`, failure: { ...FAILURES[kind], at } })),
);

/** As with an HTTP server that allows one session per client. */
const refusedBeside: Outcome = {
  label: 'fails (refused beside the other)',
  failure: { ...failure('http-status'), phase: 'handshake', http: { status: 409 } },
};

/** Not in time; the operating system or the server will have ended it by the next attempt. */
const couldNotEnd = failsAs('release', 'unreleased').map((one) => ({ ...one, isBadLuck: true }));

/** Success first, which is the shortest path to a settled state. */
const OUTCOMES: Readonly<Record<string, (unit: Unit, id: string) => readonly Outcome[]>> = {
  resolveConfig: ({ context, value }) => {
    const isSuccessor = isAt(value, 'ready');
    const planned = isSuccessor ? context.issued : context.issued + 1;
    const mayRest = !isSuccessor && !context.wanted;
    return [
      { label: 'resolves', output: { kind: 'resolved' }, change: { planned } },
      { label: 'finds it untrusted', output: { kind: 'untrusted' } },
      ...(mayRest ? [{ label: 'finds it dormant', output: { kind: 'dormant' } }] : []),
      ...failsAs('configure', 'retry', 'permanent'),
    ];
  },
  openTransport: ({ context, live }, id) => {
    const isSuccessor = id === 'openSuccessor';
    const { transport } = (isSuccessor ? context.next : null) ?? context;
    const isOpen = live.some(({ generation }) => generation === SUCCESSOR);
    if (isSuccessor && !isOpen) {
      // A session that could not be ended is ended before the next begins, or none begins.
      const inUse = live.filter(({ generation }) => generation === IN_USE);
      const begun: Live = { generation: SUCCESSOR, isStdio: transport === 'stdio', isGivenUp: false };
      return [{ label: 'begins its session', change: { live: [...inUse, begun] } }, ...couldNotEnd];
    }
    return [
      { label: 'succeeds', output: { transport, pid: null, url: null } },
      ...failsAs('launch', 'retry', 'permanent', 'authorize'),
    ];
  },
  handshake: (_, id) => [
    { label: 'succeeds', output: { server: null } },
    ...failsAs('handshake', 'retry', 'permanent', 'authorize'),
    ...(id === 'handshakeSuccessor' ? [refusedBeside] : []),
  ],
  subscribe: () => [
    { label: 'succeeds', output: { isOpen: true } },
    { label: 'has nothing to report', output: { isOpen: false } },
    ...failsAs('session', 'retry'),
  ],
  readTools: () => [succeeds, ...failsAs('list', 'retry', 'renew', 'permanent', 'authorize')],
  adoptTools: () => [
    { label: 'succeeds', output: { hash: '', tools: 0 } },
    ...failsAs('list', 'retry', 'permanent'),
  ],
  enrichCatalog: () => [
    { label: 'succeeds', output: { resources: 0, resourceTemplates: 0, prompts: 0 } },
    ...failsAs('list', 'retry'),
  ],
  authorize: () => [
    ...AGES.map(([age, at]) => ({ label: `succeeds${age}`, output: {}, at })),
    ...failsAs('handshake', 'retry', 'permanent'),
  ],
  probe: () => [succeeds, ...losses.map((loss) => ({ ...loss, label: `fails (${loss.label})` }))],
  retireSession: ({ live }, id) => {
    const isRetired = ({ generation, isGivenUp }: Live): boolean =>
      generation === (id === 'discardSuccessor' ? SUCCESSOR : FORMER) && !isGivenUp;
    return [
      { ...succeeds, change: { live: live.filter((each) => !isRetired(each)) } },
      ...couldNotEnd.map((one) => ({
        ...one,
        change: { live: live.map((each) => (isRetired(each) ? { ...each, isGivenUp: true } : each)) },
      })),
    ];
  },
  releaseSession: () => [allEnd, ...couldNotEnd],
  drainCalls: () => [succeeds, ...failsAs('release', 'retry')],
  closeSession: () => [allEnd, ...couldNotEnd],
  killSession: () => [allEnd, ...couldNotEnd],
  watchSession: () => [],
};

// Possible events.

const COMMANDS: readonly Happening[] = [
  happens('connection.start'),
  happens('connection.stop', { reason: 'stop' }),
  happens('connection.retry'),
  happens('connection.restart'),
  happens('connection.refresh'),
  ...(['stdio', 'http'] as const).flatMap((transport) =>
    [true, false].map((wanted) =>
      happens(
        'connection.reload',
        { transport, policy: POLICY, wanted },
        `${transport}${wanted ? ', wanted' : ''}`,
      ),
    ),
  ),
  happens('trust.granted'),
  happens('trust.denied'),
  happens('policy.changed', { policy: POLICY }),
];

const WATCHED: readonly Happening[] = [
  ...losses.map(({ label, failure }) => happens('session.lost', { generation: IN_USE, failure }, label)),
  ...losses.map(({ label, failure }) =>
    happens('session.unreachable', { generation: IN_USE, count: POLICY.maxUnreachable, failure }, label),
  ),
  happens('session.unreachable', { generation: IN_USE, count: 1, failure: FAILURES.retry }, 'once'),
  ...['session.stable', 'session.idle', 'session.quiet'].map((type) => happens(type, { generation: IN_USE })),
  ...AGES.flatMap(([age, at]) => [
    happens('catalog.listChanged', { generation: IN_USE, at }, `again${age}`),
    happens('catalog.extrasChanged', { generation: IN_USE, at, list: 'resources' }, `again${age}`),
  ]),
];

function happens(type: string, more: object = {}, words = ''): Happening {
  return { label: words === '' ? type : `${type} (${words})`, isProgress: false, event: { type, ...more } };
}

export function happeningsTo(unit: Unit): readonly Happening[] {
  const { fate, timers, value } = unit;
  if (fate === 'unborn') return [];
  if (fate === 'crashed')
    return [{ label: 'what it left is ended', isProgress: true, change: { fate: 'ended' } }];
  const calls = callHappenings(unit);
  if (fate === 'ended') return calls;
  const effects = connectionMachine
    .resolveState({ value, context: unit.context })
    ._nodes.flatMap(({ invoke }) => invoke);
  return [
    ...calls.filter(({ isProgress }) => isProgress),
    ...effects.flatMap(({ id, src }) => (typeof src === 'string' ? endsOf(unit, id, src) : [])),
    ...timers.map((type) => ({ label: `time for ${type}`, isProgress: true, event: { type } })),
    ...COMMANDS,
    ...(effects.some(({ src }) => src === 'watchSession') ? WATCHED : []),
    ...calls.filter(({ isProgress }) => !isProgress),
    dies(unit, 'its actor dies', { type: 'policy.changed' }),
    dies(unit, 'its actor dies of a stop', { type: 'connection.stop', reason: 'stop' }),
  ];
}

function endsOf(unit: Unit, id: string, slot: string): readonly Happening[] {
  return (OUTCOMES[slot]?.(unit, id) ?? []).map(
    ({ label, output, failure: error, at = NOW, change = {}, isBadLuck = false }) => {
      const effectEnd = { label: `${id} ${label}`, isProgress: true, isBadLuck, change };
      if (error !== undefined)
        return { ...effectEnd, event: { type: `xstate.error.actor.${id}`, actorId: id, error } };
      if (output === undefined) return effectEnd;
      const settled = { startedAt: at, at, ...output };
      return { ...effectEnd, event: { type: `xstate.done.actor.${id}`, actorId: id, output: settled } };
    },
  );
}

function dies({ context, value }: Unit, label: string, event: AnyEventObject): Happening {
  const remains = remainsOf(context, event, isAt(value, 'shuttingDown.purpose.ending'));
  const error = { crash: { message: 'an error of ours', remains, isStillborn: false } };
  return {
    label,
    isProgress: false,
    change: { fate: 'crashed' },
    report: { type: 'xstate.error.actor.*', actorId: '*', error },
  };
}

/** As in `src/servers/session-access.ts`: ask, wait for a session or a reason that there is none, ask again if dormant. */
function callHappenings({ fate, value, hasCall }: Unit): readonly Happening[] {
  const isAlive = fate === 'alive';
  const arrivals = AGES.map(([age, at]): Happening => {
    const arrival = { label: `a call arrives${age}`, isProgress: false, change: { hasCall: true } };
    return isAlive ? { ...arrival, event: { type: 'call.waiting', at } } : arrival;
  });
  if (!hasCall) return arrivals;
  const over = { isProgress: true, change: { hasCall: false } };
  if (!isAlive) return [...arrivals, { label: 'the call is rejected', ...over }];
  const state = publicState(value);
  if (hasTag(state, 'usable')) return [...arrivals, { label: 'the call is sent', ...over }];
  if (!hasTag(state, 'settled')) return arrivals;
  return [
    ...arrivals,
    hasTag(state, 'dormant')
      ? { label: 'the call asks again', isProgress: true, event: { type: 'call.waiting', at: NOW } }
      : { label: 'the call is rejected', ...over },
  ];
}

export function managerHappenings(
  { value, timers }: Place<ManagerContext>,
  specs: readonly (readonly [name: string, transport: TransportKind])[],
): readonly Happening[] {
  if (isAt(value, 'phase.idle'))
    return [{ ...happens('manager.open'), isProgress: true }, happens('manager.stop')];
  if (isAt(value, 'phase.reading')) {
    const start = happens('manager.start', { specs: specs.map(([name, kind]) => specOf(name, kind)) });
    return [{ ...start, isProgress: true }, happens('manager.stop')];
  }
  const online = isAt(value, 'network.offline');
  return [
    ...timers.map((id) => ({ label: `time for ${id}`, isProgress: true, event: timerEvent(id) })),
    { ...happens('network.changed', { online, at: NOW }, online ? 'online' : 'offline'), isProgress: online },
    happens('clock.jumped'),
    happens('cores.idle', { busyCores: 0 }),
    happens('manager.stop'),
  ];
}

function timerEvent(id: string): AnyEventObject {
  return id.startsWith('slot.') ? { type: 'slot.expired', name: id.slice('slot.'.length) } : { type: id };
}

/** The manager when one of its timers has just fired. */
export function afterTimer(manager: Place<ManagerContext>, event: AnyEventObject): Place<ManagerContext> {
  const timers = manager.timers.filter((id) => JSON.stringify(timerEvent(id)) !== JSON.stringify(event));
  return { ...manager, timers };
}

/** The next incarnation of an ended connection; undefined if the manager spawns no more. */
export function revival(
  { value }: Place<ManagerContext>,
  name: string,
  last: Unit,
): AnyEventObject | undefined {
  if (!isAt(value, 'phase.starting') && !isAt(value, 'phase.running')) return undefined;
  const { transport, generation } = last.context;
  const { input, ...spec } = specOf(name, transport);
  return { type: 'manager.add', spec: { ...spec, input: { ...input, generation, wanted: true } } };
}

const BOTH_READY = ['stdio', 'http'].flatMap((name) => [
  `${name}: resolveConfig resolves`,
  `${name}: openTransport succeeds`,
  `${name}: handshake succeeds`,
  `${name}: readTools succeeds`,
  `${name}: adoptTools succeeds`,
  `${name}: enrichCatalog succeeds`,
]);

/**
 * Ways into the middle of a lifecycle, from which the search goes on breadth first: states far from the first event would
 * not be reached within any bound. The next event of each way is played as soon as possible.
 */
export const WAYS_IN: readonly (readonly string[])[] = [
  BOTH_READY,
  [
    ...BOTH_READY,
    'http: connection.reload (http)',
    'http: resolveSuccessor resolves',
    'http: openSuccessor begins its session',
    'http: openSuccessor succeeds',
    'http: handshakeSuccessor succeeds',
    'http: readSuccessor succeeds',
  ],
  [
    ...BOTH_READY,
    'http: connection.reload (http)',
    'http: resolveSuccessor resolves',
    'http: openSuccessor begins its session',
    'http: openSuccessor succeeds',
    'http: handshakeSuccessor succeeds',
    'http: readSuccessor succeeds',
    'http: adoptSuccessor succeeds',
    'http: connection.reload (http)',
  ],
  [...BOTH_READY, 'http: session.lost (authorize)', 'http: releaseRefused succeeds'],
  [
    ...BOTH_READY,
    'stdio: session.lost (retry)',
    'stdio: releaseSession succeeds',
    'http: session.lost (retry)',
    'http: releaseSession succeeds',
  ],
  [...BOTH_READY, 'manager.stop'],
].map((way) => ['manager.open', 'manager.start', ...way]);

// Invariants.

interface Sessions {
  readonly live: readonly Live[];
  readonly planned: number | null;
  readonly problem: string | null;
}

/** The sessions after a step, and the reason if they are forbidden. */
export function sessionsAfter(before: Unit, step: Step<ConnectionContext>): Sessions {
  let { live, planned } = before;
  let problem: string | null = null;
  for (const action of step.actions) {
    if (action.kind !== 'start') continue;
    const { generation } = action.input as SessionKey;
    if (action.slot === 'resolveConfig') {
      planned = null;
      if (generation <= before.context.issued)
        problem ??= 'M4: an entry is resolved for a generation that was given out';
    }
    if (action.slot !== 'openTransport') continue;
    const { replaces } = action.input as OpenTransportInput;
    problem ??= openProblem({ ...before, live, planned }, generation, replaces);
    planned = null;
    const isStdio = step.context.transport === 'stdio';
    if (replaces === null) live = [...live, { generation, isStdio, isGivenUp: false }];
  }
  return { live, planned, problem };
}

function openProblem(
  { context, live, planned }: Unit,
  generation: number,
  replaces: number | null,
): string | null {
  if (planned !== generation)
    return `M4: generation ${generation} is opened, and the entry was resolved for ${planned}`;
  if (replaces === null && generation <= context.issued)
    return `M4: generation ${generation} is given out again`;
  const others = live.filter(
    (each) => each.generation !== replaces && !(each.isGivenUp && replaces !== null),
  );
  return others.length > 0 ? 'M3: a session is opened while another may be alive' : null;
}

export function unitProblem({ fate, value, context, live }: Unit): string | null {
  if (fate !== 'alive') return null;
  if (live.length > 2) return 'more than two sessions';
  if (live.length > 1 && live.some(({ isStdio }) => isStdio))
    return 'two sessions, and one of them is a process';
  if (context.attempt > context.policy.maxAttempts) return 'more attempts than the policy allows';
  if (context.attempt < 0) return 'a negative number of attempts';
  if (!isAt(value, 'ready')) return null;
  const isIn = (which: number): boolean => live.some(({ generation }) => generation === which);
  if (!isIn(IN_USE)) return 'ready without a session';
  const isForgotten = ({ generation, isGivenUp }: Live): boolean => generation === FORMER && !isGivenUp;
  return context.retiring === null && live.some(isForgotten)
    ? 'a former session is left and never ended'
    : null;
}

const LADDER = ['draining', 'closing', 'killing', 'closed'];

/** The problem of a single step or of the state after it. */
export function stepProblem(before: Unit, step: Step<ConnectionContext>, after: Unit): string | null {
  const { value, context, status } = step;
  if (status === 'error') return 'the actor fails on an unhandled event';
  if (context.generation < before.context.generation) return 'M4: the generation goes back';
  if (context.issued < before.context.issued) return 'M4: the issued generation goes back';
  if (!isPlain(context)) return 'M1: the context is not plain JSON';
  return shutdownProblem(before.value, status === 'done' ? null : value) ?? unitProblem(after);
}

function shutdownProblem(before: StateValue, after: StateValue | null): string | null {
  if (!isAt(before, 'shuttingDown')) return null;
  const isEnding = isAt(before, 'shuttingDown.purpose.ending');
  if (after === null) return isEnding ? null : 'M5: the connection should have returned, but has ended';
  if (isEnding && !isAt(after, 'shuttingDown.purpose.ending'))
    return 'M5: the connection should have ended, but returns';
  const rung = (value: StateValue): number =>
    LADDER.findIndex((each) => isAt(value, `shuttingDown.procedure.${each}`));
  return isAt(after, 'shuttingDown') && rung(after) < rung(before) ? 'M5: the shutdown starts again' : null;
}

function isPlain(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.values(value).every(isPlain);
}

export interface UnitView {
  readonly isAlive: boolean;
  readonly isSettled: boolean;
  readonly isInStart: boolean;
  readonly isInQueue: boolean;
  readonly hasCall: boolean;
}

export function viewOf({ fate, value, hasCall }: Unit): UnitView {
  const isAlive = fate === 'alive';
  return {
    isAlive,
    isSettled: isAlive ? hasTag(publicState(value), 'settled') : fate !== 'crashed',
    isInStart: isAlive && isAt(value, 'starting'),
    isInQueue: isAlive && isAt(value, 'starting.launching.waitingForSlot'),
    hasCall,
  };
}

export function isManagerSettled({ value }: Place<ManagerContext>): boolean {
  return ['idle', 'running', 'closed'].some((state) => isAt(value, `phase.${state}`));
}

function isClosing({ value }: Place<ManagerContext>): boolean {
  return isAt(value, 'phase.closing') || isAt(value, 'phase.closed');
}

export function managerProblem(before: Place<ManagerContext>, after: Place<ManagerContext>): string | null {
  if (!isPlain(after.context)) return 'M1: the context of the manager is not plain JSON';
  return isClosing(before) && !isClosing(after) ? 'the manager was to close, and goes on' : null;
}

export function fleetProblem(
  manager: Place<ManagerContext>,
  units: ReadonlyMap<string, UnitView>,
): string | null {
  const { context, timers } = manager;
  const { holders, waiting, startSlots, retries, retryBurst, alive } = context;
  if (holders.length > startSlots) return 'more starts than slots';
  if (retries < 0 || retries > retryBurst) return 'the retry budget is out of bounds';
  if (new Set(holders).size < holders.length) return 'a slot is held twice by one connection';
  const living = [...units.values()].filter(({ isAlive }) => isAlive).length;
  if (alive !== living) return `the manager counts ${alive} connections, and ${living} are alive`;
  for (const name of holders) {
    if (units.get(name)?.isInStart !== true) return 'a slot is held without a start';
    if (!timers.includes(`slot.${name}`)) return 'a slot is held without an end';
  }
  for (const { name } of waiting) {
    if (units.get(name)?.isInQueue !== true) return 'a claim on a slot waits without a start';
  }
  if (isClosing(manager)) {
    return holders.length + waiting.length + timers.length > 0
      ? 'N7: a claim or a timer is left while closing'
      : null;
  }
  for (const [name, { isInQueue }] of units) {
    if (isInQueue && !waiting.some((claim) => claim.name === name))
      return 'a start waits without a place in the queue';
  }
  return null;
}

// Descriptions.

export function describeUnit({ value, context, timers, live, planned, hasCall, fate }: Unit): string {
  const { policy: _, ...rest } = context;
  const fields = Object.entries(rest).filter(
    ([, each]) => each !== null && each !== false && typeof each !== 'object',
  );
  const facts = { fate, hasCall, planned, live, timers, ...Object.fromEntries(fields) };
  return `connection in ${JSON.stringify(value)}: ${JSON.stringify(facts)}`;
}

export function describeManager({ value, context, timers }: Place<ManagerContext>): string {
  const { holders, waiting, retries, unsettled, alive } = context;
  return `manager in ${JSON.stringify(value)}: ${JSON.stringify({ holders, waiting, retries, unsettled, alive, timers })}`;
}

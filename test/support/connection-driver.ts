/**
 * The real connection chart under a parent; the test controls its effects and its time.
 *
 * 1. Nothing happens by itself: effects settle, facts arrive and time passes on command only.
 * 2. When a method resolves, everything that follows from it has happened.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { createActor, setup, type ActorRefFrom, type InspectionEvent, type SnapshotFrom } from 'xstate';
import type {
  ConnectionCommand,
  ConnectionContext,
  ConnectionEmitted,
  ConnectionFact,
  ConnectionInput,
  ConnectionOutput,
  ExtraList,
  WatchSessionEvent,
} from '../../machines/connection/connection.events.js';
import { connectionMachine } from '../../machines/connection/connection.machine.js';
import type { Failure, FailurePhase, Verdict } from '../../machines/policy/failure.js';
import { DEFAULT_POLICY, type ConnectionPolicy } from '../../machines/policy/policy.js';
import { verdict, type TransitionVerdict } from '../../machines/verdict.js';
import { createControlledClock } from './controlled-clock.js';
import {
  HeldEffects,
  type EndedEffect,
  type HeldEffect,
  type OutputOf,
  type Slot,
  type Whose,
} from './held-effects.js';
import { sampleFailure } from './sample-failures.js';

export const NAME = 'files';

/** Without jitter, so that a test knows the times. */
export const PLAIN_POLICY: ConnectionPolicy = {
  ...DEFAULT_POLICY,
  backoff: { kind: 'fixed', delaysMs: [1_000] },
};

export interface DriverOptions extends Partial<Omit<ConnectionInput, 'policy'>> {
  readonly policy?: Partial<ConnectionPolicy>;
  readonly inspect?: (event: InspectionEvent) => void;
}

const PHASES: Readonly<Record<Slot, FailurePhase>> = {
  resolveConfig: 'configure',
  openTransport: 'launch',
  handshake: 'handshake',
  readTools: 'list',
  adoptTools: 'list',
  enrichCatalog: 'list',
  authorize: 'handshake',
  retireSession: 'release',
  probe: 'session',
  subscribe: 'session',
  releaseSession: 'release',
  drainCalls: 'release',
  closeSession: 'release',
  killSession: 'release',
};

/** The effects that must settle before a connection is ready and has listed everything, in order. */
export const FIRST_LIFE = [
  'resolveConfig',
  'openTransport',
  'handshake',
  'readTools',
  'adoptTools',
  'enrichCatalog',
] as const;

const children: Readonly<Record<string, 'connection'>> = {};

const parent = setup({
  types: { input: {} as ConnectionInput, children },
  actors: { connection: connectionMachine },
}).createMachine({
  context: ({ spawn, input }) => {
    spawn('connection', { id: input.name, input });
    return {};
  },
  on: { 'xstate.done.actor.*': {}, 'xstate.error.actor.*': {} },
});

type Snapshot = SnapshotFrom<typeof connectionMachine>;

/** The public name of a state: `starting` only groups the states of an attempt. */
export function publicName(path: string): string {
  return path.replace(/^starting\./, '');
}

/** The active states of a snapshot, each by its public name: `ready.catalog.stale`. */
export function leavesOf(value: unknown): string[] {
  const leaves = (inner: unknown): string[] =>
    typeof inner === 'string'
      ? [inner]
      : Object.entries(inner as Record<string, unknown>).flatMap(([key, below]) =>
          leaves(below).map((leaf) => `${key}.${leaf}`),
        );
  return leaves(value).map(publicName);
}

/** States in which a region is left out of a path. */
const AT_REST = ['none'];

/**
 * The active states of a snapshot as one word: `reconnecting.releasing`, `ready.resting+current+preparing.opening`,
 * `shuttingDown.draining+ending`.
 */
export function pathOf(value: unknown): string {
  const [first = '', ...others] = leavesOf(value);
  if (others.length === 0) return first;
  const [top = ''] = first.split('.');
  const regions = [first, ...others].map((leaf) => leaf.split('.').slice(2).join('.'));
  return `${top}.${regions.filter((region) => !AT_REST.includes(region)).join('+')}`;
}

export class ConnectionDriver {
  readonly clock = createControlledClock();
  readonly emitted: ConnectionEmitted[] = [];
  /** Types of the events that the connection sent to its parent, in order. */
  readonly reports: string[] = [];
  /** The paths that it was in, in order, the current one last. */
  readonly history: string[] = [];
  readonly #effects = new HeldEffects(() => this.clock.now());
  readonly #ref: ActorRefFrom<typeof connectionMachine>;
  readonly #policy: ConnectionPolicy;

  constructor({ policy, inspect, ...input }: DriverOptions = {}) {
    this.#policy = { ...PLAIN_POLICY, ...policy };
    const root = createActor(parent.provide({ actors: { connection: this.#effects.machine } }), {
      clock: this.clock,
      input: {
        name: NAME,
        transport: 'stdio',
        policy: this.#policy,
        seed: 1,
        generation: 0,
        online: true,
        wanted: true,
        crash: null,
        isAttempted: false,
        ...input,
      },
      inspect: (event) => {
        if (event.type === '@xstate.event' && event.event.type.startsWith('child.')) {
          this.reports.push(event.event.type);
        }
        inspect?.(event);
      },
    });
    this.#ref = root.getSnapshot().children[NAME]!;
    this.#ref.on('*', (event) => this.emitted.push(event));
    this.#ref.subscribe({
      next: ({ value }) => {
        const path = pathOf(value);
        if (path !== this.history.at(-1)) this.history.push(path);
      },
      error: () => {},
    });
    root.start();
  }

  get snapshot(): Snapshot {
    return this.#ref.getSnapshot();
  }

  get path(): string {
    return pathOf(this.snapshot.value);
  }

  get context(): ConnectionContext {
    return this.snapshot.context;
  }

  get output(): ConnectionOutput | undefined {
    return this.snapshot.output;
  }

  /** Every effect that was ever started, in order. */
  get started(): readonly HeldEffect[] {
    return this.#effects.started;
  }

  /** Every effect that has ended, in order. */
  get ended(): readonly EndedEffect[] {
    return this.#effects.ended;
  }

  /** The events that the watchers of its sessions received, in order. */
  get watched(): readonly WatchSessionEvent[] {
    return this.#effects.watched;
  }

  /** Slots of the running effects, sorted. */
  running(): string[] {
    return this.#effects.running(NAME);
  }

  /** The input of the latest effect in a slot. */
  inputOf(slot: HeldEffect['slot']): HeldEffect['input'] | undefined {
    return this.started.findLast((effect) => effect.slot === slot)?.input;
  }

  /** Lets an effect succeed; `output` replaces any part of the usual output. The transport is that of the entry. */
  async settle<S extends Slot>(slot: S, output: Partial<OutputOf<S>> = {}, whose?: Whose): Promise<void> {
    const { next, transport } = this.context;
    const reached = slot === 'openTransport' ? { transport: next?.transport ?? transport } : {};
    this.#effects.succeed(NAME, slot, { ...reached, ...output }, whose);
    await turn();
  }

  async fail(
    slot: Slot,
    failure: Verdict | Failure | Error,
    details: Partial<Failure> = {},
    whose?: Whose,
  ): Promise<void> {
    const isVerdict = typeof failure === 'string';
    this.#effects.fail(NAME, slot, isVerdict ? this.failure(failure, PHASES[slot], details) : failure, whose);
    await turn();
  }

  /** Sends a command; returns its verdict. */
  async command(command: ConnectionCommand | ConnectionCommand['type']): Promise<TransitionVerdict> {
    const event = typeof command === 'string' ? this.#usualCommand(command) : command;
    const answer = verdict(this.snapshot, event);
    if (answer !== 'stopped') this.#ref.send(event);
    await turn();
    return answer;
  }

  /** Sends a fact, through the session's watcher if it is about the session; returns its verdict. */
  async fact(fact: ConnectionFact): Promise<TransitionVerdict> {
    const answer = verdict(this.snapshot, fact);
    const isWatched = 'generation' in fact && this.running().includes('watchSession');
    if (isWatched) this.#effects.report(NAME, fact);
    else if (answer !== 'stopped') this.#ref.send(fact);
    await turn();
    return answer;
  }

  /** The session is lost, with a failure that has the given verdict. */
  async lose(how: Verdict, details: Partial<Failure> = {}): Promise<TransitionVerdict> {
    return this.fact({
      type: 'session.lost',
      generation: this.context.generation,
      failure: this.failure(how, 'session', details),
    });
  }

  /** Consecutive exchanges did not reach the server. */
  async unreachable(count: number, how: Verdict = 'retry'): Promise<TransitionVerdict> {
    return this.fact({
      type: 'session.unreachable',
      generation: this.context.generation,
      count,
      failure: this.failure(how, 'session'),
    });
  }

  /** The list of tools has changed at the server. */
  async listChanged(): Promise<TransitionVerdict> {
    return this.fact({
      type: 'catalog.listChanged',
      generation: this.context.generation,
      at: this.clock.now(),
    });
  }

  /** Another list than that of the tools has changed at the server. */
  async extrasChanged(list: ExtraList): Promise<TransitionVerdict> {
    return this.fact({
      type: 'catalog.extrasChanged',
      generation: this.context.generation,
      at: this.clock.now(),
      list,
    });
  }

  /** The stream of changes has ended, or should report something else. */
  async subscription(type: 'subscription.ended' | 'subscription.wanted'): Promise<TransitionVerdict> {
    const { generation } = this.context;
    return this.fact(
      type === 'subscription.ended' ? { type, generation, at: this.clock.now() } : { type, generation },
    );
  }

  async watcher(type: 'session.stable' | 'session.idle' | 'session.quiet'): Promise<TransitionVerdict> {
    return this.fact({ type, generation: this.context.generation });
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }

  failure(how: Verdict, phase: FailurePhase, details: Partial<Failure> = {}): Failure {
    return sampleFailure(how, phase, this.clock.now(), details);
  }

  /** Settles every effect until the connection is `ready` and idle, or up to the effect `until`, which keeps running. */
  async bringUp(until?: Slot): Promise<void> {
    for (const slot of FIRST_LIFE) {
      if (this.path === 'launching.waitingForSlot') await this.fact({ type: 'slot.granted' });
      if (slot === until) return;
      if (this.running().includes(slot)) await this.settle(slot);
    }
  }

  /** Stops it in an orderly way. */
  async stop(): Promise<void> {
    await this.command('connection.stop');
    await this.settle('drainCalls');
    await this.settle('closeSession');
  }

  #usualCommand(type: ConnectionCommand['type']): ConnectionCommand {
    if (type === 'connection.stop') return { type, reason: 'stop' };
    if (type !== 'connection.reload') return { type };
    return { type, transport: this.context.transport, policy: this.#policy, wanted: false };
  }
}

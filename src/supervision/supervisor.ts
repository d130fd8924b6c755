/**
 * Runs the manager actor and stands behind it: follows every child it spawns, ends the sessions that a child leaves, and
 * takes over if the manager itself crashes. The folder `supervision` is this and its two watches.
 *
 * V1. A child is followed from before its first state (the manager announces it before it starts).
 * V2. However a child ends, its sessions are closed; however the manager ends, all of them are.
 */
import {
  createActor,
  type ActorRefFrom,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type StateValue,
} from 'xstate';
import type { ConnectionContext, StopReason } from '../../machines/connection/connection.events.js';
import type {
  ChildSpec,
  ManagerCommand,
  ManagerFact,
  ManagerInput,
} from '../../machines/manager/manager.events.js';
import { managerMachine } from '../../machines/manager/manager.machine.js';
import type { Failure } from '../../machines/policy/failure.js';
import { verdict, acceptedOf } from '../../machines/verdict.js';
import { withConnectionFilter, withManagerFilter, type Dropped } from '../actor-system/event-filter.js';
import type { EffectPorts } from '../actors/effect-ports.js';
import { CapacityWatch } from './capacity-watch.js';
import { LaunchPlans } from '../sessions/launch-plans.js';
import { phaseOf } from '../../machines/manager/manager.phase.js';
import { InvalidTransitionError } from '../errors.js';
import { wireConnection } from '../actors/wiring.js';
import { NumberedClock } from '../actor-system/numbered-clock.js';
import type { ObservableSystem } from '../event-log/record/observed-system.js';
import type { FleetRetries } from '../fleet/fleet-retries.js';
import type { Fleet } from '../fleet/stores.js';
import type { ConnectionRef } from '../lifecycle/follow.js';
import type { Lifetime } from '../lifecycle/lifetime.js';
import { RootSupervisor, type RootCrash } from '../actor-system/root-actors.js';
import { messageOf } from '../text/error-message.js';
import { Timers, settlesWithin } from '../async/timers.js';
import type { Clock } from '../ports.js';
import { publicState, statePath } from '../../machines/connection/public-state.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';

/** Longer than the stop ladder needs. */
const COURTESY_MS = 5_000;

/** A server whose connection is a child of the manager. */
export interface Supervised {
  readonly connection: { readonly allowed: readonly string[] };
  /** Sets its actor, which has not started. A replacement continues from the state of the actor that crashed. */
  spawned(ref: ConnectionRef, isReplacement: boolean): void;
  /** Its actor ended; the last snapshot stays readable. */
  ended(reason: StopReason, generation: number): void;
  /** Its actor crashed because of an internal error and is not replaced; the last snapshot stays readable. */
  givenUp(failure: Failure): void;
}

export interface SupervisorParts {
  readonly ports: EffectPorts;
  readonly input: ManagerInput;
  readonly fleet: Pick<Fleet, 'retries'> | undefined;
  readonly lifetime: Lifetime;
  readonly supervised: (name: string) => Supervised | undefined;
  /** Called when the manager has changed without an event. */
  readonly moved: () => void;
}

export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #manager: ActorRefFrom<typeof managerMachine>;
  readonly #plans = new LaunchPlans();
  /** The timers of the charts, including those left by actors that crashed. */
  readonly #timers: Timers;
  /** The timers of the machines only, numbered as in a recording. */
  readonly #numbered: NumberedClock;
  /** The auxiliary machines. */
  readonly roots: RootSupervisor;
  readonly #capacity: CapacityWatch;
  readonly #clockWatch: ClockWatch;
  /** Undefined without a fleet. */
  readonly #retries: FleetRetries | undefined;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    const { ports, input, lifetime, supervised, fleet } = parts;
    this.#timers = new Timers(ports.clock);
    this.#numbered = new NumberedClock(this.#timers);
    this.roots = new RootSupervisor(this.#numbered, (crash) => this.#rootCrashed(crash));
    this.#capacity = new CapacityWatch(this.#timers, (busyCores) =>
      this.#send({ type: 'cores.idle', busyCores }),
    );
    this.#clockWatch = new ClockWatch(this.#timers, (jumpMs) => this.#clockJumped(jumpMs));
    this.#retries = fleet?.retries({
      clock: this.#timers,
      burst: input.retryBurst,
      everyMs: input.retryEveryMs,
      serverOf: (name) => this.#plans.addressOf(name),
      onAllowed: (name) => this.#send({ type: 'retry.allowed', name }),
    });
    const connection = withConnectionFilter(wireConnection(ports, this.#plans), (snapshot, dropped) => {
      const { name } = snapshot.context as ConnectionContext;
      ports.publish(reportRejected(snapshot, dropped, () => supervised(name)?.connection.allowed ?? []));
    });
    const managed = withManagerFilter(
      managerMachine.provide({ actors: { connection } }),
      (snapshot, dropped) => ports.publish(reportManagerRejected(snapshot, dropped)),
    );
    this.#manager = createActor(managed, {
      id: 'manager',
      input,
      clock: this.#numbered,
    });
    this.#listen();
    this.#manager.start();
    lifetime.begin(this.#manager);
  }

  /** The actors that a recorder observes. */
  get observable(): ObservableSystem {
    return { manager: this.#manager, timers: this.#numbered, roots: this.roots };
  }

  /** What each connection is doing: its state and the effects that have not ended. */
  get doings(): readonly string[] {
    return Object.entries(this.#manager.getSnapshot().children).flatMap(([name, ref]) => {
      const snapshot = ref?.getSnapshot();
      if (snapshot?.status !== 'active') return [];
      const effects = Object.entries<AnyActorRef | undefined>(snapshot.children)
        .filter(
          ([id, effect]) =>
            id !== 'watchSession' &&
            (effect?.getSnapshot() as { readonly status?: string } | undefined)?.status === 'active',
        )
        .map(([id]) => id);
      const running = effects.length === 0 ? '' : ` (${effects.join(', ')})`;
      return [`'${name}' is ${statePath(snapshot.value)}${running}`];
    });
  }

  /** The sources are being read. */
  open(): void {
    this.#command({ type: 'manager.open' });
  }

  start(specs: readonly ChildSpec[]): void {
    this.#command({ type: 'manager.start', specs });
    this.#clockWatch.start();
  }

  add(spec: ChildSpec): void {
    this.#command({ type: 'manager.add', spec });
  }

  network(online: boolean): void {
    this.#command({ type: 'network.changed', online, at: this.#parts.ports.clock.now() });
  }

  stop(): void {
    this.#clockWatch.stop();
    this.#command({ type: 'manager.stop' });
    if (this.#parts.lifetime.failure === undefined) return;
    this.#parts.lifetime.closeWithout();
    this.#stopChildren();
  }

  /** After the stop: clears the timers left by actors that crashed. */
  dispose(): void {
    this.roots.stop();
    this.#timers.clearAll();
  }

  /** Forgets the launch plan of a removed server. */
  forget(name: string): void {
    this.#plans.forget(name);
  }

  #listen(): void {
    const manager = this.#manager;
    const { ports, supervised, moved } = this.#parts;
    const { publish, clock, sessions } = ports;
    manager.on('added', ({ name, source }) => {
      const ref = manager.getSnapshot().children[name];
      if (ref === undefined) return;
      publish({
        type: 'connection.added',
        server: name,
        generation: ref.getSnapshot().context.generation,
        source,
      });
      supervised(name)?.spawned(ref, false);
    });
    manager.on('ended', ({ name, output }) => {
      void sessions.close(name);
      supervised(name)?.ended(output.reason, output.generation);
    });
    manager.on('crashed', ({ name, failure, isReplaced }) => {
      void release(clock, sessions.close(name), () => void sessions.kill(name));
      const next = isReplaced ? manager.getSnapshot().children[name] : undefined;
      if (next === undefined) supervised(name)?.givenUp(failure);
      else supervised(name)?.spawned(next, true);
    });
    manager.on('started', ({ connections }) => publish({ type: 'manager.started', connections }));
    manager.on('stopped', () => publish({ type: 'manager.stopped' }));
    manager.subscribe({
      next: ({ context }) => {
        this.#capacity.watch(context.waiting.some(({ slot }) => slot));
        this.#retries?.watch(
          context.waiting.filter(({ asksFleet }) => asksFleet === true).map(({ name }) => name),
        );
        moved();
      },
      error: (error) => this.#managerDied(error),
    });
  }

  /** Ignored if the manager is dead. Throws an `InvalidTransitionError` if its phase does not accept the command. */
  #command(command: ManagerCommand): void {
    if (this.#parts.lifetime.failure !== undefined) return;
    const snapshot = this.#manager.getSnapshot();
    const reason = verdict(snapshot, command);
    this.#manager.send(command);
    if (reason === 'accepted' || reason === 'ignored') return;
    throw new InvalidTransitionError({
      state: phaseOf(snapshot.value),
      event: command.type,
      reason,
      allowed: allowedOf(snapshot),
    });
  }

  #send(fact: ManagerFact): void {
    if (this.#parts.lifetime.failure === undefined) this.#manager.send(fact);
  }

  #clockJumped(jumpMs: number): void {
    const message = `The clock has jumped by ${Math.round(jumpMs / 1000)} s: every connected server is pinged.`;
    this.#parts.ports.publish({ type: 'diagnostic', kind: 'clock-jump', message });
    this.#send({ type: 'clock.jumped' });
  }

  #rootCrashed({ id, message, restarts }: RootCrash): void {
    const next = restarts ? 'It is restarted.' : 'It crashed too often and is not restarted.';
    this.#parts.ports.publish({
      type: 'diagnostic',
      kind: 'machine-crashed',
      message: `The machine '${id}' crashed because of an internal error: ${message}. ${next}`,
    });
  }

  #managerDied(error: unknown): void {
    this.#capacity.watch(false);
    this.#retries?.watch([]);
    this.#clockWatch.stop();
    const message = messageOf(error);
    this.#parts.lifetime.fail(message);
    this.#stopChildren();
    this.#parts.ports.publish({ type: 'manager.failed', message });
  }

  #stopChildren(): void {
    for (const ref of Object.values(this.#manager.getSnapshot().children)) {
      if (ref?.getSnapshot().status === 'active') ref.send({ type: 'connection.stop', reason: 'close' });
    }
    const { clock, sessions } = this.#parts.ports;
    void release(clock, sessions.closeAll(), () => void sessions.killAll());
  }
}

/** Ends sessions that no chart drives any more: with courtesy first, then without. */
async function release(clock: Clock, closing: Promise<unknown>, kill: () => void): Promise<void> {
  if (!(await settlesWithin(clock, COURTESY_MS, closing))) kill();
}

// Notices that the machine has slept, or that its clock was set forward: more time has passed than a timer waited.
// Connections may have broken in the meantime without a sign.

const INTERVAL_MS = 5_000;
/** A busy host fires its timers late, but not this late. */
const JUMP_MS = 10_000;

export class ClockWatch {
  #timer: unknown;

  /** `onJump` gets the length of each jump in milliseconds. */
  constructor(
    private readonly clock: Clock,
    private readonly onJump: (jumpMs: number) => void,
  ) {}

  /** Watches until `stop`; keeps no process alive. */
  start(): void {
    const setAt = this.clock.now();
    this.#timer = this.clock.setTimeout(() => {
      this.start();
      const jumpMs = this.clock.now() - setAt - INTERVAL_MS;
      if (jumpMs > JUMP_MS) this.onJump(jumpMs);
    }, INTERVAL_MS);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  stop(): void {
    this.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

// What is published about an event that the filter has not passed on to its chart.

/** For a connection: a command becomes a rejection; a fact that is stale or unwanted becomes a diagnostic. */
export function reportRejected(
  snapshot: AnyMachineSnapshot,
  dropped: Dropped,
  allowed: () => readonly string[],
): LifecycleEventBody {
  const { name, generation } = snapshot.context as ConnectionContext;
  const about = { server: name, generation };
  const { state } = publicState(snapshot.value as StateValue);
  if (dropped.kind === 'command') {
    const { event, verdict } = dropped;
    return { type: 'connection.rejected', ...about, state, event, reason: verdict, allowed: allowed() };
  }
  const isStale = dropped.kind === 'stale';
  const message = isStale
    ? `'${dropped.event}' of session ${dropped.generation} arrived after that session had ended.`
    : `'${dropped.event}' has no effect while ${state}.`;
  return { type: 'diagnostic', ...about, kind: isStale ? 'stale-fact' : 'unwanted-fact', message };
}

/** The same for an event to the manager. */
export function reportManagerRejected(snapshot: AnyMachineSnapshot, dropped: Dropped): LifecycleEventBody {
  const state = phaseOf(snapshot.value as StateValue);
  const { event } = dropped;
  if (dropped.kind === 'command') {
    const reason = dropped.verdict;
    return { type: 'manager.rejected', state, event, reason, allowed: allowedOf(snapshot) };
  }
  return { type: 'diagnostic', kind: 'unwanted-fact', message: `'${event}' has no effect while ${state}.` };
}

const PROBES: readonly ManagerCommand[] = [
  { type: 'manager.open' },
  { type: 'manager.start', specs: [] },
  { type: 'manager.add' } as ManagerCommand,
  { type: 'network.changed', online: true, at: 0 },
  { type: 'network.changed', online: false, at: 0 },
  { type: 'manager.stop' },
];

/** Commands that the manager would accept now. */
export function allowedOf(snapshot: AnyMachineSnapshot): readonly string[] {
  return acceptedOf(snapshot, PROBES).map(({ type }) => type);
}

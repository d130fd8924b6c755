/**
 * Runs the manager actor and stands behind it: follows every child it spawns, releases what a child leaves when it
 * ends in any way, and takes over when the manager itself dies.
 *
 * V1. A child is followed from before its first state (the manager announces it before it starts).
 * V2. However a child ends, its sessions are closed; however the manager ends, all of them are.
 */
import { createActor, type ActorRefFrom, type AnyMachineSnapshot } from 'xstate';
import type { ConnectionCommand } from '../machines/connection.events.js';
import {
  managerMachine,
  type ChildSpec,
  type ManagerEvent,
  type ManagerInput,
} from '../machines/manager.machine.js';
import { withDoor, type Dropped } from './actors/door.js';
import type { EffectPorts } from './actors/effect-ports.js';
import { CapacityWatch } from './capacity-watch.js';
import { ClockWatch } from './clock-watch.js';
import { KnownPlaces } from './actors/known-places.js';
import type { LaunchPlans } from './actors/launch-plans.js';
import { wireConnection } from './actors/wiring.js';
import { NumberedClock } from './event-log/numbered-clock.js';
import type { ObservableSystem } from './event-log/observed-system.js';
import { follow, type ConnectionRef } from './lifecycle/follow.js';
import { release, releaseAll } from './release.js';
import { messageOf } from './thrown.js';
import { Timers } from './timers.js';

export interface SupervisorListener {
  /** A child of that name ended; its last snapshot stays readable. */
  ended(name: string, reason: string, generation: number): void;
  /** A child died of an error of ours. */
  crashed(name: string, message: string): void;
  /** The manager died of an error of ours; every child was told to stop. */
  failed(message: string): void;
  /** A chart moved in a way that no event tells. */
  moved(): void;
  /** An event reached a connection that did not want it. */
  dropped(snapshot: AnyMachineSnapshot, dropped: Dropped): void;
}

export class Supervisor {
  readonly #manager: ActorRefFrom<typeof managerMachine>;
  readonly #refs = new Map<string, ConnectionRef>();
  readonly #plans: LaunchPlans = new Map();
  readonly #places = new KnownPlaces();
  /** The timers of the charts: those of an actor that died are its own business no more. */
  readonly #timers: Timers;
  /** Those of the machines alone, as a recording names them. */
  readonly #numbered: NumberedClock;
  readonly #capacity: CapacityWatch;
  readonly #clockWatch: ClockWatch;
  #failure: string | undefined;

  constructor(
    private readonly ports: EffectPorts,
    input: ManagerInput,
    private readonly listener: SupervisorListener,
  ) {
    this.#timers = new Timers(ports.clock);
    this.#numbered = new NumberedClock(this.#timers);
    this.#capacity = new CapacityWatch(this.#timers, (busyCores) => this.#freeSlots(busyCores));
    this.#clockWatch = new ClockWatch(this.#timers, (jumpMs) => this.#clockJumped(jumpMs));
    const connection = withDoor(wireConnection(ports, this.#plans, this.#places), (snapshot, dropped) =>
      listener.dropped(snapshot, dropped),
    );
    this.#manager = createActor(managerMachine.provide({ actors: { connection } }), {
      id: 'manager',
      input,
      clock: this.#numbered,
    });
    this.#listen();
    this.#manager.start();
  }

  /** The state of the manager chart. */
  get state(): 'idle' | 'starting' | 'running' | 'stopping' | 'stopped' {
    const { value } = this.#manager.getSnapshot();
    return typeof value === 'string' ? value : 'starting';
  }

  /** What a recorder listens to. */
  get observable(): ObservableSystem {
    return { manager: this.#manager, timers: this.#numbered };
  }

  /** Why the manager died; undefined while it lives. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** The connection actor of that name, the last incarnation where it has ended. */
  ref(name: string): ConnectionRef | undefined {
    return this.#refs.get(name);
  }

  start(specs: readonly ChildSpec[]): void {
    this.#tell({ type: 'manager.start', specs });
    this.#clockWatch.start();
  }

  add(spec: ChildSpec): void {
    this.#tell({ type: 'manager.add', spec });
  }

  command(name: string, command: ConnectionCommand): void {
    this.#refs.get(name)?.send(command);
  }

  network(online: boolean): void {
    this.#tell({ type: 'network.changed', online, at: this.ports.clock.now() });
  }

  stop(): void {
    this.#clockWatch.stop();
    if (this.#failure === undefined) this.#tell({ type: 'manager.stop' });
    else this.#stopChildren();
  }

  /** Ends what an actor left. Bounded; never rejects. */
  async release(name: string): Promise<void> {
    await release(this.ports.clock, this.ports.sessions, name);
  }

  /** After the stop: whatever actors that died of an error left on the clock goes. */
  dispose(): void {
    this.#timers.clearAll();
  }

  forget(name: string): void {
    this.#refs.delete(name);
    this.#plans.delete(name);
    this.#places.forget(name);
  }

  #listen(): void {
    const manager = this.#manager;
    const { publish } = this.ports;
    manager.on('added', ({ name, source }) => {
      const ref = manager.getSnapshot().children[name];
      if (ref === undefined) return;
      this.#refs.set(name, ref);
      publish({
        type: 'connection.added',
        connection: name,
        generation: ref.getSnapshot().context.generation,
        source,
      });
      follow(ref, publish, () => this.listener.moved());
    });
    manager.on('ended', ({ name, output }) => {
      void this.ports.sessions.close(name);
      this.listener.ended(name, output.reason, output.generation);
    });
    manager.on('crashed', ({ name, message }) => {
      void this.release(name);
      this.listener.crashed(name, message);
    });
    manager.on('started', ({ connections }) => publish({ type: 'manager.started', connections }));
    manager.on('stopped', () => publish({ type: 'manager.stopped' }));
    manager.subscribe({
      next: ({ context }) => {
        this.#capacity.watch(context.waiting.some(({ slot }) => slot));
        this.listener.moved();
      },
      error: (error) => this.#managerDied(error),
    });
  }

  /** No more starts than there are busy cores can be at work: the older ones wait for something else. */
  #freeSlots(busyCores: number): void {
    const { holders } = this.#manager.getSnapshot().context;
    const idle = Math.max(0, holders.length - busyCores);
    for (const name of holders.slice(0, idle)) this.#tell({ type: 'slot.expired', name });
  }

  #tell(event: ManagerEvent): void {
    if (this.#failure === undefined) this.#manager.send(event);
  }

  #clockJumped(jumpMs: number): void {
    const message = `The clock has jumped by ${Math.round(jumpMs / 1000)} s: every connection is asked whether it is still alive.`;
    this.ports.publish({ type: 'diagnostic', kind: 'clock-jump', message });
    this.#tell({ type: 'clock.jumped' });
  }

  #managerDied(error: unknown): void {
    this.#capacity.watch(false);
    this.#clockWatch.stop();
    this.#failure = messageOf(error);
    this.#stopChildren();
    this.listener.failed(this.#failure);
  }

  #stopChildren(): void {
    for (const ref of this.#refs.values()) {
      if (ref.getSnapshot().status === 'active') ref.send({ type: 'connection.stop', reason: 'close' });
    }
    void releaseAll(this.ports.clock, this.ports.sessions);
  }
}

/**
 * The real manager chart over real connection charts; the test controls all effects and the time.
 *
 * 1. Nothing happens by itself: effects settle and time passes on command only.
 * 2. When a method resolves, everything that follows from it has happened.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { createActor, type ActorRefFrom, type InspectionEvent } from 'xstate';
import type { ConnectionCommand, ConnectionContext } from '../../machines/connection/connection.events.js';
import type { connectionMachine } from '../../machines/connection/connection.machine.js';
import type {
  ChildSpec,
  ManagerContext,
  ManagerEmitted,
  ManagerEvent,
  ManagerInput,
} from '../../machines/manager/manager.events.js';
import { managerMachine } from '../../machines/manager/manager.machine.js';
import type { FailurePhase, Verdict } from '../../machines/policy/failure.js';
import { verdict, type TransitionVerdict } from '../../machines/verdict.js';
import { withConnectionFilter } from '../../src/actor-system/event-filter.js';
import { FIRST_LIFE, pathOf, PLAIN_POLICY } from './connection-driver.js';
import { createControlledClock } from './controlled-clock.js';
import { HeldEffects, type OutputOf, type Slot } from './held-effects.js';
import { sampleFailure } from './sample-failures.js';

export function childSpec(name: string, input: Partial<ChildSpec['input']> = {}): ChildSpec {
  return {
    source: 'a test',
    input: {
      name,
      transport: 'stdio',
      policy: PLAIN_POLICY,
      seed: 1,
      generation: 0,
      wanted: true,
      cached: false,
      ...input,
    },
  };
}

export interface ManagerDriverOptions extends Partial<ManagerInput> {
  readonly inspect?: (event: InspectionEvent) => void;
}

type Child = ActorRefFrom<typeof connectionMachine>;

export class ManagerDriver {
  readonly clock = createControlledClock();
  /** The events of the manager and, as `NAME: PATH`, the states of its children, in order. */
  readonly story: string[] = [];
  readonly emitted: ManagerEmitted[] = [];
  readonly #effects = new HeldEffects(() => this.clock.now());
  readonly #manager: ActorRefFrom<typeof managerMachine>;

  constructor({ inspect, ...input }: ManagerDriverOptions = {}) {
    const machine = managerMachine.provide({
      actors: { connection: withConnectionFilter(this.#effects.machine, () => {}) },
    });
    this.#manager = createActor(machine, {
      clock: this.clock,
      input: {
        startSlots: 2,
        slotHoldMs: 2_000,
        startGateMs: 10_000,
        cachedGateMs: 250,
        retryBurst: 20,
        retryEveryMs: 100,
        ...input,
      },
      ...(inspect === undefined ? {} : { inspect }),
    });
    this.#manager.on('*', (event) => {
      this.emitted.push(event);
      this.story.push('name' in event ? `${event.type} ${event.name}` : event.type);
      if (event.type === 'added') this.#follow(event.name);
      if (event.type === 'crashed' && event.isReplaced) this.#follow(event.name);
    });
    this.#manager.start();
  }

  /** The path of the phase. */
  get path(): string {
    const { phase } = this.#manager.getSnapshot().value;
    return typeof phase === 'string' ? phase : Object.entries(phase).flat().join('.');
  }

  /** The states of the regions other than the phase. */
  get regions(): { readonly starts: string; readonly budget: string; readonly network: string } {
    const { starts, budget, network } = this.#manager.getSnapshot().value;
    return { starts, budget, network };
  }

  /** The phase. */
  get state(): string {
    return this.path.split('.')[0] ?? '';
  }

  get status(): string {
    return this.#manager.getSnapshot().status;
  }

  get snapshot(): object {
    return this.#manager.getSnapshot();
  }

  get tags(): string[] {
    return [...this.#manager.getSnapshot().tags].toSorted();
  }

  get context(): ManagerContext {
    return this.#manager.getSnapshot().context;
  }

  /** Names of the connections that wait for a start slot. */
  get waiting(): string[] {
    return this.context.waiting.map(({ name }) => name);
  }

  /** Names of the children of the manager. */
  get children(): string[] {
    return Object.keys(this.#manager.getSnapshot().children);
  }

  pathOf(name: string): string {
    return pathOf(this.#child(name).getSnapshot().value);
  }

  contextOf(name: string): ConnectionContext {
    return this.#child(name).getSnapshot().context;
  }

  running(name: string): string[] {
    return this.#effects.running(name);
  }

  /** Names of the connections that have started to open a transport, in order. */
  get opened(): string[] {
    return this.#effects.started
      .filter(({ slot }) => slot === 'openTransport')
      .map(({ input }) => input.name);
  }

  async send(event: ManagerEvent): Promise<TransitionVerdict> {
    const answer = verdict(this.#manager.getSnapshot(), event);
    this.#manager.send(event);
    await turn();
    return answer;
  }

  async start(...specs: (string | ChildSpec)[]): Promise<void> {
    await this.send({ type: 'manager.open' });
    await this.send({
      type: 'manager.start',
      specs: specs.map((spec) => (typeof spec === 'string' ? childSpec(spec) : spec)),
    });
  }

  async add(spec: string | ChildSpec): Promise<void> {
    await this.send({ type: 'manager.add', spec: typeof spec === 'string' ? childSpec(spec) : spec });
  }

  async stop(): Promise<void> {
    await this.send({ type: 'manager.stop' });
  }

  async network(online: boolean): Promise<void> {
    await this.send({ type: 'network.changed', online, at: this.clock.now() });
  }

  async command(name: string, command: ConnectionCommand): Promise<void> {
    this.#child(name).send(command);
    await turn();
  }

  async settle<S extends Slot>(name: string, slot: S, output: Partial<OutputOf<S>> = {}): Promise<void> {
    this.#effects.succeed(name, slot, output);
    await turn();
  }

  async fail(name: string, slot: Slot, how: Verdict, phase: FailurePhase = 'launch'): Promise<void> {
    this.#effects.fail(name, slot, sampleFailure(how, phase, this.clock.now()));
    await turn();
  }

  /** The ready session of a connection is lost. */
  async lose(name: string, how: Verdict): Promise<void> {
    const { generation } = this.contextOf(name);
    const failure = sampleFailure(how, 'session', this.clock.now());
    this.#effects.report(name, { type: 'session.lost', generation, failure });
    await turn();
  }

  /** Settles the effects of a connection until it is `ready`, as far as it has a start slot. */
  async bringUp(...names: string[]): Promise<void> {
    for (const name of names) {
      const { transport } = this.contextOf(name);
      for (const slot of FIRST_LIFE) {
        if (!this.running(name).includes(slot)) continue;
        await this.settle(name, slot, slot === 'openTransport' ? { transport } : {});
      }
    }
  }

  /** Settles the effects of a connection that is shutting down until it has stopped. */
  async bringDown(...names: string[]): Promise<void> {
    for (const name of names) {
      await this.settle(name, 'drainCalls');
      await this.settle(name, 'closeSession');
    }
  }

  /** Makes the actor of a connection fail, as only a bug in Troupe could: with a value that is not an event. */
  async crash(name: string): Promise<void> {
    await this.command(name, null as unknown as ConnectionCommand);
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }

  #child(name: string): Child {
    const child = this.#manager.getSnapshot().children[name];
    if (child === undefined) throw new Error(`The manager has no child '${name}'`);
    return child;
  }

  #follow(name: string): void {
    let before: string | undefined;
    this.#child(name).subscribe({
      next: ({ value }) => {
        const path = pathOf(value);
        if (path !== before) this.story.push(`${name}: ${path}`);
        before = path;
      },
      error: () => this.story.push(`${name}: died`),
    });
  }
}

/** The real configuration chart on a controlled clock; a test controls both of its effects. */
import { createActor, type ActorRefFrom, type InspectionEvent } from 'xstate';
import type {
  ConfigurationContext,
  ConfigurationEmitted,
  ConfigurationEvent,
  ConfigurationInput,
  configurationMachine,
} from '../../../machines/configuration/configuration.machine.js';
import { verdict, type TransitionVerdict } from '../../../machines/verdict.js';
import { stateText } from '../../../src/event-log/replay/divergence.js';
import { createControlledClock, type ControlledClock } from '../../support/controlled-clock.js';
import { HeldConfiguration } from '../../support/held-configuration.js';

export const POLICY = { restMs: 300, mostMs: 2_000, retryAfterMs: [1_000, 2_000] };

export interface ConfigurationDriverOptions extends Partial<ConfigurationInput> {
  readonly inspect?: (event: InspectionEvent) => void;
}

export class ConfigurationDriver {
  readonly clock: ControlledClock = createControlledClock();
  readonly effects = new HeldConfiguration();
  readonly #emitted: ConfigurationEmitted[] = [];
  readonly #actor: ActorRefFrom<typeof configurationMachine>;

  constructor({ inspect, ...input }: ConfigurationDriverOptions = {}) {
    this.#actor = createActor(this.effects.machine, {
      input: { policy: POLICY, readable: true, ...input },
      clock: this.clock,
      ...(inspect && { inspect }),
    });
    this.#actor.on('*', (event) => this.#emitted.push(event));
    this.#actor.start();
  }

  get snapshot() {
    return this.#actor.getSnapshot();
  }

  get context(): ConfigurationContext {
    return this.snapshot.context;
  }

  get path(): string {
    return stateText(this.snapshot.value);
  }

  /** The emitted events since the last call, as text. */
  get newEvents(): string[] {
    return this.#emitted.splice(0).map(({ type, message }) => `${type}: ${message}`);
  }

  async send(event: ConfigurationEvent): Promise<TransitionVerdict> {
    const answer = verdict(this.snapshot, event);
    this.#actor.send(event);
    await this.clock.advance(0);
    return answer;
  }

  change(): Promise<TransitionVerdict> {
    return this.send({ type: 'files.changed', at: this.clock.now() });
  }

  ask(): Promise<TransitionVerdict> {
    return this.send({ type: 'reload.asked' });
  }

  close(): Promise<TransitionVerdict> {
    return this.send({ type: 'configuration.close' });
  }

  /** Ends the current reading, in which every source was readable or not. */
  async read(readable = true): Promise<void> {
    this.effects.succeed({ readable, at: this.clock.now() });
    await this.clock.advance(0);
  }

  async fail(message = 'a bug'): Promise<void> {
    this.effects.fail({ message, at: this.clock.now() });
    await this.clock.advance(0);
  }

  stop(): void {
    this.#actor.stop();
  }
}

/** The chart of a lease with every effect under the control of a test: each runs until the test settles it. */
import { fromPromise } from 'xstate';
import { leaseMachine, type LeaseEffectInput } from '../../machines/lease/lease.machine.js';

type Effect = 'acquireLease' | 'renewLease' | 'keepTerm' | 'endServer' | 'releaseLease';

interface Running {
  readonly succeed: (output: object) => void;
  readonly fail: (error: Error) => void;
}

export class HeldLeaseEffects {
  readonly #running = new Map<Effect, Running>();
  readonly machine = leaseMachine.provide({
    actors: {
      acquireLease: this.#held('acquireLease'),
      renewLease: this.#held('renewLease'),
      keepTerm: this.#held('keepTerm'),
      endServer: this.#held('endServer'),
      releaseLease: this.#held('releaseLease'),
    },
  });

  /** The inputs of each effect, one for every time that it began. */
  readonly inputs: Record<Effect, LeaseEffectInput[]> = {
    acquireLease: [],
    renewLease: [],
    keepTerm: [],
    endServer: [],
    releaseLease: [],
  };

  /** The effects that run now, sorted. */
  get running(): readonly Effect[] {
    return [...this.#running.keys()].toSorted();
  }

  /** Ends an effect with that output, or with an error; does nothing if it does not run. */
  settle(effect: Effect, outcome: object | Error): void {
    const running = this.#running.get(effect);
    this.#running.delete(effect);
    if (outcome instanceof Error) running?.fail(outcome);
    else running?.succeed({ at: 0, ...outcome });
  }

  #held<T>(effect: Effect) {
    return fromPromise<T, LeaseEffectInput>(
      ({ input, signal }) =>
        new Promise((succeed, fail) => {
          this.inputs[effect].push(input);
          const running: Running = { succeed: (output) => succeed(output as T), fail };
          this.#running.set(effect, running);
          const over = (): void => {
            if (this.#running.get(effect) === running) this.#running.delete(effect);
          };
          signal.addEventListener('abort', over, { once: true });
        }),
    );
  }
}

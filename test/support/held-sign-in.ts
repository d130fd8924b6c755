/** The sign-in chart with its effects under the control of a test: each runs until the test settles it. */
import { fromCallback, fromPromise } from 'xstate';
import type { Failure } from '../../machines/policy/failure.js';
import { signInMachine } from '../../machines/sign-in/sign-in.machine.js';

/** The output of each effect that succeeds. `at` is the time at which it settles. */
const OUTPUTS: Readonly<Record<string, (at: number) => object>> = {
  readTokens: (at) => ({ found: { token: 1, scopes: ['look'], expiresInMs: 60_000 }, at }),
  renewToken: (at) => ({ found: { token: 2, scopes: ['look'], expiresInMs: 60_000 }, adopted: false, at }),
  lookForOther: () => ({ found: false }),
  beginSignIn: () => ({ kind: 'asked' }),
  askPerson: () => ({}),
  exchangeCode: () => ({ kind: 'exchanged' }),
  dropClient: () => ({}),
  finishWork: () => ({}),
  cutWork: () => ({}),
};

interface Running {
  readonly slot: string;
  readonly succeed: (output: object) => void;
  readonly fail: (failure: Failure) => void;
}

export class HeldSignIn {
  readonly #running = new Set<Running>();
  readonly machine = signInMachine.provide({
    actors: {
      ...Object.fromEntries(Object.keys(OUTPUTS).map((slot) => [slot, this.#hold(slot)])),
      watchForOthers: fromCallback(() => {}),
      openRedirect: fromCallback(() => {}),
    },
  });

  /** Settles one of the running effects, with success or failure; does nothing if none runs. */
  settle(pick: number, at: number, failure?: Failure): void {
    const running = [...this.#running][pick % Math.max(1, this.#running.size)];
    if (running === undefined) return;
    this.#running.delete(running);
    if (failure === undefined) running.succeed(OUTPUTS[running.slot]?.(at) ?? {});
    else running.fail(failure);
  }

  #hold(slot: string) {
    return fromPromise<object, object>(
      ({ signal }) =>
        new Promise((succeed, fail) => {
          const running: Running = { slot, succeed, fail };
          this.#running.add(running);
          signal.addEventListener('abort', () => this.#running.delete(running), { once: true });
        }),
    );
  }
}

/**
 * The configuration chart with both effects under the control of a test: a reading continues until the test settles it,
 * and the test sends the events of the file watch.
 */
import { fromCallback, fromPromise } from 'xstate';
import {
  configurationMachine,
  type ApplyConfigurationFailure,
  type ApplyConfigurationInput,
  type ApplyConfigurationOutput,
  type ConfigurationEvent,
  type FilesReread,
} from '../../machines/configuration/configuration.machine.js';

interface Reading {
  readonly input: ApplyConfigurationInput;
  readonly succeed: (output: ApplyConfigurationOutput) => void;
  readonly fail: (failure: ApplyConfigurationFailure) => void;
}

export class HeldConfiguration {
  readonly machine = configurationMachine.provide({
    actors: {
      watchFiles: fromCallback<FilesReread>(({ sendBack, receive }) => {
        const emit = (event: ConfigurationEvent): void => sendBack(event);
        this.#emit = emit;
        receive(() => (this.rereads += 1));
        return () => {
          if (this.#emit === emit) this.#emit = undefined;
        };
      }),
      applyConfiguration: fromPromise<ApplyConfigurationOutput, ApplyConfigurationInput>(
        ({ input, signal }) =>
          new Promise((succeed, fail) => {
            const reading: Reading = { input, succeed, fail };
            this.#reading = reading;
            this.reads += 1;
            const over = (): void => {
              if (this.#reading === reading) this.#reading = undefined;
            };
            signal.addEventListener('abort', over, { once: true });
          }),
      ),
    },
  });
  /** Number of reads that have started. */
  reads = 0;
  /** How often the watch was informed that the sources were read. */
  rereads = 0;
  #emit: ((event: ConfigurationEvent) => void) | undefined;
  #reading: Reading | undefined;

  /** The input of the current reading; undefined without one. */
  get reading(): ApplyConfigurationInput | undefined {
    return this.#reading?.input;
  }

  get isWatching(): boolean {
    return this.#emit !== undefined;
  }

  /** Sends an event of the watch; does nothing without a watch. */
  send(event: ConfigurationEvent): void {
    this.#emit?.(event);
  }

  /** Ends the current reading; does nothing without one. */
  succeed(output: ApplyConfigurationOutput): void {
    this.#take()?.succeed(output);
  }

  fail(failure: ApplyConfigurationFailure): void {
    this.#take()?.fail(failure);
  }

  #take(): Reading | undefined {
    const reading = this.#reading;
    this.#reading = undefined;
    return reading;
  }
}

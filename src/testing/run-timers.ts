/**
 * The timers that are set in the course of one piece of work, and what becomes of them.
 *
 * The runtime only counts its timers, so that one that is left behind is hidden by another one that ends meanwhile, and a
 * test runner always has some. What belongs to the work is told by its asynchronous context: a timer that is set from
 * another one, such as by what listened before, is not seen here.
 */
import { AsyncLocalStorage, createHook } from 'node:async_hooks';

export class RunTimers {
  readonly #context = new AsyncLocalStorage<RunTimers>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #hook = createHook({
    init: (id, type, _, resource) => {
      if (type === 'Timeout' && this.#context.getStore() === this)
        this.#timers.set(id, resource as NodeJS.Timeout);
    },
    destroy: (id) => {
      this.#timers.delete(id);
    },
  });

  /** Runs it and watches, until `stop`. */
  watch<T>(run: () => T): T {
    this.#hook.enable();
    return this.#context.run(this, run);
  }

  /** How many are neither over nor `unref`ed; what has ended counts until the next turn of the event loop. */
  get left(): number {
    return [...this.#timers.values()].filter((timer) => timer.hasRef()).length;
  }

  stop(): void {
    this.#hook.disable();
    this.#context.disable();
  }
}

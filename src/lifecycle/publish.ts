/**
 * The one publisher of lifecycle events.
 *
 * L1. `seq` grows by one for each event; `at` never goes back within a publisher's clock.
 * L2. Events are delivered from a microtask of their own, when no actor is processing, in the order of `seq`; an
 *     observer that sends a command sees settled state.
 * L3. `onflushed` runs after every batch: whoever waits for a state waits for its event to have been told.
 */
import { Subject, type Observable } from 'rxjs';
import type { Clock, Logger } from '../ports.js';
import type { LifecycleEvent, LifecycleEventBody } from './event.js';
import { SafeObservable } from './safe-observable.js';

export class Publisher {
  /** Hot; never replays. */
  readonly events$: Observable<LifecycleEvent>;
  readonly #events = new Subject<LifecycleEvent>();
  readonly #flushed = new Set<() => void>();
  #queue: LifecycleEvent[] = [];
  #seq = 0;
  #isScheduled = false;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.events$ = this.guarded((subscriber) => this.#events.subscribe(subscriber));
  }

  /** An Observable whose observers' failures go to the logger. */
  guarded<T>(subscribe: ConstructorParameters<typeof SafeObservable<T>>[0]): Observable<T> {
    return new SafeObservable<T>(subscribe, (error) => this.#observerFailed(error));
  }

  readonly publish = (body: LifecycleEventBody): void => {
    this.#seq += 1;
    this.#queue.push({ ...body, at: this.clock.now(), seq: this.#seq });
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#flush());
  };

  /** Calls `fn` after every delivered batch until the returned function is called. */
  onflushed(fn: () => void): () => void {
    this.#flushed.add(fn);
    return () => this.#flushed.delete(fn);
  }

  /**
   * Resolves when `isTrue`, checked now and after every delivered batch, so that whoever waited has been told before.
   * Rejects with the signal's reason.
   */
  async until(isTrue: () => boolean, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const finish = (settle: () => void): void => {
        stop();
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const check = (): void => {
        if (isTrue()) finish(resolve);
      };
      const onAbort = (): void => finish(() => reject(signal?.reason as Error));
      const stop = this.onflushed(check);
      signal?.addEventListener('abort', onAbort, { once: true });
      queueMicrotask(check);
    });
  }

  /** Delivers what is queued and completes the stream. */
  complete(): void {
    this.#flush();
    this.#events.complete();
  }

  #flush(): void {
    this.#isScheduled = false;
    const batch = this.#queue;
    this.#queue = [];
    for (const event of batch) this.#events.next(event);
    for (const fn of [...this.#flushed]) fn();
  }

  #observerFailed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.logger.error('an observer threw', { message });
  }
}

/**
 * The one publisher of lifecycle events.
 *
 * L1. `seq` grows by one for each event; `at` never goes back within a publisher's clock.
 * L2. Events are delivered from a microtask of their own, when no actor is processing, in the order of `seq`; an
 *     observer that sends a command sees settled state.
 *     Observers that answer every event with another one are served from the event loop after `MOST_BATCHES_IN_A_ROW`,
 *     so that timers and signals of the host are not starved. A host that does not let the loop turn itself is told
 *     after every `MOST_WAITING` events, so that they do not pile up.
 * L3. `onflushed` runs after every batch: whoever waits for a state waits for its event to have been told.
 * L4. After `complete` nothing is delivered any more and nobody is left waiting.
 */
import type { Observable } from 'rxjs';
import { whenGivenUp } from '../caller-signal.js';
import { NotReadyError } from '../errors.js';
import { guardedLogger } from '../guarded-logger.js';
import type { Clock, Logger } from '../ports.js';
import { messageOf, toError } from '../thrown.js';
import type { LifecycleEvent, LifecycleEventBody } from './event.js';
import { SafeObservable } from './safe-observable.js';

const MOST_BATCHES_IN_A_ROW = 1_000;
const MOST_WAITING = 1_000;
/** What waits for it has a microtask of its own, for less than `queueMicrotask` takes. */
const NOW = Promise.resolve();

/** Written into the body: a copy of every event would cost more than all the rest. */
type Stamped = LifecycleEventBody & { at?: number; seq?: number };

type EventListener = (event: LifecycleEvent) => void;

export class Publisher {
  /** Hot; never replays. */
  readonly events$: Observable<LifecycleEvent>;
  /** A new list for each change, so that a delivery goes on with those it began with. */
  #listeners: readonly EventListener[] = [];
  readonly #flushed = new Set<() => void>();
  readonly #completed = new Set<() => void>();
  #isComplete = false;
  #queue: LifecycleEvent[] = [];
  #seq = 0;
  #isScheduled = false;
  /** Batches since the event loop last turned. */
  #inARow = 0;

  readonly #logger: Logger;

  constructor(
    private readonly clock: Clock,
    logger?: Logger,
  ) {
    this.#logger = guardedLogger(logger);
    this.events$ = new SafeObservable(
      (subscriber) => {
        subscriber.add(this.onevent((event) => subscriber.next(event)));
        subscriber.add(this.#oncompleted(() => subscriber.complete()));
      },
      (error) => this.#observerFailed(error),
    );
  }

  /** Takes the event over: it becomes what is delivered. */
  readonly publish = (body: LifecycleEventBody): void => {
    if (this.#isComplete) return;
    this.#seq += 1;
    const event: Stamped = body;
    event.at = this.clock.now();
    event.seq = this.#seq;
    this.#queue.push(event as LifecycleEvent);
    if (this.#queue.length === MOST_WAITING) void NOW.then(this.#flush);
    this.wake();
  };

  /** Makes everybody who waits look again, where something changed that is no event. */
  wake(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (this.#inARow === 0) setImmediate(() => (this.#inARow = 0));
    this.#inARow += 1;
    if (this.#inARow < MOST_BATCHES_IN_A_ROW) void NOW.then(this.#flush);
    else setImmediate(this.#flush);
  }

  /** Calls `fn` for every event until the returned function is called. What it throws is told to the logger. */
  onevent(fn: EventListener): () => void {
    this.#listeners = [...this.#listeners, fn];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== fn);
    };
  }

  /** Calls `fn` after every delivered batch until the returned function is called. */
  onflushed(fn: () => void): () => void {
    this.#flushed.add(fn);
    return () => this.#flushed.delete(fn);
  }

  /** A value that the events change: replays the present one, and gives it again after every batch. */
  live<T>(read: () => T): Observable<T> {
    return new SafeObservable<T>(
      (subscriber) => {
        const tell = (): void => subscriber.next(read());
        tell();
        subscriber.add(this.onflushed(tell));
        subscriber.add(this.#oncompleted(() => subscriber.complete()));
      },
      (error) => this.#observerFailed(error),
    );
  }

  /**
   * Resolves when `isTrue`, checked now and after every delivered batch, so that whoever waited has been told before.
   * Rejects with the signal's reason, or with a `NotReadyError` when the end comes first.
   */
  async until(isTrue: () => boolean, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const finish = (settle: () => void): void => {
        stop();
        stopWaiting();
        leave?.();
        settle();
      };
      const check = (): void => {
        try {
          if (isTrue()) finish(resolve);
        } catch (error) {
          finish(() => reject(toError(error)));
        }
      };
      const giveUp = { handleEvent: () => finish(() => reject(signal?.reason as Error)) };
      const onEnd = (): void => {
        check();
        finish(() => reject(new NotReadyError('The troupe was closed meanwhile.')));
      };
      const stop = this.onflushed(check);
      const leave = signal && whenGivenUp(signal, giveUp);
      const stopWaiting = this.#oncompleted(() => queueMicrotask(onEnd));
      queueMicrotask(check);
    });
  }

  /** Delivers what is queued and completes the stream. */
  complete(): void {
    this.#flush();
    this.#isComplete = true;
    this.#listeners = [];
    for (const fn of [...this.#completed]) this.#guard(fn);
  }

  /** Calls `fn` at the end, at once where that is past, unless the returned function is called before. */
  #oncompleted(fn: () => void): () => void {
    if (this.#isComplete) fn();
    else this.#completed.add(fn);
    return () => this.#completed.delete(fn);
  }

  readonly #flush = (): void => {
    if (!this.#isScheduled) return;
    this.#isScheduled = false;
    const batch = this.#queue;
    this.#queue = [];
    for (const event of batch) this.#deliver(event);
    for (const fn of [...this.#flushed]) this.#guard(fn);
  };

  #deliver(event: LifecycleEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#observerFailed(error);
      }
    }
  }

  #guard(notify: () => void): void {
    try {
      notify();
    } catch (error) {
      this.#observerFailed(error);
    }
  }

  #observerFailed(error: unknown): void {
    const message = messageOf(error);
    this.#logger.error('an observer threw', { message });
  }
}

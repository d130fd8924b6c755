/**
 * The one publisher of lifecycle events, and of the values that they change. Longer than 300 lines because order, batches, waits
 * and masks apply to the same queue.
 *
 * The folder `lifecycle` turns the states of the charts into what a host sees: events, status rows, and states in words.
 *
 * L1. `seq` grows by one for each event; `at` never goes back within a publisher's clock.
 * L2. Events are delivered from a microtask of their own, when no actor is processing, in the order of `seq`; an
 *     observer that sends a command sees the final state.
 *     Observers that answer every event with another one are served from the event loop after `MAX_BATCHES_IN_A_ROW`,
 *     so that timers and signals of the host are not starved. A host that blocks the loop itself gets them
 *     after every `MAX_WAITING` events, so that they do not pile up.
 * L3. `onflushed` runs after every batch: a wait for a state ends after its event was delivered.
 * L4. After `complete` nothing more is delivered, and every wait has ended.
 * L5. An error of an observer is logged each time. Only the first one is a diagnostic too: an observer that throws for
 *     every diagnostic would never stop.
 * L6. One server causes a limited number of events in a second (`event-rate.ts`).
 * L7. Every text of an event passes the mask here, whoever wrote it. Only words of Troupe's own and names of servers do not,
 *     and the address at which a person signs in: without its `state`, it is of no use.
 */
import type { Subscriber } from 'rxjs';
import { onAbort } from '../async/abort.js';
import { cutText } from '../text/visible-text.js';
import { NotReadyError } from '../errors.js';
import { guardedLogger, type Clock, type Logger } from '../ports.js';
import { maskJson, NO_MASK, type Mask } from '../secrets/secrets.js';
import { messageOf, toError } from '../text/error-message.js';
import type { LifecycleEvent, LifecycleEventBody, LifecycleEventType } from './event.js';
import { DEFAULT_EVENTS_PER_SECOND, EventRate } from './event-rate.js';
import { freezeInDevelopment } from '../json/freeze.js';
import { toLogRecord } from './log-record.js';
import { distinctUntilChanged, Observable } from './rx.js';
import { SafeObservable } from './safe-observable.js';

const MAX_BATCHES_IN_A_ROW = 1_000;
const MAX_WAITING = 1_000;
/** Frequent events that change neither a list nor a row of the status. */
const CHANGE_NOTHING: ReadonlySet<LifecycleEventType> = new Set([
  'call.started',
  'call.progress',
  'call.finished',
  'server.request',
  'server.notification',
  'resource.updated',
  'elicitation.completed',
]);
/** Fields of events and failures that hold words of Troupe's own, names of servers, and hashes. */
const UNMASKED: ReadonlySet<string> = new Set([
  'type',
  'server',
  'from',
  'to',
  'substate',
  'state',
  'event',
  'reason',
  'allowed',
  'list',
  'fields',
  'fingerprint',
  'outcome',
  'stream',
  'kind',
  'problem',
  'signals',
  'code',
  'phase',
  'exit',
]);
/** `NOW.then(fn)` runs `fn` in a microtask of its own, and costs less than `queueMicrotask`. */
const NOW = Promise.resolve();

/** Time and number are written into the body: a copy of every event would cost more than all the rest. */
type Stamped = LifecycleEventBody & { at?: number; seq?: number };

type EventListener = (event: LifecycleEvent) => void;

export class Publisher {
  /** Hot; never replays. */
  readonly events$: Observable<LifecycleEvent>;
  /** A new list for each change, so that a delivery that is under way is not affected. */
  #listeners: readonly EventListener[] = [];
  readonly #flushed = new Set<() => void>();
  /** Functions that read a live value for its subscribers. */
  readonly #readers = new Set<() => void>();
  readonly #completed = new Set<() => void>();
  #isComplete = false;
  #queue: LifecycleEvent[] = [];
  #seq = 0;
  #isScheduled = false;
  /** Whether a live value may differ after this batch. */
  #mayHaveChanged = false;
  /** Batches since the event loop last turned. */
  #inARow = 0;

  readonly #rate: EventRate;
  readonly #logger: Logger;
  /** Observers that have thrown. */
  readonly #failed = new WeakSet<object>();

  /** `maskOf` gives the mask of a server, or of all servers without a name. */
  constructor(
    private readonly clock: Clock,
    logger?: Logger,
    private readonly maskOf: (server?: string) => Mask = () => NO_MASK,
    eventsPerSecond: (server: string) => number = () => DEFAULT_EVENTS_PER_SECOND,
  ) {
    this.#rate = new EventRate(clock, eventsPerSecond, (server, message) =>
      this.publish({ type: 'diagnostic', server, kind: 'events-left-out', message }),
    );
    this.#logger = guardedLogger(logger);
    if (logger !== undefined) this.onevent((event) => this.#log(event));
    this.events$ = this.observable((subscriber) => {
      subscriber.add(this.onevent((event) => subscriber.next(event)));
    });
  }

  #log(event: LifecycleEvent): void {
    const { level, message, details } = toLogRecord(event);
    this.#logger[level](message, details);
  }

  /** The number of the last event, whether it was delivered or not. */
  get published(): number {
    return this.#seq;
  }

  /** Takes ownership of the body: it becomes the delivered event. */
  readonly publish = (body: LifecycleEventBody): void => {
    if (this.#isComplete || !this.#rate.admits(body)) return;
    this.#seq += 1;
    const event: Stamped = this.#masked(body);
    event.at = this.clock.now();
    event.seq = this.#seq;
    this.#queue.push(freezeInDevelopment(event as LifecycleEvent));
    if (this.#queue.length === MAX_WAITING) void NOW.then(this.#flush);
    if (!CHANGE_NOTHING.has(body.type)) this.#mayHaveChanged = true;
    this.#schedule();
  };

  /** In place. The hook that would mask the report of its own failure is the one that failed. */
  #masked(body: LifecycleEventBody): LifecycleEventBody {
    if (body.type === 'diagnostic' && body.kind === 'redact-failed') return body;
    const fields = body as unknown as Record<string, unknown>;
    let mask: Mask | undefined;
    for (const name of Object.keys(fields)) {
      const value = fields[name];
      if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) continue;
      if (UNMASKED.has(name) || (name === 'url' && body.type === 'connection.authRequired')) continue;
      mask ??= this.maskOf('server' in body ? body.server : undefined);
      fields[name] = name === 'params' ? maskJson(value, mask) : maskTexts(value, mask);
    }
    return body;
  }

  /** Makes every wait and live value check again, after a change without an event. */
  wake(): void {
    this.#mayHaveChanged = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (this.#inARow === 0) setImmediate(() => (this.#inARow = 0));
    this.#inARow += 1;
    if (this.#inARow < MAX_BATCHES_IN_A_ROW) void NOW.then(this.#flush);
    else setImmediate(this.#flush);
  }

  /** Calls `fn` for every event until the returned function is called. Its errors are logged. */
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

  /** A stream that is safe from its observers' errors, and completes with the publisher. */
  observable<T>(follow: (subscriber: Subscriber<T>) => void): Observable<T> {
    const source = new Observable<T>((subscriber) => {
      follow(subscriber);
      subscriber.add(this.#oncompleted(() => subscriber.complete()));
    });
    return new SafeObservable(source, this.observerFailed);
  }

  /**
   * A value that the events change: replays the present one and emits whenever it is a different object. With subscribers
   * it is read once after each batch, for all of them.
   */
  live<T>(read: () => T): Observable<T> {
    const subscribers = new Set<Subscriber<T>>();
    const emit = (): void => {
      const value = read();
      for (const subscriber of [...subscribers]) subscriber.next(value);
    };
    return this.observable<T>((subscriber) => {
      subscriber.next(read());
      subscribers.add(subscriber);
      this.#readers.add(emit);
      subscriber.add(() => {
        subscribers.delete(subscriber);
        if (subscribers.size === 0) this.#readers.delete(emit);
      });
    }).pipe(distinctUntilChanged());
  }

  /** Reports what an observer threw. `observer` is any object that identifies it. */
  readonly observerFailed = (observer: object, error: unknown): void => {
    const message = cutText(this.maskOf()(messageOf(error)));
    this.#logger.error('An observer threw.', { reason: message });
    if (this.#failed.has(observer)) return;
    this.#failed.add(observer);
    this.publish({ type: 'diagnostic', kind: 'observer-failed', message: `An observer threw: ${message}` });
  };

  /**
   * Resolves when `isTrue`. It is checked now and after every delivered batch, so the observers have been called before.
   * Rejects with the signal's reason, or with a `NotReadyError` if the troupe closes first.
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
        finish(() => reject(new NotReadyError('The troupe was closed in the meantime.')));
      };
      const stop = this.onflushed(check);
      const leave = signal && onAbort(signal, giveUp);
      const stopWaiting = this.#oncompleted(() => queueMicrotask(onEnd));
      queueMicrotask(check);
    });
  }

  /** Delivers what is queued and completes the stream. */
  complete(): void {
    this.#rate.flush();
    this.#flush();
    this.#isComplete = true;
    this.#listeners = [];
    this.#callAll(this.#completed);
  }

  /** Calls `fn` at the end, or at once if it is past, unless the returned function is called before. */
  #oncompleted(fn: () => void): () => void {
    if (this.#isComplete) fn();
    else this.#completed.add(fn);
    return () => this.#completed.delete(fn);
  }

  readonly #flush = (): void => {
    if (!this.#isScheduled) return;
    const mayHaveChanged = this.#mayHaveChanged;
    this.#isScheduled = false;
    this.#mayHaveChanged = false;
    const batch = this.#queue;
    this.#queue = [];
    for (const event of batch) this.#deliver(event);
    this.#callAll(this.#flushed);
    if (mayHaveChanged) this.#callAll(this.#readers);
  };

  #deliver(event: LifecycleEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.observerFailed(listener, error);
      }
    }
  }

  #callAll(functions: Iterable<() => void>): void {
    for (const fn of [...functions]) {
      try {
        fn();
      } catch (error) {
        this.observerFailed(fn, error);
      }
    }
  }
}

/** The names of the fields are Troupe's own. */
function maskTexts(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskTexts(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, UNMASKED.has(name) ? item : maskTexts(item, mask)]),
  );
}

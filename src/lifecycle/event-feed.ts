/** The lifecycle events without RxJS: as an asynchronous iterator, and as a promise of the next one of a type. */
import { onAbort } from '../async/abort.js';
import { NotReadyError } from '../errors.js';
import { toError } from '../text/error-message.js';
import { requireKnownName, type OptionNames } from '../text/option-names.js';
import type { LifecycleEvent, LifecycleEventType } from './event.js';
import type { Subscribable } from './stream.js';

/**
 * The lifecycle event of that type.
 *
 * @typeParam T The type of the event, for instance `connection.ready`.
 */
export type EventOf<T extends LifecycleEventType> = Extract<LifecycleEvent, { readonly type: T }>;

/** Options of `Troupe.events`. */
export interface EventsOptions {
  /** Ends the loop, which then throws the reason. */
  readonly signal?: AbortSignal;
  /** How many events wait for a loop that is slower than they are. Further ones replace the oldest. Default 1,000. */
  readonly buffer?: number;
}

/**
 * Options of `Troupe.once`.
 *
 * @typeParam T The type of the event.
 */
export interface OnceOptions<T extends LifecycleEventType> {
  /** Which event to wait for. Default: the next one of the type. */
  readonly filter?: (event: EventOf<T>) => boolean;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

export const EVENTS_OPTIONS: OptionNames<EventsOptions> = { signal: true, buffer: true };
export const ONCE_OPTIONS: OptionNames<OnceOptions<LifecycleEventType>> = { filter: true, signal: true };

const DEFAULT_BUFFER = 1_000;

const EVENT_TYPES: { readonly [T in LifecycleEventType]: true } = {
  'manager.started': true,
  'manager.stopped': true,
  'manager.failed': true,
  'manager.rejected': true,
  'connection.added': true,
  'connection.removed': true,
  'connection.state': true,
  'connection.ready': true,
  'connection.lost': true,
  'connection.retrying': true,
  'connection.failed': true,
  'connection.stopped': true,
  'connection.rejected': true,
  'connection.trustRequired': true,
  'connection.authRequired': true,
  'connection.authSettled': true,
  'catalog.changed': true,
  'tool.held': true,
  'tool.accepted': true,
  'call.started': true,
  'call.progress': true,
  'call.finished': true,
  'server.request': true,
  'elicitation.completed': true,
  'resource.updated': true,
  'server.notification': true,
  'server.log': true,
  diagnostic: true,
};

/** Throws a `TypeError` for a type that no event has: whoever waits for it would wait for ever. */
export function requireEventType(called: string, type: unknown): void {
  requireKnownName(called, 'event type', type, EVENT_TYPES);
}

type Step = IteratorResult<LifecycleEvent, undefined>;

interface Waiting {
  readonly resolve: (step: Step) => void;
  readonly reject: (reason: unknown) => void;
}

const DONE: Step = { done: true, value: undefined };

/** Listens from its creation on. Ends with the stream, with `return`, or with the signal. */
export class EventFeed implements AsyncIterableIterator<LifecycleEvent, undefined> {
  readonly #most: number;
  readonly #overflowed: () => void;
  readonly #leave: () => void;
  #events: LifecycleEvent[] = [];
  #waiting: Waiting[] = [];
  #isOver = false;
  #isOverflowing = false;
  /** What the next step throws. */
  #failure: { readonly reason: unknown } | undefined;

  /** `overflowed` is called when an event is left out, and again only once the loop has caught up. */
  constructor(
    events$: Subscribable<LifecycleEvent>,
    { signal, buffer = DEFAULT_BUFFER }: EventsOptions,
    overflowed: () => void,
  ) {
    if (!Number.isInteger(buffer) || buffer < 1)
      throw new TypeError("events: expected 'buffer' to be a whole number of at least 1");
    this.#most = buffer;
    this.#overflowed = overflowed;
    const subscription = events$.subscribe({
      next: (event) => this.#take(event),
      complete: () => this.#end(),
    });
    const abort = { handleEvent: () => this.#fail(signal?.reason) };
    const leaveSignal = signal === undefined ? undefined : onAbort(signal, abort);
    this.#leave = () => {
      subscription.unsubscribe();
      leaveSignal?.();
    };
    if (signal?.aborted === true) this.#fail(signal.reason);
    if (this.#isOver) this.#leave();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.reason;
    const event = this.#events.shift();
    if (event !== undefined) return { done: false, value: event };
    this.#isOverflowing = false;
    if (this.#isOver) return DONE;
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  async return(): Promise<Step> {
    this.#events = [];
    this.#end();
    return DONE;
  }

  #take(event: LifecycleEvent): void {
    const next = this.#waiting.shift();
    if (next !== undefined) return next.resolve({ done: false, value: event });
    this.#events.push(event);
    if (this.#events.length <= this.#most) return;
    this.#events.shift();
    if (this.#isOverflowing) return;
    this.#isOverflowing = true;
    this.#overflowed();
  }

  #fail(reason: unknown): void {
    if (this.#isOver) return;
    const [first] = this.#waiting.splice(0, 1);
    if (first === undefined) this.#failure = { reason };
    else first.reject(reason);
    this.#events = [];
    this.#end();
  }

  /** What waits in the buffer can still be read. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // The stream may end, or the signal abort, within the constructor.
    (this.#leave as (() => void) | undefined)?.();
    for (const { resolve } of this.#waiting.splice(0)) resolve(DONE);
  }
}

/** The next event of a type. Rejects if the stream ends or the signal aborts first. */
export function nextEvent<T extends LifecycleEventType>(
  events$: Subscribable<LifecycleEvent>,
  type: T,
  { filter = () => true, signal }: OnceOptions<T>,
): Promise<EventOf<T>> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(toError(signal.reason));
    const finish = (settle: () => void): void => {
      subscription.unsubscribe();
      leave?.();
      settle();
    };
    const look = (event: LifecycleEvent): void => {
      if (event.type !== type) return;
      const found = event as EventOf<T>;
      try {
        if (filter(found)) finish(() => resolve(found));
      } catch (error) {
        finish(() => reject(toError(error)));
      }
    };
    const leave =
      signal && onAbort(signal, { handleEvent: () => finish(() => reject(signal.reason as Error)) });
    const ended = new NotReadyError(`The troupe was closed before '${type}'.`);
    const subscription = events$.subscribe({
      next: look,
      complete: () => queueMicrotask(() => finish(() => reject(ended))),
    });
  });
}

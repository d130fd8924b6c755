/**
 * An Observable whose observers cannot hurt anyone. RxJS rethrows what an observer throws from a timer, and leaves a
 * promise that an asynchronous one gives back alone: both end the host's process. Here it is reported to `onFailure` and
 * the other observers go on.
 *
 * Pipelines built with `pipe` keep the protection, since `lift` does.
 */
import type { Observer, Operator, Subscription, TeardownLogic, Subscriber } from 'rxjs';
import { Observable } from './rx.js';

export type ObserverFailure = (error: unknown) => void;

export class SafeObservable<T> extends Observable<T> {
  readonly #onFailure: ObserverFailure;

  constructor(subscribe: (subscriber: Subscriber<T>) => TeardownLogic, onFailure: ObserverFailure) {
    super(subscribe);
    this.#onFailure = onFailure;
  }

  override lift<R>(operator?: Operator<T, R>): Observable<R> {
    const lifted = new SafeObservable<R>(() => undefined, this.#onFailure);
    lifted.source = this;
    lifted.operator = operator as Operator<unknown, R>;
    return lifted;
  }

  override subscribe(
    observerOrNext?: Partial<Observer<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    if (isSubscriber(observerOrNext)) return super.subscribe(observerOrNext);
    const observer: Partial<Observer<T>> =
      typeof observerOrNext === 'function' || observerOrNext === null || observerOrNext === undefined
        ? {
            ...(observerOrNext ? { next: observerOrNext } : {}),
            ...(error ? { error } : {}),
            ...(complete ? { complete } : {}),
          }
        : observerOrNext;
    return super.subscribe({
      next: (value) => this.#guard(() => observer.next?.(value)),
      error: (reason: unknown) =>
        this.#guard(() => (observer.error === undefined ? this.#onFailure(reason) : observer.error(reason))),
      complete: () => this.#guard(() => observer.complete?.()),
    });
  }

  /** What an observer throws at once, or later where it is asynchronous. */
  #guard(notify: () => unknown): void {
    try {
      const told = notify();
      if (told instanceof Promise) told.catch(this.#onFailure);
    } catch (error) {
      this.#onFailure(error);
    }
  }
}

/** An operator's own subscriber is passed on as it is: RxJS links it to its destination. */
function isSubscriber(value: unknown): value is Subscriber<unknown> {
  return typeof value === 'object' && value !== null && 'destination' in value && 'add' in value;
}

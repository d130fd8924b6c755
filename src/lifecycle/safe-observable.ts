/**
 * An Observable that is safe from its observers' errors. RxJS rethrows an observer's error from a timer, and ignores the
 * promise of an asynchronous observer: both end the host's process. Here the failure is reported, and the other observers
 * go on.
 *
 * Everything that `pipe` returns has the same protection. It overrides only `subscribe` and `pipe`, which are public in
 * RxJS 7 and 8; streams that bypass both (`merge(events$, …)`, `map(…)(events$)`) are not protected.
 */
import type { Observer, OperatorFunction, Subscription } from 'rxjs';
import { Observable, Subscriber } from './rx.js';

/** `observer` identifies the subscription. */
export type ObserverFailed = (observer: object, error: unknown) => void;

export class SafeObservable<T> extends Observable<T> {
  readonly #source: Observable<T>;
  readonly #failed: ObserverFailed;

  constructor(source: Observable<T>, failed: ObserverFailed) {
    super();
    this.#source = source;
    this.#failed = failed;
  }

  override pipe(...operators: OperatorFunction<never, unknown>[]): Observable<never> {
    const piped = operators.reduce(
      (source, operator) => operator(source) as Observable<never>,
      this.#source as Observable<never>,
    );
    return isPlain(piped) ? new SafeObservable(piped, this.#failed) : piped;
  }

  override subscribe(
    observerOrNext?: Partial<Observer<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // RxJS links the subscriber of an operator to its destination, whose observer deals with errors.
    if (observerOrNext instanceof Subscriber) return this.#source.subscribe(observerOrNext);
    const observer: Partial<Observer<T>> =
      typeof observerOrNext === 'object' && observerOrNext !== null
        ? observerOrNext
        : {
            ...(observerOrNext ? { next: observerOrNext } : {}),
            ...(error ? { error } : {}),
            ...(complete ? { complete } : {}),
          };
    return this.#source.subscribe(guarded(observer, this.#failed));
  }
}

/** An operator may return a subclass with more methods, which must not be hidden. */
function isPlain(piped: Observable<unknown>): boolean {
  return Object.getPrototypeOf(piped) === Observable.prototype;
}

function guarded<T>(observer: Partial<Observer<T>>, failed: ObserverFailed): Observer<T> {
  const onFailure = (error: unknown): void => failed(observer, error);
  const attempt = (notify: () => unknown): void => {
    try {
      const returned = notify();
      if (returned instanceof Promise) returned.catch(onFailure);
    } catch (error) {
      onFailure(error);
    }
  };
  return {
    next: (value) => attempt(() => observer.next?.(value)),
    error: (reason) =>
      attempt(() => (observer.error === undefined ? onFailure(reason) : observer.error(reason))),
    complete: () => attempt(() => observer.complete?.()),
  };
}

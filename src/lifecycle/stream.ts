/**
 * The type of the streams of the public API: an `Observable` of RxJS for a host that has its types, and otherwise what can be
 * done without them. So a host that does not use RxJS compiles without its declarations.
 *
 * The next line suppresses one error, in a host without the types of RxJS. `@ts-expect-error` would be an error in every other
 * host.
 */
/** @ts-ignore Without the types of RxJS, the name is `any`. */
import type { Observable } from 'rxjs';

/**
 * What a stream calls. Each function is optional.
 *
 * @typeParam T Type of the values.
 */
export interface StreamObserver<T> {
  /**
   * Called with each value.
   *
   * @param value The value.
   */
  next?(value: T): void;
  /** Called at the end. */
  complete?(): void;
}

/**
 * The part of an `Observable` that needs no types of RxJS. `from` of RxJS takes it.
 *
 * @typeParam T Type of the values.
 */
export interface Subscribable<T> {
  /**
   * Calls a function, or the functions of an observer, until `unsubscribe` or the end. An error of an observer is logged and
   * has no other effect.
   *
   * @param observer A function for each value, or an observer.
   */
  subscribe(observer: ((value: T) => void) | StreamObserver<T>): {
    /** Ends the subscription. */
    unsubscribe(): void;
  };
}

/**
 * An `Observable` of RxJS; a `Subscribable` for a host without the types of RxJS: what cannot be resolved is `any`, and only
 * `any` fits everything.
 *
 * @typeParam T Type of the values.
 */
export type Stream<T> = { of: Observable<T> } extends { of: 'nothing' } ? Subscribable<T> : Observable<T>;

/**
 * The type of the streams of the public API: an `Observable` of RxJS for a host that has its types, and otherwise what can be
 * done without them. So a host that does not use RxJS compiles without its declarations.
 */
/** @ts-ignore A host may not have the types of RxJS: the name is then `any`. */
import type { Observable } from 'rxjs';

/** What a stream calls. Each function is optional. */
export interface StreamObserver<T> {
  /** Called with each value. */
  next?(value: T): void;
  /** Called at the end. */
  complete?(): void;
}

/** The part of an `Observable` that needs no types of RxJS. `from` of RxJS takes it. */
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

/** `any` is the type of what cannot be resolved. */
type IsAny<T> = 0 extends 1 & T ? true : false;

/** An `Observable` of RxJS; a `Subscribable` for a host without the types of RxJS. */
export type Stream<T> = IsAny<Observable<T>> extends true ? Subscribable<T> : Observable<T>;

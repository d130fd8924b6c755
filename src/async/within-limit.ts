/** Work with a time limit and a signal. */
import { MAX_DELAY_MS } from '../../machines/policy/backoff.js';
import type { Clock } from '../ports.js';

/** A limit that no timer of the platform can hold counts as none. */
export function isLimit(ms: number): boolean {
  return ms > 0 && ms <= MAX_DELAY_MS;
}

/** The limit is over. */
export class LimitOver extends Error {
  constructor(readonly limitMs: number) {
    super(`It took longer than ${limitMs} ms.`);
  }
}

/** Runs `work` until it settles, `outer` aborts or `limitMs` is over, whichever comes first. */
export function withinLimit<T>(
  clock: Clock,
  outer: AbortSignal,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (outer.aborted) return Promise.reject(new LeftState());
  return new Promise<T>((resolve, reject) => {
    const inner = new AbortController();
    const stop = (): void => {
      if (timer !== undefined) clock.clearTimeout(timer);
      outer.removeEventListener('abort', onAbort);
    };
    const giveUp = (reason: Error): void => {
      stop();
      reject(reason);
      inner.abort(reason);
    };
    const onAbort = (): void => giveUp(new LeftState());
    const begin = async (): Promise<T> => work(inner.signal);
    const timer = isLimit(limitMs)
      ? clock.setTimeout(() => giveUp(new LimitOver(limitMs)), limitMs)
      : undefined;
    outer.addEventListener('abort', onAbort, { once: true });
    begin().then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/** The state that invoked the work was left. */
export class LeftState extends Error {
  constructor() {
    super('The state that invoked this work was left.');
  }
}

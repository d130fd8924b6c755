/**
 * Runs a question to the store as an effect of the review's chart: it fails if it takes too long, and rejects with a
 * plain record.
 */
import { fromPromise, type AnyActorRef } from 'xstate';
import type { ReviewTrouble } from '../../machines/review/review.machine.js';
import type { Clock } from '../ports.js';
import { messageOf } from '../text/error-message.js';
import { withinLimit } from '../async/within-limit.js';

/** Longest time for one answer of a store. */
const LIMIT_MS = 10_000;

/** The access of one review to its store. */
export interface StoreAsker<TOutput, TInput> {
  readonly clock: Clock;
  readonly ask: (input: TInput) => Promise<TOutput>;
}

/** `askerOf` returns the access of the review that an actor system belongs to. */
export function askReviewStore<TOutput, TInput>(
  askerOf: (system: AnyActorRef['system']) => StoreAsker<TOutput, TInput>,
) {
  return fromPromise<TOutput, TInput>(async ({ input, signal, system }) => {
    try {
      const { clock, ask } = askerOf(system);
      return await withinLimit(clock, signal, LIMIT_MS, () => ask(input));
    } catch (error) {
      const trouble: ReviewTrouble = { message: messageOf(error) };
      return Promise.reject(trouble);
    }
  });
}

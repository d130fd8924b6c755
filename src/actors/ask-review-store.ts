/** How the effects of a review run: what takes too long has failed, and what fails settles with a plain record. */
import { fromPromise, type AnyActorRef } from 'xstate';
import type { ReviewTrouble } from '../../machines/review.machine.js';
import type { Clock } from '../ports.js';
import { messageOf } from '../thrown.js';
import { withinLimit } from './effect.js';

/** Longest time for one answer of a store. */
const LIMIT_MS = 10_000;

/** What one review has to do with its store. */
export interface StoreAsker<TOutput, TInput> {
  readonly clock: Clock;
  readonly ask: (input: TInput) => Promise<TOutput>;
}

/** `askerOf` gives that of the review whose actor system it is. */
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

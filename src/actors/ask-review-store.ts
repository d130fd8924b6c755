/** How the effects of a review run: what takes too long has failed, and what fails settles with a plain record. */
import { fromPromise } from 'xstate';
import type { ReviewTrouble } from '../../machines/review.machine.js';
import type { Clock } from '../ports.js';
import { withinLimit } from './effect.js';

/** Longest time for one answer of a store. */
const LIMIT_MS = 10_000;

export function askReviewStore<TOutput, TInput>(clock: Clock, ask: (input: TInput) => Promise<TOutput>) {
  return fromPromise<TOutput, TInput>(async ({ input, signal }) => {
    try {
      return await withinLimit(clock, signal, LIMIT_MS, () => ask(input));
    } catch (error) {
      const trouble: ReviewTrouble = { message: error instanceof Error ? error.message : String(error) };
      return Promise.reject(trouble);
    }
  });
}

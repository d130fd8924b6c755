/** An unchanged list of tools, as after every reconnect. */
import { describe, expect, it } from 'vitest';
import { createMemoryReviewStore, type ReviewStore } from '../../../src/review/review-store.js';
import { ServerReview } from '../../../src/review/server-review.js';
import { NO_MASK } from '../../../src/secrets/secrets.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';

useLeakCheck();
useCrashWatch();

function reviewWith(store: ReviewStore): { review: ServerReview; steps: () => number } {
  let steps = 0;
  const review = new ServerReview(
    { server: 'fs', hash: 'a'.repeat(64) },
    { store, clock: createControlledClock(), mask: () => NO_MASK, moved: () => (steps += 1) },
  );
  return { review, steps: () => steps };
}

describe('an unchanged list', () => {
  it('is not compared again.', async () => {
    const { review, steps } = reviewWith(createMemoryReviewStore());
    const tools = [tool('read')];
    review.listed(tools);
    await review.judged();
    const before = steps();
    review.listed(tools);
    expect(steps()).toBe(before);
    review.listed([tool('read', { title: 'other' })]);
    expect(steps()).toBeGreaterThan(before);
    expect([...review.names]).toEqual(['read']);
    review.stop();
  });

  it('makes the store save what it could not save before.', async () => {
    const store = createMemoryReviewStore();
    let isBroken = true;
    let kept = 0;
    const { review } = reviewWith({
      baseline: (...asked) => store.baseline(...asked),
      accept: async (...given) => {
        if (isBroken) throw new Error('the disk is full');
        await store.accept(...given);
        kept += 1;
      },
    });
    review.listed([tool('read')]);
    await review.judged();
    const tools = [tool('read', { title: 'other' })];
    review.listed(tools);
    const [held] = review.held;
    expect(held && (await review.accept(held))).toBe(false);
    isBroken = false;
    review.listed(tools);
    await review.idle();
    expect(kept).toBe(1);
    review.stop();
  });
});

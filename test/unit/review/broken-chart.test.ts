/** An internal error in the chart of a review: nothing else fails, and no unreviewed tool is shown. */
import { describe, expect, it, vi } from 'vitest';
import type * as policy from '../../../machines/policy/review.js';
import { createMemoryReviewStore } from '../../../src/review/review-store.js';
import { ServerReview } from '../../../src/review/server-review.js';
import { NO_MASK } from '../../../src/secrets/secrets.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';

const broken = vi.hoisted(() => ({ isBroken: false }));

// Mocked because no input leads to an internal error of the chart.
vi.mock('../../../machines/policy/review.js', async (original) => {
  const real = await original<typeof policy>();
  return {
    ...real,
    matchingPrints: (...lists: Parameters<typeof real.matchingPrints>) => {
      if (broken.isBroken) throw new Error('a bug');
      return real.matchingPrints(...lists);
    },
  };
});

useLeakCheck();
useCrashWatch();

describe('a review whose chart has crashed', () => {
  it('reports that, and holds every tool from then on.', async () => {
    const reported: string[] = [];
    const review = new ServerReview(
      { server: 'fs', hash: 'a'.repeat(64) },
      {
        store: createMemoryReviewStore(),
        clock: createControlledClock(),
        mask: () => NO_MASK,
        moved: (_review, events) => {
          for (const event of events) reported.push(event.type === 'troubled' ? event.message : event.type);
        },
      },
    );
    review.listed([tool('read')]);
    await review.judged();
    expect([...review.names]).toEqual([]);
    broken.isBroken = true;
    review.listed([tool('read', { title: 'other' }), tool('write')]);
    expect(reported).toEqual(['a bug']);
    expect([...review.names]).toEqual(['read', 'write']);
    review.listed([tool('write')]);
    expect([...review.names]).toEqual(['write']);
    expect(review.heldTool('write')).toMatchObject({ reason: 'unknown', listed: { name: 'write' } });
    await review.judged();
    await review.idle();
    review.stop();
  });
});

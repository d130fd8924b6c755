/** The first list of a server that is not known: it costs nothing until something differs from it. */
import { describe, expect, it } from 'vitest';
import { toReviewOptions } from '../../../src/review/review-option.js';
import { createMemoryReviewStore, type ReviewStore } from '../../../src/review/review-store.js';
import { Reviews } from '../../../src/review/reviews.js';
import type { LifecycleEventBody } from '../../../src/lifecycle/event.js';
import { NO_MASK } from '../../../src/secrets/secrets.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';

useLeakCheck();
useCrashWatch();

function reviewsWith(store?: ReviewStore) {
  const published: LifecycleEventBody[] = [];
  /** How often a target was hashed. */
  const hashed: string[] = [];
  const targets = new Map([['fs', 'first']]);
  const reviews = new Reviews({
    ...toReviewOptions(store === undefined ? undefined : { store }),
    clock: createControlledClock(),
    publish: (event) => published.push(event),
    mask: () => NO_MASK,
    echoMask: () => NO_MASK,
    target: (server) => {
      const hash = `${targets.get(server)}`;
      return {
        server,
        get hash() {
          hashed.push(server);
          return hash;
        },
      };
    },
    filter: () => ({}),
    generation: () => 1,
    lifetime: { isClosed: false, hasStarted: true, refuseClosed: () => {} },
    changed: () => {},
  });
  return { reviews, published, hashed, targets };
}

const CHANGED = [tool('read', { title: 'other' })];

describe('the first list of a server', () => {
  it('is neither hashed nor judged, and neither is the same list after it', async () => {
    const { reviews, hashed, published } = reviewsWith();
    const tools = [tool('read')];
    reviews.listed('fs', tools);
    expect(reviews.state('fs')).toEqual({ judged: 'clear' });
    await reviews.idle();
    expect([hashed, published]).toEqual([[], []]);
    reviews.listed('fs', tools);
    await reviews.idle();
    expect(published).toEqual([]);
  });

  it('is what the next list is compared with', async () => {
    const { reviews, published } = reviewsWith();
    reviews.listed('fs', [tool('read')]);
    reviews.listed('fs', CHANGED);
    await reviews.idle();
    expect(published).toMatchObject([{ type: 'diagnostic', kind: 'tool-changed', tool: 'read' }]);
    await reviews.close();
  });

  it('is remembered if its server is gone and comes back', async () => {
    const { reviews, published } = reviewsWith();
    reviews.listed('fs', [tool('read')]);
    reviews.listed('fs', []);
    reviews.forget('fs');
    reviews.listed('fs', CHANGED);
    await reviews.idle();
    expect(published).toMatchObject([{ type: 'diagnostic', kind: 'tool-changed', tool: 'read' }]);
    await reviews.close();
  });

  it('counts for the entry that listed it, and not for another entry of that name', async () => {
    const { reviews, published, targets } = reviewsWith();
    reviews.listed('fs', [tool('read')]);
    targets.set('fs', 'second');
    reviews.listed('fs', CHANGED, { server: 'fs', hash: 'second' });
    await reviews.idle();
    expect(published).toEqual([]);
    await reviews.close();
  });

  it('can be accepted like any other', async () => {
    const { reviews } = reviewsWith();
    reviews.listed('fs', [tool('read')]);
    await expect(reviews.accept({ server: 'fs', tool: 'read', fingerprint: 'unknown' })).rejects.toThrow();
    await reviews.close();
  });

  it('is judged at once if the store of the host may know the server', async () => {
    const store = createMemoryReviewStore();
    await store.baseline({ server: 'fs', hash: 'first' }, [tool('read')]);
    const { reviews, published } = reviewsWith(store);
    reviews.listed('fs', CHANGED);
    await reviews.idle();
    expect(published).toMatchObject([{ type: 'diagnostic', kind: 'tool-changed', tool: 'read' }]);
    await reviews.close();
  });
});

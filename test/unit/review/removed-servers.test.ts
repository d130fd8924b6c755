/** Hosts that add and remove a server for every task: the memory of removed servers is limited. */
import { describe, expect, it } from 'vitest';
import { Lifetime } from '../../../src/lifecycle/lifetime.js';
import { UnknownToolError } from '../../../src/errors.js';
import { createMemoryReviewStore } from '../../../src/review/review-store.js';
import { toReviewOptions } from '../../../src/review/review-option.js';
import { Reviews } from '../../../src/review/reviews.js';
import { NO_MASK } from '../../../src/secrets/secrets.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { tool } from '../../support/scripted-server.js';
import { HeldStore } from '../../support/held-store.js';

const READ = tool('read');
const CHANGED = tool('read', { description: 'another' });

function reviewsOf(review: Parameters<typeof toReviewOptions>[0]) {
  const entries = new Map<string, number>();
  const reviews = new Reviews({
    ...toReviewOptions(review),
    clock: createControlledClock(),
    publish: () => {},
    mask: () => NO_MASK,
    echoMask: () => NO_MASK,
    target: (server) => ({ server, hash: `${server}, entry ${entries.get(server) ?? 0}` }),
    filter: () => ({}),
    generation: () => 1,
    lifetime: new Lifetime(),
    changed: () => {},
  });
  const list = async (server: string, listed: typeof READ): Promise<string[]> => {
    reviews.listed(server, [listed]);
    await reviews.judged(server);
    return [...reviews.heldBack(server)];
  };
  const passBy = async (count: number): Promise<void> => {
    for (let task = 0; task < count; task += 1) {
      await list(`task-${task}`, READ);
      reviews.forget(`task-${task}`);
    }
  };
  return { reviews, list, passBy, setEntry: (server: string, entry: number) => entries.set(server, entry) };
}

describe('the tools of a removed server', () => {
  it('are remembered for its return, while fewer than a thousand others were removed after it', async () => {
    const { reviews, list, passBy } = reviewsOf('hold-changes');
    await list('fs', READ);
    reviews.forget('fs');
    await passBy(999);
    expect(await list('fs', CHANGED)).toEqual(['read']);
  });

  it('are forgotten after that, but not those of existing servers', async () => {
    const { reviews, list, passBy } = reviewsOf('hold-changes');
    await list('fs', READ);
    await list('db', READ);
    reviews.forget('fs');
    await passBy(1_000);
    expect(await list('fs', CHANGED)).toEqual([]);
    expect(await list('db', CHANGED)).toEqual(['read']);
  });

  it('are remembered from the last removal', async () => {
    const { reviews, list, passBy } = reviewsOf('hold-changes');
    await list('fs', READ);
    reviews.forget('fs');
    await passBy(900);
    await list('fs', READ);
    await passBy(900);
    reviews.forget('fs');
    await passBy(900);
    expect(await list('fs', CHANGED)).toEqual(['read']);
  });

  it('are forgotten, too, if its entry was replaced by a thousand others', async () => {
    const { list, setEntry } = reviewsOf('hold-changes');
    await list('fs', READ);
    for (let entry = 1; entry <= 1_001; entry += 1) {
      setEntry('fs', entry);
      await list('fs', READ);
    }
    setEntry('fs', 0);
    expect(await list('fs', CHANGED)).toEqual([]);
    setEntry('fs', 1_001);
    expect(await list('fs', CHANGED)).toEqual(['read']);
  });

  it('stay in a store of the host', async () => {
    const store = createMemoryReviewStore();
    const { reviews, list, passBy } = reviewsOf({ mode: 'hold-changes', store });
    await list('fs', READ);
    reviews.forget('fs');
    await passBy(1_000);
    expect(await list('fs', CHANGED)).toEqual(['read']);
  });

  it.each(['is removed', 'gets another entry'])(
    'cannot be accepted if it %s in the meantime',
    async (how) => {
      const store = new HeldStore();
      store.remember([READ]);
      const { reviews, list, setEntry } = reviewsOf({ mode: 'hold-changes', store });
      const listed = list('fs', CHANGED);
      store.answer();
      await listed;
      const [held] = reviews.held;
      const accepting = reviews.accept(held ?? { server: 'fs', tool: 'read', fingerprint: '' });
      if (how === 'is removed') reviews.forget('fs');
      else {
        setEntry('fs', 1);
        reviews.listed('fs', [READ]);
        store.answer();
      }
      await expect(accepting).rejects.toBeInstanceOf(UnknownToolError);
      expect([...(store.remembered?.values() ?? [])]).toEqual([READ]);
    },
  );
});

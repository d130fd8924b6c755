import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/errors.js';
import { createMemoryReviewStore } from '../../../src/review/review-store.js';
import { createTroupe } from '../../../src/runtime/troupe.js';

describe('the option review', () => {
  it.each([
    'off',
    'report',
    'hold-changes',
    {},
    { mode: 'off' },
    { store: createMemoryReviewStore() },
    { mode: 'hold-changes', store: createMemoryReviewStore() },
  ] as const)('may be %j.', async (review) => {
    const troupe = createTroupe({ cache: false, review });
    expect(troupe.review.held).toEqual([]);
    await troupe.close();
  });

  it.each([
    ['yes', /'hold-changes'/],
    [true, /'hold-changes'/],
    [null, /'hold-changes'/],
    [{ mode: 'hold' }, /'hold-changes' as 'mode'/],
    [{ store: {} }, /'baseline' and 'accept'/],
    [{ store: 'files' }, /'baseline' and 'accept'/],
    [{ store: { ...createMemoryReviewStore(), watch: true } }, /'watch'/],
    [{ mod: 'off' }, /found 'mod'/],
  ])('must not be %j.', (review, why) => {
    const make = (): unknown => createTroupe({ review: review as never });
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(why);
    expect(make).toThrow(/review/);
  });

  it('requires requiresConfirmation to be a function.', () => {
    expect(() => createTroupe({ requiresConfirmation: true as never })).toThrow(
      /requiresConfirmation.*function/,
    );
  });
});

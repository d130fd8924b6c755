import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allowRetry,
  grantStarts,
  idleHolders,
  type Waiting,
} from '../../../../machines/policy/start-queue.js';

const queue: fc.Arbitrary<Waiting[]> = fc
  .array(fc.record({ slot: fc.boolean(), retry: fc.boolean() }), { maxLength: 30 })
  .map((claims) => claims.map((claim, index) => ({ name: `s${index}`, ...claim })));

const free = fc.record({ slots: fc.integer({ min: -2, max: 8 }), retries: fc.integer({ min: -2, max: 8 }) });

const count = (claims: readonly Waiting[], need: 'slot' | 'retry'): number =>
  claims.filter((claim) => claim[need]).length;

describe('the connections that return their slots while cores are idle', () => {
  it.each([
    [['a', 'b', 'c'], 0, ['a', 'b', 'c']],
    [['a', 'b', 'c'], 1, ['a', 'b']],
    [['a', 'b', 'c'], 3, []],
    [['a'], 4, []],
    [[], 0, []],
  ])('are, of %j with %i busy cores, %j.', (holders, busyCores, idle) => {
    expect(idleHolders(holders, busyCores)).toEqual(idle);
  });
});

describe('the queue for start slots', () => {
  it('is divided without loss, in order, and never beyond what is free.', () => {
    fc.assert(
      fc.property(queue, free, (waiting, { slots, retries }) => {
        const { granted, left } = grantStarts(waiting, { slots, retries });
        expect(waiting.filter((claim) => granted.includes(claim))).toEqual(granted);
        expect(waiting.filter((claim) => left.includes(claim))).toEqual(left);
        expect(granted.length + left.length).toBe(waiting.length);
        expect(count(granted, 'slot')).toBeLessThanOrEqual(Math.max(0, slots));
        expect(count(granted, 'retry')).toBeLessThanOrEqual(Math.max(0, retries));
      }),
    );
  });

  it('of a fleet: a retry takes its share here once, and starts when the fleet allows it.', () => {
    fc.assert(
      fc.property(queue, free, (waiting, { slots, retries }) => {
        const here = grantStarts(waiting, { slots, retries, sharesRetries: true });
        const asking = here.left.filter(({ asksFleet }) => asksFleet === true);
        expect(count(here.granted, 'retry')).toBe(0);
        expect(asking).toHaveLength(here.spent);
        expect(here.spent).toBeLessThanOrEqual(Math.max(0, retries));

        const free = { slots: 0, retries: 0, sharesRetries: true };
        expect(grantStarts(here.left, free)).toMatchObject({ granted: [], spent: 0 });
        const [first] = asking;
        if (first === undefined) return;
        const allowed = allowRetry(here.left, first.name);
        expect(allowRetry(allowed, first.name)).toEqual(allowed);
        expect(grantStarts(allowed, { ...free, slots: 1 }).granted).toContainEqual({
          name: first.name,
          slot: first.slot,
          retry: false,
        });
      }),
    );
  });

  it('lets no connection wait whose needs could be met.', () => {
    fc.assert(
      fc.property(queue, free, (waiting, { slots, retries }) => {
        const { granted, left } = grantStarts(waiting, { slots, retries });
        const rest = { slots: slots - count(granted, 'slot'), retries: retries - count(granted, 'retry') };
        expect(grantStarts(left, rest).granted).toEqual([]);
      }),
    );
  });
});

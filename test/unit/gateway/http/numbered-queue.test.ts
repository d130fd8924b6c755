import { describe, expect, it } from 'vitest';
import { NumberedQueue } from '../../../../src/gateway/http/numbered-queue.js';

interface Item {
  readonly seq: number;
}

/** Items that count how often a number was read. */
function filled(count: number): { readonly queue: NumberedQueue<Item>; readonly reads: () => number } {
  let reads = 0;
  const queue = new NumberedQueue<Item>();
  for (let number = 1; number <= count; number += 1) {
    queue.push({
      get seq() {
        reads += 1;
        return number;
      },
    });
  }
  return { queue, reads: () => reads };
}

const numbers = (items: readonly Item[]): readonly number[] => items.map(({ seq }) => seq);

describe('a queue of numbered items', () => {
  it('returns the items after a number, in order', () => {
    const { queue } = filled(5);
    expect(numbers(queue.after(3))).toEqual([4, 5]);
    expect(numbers(queue.after(0))).toEqual([1, 2, 3, 4, 5]);
    expect(queue.after(5)).toEqual([]);
  });

  it('gives up its first item, and nothing when it is empty', () => {
    const { queue } = filled(3);
    queue.shift();
    expect(queue.first?.seq).toBe(2);
    expect(numbers(queue.after(0))).toEqual([2, 3]);
    queue.shift();
    queue.shift();
    queue.shift();
    expect(queue.first).toBeUndefined();
    queue.push({ seq: 9 });
    expect(numbers(queue.after(0))).toEqual([9]);
  });

  it('looks at few items, however many there are', () => {
    const { queue, reads } = filled(100_000);
    queue.after(99_999);
    expect(reads()).toBeLessThanOrEqual(17);
  });

  it('is empty once cleared', () => {
    const { queue } = filled(3);
    queue.clear();
    expect(queue.first).toBeUndefined();
  });
});

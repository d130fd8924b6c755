/**
 * Aligns two sequences: which items of one correspond to which of the other, in order, with as few others as possible (E.
 * Myers, An O(ND) Difference Algorithm, 1986). Pure.
 */

/** A pair, or an item that only one of the two has: indexes, undefined for the other. */
export type Aligned = readonly [a: number | undefined, b: number | undefined];

/** More differences than that are not aligned: the rest of both follows one after the other. */
const MAX_DIFFERENCES = 400;

export function aligned(a: readonly string[], b: readonly string[]): readonly Aligned[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const middle = shortest(a.slice(start, endA), b.slice(start, endB));
  return [
    ...pairs(start, (index) => [index, index]),
    ...middle.map(([left, right]): Aligned => [left && left - 1 + start, right && right - 1 + start]),
    ...pairs(a.length - endA, (index) => [endA + index, endB + index]),
  ];
}

function pairs(count: number, pair: (index: number) => Aligned): readonly Aligned[] {
  return Array.from({ length: count }, (_, index) => pair(index));
}

/** Indexes are counted from 1, so that none is false. */
function shortest(a: readonly string[], b: readonly string[]): readonly Aligned[] {
  const furthest = new Map([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let edits = 0; edits <= MAX_DIFFERENCES; edits += 1) {
    trace.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = isDown(furthest, diagonal, edits) ? at(furthest, diagonal + 1) : at(furthest, diagonal - 1) + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return walkBack(a, b, trace);
    }
  }
  return [
    ...pairs(a.length, (index) => [index + 1, undefined]),
    ...pairs(b.length, (index) => [undefined, index + 1]),
  ];
}

function walkBack(
  a: readonly string[],
  b: readonly string[],
  trace: readonly ReadonlyMap<number, number>[],
): readonly Aligned[] {
  const way: Aligned[] = [];
  let [x, y] = [a.length, b.length];
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const furthest = trace[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const from = isDown(furthest, diagonal, edits) ? diagonal + 1 : diagonal - 1;
    const fromX = at(furthest, from);
    const fromY = fromX - from;
    for (; x > fromX && y > fromY; x -= 1, y -= 1) way.push([x, y]);
    if (edits > 0) way.push(x === fromX ? [undefined, y] : [x, undefined]);
    [x, y] = [fromX, fromY];
  }
  return way.reverse();
}

const at = (furthest: ReadonlyMap<number, number>, diagonal: number): number => furthest.get(diagonal) ?? -1;

function isDown(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  return (
    diagonal === -edits || (diagonal !== edits && at(furthest, diagonal - 1) < at(furthest, diagonal + 1))
  );
}

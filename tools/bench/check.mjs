/** Compares ratios with the committed ones. */
import { TARGETS } from './targets.mjs';

/** A larger loss fails. Two measurements differ by less, also on a machine that does other work. */
export const MAX_LOSS = 1.3;

/**
 * @returns {{ what: string, where: string, before: number, now: number, isLost: boolean }[]} one for each ratio in both results
 */
export function compare(now, committed, targets = TARGETS) {
  return targets
    .filter(({ isRatio }) => isRatio)
    .map(({ what, where, value }) => ({ what, where, before: value(committed), now: value(now) }))
    .filter(({ before, now: after }) => before !== null && after !== null)
    .map((row) => ({ ...row, isLost: row.now > row.before * MAX_LOSS }));
}

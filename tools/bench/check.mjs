/** Whether ratios got worse than the committed ones. */
import { TARGETS } from './targets.mjs';

/** A loss of more than this fails; what is measured twice on one quiet machine differs by less. */
export const MAX_LOSS = 1.15;

/**
 * @returns {{ what: string, before: number, now: number, isLost: boolean }[]} one for each ratio that both results have
 */
export function compare(now, committed, targets = TARGETS) {
  return targets
    .filter(({ isRatio }) => isRatio)
    .map(({ what, value }) => ({ what, before: value(committed), now: value(now) }))
    .filter(({ before, now: after }) => before !== null && after !== null)
    .map((row) => ({ ...row, isLost: row.now > row.before * MAX_LOSS }));
}

/** What the option `review` comes to. */
import { isObject } from '../config/read-shape.js';
import type { ReviewMode, ReviewOptions, TroupeOptions } from '../options.js';
import { createOwnReviewStore, type OwnReviewStore, type ReviewStore } from './review-store.js';

const MODES: readonly unknown[] = ['off', 'report', 'hold-changes'] satisfies readonly ReviewMode[];
const STORE = ['baseline', 'approve'] satisfies readonly (keyof ReviewStore)[];

export function toReviewOptions(review: TroupeOptions['review']): Required<ReviewOptions> & OwnReviewStore {
  const { mode = 'report', store }: ReviewOptions =
    typeof review === 'string' ? { mode: review } : (review ?? {});
  return store === undefined ? { mode, ...createOwnReviewStore() } : { mode, store };
}

/** What is wrong with the option; undefined where nothing is. */
export function reviewProblem(review: unknown): string | undefined {
  if (review === undefined || MODES.includes(review)) return undefined;
  if (!isObject(review)) return "expected 'off', 'report', 'hold-changes' or { mode, store }";
  const { mode, store, ...others } = review;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `expected { mode, store }, found '${unknown}'`;
  if (mode !== undefined && !MODES.includes(mode))
    return "expected 'off', 'report' or 'hold-changes' as 'mode'";
  const isStore = isObject(store) && STORE.every((name) => typeof store[name] === 'function');
  if (store !== undefined && !isStore)
    return "expected a 'store' with the functions 'baseline' and 'approve'";
  if (isStore && store['watch'] !== undefined && typeof store['watch'] !== 'function')
    return "expected a function as 'watch' of the 'store'";
  return undefined;
}

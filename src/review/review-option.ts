/** The option `review`: its types, validation and defaults. */
import { isObject } from '../config/entry/read-shape.js';
import { createOwnReviewStore, type OwnReviewStore, type ReviewStore } from './review-store.js';

const MODES: readonly unknown[] = ['off', 'report', 'hold-changes'] satisfies readonly ReviewMode[];
const STORE = ['baseline', 'accept'] satisfies readonly (keyof ReviewStore)[];

export function toReviewOptions(
  review: ReviewMode | ReviewOptions | undefined,
): Required<ReviewOptions> & OwnReviewStore {
  const { mode = 'report', store }: ReviewOptions =
    typeof review === 'string' ? { mode: review } : (review ?? {});
  return store === undefined ? { mode, ...createOwnReviewStore() } : { mode, store };
}

/** What is wrong with the option; undefined if nothing is. */
export function reviewProblem(review: unknown): string | undefined {
  if (review === undefined || MODES.includes(review)) return undefined;
  if (!isObject(review)) return "expected 'off', 'report', 'hold-changes' or { mode, store }";
  const { mode, store, ...others } = review;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `expected { mode, store }, found '${unknown}'`;
  if (mode !== undefined && !MODES.includes(mode))
    return "expected 'off', 'report' or 'hold-changes' as 'mode'";
  const isStore = isObject(store) && STORE.every((name) => typeof store[name] === 'function');
  if (store !== undefined && !isStore) return "expected a 'store' with the functions 'baseline' and 'accept'";
  if (isStore && store['watch'] !== undefined && typeof store['watch'] !== 'function')
    return "expected a function as 'watch' of the 'store'";
  return undefined;
}

/**
 * How to treat a tool that differs from the accepted one, or that is new on a known server. The first tools
 * of an unknown server count as accepted.
 *
 * `hold-changes` hides it from the model and refuses calls until a person accepts it (`review.accept`).
 * `report` publishes a `diagnostic`. `off` compares nothing.
 */
export type ReviewMode = 'off' | 'report' | 'hold-changes';

/** How tools are compared with what was accepted: by title, description, schemas and annotations. */
export interface ReviewOptions {
  /** Default `report`. */
  readonly mode?: ReviewMode;
  /**
   * Stores accepted tools. `createFileReviewStore()` shares them with the `troupe` command and later runs.
   * Default: they are forgotten with the troupe.
   */
  readonly store?: ReviewStore;
}

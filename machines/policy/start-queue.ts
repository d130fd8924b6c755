/**
 * Which waiting connections may begin an attempt now.
 *
 * Owns only the choice; the manager keeps the queue, the slots and the budget.
 *
 * Q1. First come, first served, among connections with the same need.
 * Q2. A connection that waits for a slot does not delay one that waits for the budget, and vice versa.
 */

/** What an attempt needs before it may begin. */
export interface StartClaim {
  /** Whether it needs a start slot; stdio servers share them. */
  readonly slot: boolean;
  /** Whether it needs a share of the retry budget: an automatic attempt at a remote server. */
  readonly retry: boolean;
}

/** A connection that waits for its start. */
export interface Waiting extends StartClaim {
  /** Name of the connection. */
  readonly name: string;
}

/** The result of `grantStarts`. */
export interface Grants {
  /** Connections that may start now, in order of arrival. */
  readonly granted: readonly Waiting[];
  /** Connections that still wait, in the same order. */
  readonly left: readonly Waiting[];
}

/**
 * Divides the queue into connections that may start now and those that still wait.
 *
 * @param queue Waiting connections in order of arrival.
 * @param free What may be given out now.
 *
 * @example
 * ```ts
 * import { grantStarts } from 'mcp-troupe/machines';
 *
 * const queue = [
 *   { name: 'files', slot: true, retry: false },
 *   { name: 'docs', slot: false, retry: true },
 * ];
 * const { granted, left } = grantStarts(queue, { slots: 1, retries: 0 }); // files starts, docs waits
 * ```
 */
export function grantStarts(
  queue: readonly Waiting[],
  free: {
    /** Free start slots; a negative number counts as 0. */
    readonly slots: number;
    /** Retries that the budget still allows; a negative number counts as 0. */
    readonly retries: number;
  },
): Grants {
  let { slots, retries } = free;
  const granted: Waiting[] = [];
  const left: Waiting[] = [];
  for (const claim of queue) {
    if ((claim.slot && slots <= 0) || (claim.retry && retries <= 0)) {
      left.push(claim);
      continue;
    }
    if (claim.slot) slots -= 1;
    if (claim.retry) retries -= 1;
    granted.push(claim);
  }
  return { granted, left };
}

/**
 * Connections that release their slots although their start goes on, oldest first: at most as many starts are at work as
 * cores are busy, so the others wait for something else.
 *
 * @param holders Names of the connections that hold a slot, the oldest first.
 * @param busyCores How many cores are busy: 0 or more.
 *
 * @example
 * ```ts
 * import { idleHolders } from 'mcp-troupe/machines';
 *
 * console.log(idleHolders(['files', 'docs', 'git'], 1)); // [ 'files', 'docs' ]
 * ```
 */
export function idleHolders(holders: readonly string[], busyCores: number): readonly string[] {
  return holders.slice(0, Math.max(0, holders.length - busyCores));
}

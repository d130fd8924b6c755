/**
 * Who of those that wait may begin an attempt now.
 *
 * Owns the choice only; the manager keeps the queue, the slots and the budget.
 *
 * Q1. First come, first served, among those who need the same.
 * Q2. One that waits for a slot holds up nobody who waits for the budget, nor the other way round.
 */

/** What an attempt needs before it may begin. */
export interface StartClaim {
  /** One of the start slots, which stdio servers share. */
  readonly slot: boolean;
  /** A share of the fleet's retry budget, for an attempt at a remote server that nobody asked for. */
  readonly retry: boolean;
}

/** A connection that waits for its start. */
export interface Waiting extends StartClaim {
  readonly name: string;
}

export interface Grants {
  readonly granted: readonly Waiting[];
  /** Who goes on waiting, in the same order. */
  readonly left: readonly Waiting[];
}

/** Divides the queue; `slots` and `retries` are what is free now, and nothing where not positive. */
export function grantStarts(
  queue: readonly Waiting[],
  free: { readonly slots: number; readonly retries: number },
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

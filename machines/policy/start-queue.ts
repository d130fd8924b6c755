/**
 * Which waiting connections may begin an attempt now.
 *
 * Owns only the choice; the manager keeps the queue, the slots and the budget.
 *
 * Q1. First come, first served, among connections with the same need.
 * Q2. A connection that waits for a slot does not delay one that waits for the budget, and vice versa.
 * Q3. With a fleet, a retry takes its share of the budget here first. Then it asks the fleet, and delays nobody meanwhile.
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
  /** Whether the budget of this host has allowed its retry, and the budget of the fleet is to allow it too. Default false. */
  readonly asksFleet?: boolean;
}

/** The result of `grantStarts`. */
export interface Grants {
  /** Connections that may start now, in order of arrival. */
  readonly granted: readonly Waiting[];
  /** Connections that still wait, in the same order. */
  readonly left: readonly Waiting[];
  /** How many retries were taken from the budget. */
  readonly spent: number;
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
    /** Whether a retry needs a share of the fleet's budget as well. Default false. */
    readonly sharesRetries?: boolean | undefined;
  },
): Grants {
  const { sharesRetries = false } = free;
  let { slots, retries } = free;
  let spent = 0;
  const granted: Waiting[] = [];
  const left: Waiting[] = [];
  for (const claim of queue) {
    if (claim.asksFleet === true || (claim.slot && slots <= 0) || (claim.retry && retries <= 0)) {
      left.push(claim);
      continue;
    }
    if (claim.retry) {
      retries -= 1;
      spent += 1;
    }
    if (claim.retry && sharesRetries) {
      left.push({ ...claim, asksFleet: true });
      continue;
    }
    if (claim.slot) slots -= 1;
    granted.push(claim);
  }
  return { granted, left, spent };
}

/**
 * The queue once the fleet's budget has allowed the retry of a connection that asks it.
 *
 * @param queue Waiting connections in order of arrival.
 * @param name Name of the connection.
 *
 * @example
 * ```ts
 * import { allowRetry } from 'mcp-troupe/machines';
 *
 * const queue = [{ name: 'docs', slot: false, retry: true, asksFleet: true }];
 * console.log(allowRetry(queue, 'docs')); // [ { name: 'docs', slot: false, retry: false } ]
 * ```
 */
export function allowRetry(queue: readonly Waiting[], name: string): readonly Waiting[] {
  return queue.map((claim) => {
    if (claim.name !== name || claim.asksFleet !== true) return claim;
    return { name, slot: claim.slot, retry: false };
  });
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

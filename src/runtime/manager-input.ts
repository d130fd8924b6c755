/** The input of the manager chart, from the options of a troupe. */
import { availableParallelism } from 'node:os';
import type { ManagerInput } from '../../machines/manager/manager.events.js';
import type { TroupeOptions } from '../options.js';

export function managerInput(options: TroupeOptions): ManagerInput {
  const { maxConcurrentStarts, startGateMs, retryBudget, fleet } = options;
  return {
    startSlots: Math.max(1, maxConcurrentStarts ?? Math.max(4, 2 * availableParallelism())),
    slotHoldMs: SLOT_HOLD_MS,
    retryBurst: retryBudget?.burst ?? DEFAULT_RETRY_BUDGET.burst,
    retryEveryMs: retryBudget?.everyMs ?? DEFAULT_RETRY_BUDGET.everyMs,
    startGateMs: startGateMs ?? DEFAULT_START_GATE_MS,
    ...(fleet === undefined ? {} : { sharesRetries: true }),
  };
}

/** Longest `start()` waits for first attempts, milliseconds. */
export const DEFAULT_START_GATE_MS = 10000;

/** How many retries may begin at once, and after how many milliseconds one more. */
export const DEFAULT_RETRY_BUDGET = { burst: 20, everyMs: 50 };

/** Longest a starting server holds a start slot; one that merely does not answer must not starve the rest. Milliseconds. */
export const SLOT_HOLD_MS = 500;

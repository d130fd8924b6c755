/** The numbers of the manager chart that the options of a troupe ask for. */
import { availableParallelism } from 'node:os';
import type { ManagerInput } from '../machines/manager.machine.js';
import {
  CACHED_GATE_MS,
  DEFAULT_RETRY_BUDGET,
  DEFAULT_START_GATE_MS,
  SLOT_HOLD_MS,
  type TroupeOptions,
} from './options.js';

export function managerInput({ startSlots, startGateMs, retryBudget }: TroupeOptions): ManagerInput {
  return {
    startSlots: Math.max(1, startSlots ?? Math.max(4, 2 * availableParallelism())),
    slotHoldMs: SLOT_HOLD_MS,
    retryBurst: retryBudget?.burst ?? DEFAULT_RETRY_BUDGET.burst,
    retryEveryMs: retryBudget?.everyMs ?? DEFAULT_RETRY_BUDGET.everyMs,
    startGateMs: startGateMs ?? DEFAULT_START_GATE_MS,
    cachedGateMs: CACHED_GATE_MS,
  };
}

/**
 * What happens to a call whose session was lost before the answer came.
 *
 * Owns one decision: a call is repeated only if that cannot act twice.
 */

/** `safe` repeats calls that cannot act twice, `never` leaves every repetition to the caller. */
export type RetryCalls = 'safe' | 'never';

/** What decides whether a lost call may be repeated. */
export interface LostCall {
  /** Whether any byte of the request may have reached the server. */
  readonly written: boolean;
  /** The tool's `readOnlyHint` annotation is `true` (MCP specification, tool annotations). */
  readonly readOnly: boolean;
  /** The tool's `idempotentHint` annotation is `true`. */
  readonly idempotent: boolean;
}

/**
 * - `repeat`: send it once more after the recovery.
 * - `not-sent`: reject it; the caller may safely repeat it.
 * - `outcome-unknown`: reject it; the server may have acted.
 */
export type LostCallOutcome = 'repeat' | 'not-sent' | 'outcome-unknown';

/**
 * The outcome of one lost call. A call is repeated once: ask with `never` when the repetition is lost as well.
 *
 * @param call What is known about the lost call.
 * @param retryCalls The policy of the call. Pass `never` if the lost call was a repetition already.
 *
 * @example
 * ```ts
 * import { afterLoss } from 'mcp-troupe/machines';
 *
 * console.log(afterLoss({ written: true, readOnly: false, idempotent: false }, 'safe')); // outcome-unknown
 * ```
 */
export function afterLoss(call: LostCall, retryCalls: RetryCalls): LostCallOutcome {
  const cannotActTwice = !call.written || call.readOnly || call.idempotent;
  if (retryCalls === 'safe' && cannotActTwice) return 'repeat';
  return call.written ? 'outcome-unknown' : 'not-sent';
}

/**
 * Which scopes to request. No scope is requested twice, even if the server demands it again, so every step-up ends.
 */

/** Scopes of one account. No scope is requested twice. */
export interface ScopeLedger {
  /** Scopes requested in a sign-in or renewal that succeeded. */
  readonly asked: readonly string[];
  /** Scopes that the server demanded and that were not requested yet. */
  readonly wanted: readonly string[];
}

export const NO_SCOPES: ScopeLedger = { asked: [], wanted: [] };

/** Whether some of the demanded scopes were neither granted nor requested. */
export function isNewDemand(
  { asked }: ScopeLedger,
  scopes: readonly string[],
  granted: readonly string[],
): boolean {
  return scopes.some((scope) => !granted.includes(scope) && !asked.includes(scope));
}

export function demand(ledger: ScopeLedger, scopes: readonly string[]): ScopeLedger {
  return { ...ledger, wanted: union(ledger.wanted, scopes) };
}

/** Everything granted so far and everything wanted; `usual` if nothing more is wanted. */
export function scopesToAsk(
  { asked, wanted }: ScopeLedger,
  granted: readonly string[],
  usual: readonly string[],
): readonly string[] {
  return wanted.length === 0 ? usual : union(granted, asked, wanted);
}

/** These scopes were requested, and the answer has come. */
export function answered({ asked }: ScopeLedger, scopes: readonly string[]): ScopeLedger {
  return { asked: union(asked, scopes), wanted: [] };
}

function union(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

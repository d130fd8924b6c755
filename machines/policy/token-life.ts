/**
 * How long an access token is used, and when it is renewed. Pure arithmetic over given times; tokens are named by number.
 */

/** What an authorization server or a store says about a token. */
export interface TokenFacts {
  /** Number of the token, assigned by the runtime. */
  readonly token: number;
  /** Scopes it was granted; empty if unknown. */
  readonly scopes: readonly string[];
  /** Milliseconds until it expires; null if unknown. */
  readonly expiresInMs: number | null;
}

/** What the chart knows about the token in use. The token itself is kept elsewhere. */
export interface HeldToken {
  /** Number of the token, from 1. A new token gets a new number. */
  readonly token: number;
  /** Scopes that the token grants. */
  readonly scopes: readonly string[];
  /** Read from the store, so perhaps obtained by another process. */
  readonly adopted: boolean;
  /** When it expires, milliseconds since the epoch; null if unknown. */
  readonly endsAt: number | null;
  /** When it is renewed before it expires; null = only when the server refuses it. */
  readonly dueAt: number | null;
}

/** A token is renewed this long before it expires, or in the last tenth of its lifetime if that is shorter. */
const AHEAD_MS = 5 * 60_000;
const AHEAD_SHARE = 0.1;
/** Pause after an early renewal has failed. */
const LATER_MS = 30_000;

/** A lifetime of 0 ms means "expired" for a token from the store, and "unknown" for a new one. */
export function holdToken(facts: TokenFacts, adopted: boolean, at: number): HeldToken {
  const { token, scopes, expiresInMs: lifeMs } = facts;
  if (lifeMs === null || (lifeMs <= 0 && !adopted)) {
    return { token, scopes, adopted, endsAt: null, dueAt: null };
  }
  const endsAt = at + Math.max(0, lifeMs);
  const dueAt = endsAt - Math.min(AHEAD_MS, Math.max(0, lifeMs) * AHEAD_SHARE);
  return { token, scopes, adopted, endsAt, dueAt };
}

export function isDue({ dueAt }: HeldToken, at: number): boolean {
  return dueAt !== null && at >= dueAt;
}

export function hasEnded({ endsAt }: HeldToken, at: number): boolean {
  return endsAt !== null && at >= endsAt;
}

/** The renewal failed and may succeed later; the token is used until it expires. */
export function renewLater(held: HeldToken, at: number): HeldToken {
  const later = at + LATER_MS;
  return { ...held, dueAt: held.endsAt === null ? later : Math.min(held.endsAt, later) };
}

/** It cannot be renewed; it is used until the server refuses it. */
export function neverDue(held: HeldToken): HeldToken {
  return { ...held, dueAt: null };
}

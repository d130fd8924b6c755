/** An access token in use, and when another one is due. Knows no clock: the time is told. */
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';

/** How long before its end a token is renewed, at most; a short-lived one, in the last tenth of its life. */
const AHEAD_MS = 5 * 60_000;
const AHEAD_SHARE = 0.1;
/** After a renewal ahead of time has failed. */
const LATER_MS = 30_000;

export class HeldToken {
  readonly accessToken: string;
  readonly scope: string | undefined;
  /** It came from somebody else who has renewed it, or from what was kept. */
  readonly isAdopted: boolean;
  readonly #endsAt: number;
  #dueAt: number;

  /** `expires_in` counts from `now`; 0 in what was kept means that it has ended, in a new token nothing. */
  constructor(
    tokens: OAuthTokens,
    { isAdopted, now }: { readonly isAdopted: boolean; readonly now: number },
  ) {
    const { access_token, expires_in: seconds, scope } = tokens;
    const isKnown = seconds !== undefined && Number.isFinite(seconds) && (seconds > 0 || isAdopted);
    const lifeMs = isKnown ? Math.max(0, seconds * 1_000) : Infinity;
    this.accessToken = access_token;
    this.scope = scope;
    this.isAdopted = isAdopted;
    this.#endsAt = now + lifeMs;
    this.#dueAt = isKnown ? this.#endsAt - Math.min(AHEAD_MS, lifeMs * AHEAD_SHARE) : Infinity;
  }

  isDue(now: number): boolean {
    return now >= this.#dueAt;
  }

  hasEnded(now: number): boolean {
    return now >= this.#endsAt;
  }

  tryLater(now: number): void {
    this.#dueAt = Math.min(this.#endsAt, now + LATER_MS);
  }

  /** It is used until the server refuses it. */
  isNotRenewable(): void {
    this.#dueAt = Infinity;
  }
}

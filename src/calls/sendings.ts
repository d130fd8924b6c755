/**
 * The sendings of one request: whether another one may follow, and the wait for the session that carries it.
 *
 * G1. What the server may have acted on is followed once, and so is what it refused together with the session. What
 *     nothing carried to the server is followed as long as there is patience.
 * G2. It is one wait, however many sessions come and however many sendings fail to reach the server: its limit holds from
 *     the first of them. A sending that may have reached the server ends it; what follows that is another wait.
 * G3. Between two sendings over one session there is a pause, each longer than the one before.
 */
import type { Clock } from '../ports.js';
import type { Session } from '../sessions.js';
import { pause } from '../transports/http/abortable.js';
import type { CallRoute } from './call.js';
import { mayHaveArrived, unreached, type ToldCall } from './outcome.js';
import { Patience } from './patience.js';
import type { Unanswered } from './send.js';

/** A broken exchange is often the first sign of a lost session; the others are given this long to come. */
const SECOND_SIGN_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export interface SendingTerms {
  readonly route: CallRoute;
  readonly clock: Clock;
  /** Milliseconds of one wait; 0 = no limit. */
  readonly limitMs: number;
  /** That of the whole request. */
  readonly patience: Patience;
  /** The request as its errors tell of it. */
  readonly told: () => ToldCall;
}

export class Sendings<TLost extends Unanswered = Unanswered> {
  readonly #terms: SendingTerms;
  #last: TLost | undefined;
  #doubt: TLost | undefined;
  #wasRefused = false;
  #wait: Patience | undefined;
  #pauseMs = SECOND_SIGN_MS;

  /** Whoever makes one calls `end`. */
  constructor(terms: SendingTerms) {
    this.#terms = terms;
  }

  /** The latest that was lost. */
  get last(): TLost | undefined {
    return this.#last;
  }

  /** The first that the server may have acted on. */
  get doubt(): TLost | undefined {
    return this.#doubt;
  }

  /** Takes note of a loss. Whether another sending may follow; see G1. */
  lose(lost: TLost): boolean {
    this.#last = lost;
    if (!mayHaveArrived(lost)) return true;
    this.end();
    if (lost.outcome !== 'not-sent') {
      const isFirst = this.#doubt === undefined;
      this.#doubt ??= lost;
      return isFirst;
    }
    const isFirst = !this.#wasRefused;
    this.#wasRefused = true;
    return isFirst;
  }

  /** What is thrown where no sending follows: what was sent before may have been done, whatever became of the last. */
  errorOf(last: TLost): Error {
    return last.outcome === 'not-sent' ? (this.#doubt ?? last).error : last.error;
  }

  /** The session for the next sending. Rejects with the error of the request. */
  async session(): Promise<Session> {
    const { route, clock, limitMs, patience, told } = this.#terms;
    this.#wait ??= new Patience(clock, { idleMs: limitMs, totalMs: 0 }, patience);
    const { signal } = this.#wait;
    patience.rest();
    try {
      if (this.#last !== undefined && route.session() !== undefined) await this.#pause(signal);
      const session = await route.nextSession(signal);
      patience.renew();
      return session;
    } catch (cause) {
      const why = patience.aborted ? patience.reason : cause;
      throw unreached(route, told(), why, this.#doubt ?? this.#last);
    }
  }

  /** Leaves no timer and no listener. */
  end(): void {
    this.#wait?.end();
    this.#wait = undefined;
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await pause(this.#terms.clock, this.#pauseMs, signal);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/**
 * Sends a request over the connection's session, or over the next one, and again if that is allowed.
 *
 * G1. A request that the server may have acted on is sent at most once more, and so is one that it refused together with
 *     the session. A request that never reached the server is sent again until the deadline, and one that runs there as a
 *     task is asked for until then.
 * G2. All attempts that fail to reach the server share one wait: its limit counts from the first of them. An attempt that
 *     may have reached the server ends that wait; the next wait has a limit of its own.
 * G3. There is a pause between two attempts over one session, each pause longer than the last.
 * G4. The caller's limits and signal hold from the first wait to the last answer. The request settles exactly once.
 */
import { isAnswering } from '../sessions/question-clocks.js';
import type { Clock } from '../ports.js';
import { RequestLostError } from '../protocol/protocol-client.js';
import type { Mask } from '../secrets/secrets.js';
import type { Session } from '../sessions/sessions.js';
import { abortable, pause } from '../async/abort.js';
import type { RawFailure } from '../failures/transport-error.js';
import type { CallRoute } from './call-route.js';
import type { Semaphore } from '../async/semaphore.js';
import { Deadline, limitsOf } from './deadline.js';
import type { Exchange } from './exchange.js';
import { mayHaveArrived, outOfTurn, unmade, unreached, Unanswered, whyUnanswered } from './outcome.js';

/** A broken exchange is often the first sign of a lost session; the next sign gets this long to arrive. */
const SECOND_SIGN_MS = 100;
const MAX_PAUSE_MS = 2_000;
const NO_CLIENT: RawFailure = { code: 'connection-lost', message: 'There is no session to send it on.' };

export interface RetryPorts {
  readonly clock: Clock;
  /** Masks the secrets of a server's entry. */
  readonly mask: (server: string) => Mask;
}

export class RetryLoop<TAnswer> {
  readonly #ports: RetryPorts;
  readonly #route: CallRoute;
  readonly #exchange: Exchange<TAnswer>;
  /** The limits of the whole request. */
  readonly #deadline: Deadline;
  /** The limits of the present wait. */
  #wait: Deadline | undefined;
  /** The latest attempt that was lost. */
  #last: Unanswered | undefined;
  /** The first attempt that the server may have acted on. */
  #doubt: Unanswered | undefined;
  #wasRepeated = false;
  #wasRefused = false;
  #pauseMs = SECOND_SIGN_MS;

  /** Starts the deadline. Its creator calls `run` or `runOver`, once. */
  constructor(ports: RetryPorts, route: CallRoute, exchange: Exchange<TAnswer>) {
    const { timeoutMs: idleMs, options } = exchange;
    const limits = limitsOf(idleMs, options.totalTimeoutMs);
    this.#ports = ports;
    this.#route = route;
    this.#exchange = exchange;
    this.#deadline = new Deadline(ports.clock, limits, options.signal);
  }

  /** Sends synchronously if there is a session and nothing to wait for. Rejects with the error of the request. */
  async run(): Promise<TAnswer> {
    const { turns } = this.#exchange;
    let hasTurn = turns?.tryTake();
    try {
      if (turns !== undefined && hasTurn === false) hasTurn = await this.#turn(turns);
      let session = this.#route.session() ?? (await this.#nextSession());
      const loading = this.#exchange.loading?.(this.#deadline);
      if (loading !== undefined) {
        await this.#made(loading);
        session = this.#route.session() ?? (await this.#nextSession());
      }
      for (;;) {
        this.#prepare(session);
        const sent = await this.#attempt(session);
        if (!(sent instanceof Unanswered)) return sent;
        if (!this.#mayFollow(sent)) throw this.#errorAfter(sent);
        session = await this.#nextSession();
      }
    } finally {
      this.#endWait();
      this.#deadline.end();
      if (hasTurn === true) turns?.leave();
    }
  }

  /** Sends over that session only. Resolves with undefined if the session was lost: no other one can answer. */
  async runOver(session: Session): Promise<TAnswer | undefined> {
    try {
      this.#prepare(session);
      const sent = await this.#attempt(session);
      if (!(sent instanceof Unanswered)) return sent;
      if (!sent.isLost) throw sent.error;
      return undefined;
    } finally {
      this.#deadline.end();
    }
  }

  /**
   * Waits for its turn. The idle time stands still, except for a call that is part of an answer to the server: the call
   * that it waits for may itself wait for that answer.
   */
  async #turn(turns: Semaphore): Promise<true> {
    if (!isAnswering(this.#route.server)) this.#deadline.rest();
    try {
      await turns.take(this.#deadline.signal);
    } catch (cause) {
      throw outOfTurn(this.#route, this.#exchange, cause);
    }
    this.#deadline.renew();
    return true;
  }

  async #made(loading: Promise<void>): Promise<void> {
    try {
      await abortable(loading, this.#deadline.signal);
    } catch (cause) {
      throw this.#deadline.aborted ? unmade(this.#route, this.#exchange, this.#deadline.reason) : cause;
    }
    this.#deadline.renew();
  }

  /** The session for the next attempt. */
  async #nextSession(): Promise<Session> {
    this.#wait ??= new Deadline(
      this.#ports.clock,
      { idleMs: this.#exchange.timeoutMs, totalMs: 0 },
      this.#deadline,
    );
    const { signal } = this.#wait;
    this.#deadline.rest();
    try {
      if (this.#last !== undefined && this.#route.session() !== undefined) await this.#pause(signal);
      const session = await this.#route.nextSession(signal);
      this.#deadline.renew();
      return session;
    } catch (cause) {
      const why = this.#deadline.aborted ? this.#deadline.reason : cause;
      throw unreached(this.#route, this.#exchange, why, this.#doubt ?? this.#last);
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await pause(this.#ports.clock, this.#pauseMs, signal);
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }

  /** Throws if no attempt may be made: first of all the error of an earlier one that the server may have acted on. */
  #prepare(session: Session): void {
    const refusal = this.#exchange.prepare(session);
    const doubt = this.#doubt;
    if (doubt !== undefined && (refusal !== undefined || !this.#exchange.mayRepeat(doubt))) throw doubt.error;
    if (refusal !== undefined) throw refusal;
  }

  /** Never rejects. */
  async #attempt(session: Session): Promise<TAnswer | Unanswered> {
    const { client } = session;
    if (client === undefined) return this.#unanswered(new RequestLostError(NO_CLIENT, false), session);
    const call = session.beginCall();
    const letClocksGo = session.pauseDuringQuestions(this.#deadline);
    let isTooLate = false;
    let requestId: number | undefined;
    try {
      const before = client.lastRequestId;
      const sending = this.#exchange.send(client, session, this.#deadline);
      if (client.lastRequestId !== before) requestId = client.lastRequestId;
      const answer = await sending;
      return this.#exchange.accept(answer, session);
    } catch (error) {
      const unanswered = this.#unanswered(error, session, requestId);
      isTooLate = unanswered.outcome === 'timed-out';
      this.#exchange.fail?.(unanswered.outcome, session);
      return unanswered;
    } finally {
      letClocksGo();
      session.endCall(call, this.#ports.clock.now(), isTooLate);
    }
  }

  #unanswered(error: unknown, session: Session, requestId?: number): Unanswered {
    const { clock, mask } = this.#ports;
    const context = { subject: this.#exchange, at: clock.now(), requestId };
    return whyUnanswered(error, session, mask(session.key.name), context);
  }

  /** Whether another attempt may follow; see G1. */
  #mayFollow(lost: Unanswered): boolean {
    if (!lost.isLost || !this.#exchange.mayRepeat(lost)) return false;
    this.#last = lost;
    if (!mayHaveArrived(lost)) return true;
    this.#endWait();
    if (lost.outcome !== 'not-sent') {
      this.#doubt ??= lost;
      if (this.#exchange.goesOn === true) return true;
      const isFirst = !this.#wasRepeated;
      this.#wasRepeated = true;
      return isFirst;
    }
    const isFirst = !this.#wasRefused;
    this.#wasRefused = true;
    return isFirst;
  }

  /** The error if no attempt follows. If the last one was not sent, an earlier one may still have been acted on. */
  #errorAfter(last: Unanswered): Error {
    return last.outcome === 'not-sent' ? (this.#doubt ?? last).error : last.error;
  }

  #endWait(): void {
    this.#wait?.end();
    this.#wait = undefined;
  }
}

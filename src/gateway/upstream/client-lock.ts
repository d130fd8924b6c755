/**
 * A lock for connections that clients share and whose server may send requests: one client at a time, so that it is
 * clear which client the server asks.
 *
 * T1. All requests in flight over such a connection are from one client.
 * T2. During its turn a client may send more requests: an answer may need them. The turn ends with the last of its
 *     requests. A question that is unanswered by then is abandoned.
 * T3. If the server may still work on a request that another client abandoned, it can ask nobody for certain. After
 *     such a case, the next turn starts with a new session, which has no abandoned requests.
 */
import { Semaphore } from '../../async/semaphore.js';
import type { Clock } from '../../ports.js';

export interface ClientLockParts {
  readonly clock: Pick<Clock, 'now'>;
  /** Maximum time in which a turn accepts further requests, milliseconds; 0 = no limit. */
  readonly limitMs: number;
  /** Starts a new session with a server. Rejects if there is none, or with the signal's reason. */
  readonly renew: (server: string, signal: AbortSignal) => Promise<void>;
}

/** One client's requests in flight over one connection. */
interface Turn {
  readonly client: object;
  readonly since: number;
  readonly end: AbortController;
  requests: number;
  questions: number;
}

/** A question during a turn. */
export interface TurnQuestion {
  /** Aborts when the turn ends. */
  readonly signal: AbortSignal;
  readonly answered: () => void;
}

interface Shared {
  readonly turns: Semaphore;
  turn: Turn | undefined;
  isUncertain: boolean;
}

export class ClientLock {
  readonly #parts: ClientLockParts;
  readonly #servers = new Map<string, Shared>();

  constructor(parts: ClientLockParts) {
    this.#parts = parts;
  }

  /** Resolves with the function that ends the request's part in the turn. Rejects with the signal's reason. */
  async take(server: string, client: object, signal: AbortSignal): Promise<() => void> {
    const shared = this.#of(server);
    const turn = this.#mayJoin(shared.turn, client) ?? (await this.#begin(server, shared, client, signal));
    turn.requests += 1;
    return () => {
      turn.requests -= 1;
      if (turn.requests > 0) return;
      shared.turn = undefined;
      turn.end.abort(new Error('The request behind this question is over.'));
      shared.turns.leave();
    };
  }

  /** Starts a question of that server to the client. Undefined if it is not the client's turn. */
  asking(server: string, client: object): TurnQuestion | undefined {
    const { turn } = this.#of(server);
    if (turn?.client !== client) return undefined;
    turn.questions += 1;
    return { signal: turn.end.signal, answered: () => void (turn.questions -= 1) };
  }

  /** The server has asked because of an abandoned request, so it was uncertain which client to ask. */
  uncertain(server: string): void {
    this.#of(server).isUncertain = true;
  }

  #of(server: string): Shared {
    const shared = this.#servers.get(server) ?? {
      turns: new Semaphore(() => 1),
      turn: undefined,
      isUncertain: false,
    };
    this.#servers.set(server, shared);
    return shared;
  }

  #mayJoin(turn: Turn | undefined, client: object): Turn | undefined {
    if (turn === undefined || turn.client !== client || turn.questions === 0) return undefined;
    const { clock, limitMs } = this.#parts;
    return limitMs === 0 || clock.now() - turn.since < limitMs ? turn : undefined;
  }

  async #begin(server: string, shared: Shared, client: object, signal: AbortSignal): Promise<Turn> {
    await shared.turns.take(signal);
    try {
      if (shared.isUncertain) await this.#parts.renew(server, signal);
      shared.isUncertain = false;
    } catch (error) {
      if (signal.aborted) {
        shared.turns.leave();
        throw error;
      }
      // The caller that sends over it gets the error.
    }
    const since = this.#parts.clock.now();
    return (shared.turn = { client, since, end: new AbortController(), requests: 0, questions: 0 });
  }
}

/**
 * Whose turn it is at a connection that clients share and whose server may ask: one client at a time, so that it is clear
 * whom the server asks.
 *
 * T1. What is in work over such a connection is of one client.
 * T2. While it is asked, a client may send more: an answer may need it. Its turn ends with the last of its requests.
 *     What was asked in that turn and has no answer by then is of no use to anybody.
 * T3. A server that may be at something that another client gave up can ask nobody for certain. Once that was so, the
 *     next turn begins with a new session, which nothing was given up over.
 */
import { CallTurns } from '../calls/call-turns.js';
import type { Clock } from '../ports.js';

export interface SharedTurnsParts {
  readonly clock: Pick<Clock, 'now'>;
  /** Longest that a turn takes in further requests, milliseconds; 0 = for ever. */
  readonly limitMs: number;
  /** Begins a new session with a server. Rejects where there is none, or with the signal's reason. */
  readonly renew: (server: string, signal: AbortSignal) => Promise<void>;
}

/** What one client has in work over one connection. */
interface Turn {
  readonly client: object;
  readonly since: number;
  readonly end: AbortController;
  requests: number;
  questions: number;
}

/** A question in the course of a turn. */
export interface TurnQuestion {
  /** Aborts when the turn ends. */
  readonly signal: AbortSignal;
  readonly answered: () => void;
}

interface Shared {
  readonly turns: CallTurns;
  turn: Turn | undefined;
  isUncertain: boolean;
}

export class SharedTurns {
  readonly #parts: SharedTurnsParts;
  readonly #servers = new Map<string, Shared>();

  constructor(parts: SharedTurnsParts) {
    this.#parts = parts;
  }

  /** Resolves with what ends the request's part in the turn. Rejects with the signal's reason. */
  async take(server: string, client: object, signal: AbortSignal): Promise<() => void> {
    const shared = this.#of(server);
    const turn = this.#mayJoin(shared.turn, client) ?? (await this.#begin(server, shared, client, signal));
    turn.requests += 1;
    return () => {
      turn.requests -= 1;
      if (turn.requests > 0) return;
      shared.turn = undefined;
      turn.end.abort(new Error('Nobody waits for that any more.'));
      shared.turns.leave();
    };
  }

  /** A client is asked by that server. Undefined where it is not its turn. */
  asking(server: string, client: object): TurnQuestion | undefined {
    const { turn } = this.#of(server);
    if (turn?.client !== client) return undefined;
    turn.questions += 1;
    return { signal: turn.end.signal, answered: () => void (turn.questions -= 1) };
  }

  /** The server has asked, and it was not certain whom, for something that was given up. */
  uncertain(server: string): void {
    this.#of(server).isUncertain = true;
  }

  #of(server: string): Shared {
    const shared = this.#servers.get(server) ?? {
      turns: new CallTurns(() => 1),
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
      // Whoever sends over it hears what is wrong with it.
    }
    const since = this.#parts.clock.now();
    return (shared.turn = { client, since, end: new AbortController(), requests: 0, questions: 0 });
  }
}

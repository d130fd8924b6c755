/**
 * The time limit for a client's answer to a request of a server. A person may think for a while, so the time limit of a
 * call does not run meanwhile; this one does.
 */
import type { Clock } from '../../ports.js';
import type { JsonObject } from '../../json/json-object.js';
import { RpcError } from '../../protocol/protocol-client.js';
import { RPC } from './client-message.js';

/** Maximum time for which a client may be unreachable before its request gets an answer for it, milliseconds. */
const AWAY_MS = 30_000;
/** Time limit for a request that no person has to answer, milliseconds; shorter than the usual limit of a call. */
const PROGRAM_MS = 30_000;
/** How often to check, milliseconds. */
const POLL_INTERVAL_MS = 5_000;

/** There was no answer, and nothing waits for one any more. The message is for the server. */
export class Unanswered extends Error {
  constructor(
    message: string,
    readonly why: 'timeout' | 'away' | 'given-up',
  ) {
    super(message);
  }
}

export const GIVEN_UP = new Unanswered('The related request is over.', 'given-up');

export interface Wait {
  readonly method: string;
  /** Time limit for a person or a model, milliseconds; 0 = no limit. */
  readonly limitMs: number;
  /** Since when nothing can be sent to the client, milliseconds since the epoch; undefined if it can be reached. */
  readonly disconnectedSince: () => number | undefined;
}

/** Calls `giveUp` at the time limit, unless the returned function was called before. */
export function watchAnswer(
  clock: Clock,
  { method, limitMs: patienceMs, disconnectedSince }: Wait,
  giveUp: (why: Unanswered) => void,
): () => void {
  const limitMs = method === 'roots/list' ? PROGRAM_MS : patienceMs;
  const since = clock.now();
  let timer: unknown;
  const look = (): void => {
    const now = clock.now();
    const away = disconnectedSince();
    if (limitMs > 0 && now - since >= limitMs) {
      giveUp(new Unanswered(`The client has not answered within ${limitMs} ms.`, 'timeout'));
    } else if (away !== undefined && now - away >= AWAY_MS) {
      giveUp(new Unanswered('The client is disconnected.', 'away'));
    } else {
      timer = clock.setTimeout(
        look,
        limitMs > 0 ? Math.min(POLL_INTERVAL_MS, since + limitMs - now) : POLL_INTERVAL_MS,
      );
    }
  };
  look();
  return () => clock.clearTimeout(timer);
}

/** The answer to the server if there is none: for a form, as if a person had closed it. */
export function insteadOfAnswer(method: string, { message, why }: Unanswered): JsonObject | RpcError {
  return method === 'elicitation/create'
    ? { action: 'cancel' }
    : new RpcError(RPC.serverError, message, { reason: why });
}

/**
 * How long a client may take to answer what it is asked. A person thinks, so that no clock of a call goes on meanwhile:
 * this is the clock that does.
 */
import type { Clock } from '../ports.js';
import { RpcError, type JsonObject } from '../protocol/protocol-client.js';
import { RPC } from './client-message.js';

/** How long a client that nothing can be sent to may be gone before it is answered for, milliseconds. */
const AWAY_MS = 30_000;
/** How long a client may take to answer what no person is asked for, milliseconds: shorter than calls usually may take. */
const PROGRAM_MS = 30_000;
/** How often that is looked at, milliseconds. */
const LOOK_MS = 5_000;

/** Nobody has answered, and nobody is waited for any more. The message is for the server. */
export class Unanswered extends Error {
  constructor(
    message: string,
    readonly why: 'timeout' | 'away' | 'given-up',
  ) {
    super(message);
  }
}

export const GIVEN_UP = new Unanswered('The request that it was about is over.', 'given-up');

export interface Wait {
  readonly method: string;
  /** Longest that a person or a model may take, milliseconds; 0 = no limit. */
  readonly limitMs: number;
  /** Since when nothing can be sent to the client, milliseconds since the epoch; undefined where it can. */
  readonly awaySince: () => number | undefined;
}

/** Calls `giveUp` once the wait is over, unless the returned function was called before. */
export function watchAnswer(
  clock: Clock,
  { method, limitMs: patienceMs, awaySince }: Wait,
  giveUp: (why: Unanswered) => void,
): () => void {
  const limitMs = method === 'roots/list' ? PROGRAM_MS : patienceMs;
  const since = clock.now();
  let timer: unknown;
  const look = (): void => {
    const now = clock.now();
    const away = awaySince();
    if (limitMs > 0 && now - since >= limitMs) {
      giveUp(new Unanswered(`The client has not answered within ${limitMs} ms.`, 'timeout'));
    } else if (away !== undefined && now - away >= AWAY_MS) {
      giveUp(new Unanswered('The client is not there.', 'away'));
    } else {
      timer = clock.setTimeout(look, limitMs > 0 ? Math.min(LOOK_MS, since + limitMs - now) : LOOK_MS);
    }
  };
  look();
  return () => clock.clearTimeout(timer);
}

/** What a server gets where nobody answers: as if a person had closed the form, where it asked a person. */
export function insteadOfAnswer(method: string, { message, why }: Unanswered): JsonObject | RpcError {
  return method === 'elicitation/create'
    ? { action: 'cancel' }
    : new RpcError(RPC.serverError, message, { reason: why });
}

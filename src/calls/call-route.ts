/** What a request needs of its connection. */
import type { Tool } from '../mcp/server-offers.js';
import type { Session } from '../sessions/sessions.js';
import type { Semaphore } from '../async/semaphore.js';

export interface CallRoute {
  readonly server: string;
  /** The session in use, if it can carry a request. */
  session(): Session | undefined;
  /** The next session that can. Rejects with the reason if there will be none, or with the signal's reason. */
  nextSession(signal: AbortSignal): Promise<Session>;
  /** What keeps the connection from being ready now; undefined if nothing does, or if that is not known yet. */
  lastFailure(): Error | undefined;
  /** A sentence that says when to try another call; empty if that is not known. */
  retryHint(): string;
  /** The tools that the server listed last; the same array until they change. */
  tools(): readonly Tool[];
  /** Limits the calls at a time. */
  readonly turns: Semaphore;
}

/** One request to a server as the retry loop sees it: how it is sent, and the rules that depend on its kind. */
import type { CallOutcome } from '../lifecycle/event.js';
import type { JsonObject } from '../json/json-object.js';
import type { ProtocolClient } from '../protocol/protocol-client.js';
import type { AbortSignalLike } from '../async/abort.js';
import type { Session } from '../sessions/sessions.js';
import type { Semaphore } from '../async/semaphore.js';
import type { Deadline } from './deadline.js';
import type { Unanswered } from './outcome.js';

/** What the errors of a request say about it. */
export interface Subject {
  /** The tool, or the method and its subject. Without secrets. */
  readonly label: string;
  readonly args: object;
  readonly options: {
    readonly signal?: AbortSignalLike;
    readonly meta?: Readonly<Record<string, unknown>>;
  };
}

export interface Exchange<TAnswer> extends Subject {
  /** Milliseconds without an answer or progress; each wait for a session may take as long. 0 = no limit. */
  readonly timeoutMs: number;
  readonly options: Subject['options'] & { readonly totalTimeoutMs?: number };
  /** The queue for its turn; undefined if it needs none. */
  readonly turns?: Semaphore;
  /** Makes ready what every attempt needs; undefined if nothing. Called once, when there is a session. */
  loading?(deadline: Deadline): Promise<void> | undefined;
  /** Prepares the next attempt over that session. Returns why it may not be sent; undefined if it may. */
  prepare(session: Session): Error | undefined;
  /** Begins the attempt. Rejects as `ProtocolClient.request` does. */
  send(client: ProtocolClient, session: Session, deadline: Deadline): Promise<JsonObject>;
  /** Ends the attempt and returns the caller's result. Throws a `RequestLostError` if the answer is unusable. */
  accept(answer: JsonObject, session: Session): TAnswer;
  /** Ends the attempt without an answer. */
  fail?(outcome: CallOutcome, session: Session): void;
  /** Whether the next attempt goes on with what runs at the server, and sends nothing twice. */
  readonly goesOn?: boolean;
  /** Whether it may be sent again after that loss. Called at the loss, and again when the next attempt is prepared. */
  mayRepeat(lost: Unanswered): boolean;
}

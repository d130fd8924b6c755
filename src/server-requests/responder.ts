/** What answers one kind of request of a server, and how it says that it cannot. */
import type { Cause, JsonObject, RpcError } from '../protocol/protocol-client.js';
import type { ServerRequestContext } from './handlers.js';

export interface Response {
  /** Somebody said no. */
  readonly isRefused: boolean;
  /** What the server gets. */
  readonly answer: JsonObject | RpcError;
}

export interface Responder {
  /** A person or a model is asked: nobody knows how long that takes, and clocks stop meanwhile. */
  readonly isQuestion: boolean;
  /**
   * `causes` are of every request of ours that may have made the server ask. Rejects with a `BadRequest`, a `BadAnswer`,
   * or with what the handler of the host threw.
   */
  respond(params: JsonObject, about: ServerRequestContext, causes: readonly Cause[]): Promise<Response>;
}

/** The server asked for something that cannot be. The message is for the server. */
export class BadRequest extends Error {}

/** The handler of the host gave an answer that cannot be sent. The message is for the host, and holds no value of it. */
export class BadAnswer extends Error {}

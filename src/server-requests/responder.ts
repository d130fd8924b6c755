/** A responder answers one kind of request of a server. */
import type { JsonObject } from '../json/json-object.js';
import type { Cause, RpcError } from '../protocol/protocol-client.js';
import type { ServerRequestContext } from './handlers.js';

export interface Response {
  /** Whether the person or the host declined. */
  readonly isRefused: boolean;
  /** The answer to the server. */
  readonly answer: JsonObject | RpcError;
}

export interface Responder {
  /** Whether a person or a model is asked: that takes an unknown time, so timeouts stand still. */
  readonly isQuestion: boolean;
  /**
   * `causes` belong to the requests of ours that may have made the server ask. Rejects with a `BadRequest`, a
   * `BadAnswer`, or with the error of the host's handler.
   */
  respond(params: JsonObject, about: ServerRequestContext, causes: readonly Cause[]): Promise<Response>;
}

/** The request of the server is invalid. The message is for the server. */
export class BadRequest extends Error {}

/**
 * The handler of the host gave an answer that cannot be sent. The message is for the host, and holds no value of the
 * answer.
 */
export class BadAnswer extends Error {}

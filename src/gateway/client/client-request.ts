/** A request of a client, and who answers the questions of servers during it. */
import type { RequestId } from '../../mcp/messages.js';
import type { AbortSignalLike } from '../../async/abort.js';
import type { JsonObject } from '../../json/json-object.js';
import type { Progress } from '../../protocol/protocol-client.js';
import type { RequestHeaders } from '../../transports/session-transport.js';
import type { Answers } from '../upstream/client-capabilities.js';

export interface ClientRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  /** The headers of its HTTP request; undefined if it came in another way. */
  readonly headers: RequestHeaders | undefined;
  /** Aborts when the client cancels the request, and when it is gone. */
  readonly givenUp: AbortSignalLike;
  /** The same as an `AbortSignal`, for APIs that need one. */
  readonly signal: AbortSignal;
  /** Who answers during this request; undefined if that is the session. */
  readonly asked?: AskedClient | undefined;
}

/** The part of a client that answers questions. */
export interface AskedClient {
  readonly answers: Answers;
  /**
   * Rejects with the client's `RpcError`, or one of ours if it is gone; with the reason of the signal; or with an
   * `Unanswered` at the time limit.
   */
  ask(
    method: string,
    params: JsonObject,
    about: { signal: AbortSignal; relatedTo: RequestId | undefined },
  ): Promise<JsonObject>;
  /** The client must learn when the person has finished at the address. */
  awaits(server: string, elicitationId: string): void;
  /** Passes on a message that the server logs during that request of the client. */
  notifyLog(params: JsonObject, request: RequestId | undefined): void;
  /** Passes on the progress of that request, under the client's token. */
  notifyProgress(token: string | number, progress: Progress, request: RequestId): void;
}

/** A client of the gateway, as the connections of the gateway see it. */
export interface GatewayClient extends AskedClient {
  readonly id: string;
  /** Since when it is unreachable, milliseconds since the epoch; undefined if it can be reached. */
  readonly disconnectedSince: number | undefined;
  /** Passes on the change of a resource, which came over this client's own connection or the shared one. */
  notifyUpdated(server: string, isOwn: boolean, params: JsonObject): void;
  /** Reports that the person has finished at an address. */
  notifyElicited(server: string, params: JsonObject): void;
  /** Never rejects. */
  close(): Promise<void>;
}

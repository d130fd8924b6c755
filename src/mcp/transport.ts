/** The contract between a protocol engine of MCP and what carries its messages. */
import type { JSONRPCMessage, RequestId } from './messages.js';

/**
 * A function like the global `fetch`.
 *
 * @param url Where to send the request.
 * @param init Method, headers and body. Default: a GET request.
 */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** What a server over HTTP knows of a validated access token. */
export interface AuthInfo {
  /** The token. */
  token: string;
  /** Id of the client. */
  clientId: string;
  /** Scopes of the token. */
  scopes: string[];
  /** When it expires, in seconds since 1970. */
  expiresAt?: number;
  /** The resource that it is for (RFC 8707). */
  resource?: URL;
  /** Anything else. */
  extra?: Record<string, unknown>;
}

/** What a transport knows of a message beside its content. */
export interface MessageExtraInfo {
  /** The HTTP request that it came with. */
  requestInfo?: {
    /** Headers of the request, by name. */
    headers: Record<string, string | string[] | undefined>;
    /** Address of the request. */
    url?: URL;
  };
  /** The access token that it came with. */
  authInfo?: AuthInfo;
  /** Ends the event stream of the request, so that the client reconnects. */
  closeSSEStream?: () => void;
  /** Ends the event stream that belongs to no request, so that the client reconnects. */
  closeStandaloneSSEStream?: () => void;
}

/** Options for sending one message. */
export interface TransportSendOptions {
  /** Id of the incoming request that the message belongs to. */
  relatedRequestId?: RequestId | undefined;
  /** The event of an interrupted stream after which to resume. */
  resumptionToken?: string | undefined;
  /** Called with the event after which the stream can be resumed. */
  onresumptiontoken?: ((token: string) => void) | undefined;
}

/**
 * Carries messages of one session. The transports of the MCP SDK fit this type, and the `Client`, `Server` and `McpServer` of
 * the SDK take whatever fits it.
 */
export interface Transport {
  /** Begins to receive messages. Set the callbacks first. */
  start(): Promise<void>;
  /**
   * Sends one message.
   *
   * @param message A request, a notification or an answer.
   * @param options Options for this message. Default: none.
   */
  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void>;
  /** Ends the session. */
  close(): Promise<void>;
  /** Called when the session has ended, for whatever reason. */
  onclose?: (() => void) | undefined;
  /** Called for an error, which need not end the session. */
  onerror?: ((error: Error) => void) | undefined;
  /** Called for each message. */
  onmessage?: (<T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void) | undefined;
  /** Id of the session, if it has one. */
  sessionId?: string | undefined;
  /** Called with the version of the protocol that was agreed on. */
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/**
 * The port between the HTTP transports and the client that carries one HTTP request and its reply.
 *
 * An exchange knows nothing of MCP: it follows no redirect, repeats nothing and judges no status.
 */

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Ends the request and its reply. Each request has its own. */
  readonly signal: AbortSignal;
  /** Use a socket that has carried nothing before. */
  readonly fresh?: boolean;
  /** Called before anything is sent. If it was not called, the server has seen nothing of the request. */
  readonly onconnect?: (() => void) | undefined;
}

export interface HttpReply {
  readonly status: number;
  /** `content-encoding` is undefined if `body` has been decoded. */
  header(name: string): string | undefined;
  /** The values of `Set-Cookie`, one for each cookie. */
  cookies(): readonly string[];
  /** The body, decoded if its coding is known. Throws if it is cut off. Stopping early closes the socket. */
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * Skips the rest of the body, so that the socket can be used again. Closes the socket if the rest is long or slow.
   * Resolves when the socket is free. Never rejects.
   */
  discard(): Promise<void>;
}

export interface HttpExchange {
  /** Resolves at the reply's headers. Rejects with a `NetworkError`, or with the reason of the signal. */
  send(request: HttpRequest): Promise<HttpReply>;
  /** Resolves when no socket of this exchange is left. Requests must have been aborted before. */
  close(): Promise<void>;
}

/** The part that a proxy plays in a missing reply. */
export interface ProxyFailure {
  /** The proxy, as messages show it. */
  readonly shown: string;
  /** The proxy could not be reached, or it refused. Otherwise, the request got past the proxy. */
  readonly isAtFault: boolean;
  /** The status with which the proxy refused; undefined if it did not answer. */
  readonly status?: number;
}

/** No reply came, or the reply broke off. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  /** The system's or library's code, for instance `ECONNREFUSED`. */
  readonly code: string;
  /** Whether there was a connection, so that the server may have seen the request. */
  readonly connected: boolean;
  /** Whether the socket had carried another request before: it may have been closed ahead of this one. */
  readonly reused: boolean;
  /** Undefined if there was no proxy. */
  readonly proxy: ProxyFailure | undefined;

  constructor(code: string, connected: boolean, cause: unknown, reused = false, proxy?: ProxyFailure) {
    super(code, { cause });
    this.code = code;
    this.connected = connected;
    this.reused = reused;
    this.proxy = proxy;
  }
}

/** The most specific code of an error: its own, the code of its cause, or the code of the first of several errors. */
export function errorCode(error: unknown): string {
  const seen = error as
    { code?: unknown; errors?: unknown[]; cause?: unknown; name?: unknown } | null | undefined;
  if (typeof seen?.code === 'string') return seen.code;
  if (seen?.cause !== undefined) return errorCode(seen.cause);
  if (Array.isArray(seen?.errors) && seen.errors.length > 0) return errorCode(seen.errors[0]);
  return typeof seen?.name === 'string' ? seen.name : 'unknown';
}

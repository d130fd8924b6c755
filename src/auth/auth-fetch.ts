/**
 * The requests to authorization servers, in the shape the SDK's functions take: bounded in time and size, and only to
 * addresses that are protected at least as well as the server itself.
 *
 * A1. Everything that is no answer (unreachable, too slow, 429, 5xx) is thrown as a `TransportError`: the SDK would
 *     take a failed look-up for "has none" and go on with addresses of its own making.
 * A2. No socket is left after `close()`.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isLoopback } from '../loopback.js';
import type { Clock } from '../ports.js';
import { shownUrl } from '../transports/http/address.js';
import { BodyTooLarge, readText } from '../transports/http/body-text.js';
import { NetworkError, type HttpReply } from '../transports/http/exchange.js';
import { parseRetryAfter } from '../transports/http/http-refusal.js';
import { createKeepAliveExchange } from '../transports/http/keep-alive-exchange.js';
import { TransportError, type RawFailure } from '../transports/session-transport.js';
import { requireUsable, withoutNulls } from './oauth-answer.js';

/** Longest one request may take. */
const REQUEST_LIMIT_MS = 30_000;
/** Far more than any metadata or token needs. */
const MOST_BYTES = 256 * 1024;
/** Statuses whose response has no body (Fetch section 2.2.3, "null body status"). */
const WITHOUT_BODY = new Set([204, 205, 304]);
const HEADERS_READ = ['content-type', 'location', 'www-authenticate'];

export interface AuthFetch {
  readonly fetch: FetchLike;
  close(): Promise<void>;
}

/** `serverUrl` is the address of the MCP server; `signal` ends every request. */
export function openAuthFetch(options: {
  readonly serverUrl: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): AuthFetch {
  const { clock, signal } = options;
  const serverUrl = new URL(options.serverUrl);
  const exchange = createKeepAliveExchange(clock);

  const fetch: FetchLike = async (address, init = {}) => {
    const url = new URL(address);
    requireProtected(url, serverUrl);
    const limit = new AbortController();
    const timer = clock.setTimeout(() => limit.abort(tooSlow(url)), REQUEST_LIMIT_MS);
    try {
      const reply = await exchange.send({
        method: init.method === 'POST' ? 'POST' : 'GET',
        url,
        headers: { 'user-agent': 'mcp-troupe', ...Object.fromEntries(new Headers(init.headers)) },
        body: textOf(init.body),
        signal: AbortSignal.any([signal, limit.signal, ...(init.signal ? [init.signal] : [])]),
      });
      const text = withoutNulls(await readText(reply.body, MOST_BYTES, () => {}));
      const status = reply.status;
      if (status === 429 || status >= 500) throw notNow(url, reply, clock.now());
      if (init.method === 'POST') requireUsable(status, text);
      const body = WITHOUT_BODY.has(status) ? null : text;
      return new Response(body, { status, headers: readHeaders(reply) });
    } catch (error) {
      throw explained(error, url);
    } finally {
      clock.clearTimeout(timer);
    }
  };
  return {
    fetch,
    close: async () => exchange.close(),
  };
}

/**
 * `https`; or `http` on the host of a server that is itself reached over `http`, or on this machine where that server
 * is on it, too. Throws a `TransportError`.
 */
export function requireProtected(url: URL, serverUrl: URL): void {
  if (url.protocol === 'https:') return;
  const isAsPlain =
    url.protocol === 'http:' &&
    serverUrl.protocol === 'http:' &&
    (url.hostname === serverUrl.hostname || (isLoopback(url.hostname) && isLoopback(serverUrl.hostname)));
  if (isAsPlain) return;
  throw new TransportError({
    code: 'auth-required',
    message: `${shownUrl(serverUrl)} wants a sign-in at ${shownUrl(url)}, which is not protected by https.`,
    hint: 'Nothing was sent there. The operator of the server has to correct its OAuth metadata.',
  });
}

/** The SDK sends texts and forms. */
function textOf(body: RequestInit['body']): string | undefined {
  if (typeof body === 'string') return body;
  return body instanceof URLSearchParams ? body.toString() : undefined;
}

function readHeaders(reply: HttpReply): Headers {
  const headers = new Headers();
  for (const name of HEADERS_READ) {
    const value = reply.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  return headers;
}

function tooSlow(url: URL): TransportError {
  return new TransportError({
    code: 'connection-lost',
    message: `The authorization server at ${shownUrl(url)} did not answer within ${REQUEST_LIMIT_MS} ms.`,
  });
}

function notNow(url: URL, reply: HttpReply, now: number): TransportError {
  const retryAfterMs = parseRetryAfter(reply.header('retry-after'), now);
  return new TransportError({
    code: 'http-status',
    message: `The authorization server at ${shownUrl(url)} answered with HTTP ${reply.status}.`,
    http: { status: reply.status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  });
}

function explained(error: unknown, url: URL): unknown {
  const place = `The authorization server at ${shownUrl(url)}`;
  if (error instanceof BodyTooLarge) {
    const message = `${place} answered with more than ${MOST_BYTES} bytes.`;
    return new TransportError({ code: 'auth-required', message });
  }
  if (!(error instanceof NetworkError)) return error;
  const failure: RawFailure = error.connected
    ? { code: 'connection-lost', message: `${place} broke off before it answered (${error.code}).` }
    : { code: 'address-refused', message: `${place} cannot be reached (${error.code}).` };
  return new TransportError(failure, { cause: error });
}

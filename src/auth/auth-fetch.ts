/**
 * The `fetch` for authorization servers that the SDK's functions get: bounded in time and size, and only to addresses
 * that are protected at least as well as the server itself.
 *
 * A1. A missing answer (unreachable, too slow, 429, 5xx) is thrown as a `TransportError`: the SDK would take a failed
 *     look-up for "has no metadata" and go on with guessed addresses.
 * A2. After `close()` no socket is open.
 * A3. A server cannot send requests to an address that it must not choose (`auth-reach.ts`).
 */
import type { FetchLike } from '../mcp/transport.js';
import { excessOf } from '../json/parse-json.js';
import { isLoopback } from '../text/host-reach.js';
import type { Clock } from '../ports.js';
import { shownUrl } from '../transports/http/server-address.js';
import { BodyTooLarge, readText } from '../transports/http/body-text.js';
import { NetworkError, type HttpExchange, type HttpReply } from '../transports/http/http-exchange.js';
import { notReached, parseRetryAfter } from '../transports/http/http-refusal.js';
import type { OpenExchange } from '../transports/http/http-session.js';
import { createKeepAliveExchange } from '../transports/http/keep-alive-exchange.js';
import { TransportError } from '../failures/transport-error.js';
import { abortable } from '../async/abort.js';
import { AuthReach, type LookUp } from './auth-reach.js';
import { requireUsable, withoutNulls } from './oauth-answer.js';

/** Longest time for one request. */
const REQUEST_LIMIT_MS = 30_000;
/** Far more than any metadata or token needs. */
const MAX_BYTES = 256 * 1024;
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
  /** How the requests are sent. Default: directly. */
  readonly network?: (() => Promise<OpenExchange>) | undefined;
  /** Addresses that the entry or the host names: they may be anywhere. Default: none. */
  readonly named?: readonly string[];
  /** Resolves host names. Default: the resolver of the system. */
  readonly lookUp?: LookUp;
  readonly signal: AbortSignal;
}): AuthFetch {
  const { clock, signal, network, named, lookUp } = options;
  const serverUrl = new URL(options.serverUrl);
  const reach = new AuthReach(serverUrl, named, lookUp);
  let opening: Promise<HttpExchange> | undefined;
  const open = async (): Promise<HttpExchange> => ((await network?.()) ?? createKeepAliveExchange)(clock);

  const fetch: FetchLike = async (address, init = {}) => {
    const url = new URL(address);
    requireProtected(url, serverUrl);
    const limit = new AbortController();
    const timer = clock.setTimeout(() => limit.abort(tooSlow(url)), REQUEST_LIMIT_MS);
    try {
      await abortable(reach.require(url), AbortSignal.any([signal, limit.signal]));
      opening ??= open();
      const exchange = await opening;
      const reply = await exchange.send({
        method: init.method === 'POST' ? 'POST' : 'GET',
        url,
        headers: { 'user-agent': 'mcp-troupe', ...Object.fromEntries(new Headers(init.headers)) },
        body: textOf(init.body),
        signal: AbortSignal.any([signal, limit.signal, ...(init.signal ? [init.signal] : [])]),
      });
      const raw = await readText(reply.body, MAX_BYTES, () => {});
      const excess = excessOf(raw);
      if (excess !== undefined) throw unreadable(url, `an answer that ${excess}`);
      const text = withoutNulls(raw);
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
    close: async () => (await opening?.catch(() => undefined))?.close(),
  };
}

/**
 * Throws a `TransportError` unless the address is protected: by `https`; or, with `http`, if it is on the host of a
 * server that is itself reached over `http`, or if both are on this machine.
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
    message: `${shownUrl(serverUrl)} requires a sign-in at ${shownUrl(url)}, which is not protected by https.`,
    hint: 'Nothing was sent there. The operator of the server must correct its OAuth metadata.',
  });
}

/** The SDK sends only strings and forms. */
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

function unreadable(url: URL, what: string): TransportError {
  const message = `The authorization server at ${shownUrl(url)} answered with ${what}.`;
  return new TransportError({ code: 'auth-required', message });
}

function explained(error: unknown, url: URL): unknown {
  const place = `the authorization server at ${shownUrl(url)}`;
  if (error instanceof BodyTooLarge) return unreadable(url, `more than ${MAX_BYTES} bytes`);
  if (!(error instanceof NetworkError)) return error;
  return new TransportError(notReached(error, place).failure, { cause: error });
}

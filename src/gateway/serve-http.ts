/**
 * Serves any number of clients over streamable HTTP (MCP specification 2025-11-25, transports).
 *
 * Owns the port and the life of requests. Does not own what is answered (`http-routes.ts`), who may ask
 * (`http-access.ts`) nor sessions (`http-sessions.ts`).
 *
 * H1. Nobody is answered without the right `Host` and `Origin`, nor, where there is one, without the token.
 * H2. Where other computers reach it, there is a token.
 * H3. An error in here, or of a socket, ends one exchange and nothing else.
 * H4. Nothing is left after `close()`. The gateway itself stays as it was: it is closed by whoever made it.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '../errors.js';
import { guardedLogger } from '../guarded-logger.js';
import { isLoopback } from '../loopback.js';
import { systemClock, type Logger } from '../ports.js';
import { doneWithin } from '../release.js';
import { messageOf } from '../thrown.js';
import { RPC } from './client-message.js';
import { DEFAULT_DRAIN_MS, type DrainOptions } from './drain.js';
import type { Gateway } from './gateway.js';
import { GivenAnswers } from './given-answers.js';
import { HttpAccess } from './http-access.js';
import { refuse } from './http-answers.js';
import { HttpRoutes } from './http-routes.js';
import { HttpSessions } from './http-sessions.js';
import { tellOfBreak } from './queued-responses.js';
import { checkHttpOptions, hostName } from './serve-http-options.js';
import type { ServeHttpOptions } from './serve-http-options.js';

/** The clients that are served over HTTP. */
export interface HttpService {
  /** Where all servers are one: the address for clients. */
  readonly url: string;
  /** The one that was taken. */
  readonly port: number;
  /** Sessions that are open. */
  readonly sessions: number;
  /** Takes no further requests, waits for those in flight, and ends every session. Never rejects. */
  close(options?: DrainOptions): Promise<void>;
}

const MOST_CONNECTIONS = 2_048;
/** Longest a request may take to come in, milliseconds. */
const REQUEST_LIMIT_MS = 30_000;
/**
 * How long a connection without requests is kept, milliseconds: longer than clients keep it, so that it is not ended just
 * when one sends its next request.
 */
const KEEP_ALIVE_MS = 65_000;
/** Silence on an open connection after which the system asks whether the client's machine is still there, milliseconds. */
const PROBE_AFTER_MS = 30_000;
const MOST_HEADER_BYTES = 16 * 1_024;
const DEFAULT_MAX_SESSIONS = 1_000;
const DEFAULT_MAX_BODY_BYTES = 16 * 1_024 * 1_024;
/** How the system says so. */
const NO_ADDRESS: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL']);
/** Longest that clients may take for what is left when it ends, milliseconds. */
const FLUSH_MS = 1_000;

/** Resolves when the port is open. Rejects with a `ConfigError` where the options make no sense or the port cannot be had. */
export async function serveHttp(
  gateway: Pick<Gateway, 'connect' | 'serverNames'>,
  options: ServeHttpOptions = {},
): Promise<HttpService> {
  checkHttpOptions(options);
  const { port = 0, host = '127.0.0.1', drainMs = DEFAULT_DRAIN_MS } = options;
  const { clock = systemClock, oauth, token } = options;
  const logger = guardedLogger(options.logger);
  const server = createServer({
    maxHeaderSize: MOST_HEADER_BYTES,
    headersTimeout: REQUEST_LIMIT_MS,
    requestTimeout: REQUEST_LIMIT_MS,
    connectionsCheckingInterval: REQUEST_LIMIT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
  });
  server.maxConnections = MOST_CONNECTIONS;
  await listen(server, port, host);
  const { port: taken } = server.address() as AddressInfo;
  const own = new URL(`http://${hostName(host)}:${taken}`);
  const origin = new URL(new URL(options.publicUrl ?? own).origin);
  const { events, maxSessions = DEFAULT_MAX_SESSIONS } = options;
  const sessions = new HttpSessions({ gateway, clock, logger, events, maxSessions });
  const access = new HttpAccess({
    hosts: hostsOf(host, taken, origin, options.allowedHosts),
    origins: new Set(options.allowedOrigins?.map(asBrowsersSay)),
    token,
    oauth,
    clock,
    logger,
  });
  const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const routes = new HttpRoutes({ access, sessions, oauth, origin, maxBodyBytes, clock });
  const answers = new GivenAnswers();
  server.on('request', (request, response) => {
    tellOfBreak(response);
    answers.watch(response);
    void serve(routes, request, response, logger);
  });
  server.on('error', (error) => logger.error('The HTTP server reports an error.', { reason: error.message }));
  let hurry: () => void = () => {};
  const hurried = new Promise<void>((resolve) => (hurry = resolve));
  const end = async (ms: number): Promise<void> => {
    const isClosed = once(server, 'close');
    await sessions.close(ms, hurried);
    await answers.read();
    server.close();
    server.closeIdleConnections();
    await doneWithin(clock, FLUSH_MS, isClosed);
    server.closeAllConnections();
    await isClosed;
  };
  let closing: Promise<void> | undefined;
  return {
    url: new URL('/mcp', origin).href,
    port: taken,
    get sessions() {
      return sessions.size;
    },
    close: ({ drainMs: ms = drainMs } = {}) => {
      if (ms === 0 || closing !== undefined) hurry();
      if (ms === 0 && closing !== undefined) answers.drop();
      return (closing ??= end(ms));
    },
  };
}

async function serve(
  routes: HttpRoutes,
  request: IncomingMessage,
  response: ServerResponse,
  logger: Logger,
): Promise<void> {
  // A client that goes away in the middle of an answer is nothing to tell.
  response.on('error', () => {});
  try {
    await routes.answer(request, response);
  } catch (error) {
    if (response.destroyed) return;
    logger.error('A request could not be answered.', { reason: messageOf(error) });
    if (response.headersSent) response.destroy();
    else refuse(response, { status: 500, error: 'Internal error', code: RPC.internalError });
  }
}

/** Undefined where any name may be its own, since it listens on an address that has names we do not know. */
function hostsOf(
  host: string,
  port: number,
  origin: URL,
  allowed: readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  if (!isLoopback(host) && allowed === undefined) return undefined;
  const names = [hostName(host), '127.0.0.1', 'localhost', '[::1]'];
  // As a client writes it: without the port where that is the usual one.
  const own = names.map((name) => new URL(`http://${name}:${port}`).host);
  return new Set([...own, origin.host, ...(allowed ?? []).map((name) => name.toLowerCase())]);
}

/** An address of a page is taken for its origin. Other programs have origins that are no addresses of the web. */
function asBrowsersSay(origin: string): string {
  return /^https?:/i.test(origin) && URL.canParse(origin) ? new URL(origin).origin : origin;
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  try {
    await listening;
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    const message = NO_ADDRESS.has(code)
      ? `${host} is no address of this computer (${code}): give one such as 127.0.0.1 or 0.0.0.0.`
      : `Nothing can be served on port ${port} of ${host} (${code}): free it, or choose another.`;
    throw new ConfigError(message, { cause: error });
  }
}

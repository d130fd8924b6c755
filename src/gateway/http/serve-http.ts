/**
 * Serves any number of clients over streamable HTTP (MCP specification 2025-11-25, transports).
 *
 * Longer than 300 lines because its public functions have examples. Owns the port and the life of requests. Does not own the answers (`http-routes.ts`), access (`http-access.ts`) nor
 * sessions (`http-client-sessions.ts`).
 *
 * H1. A request needs the right `Host` and `Origin`, and the token if there is one. Only a health probe needs
 *     none of them, and it gets nothing else.
 * H2. If other computers can reach the service, there is a token.
 * H3. An error in here, or of a socket, ends one exchange and nothing else.
 * H4. Nothing is left after `close()`. The gateway itself stays open: its creator closes it.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { guardedLogger, systemClock, type Logger } from '../../ports.js';
import { HEADER_LIMITS, limitConnections } from '../../transports/http/server-limits.js';
import { isLoopback } from '../../text/host-reach.js';
import { settlesWithin, timeLeft } from '../../async/timers.js';
import { messageOf } from '../../text/error-message.js';
import { RPC } from '../client/client-message.js';
import { DEFAULT_GRACE_PERIOD_MS, type DrainOptions } from '../drain.js';
import type { Gateway } from '../gateway.js';
import { HttpAccess } from './http-access.js';
import { refuse } from './http-answers.js';
import type { FleetSessions, FleetSessionsParts } from './fleet-sessions.js';
import { HttpExchanges } from './http-exchanges.js';
import { HttpRoutes } from './http-routes.js';
import { HttpSessions } from './http-client-sessions.js';
import { listen } from './listen.js';
import { FleetViewers } from './fleet-viewers.js';
import { checkHttpOptions, hostName, type ServeHttpOptions } from './serve-http-options.js';
import { parseUrl } from '../../text/parse-url.js';

/** The HTTP service of a gateway. */
export interface HttpService {
  /** The address for clients that use all servers as one. */
  readonly url: string;
  /** The port that it listens on. */
  readonly port: number;
  /** Number of open sessions. */
  readonly sessions: number;
  /**
   * Accepts no further requests, waits for those in flight, and ends every session. Never rejects.
   *
   * @param options How long requests in flight may take. Default: the `gracePeriodMs` of the service, otherwise 10,000.
   *
   * @example
   * ```ts
   * import { createGateway, serveHttp } from 'mcp-troupe/gateway';
   *
   * const service = await serveHttp(createGateway({ config: '.mcp.json' }));
   * await service.close({ gracePeriodMs: 2_000 });
   * ```
   */
  close(options?: DrainOptions): Promise<void>;
  /**
   * Refuses new sessions with status 503, and `/readyz` says `draining`, so that a load balancer sends new clients elsewhere.
   * Open sessions go on, and requests without a session are still answered. `close` does this first. Idempotent.
   *
   * @example
   * ```ts
   * import { setTimeout } from 'node:timers/promises';
   * import { createGateway, serveHttp } from 'mcp-troupe/gateway';
   *
   * const service = await serveHttp(createGateway({ config: '.mcp.json' }));
   * service.drain();
   * await setTimeout(5_000); // the load balancer has noticed
   * await service.close();
   * ```
   */
  drain(): void;
}

const MAX_CONNECTIONS = 2_048;
/** Time limit for a request to arrive, milliseconds. */
const REQUEST_LIMIT_MS = 30_000;
/**
 * How long a connection without requests is kept, milliseconds. Longer than clients keep it, so that it does not end
 * just as a client sends its next request.
 */
const KEEP_ALIVE_MS = 65_000;
/**
 * Idle time on an open connection after which the system checks that the client's machine is still there, milliseconds.
 */
const PROBE_AFTER_MS = 30_000;
const MAX_HEADER_BYTES = 16 * 1_024;
const DEFAULT_MAX_HTTP_SESSIONS = 1_000;
const DEFAULT_MAX_BODY_BYTES = 4 * 1_024 * 1_024;
/** Time limit for clients to read the rest when the service closes, milliseconds. */
const FLUSH_MS = 1_000;

/**
 * Serves the gateway by Streamable HTTP (MCP 2025-11-25, Transports). Resolves when the port is open.
 *
 * @param gateway The gateway to serve. Closing the service leaves it open.
 * @param options Port, access and limits of the service. Default: any free port of 127.0.0.1, without a token.
 *
 * @throws {@link ConfigError} if the options make no sense or the port cannot be had.
 *
 * @example
 * ```ts
 * import { createGateway, serveHttp } from 'mcp-troupe/gateway';
 *
 * const gateway = createGateway({ config: '.mcp.json' });
 * const service = await serveHttp(gateway, { port: 8080 });
 * await service.close();
 * await gateway.close();
 * ```
 */
export async function serveHttp(
  gateway: Pick<Gateway, 'answer' | 'connect' | 'readiness' | 'serverNames'> &
    Partial<Pick<Gateway, 'fleet' | 'troupe'>>,
  options: ServeHttpOptions = {},
): Promise<HttpService> {
  checkHttpOptions(options);
  const { port = 0, host = '127.0.0.1', gracePeriodMs = DEFAULT_GRACE_PERIOD_MS } = options;
  const { clock = systemClock, oauth, token } = options;
  const logger = guardedLogger(options.logger);
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: REQUEST_LIMIT_MS,
    ...HEADER_LIMITS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
  });
  const admitted = limitConnections(server, MAX_CONNECTIONS);
  const taken = await listen(server, port, host);
  const own = new URL(`http://${hostName(host)}:${taken}`);
  const origin = new URL(new URL(options.publicUrl ?? own).origin);
  const { events, maxHttpSessions = DEFAULT_MAX_HTTP_SESSIONS } = options;
  const mostOfOne = oauth === undefined ? maxHttpSessions : Math.ceil(maxHttpSessions / 2);
  const fleet = gateway.fleet && (await fleetSessions({ fleet: gateway.fleet, clock, logger }));
  const sessions = new HttpSessions({ gateway, clock, logger, events, maxHttpSessions, mostOfOne, fleet });
  const exchanges = new HttpExchanges({ gateway, clock, logger, max: maxHttpSessions, mostOfOne });
  const access = new HttpAccess({
    hosts: hostsOf(host, taken, origin, options.allowedHosts),
    origins: new Set(options.allowedOrigins?.map(asBrowsersSay)),
    token,
    oauth,
    clock,
    logger,
  });
  const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  let closing: Promise<void> | undefined;
  let isDraining = false;
  const viewers = new FleetViewers(gateway.troupe?.inside.membership, own);
  const routes = new HttpRoutes({
    access,
    viewers,
    sessions,
    exchanges,
    fleet,
    oauth,
    origin,
    maxBodyBytes,
    isDraining: () => isDraining,
    readiness: () => gateway.readiness(options.requiredServers),
    admitted,
    clock,
  });
  const answers = new PendingResponses();
  server.on('request', (request, response) => {
    closeOnBreak(response);
    // The next request goes over a new connection, which is refused once the port is closed: nothing is sent in vain.
    if (isDraining) response.setHeader('connection', 'close');
    answers.watch(response);
    void serve(routes, request, response, logger);
  });
  server.on('error', (error) => logger.error('The HTTP server reports an error.', { reason: error.message }));
  let hurry: () => void = () => {};
  const hurried = new Promise<void>((resolve) => (hurry = resolve));
  let moved: Promise<void> | undefined;
  const drain = (): void => {
    isDraining = true;
    viewers.drain();
    sessions.drain();
    moved ??= sessions.moveAll(gracePeriodMs, hurried);
  };
  const end = async (ms: number): Promise<void> => {
    const since = clock.now();
    const wasDraining = isDraining;
    drain();
    fleet?.giveServersUp();
    viewers.close();
    await Promise.race([moved, hurried]);
    // A session that was in use for too long before.
    if (wasDraining && ms > 0) await sessions.moveAll(ms, hurried);
    const left = Math.max(0, timeLeft(clock, since, ms));
    const isClosed = once(server, 'close');
    await Promise.all([sessions.close(left, hurried), exchanges.close(left, hurried)]);
    if (fleet !== undefined) {
      await fleet.quiet(left, hurried);
      // Nothing more comes that would have to be handed on.
      server.close();
      await settlesWithin(clock, left, Promise.race([fleet.settled(), hurried]));
    }
    await answers.read();
    fleet?.close();
    server.close();
    server.closeIdleConnections();
    await settlesWithin(clock, FLUSH_MS, isClosed);
    server.closeAllConnections();
    await isClosed;
  };
  return {
    url: new URL('/mcp', origin).href,
    port: taken,
    get sessions() {
      return sessions.size;
    },
    drain,
    close: ({ gracePeriodMs: ms = gracePeriodMs } = {}) => {
      if (ms === 0 || closing !== undefined) hurry();
      if (ms === 0 && closing !== undefined) answers.drop();
      return (closing ??= end(ms));
    },
  };
}

/** Loaded only with a fleet. */
async function fleetSessions(parts: FleetSessionsParts): Promise<FleetSessions> {
  const { FleetSessions } = await import('./fleet-sessions.js');
  return new FleetSessions(parts);
}

async function serve(
  routes: HttpRoutes,
  request: IncomingMessage,
  response: ServerResponse,
  logger: Logger,
): Promise<void> {
  // A client that goes away during an answer is not worth a message.
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

/** Undefined if the service may have any name, because it listens on an address whose names are unknown. */
function hostsOf(
  host: string,
  port: number,
  origin: URL,
  allowed: readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  if (!isLoopback(host) && allowed === undefined) return undefined;
  const names = [hostName(host), '127.0.0.1', 'localhost', '[::1]'];
  // In the form of a client: without the port if it is the default.
  const own = names.map((name) => new URL(`http://${name}:${port}`).host);
  return new Set([...own, origin.host, ...(allowed ?? []).map((name) => name.toLowerCase())]);
}

/** A page's address becomes its origin. Other programs have origins that are no web addresses. */
function asBrowsersSay(origin: string): string {
  return (/^https?:/i.test(origin) && parseUrl(origin)?.origin) || origin;
}

// The unread answers of an HTTP server. Closing the server cuts them off, so wait here before closing.

/** A client that reads at all makes room for more within this time, milliseconds. */
const STALLED_READER_MS = 3_000;

class PendingResponses {
  readonly #responses = new Set<ServerResponse>();

  watch(response: ServerResponse): void {
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
  }

  /** Resolves when each is read or cut off, because its client reads nothing, or by its stream at its own limit. */
  async read(): Promise<void> {
    await Promise.all(this.#given().map(untilRead));
  }

  /** Cuts off unread answers. */
  drop(): void {
    for (const response of this.#given()) response.destroy();
  }

  #given(): readonly ServerResponse[] {
    return [...this.#responses].filter((response) => response.writableEnded);
  }
}

function untilRead(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
    // The socket's timeout starts again whenever the system accepts some of the output.
    response.setTimeout(STALLED_READER_MS, () => response.destroy());
  });
}

/**
 * Responses that wait for their turn on a connection: the client sent their requests before it received earlier
 * answers. Node emits nothing on them when the connection breaks, so they would count as open forever.
 */
const open = new WeakMap<Socket, Set<ServerResponse>>();

/** Emits `close` for this response even if its connection breaks before its turn. */
function closeOnBreak(response: ServerResponse): void {
  const { socket } = response.req;
  const known = open.get(socket);
  const responses = known ?? new Set();
  responses.add(response);
  response.once('close', () => responses.delete(response));
  if (known !== undefined) return;
  open.set(socket, responses);
  socket.once('close', () => {
    for (const each of responses) if (each.socket === null && !each.writableFinished) breakOff(each);
  });
}

function breakOff(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}

/**
 * Serves the page and its data on 127.0.0.1.
 *
 * Owns the port, the life of requests, and access. Does not own the answers (`inspector-routes.ts`) nor the data
 * (`inspection-source.ts`).
 *
 * I1. A request needs the right `Host` and `Origin`, and for data of the troupe also the token. The token is in the
 *     fragment of the address and so in no request line and no log.
 * I2. An error in here, or of a socket, ends one exchange and nothing else.
 * I3. Nothing is left after `close()`: pages are notified, and those that do not read are cut off.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  type IncomingHttpHeaders,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ConfigError } from '../errors.js';
import { HEADER_LIMITS, limitConnections } from '../transports/http/server-limits.js';
import type { Clock } from '../ports.js';
import { settlesWithin } from '../async/timers.js';
import { refuse, type Refused } from './inspector-answers.js';
import { PageFiles } from './page-files.js';
import { Routes } from './inspector-routes.js';
import type { InspectionSource } from './inspection-source.js';
import { STATELY_PAGE } from './stately-bridge.js';
import { reasonOf } from '../text/error-message.js';
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseUrl } from '../text/parse-url.js';

export interface InspectionServer {
  /** The address of the page, with the token in its fragment. Anybody who has it can see and command everything. */
  readonly url: string;
  /** The address of the bridge, if there is one. */
  readonly statelyUrl: string | undefined;
  /** Closes the server and notifies pages. Bounded and idempotent; never rejects. */
  close(why?: string): Promise<void>;
}

export interface InspectionServerOptions {
  readonly source: InspectionSource;
  readonly clock: Clock;
  /** 0 means any free port. */
  readonly port: number;
  /** The built page. Default: the one in this package. */
  readonly folder?: string;
  /** The address of a viewer of Stately's protocol. Default: no bridge. */
  readonly viewer?: URL | undefined;
}

const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 128;
/** Maximum time for a request to arrive, milliseconds. */
const REQUEST_LIMIT_MS = 15_000;
const MAX_HEADER_BYTES = 16 * 1_024;
/** Maximum time for pages to read the rest when the server closes, milliseconds. */
const CLOSE_LIMIT_MS = 1_000;

/** Rejects with a `ConfigError` if the port is not available. */
export async function openInspectionServer({
  source,
  clock,
  port,
  folder,
  viewer,
}: InspectionServerOptions): Promise<InspectionServer> {
  const routes = new Routes(source, new PageFiles(folder), viewer);
  const token = makeToken();
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: REQUEST_LIMIT_MS,
    ...HEADER_LIMITS,
  });
  const admit = limitConnections(server, MAX_CONNECTIONS);
  await listen(server, port);
  const { port: taken } = server.address() as AddressInfo;
  const gate = new AccessGuard(taken, token);
  server.on('request', (request, response) => {
    serve(request, response, { routes, gate, admit }).catch(() => void response.destroy());
  });
  let closed: Promise<void> | undefined;
  const end = async (why: string): Promise<void> => {
    await settlesWithin(clock, CLOSE_LIMIT_MS, source.close(why));
    const isClosed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await isClosed;
  };
  const address = (path: string): string => `http://${HOST}:${taken}${path}#${token}`;
  return {
    url: address('/'),
    statelyUrl: viewer && address(STATELY_PAGE),
    close: (why = 'The inspection was closed.') => (closed ??= end(why)),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  {
    routes,
    gate,
    admit,
  }: {
    readonly routes: Routes;
    readonly gate: AccessGuard;
    readonly admit: (connection: Socket) => void;
  },
): Promise<void> {
  const { headers } = request;
  const refusal = gate.refusal(headers);
  if (refusal !== undefined) return refuse(response, refusal);
  const path = request.url ?? '/';
  const url = path.startsWith('/') ? parseUrl(path, `http://${HOST}`) : undefined;
  if (url === undefined) return refuse(response, { status: 400, error: 'The address cannot be read.' });
  const exchange = { request, response, url };
  if (!exchange.url.pathname.startsWith('/api/')) return routes.page(exchange);
  const apiRefusal = gate.apiRefusal(headers);
  if (apiRefusal !== undefined) return refuse(response, apiRefusal);
  admit(request.socket);
  return routes.api(exchange);
}

async function listen(server: Server, port: number): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, HOST);
  try {
    await listening;
  } catch (error) {
    const code = reasonOf(error);
    throw new ConfigError(`Port ${port} of ${HOST} is not available (${code}): free it, or choose another.`, {
      cause: error,
    });
  }
}

// Decides whether a request may be answered. Pages of other origins, and programs of other users of this machine, can
// reach the port too.
//
// W1. `Host` must name this server, so that a name that resolves to 127.0.0.1 (DNS rebinding) is refused.
// W2. An `Origin` must be this server's own. A missing one is allowed; the origin `null` of a local file is refused.
// W3. Every request that reads or changes data also needs the token, which is compared in constant time.

/** 256 random bits. */
export function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

export class AccessGuard {
  readonly #hosts: ReadonlySet<string>;
  readonly #token: Buffer;

  constructor(port: number, token: string) {
    // In the form of a browser: without the port if it is the default.
    this.#hosts = new Set(['127.0.0.1', 'localhost'].map((name) => new URL(`http://${name}:${port}`).host));
    this.#token = digest(token);
  }

  /** Why a request gets no answer at all; undefined if it may be answered. */
  refusal({ host, origin }: IncomingHttpHeaders): Refused | undefined {
    if (host === undefined || !this.#hosts.has(host))
      return { status: 403, error: 'The Host header does not name this server.' };
    if (origin !== undefined && origin !== `http://${host}`)
      return { status: 403, error: 'The request comes from a page of another origin.' };
    return undefined;
  }

  /** Why a request may not read or change data; undefined if it may. */
  apiRefusal(headers: IncomingHttpHeaders): Refused | undefined {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin')
      return { status: 403, error: 'The request comes from a page of another site.' };
    const [, token] = /^Bearer ([\w-]{1,200})$/.exec(headers.authorization ?? '') ?? [];
    if (token !== undefined && timingSafeEqual(digest(token), this.#token)) return undefined;
    return {
      status: 401,
      error: 'The token is missing or wrong: open the complete address that was printed.',
    };
  }
}

/** Has the same length for every text, as the comparison in constant time requires. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Serves the page and what it shows on 127.0.0.1.
 *
 * Owns the port, the life of requests, and who may ask. Does not own what is answered (`routes.ts`) nor what is shown
 * (`source.ts`).
 *
 * I1. Nobody is answered without the right `Host` and `Origin`, and nothing of the troupe is told without the token, which
 *     is in the fragment of the address and so in no request and no log (`who-may-ask.ts`).
 * I2. An error in here, or of a socket, ends one exchange and nothing else.
 * I3. Nothing is left after `close()`: pages are told, and those that do not listen are cut off.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '../errors.js';
import type { Clock } from '../ports.js';
import { doneWithin } from '../release.js';
import { refuse } from './answers.js';
import { PageFiles } from './page-files.js';
import { Routes } from './routes.js';
import type { InspectionSource } from './source.js';
import { STATELY_PAGE } from './stately-bridge.js';
import { makeToken, WhoMayAsk } from './who-may-ask.js';

export interface InspectionServer {
  /** The address of the page, with the token in its fragment: whoever has it may see and command everything. */
  readonly url: string;
  /** The address of the bridge, where there is one. */
  readonly statelyUrl: string | undefined;
  /** Ends it; pages are told why. Bounded and idempotent; never rejects. */
  close(why?: string): Promise<void>;
}

export interface InspectionServerOptions {
  readonly source: InspectionSource;
  readonly clock: Clock;
  /** 0 is any that is free. */
  readonly port: number;
  /** The built page. Default: that of this package. */
  readonly folder?: string;
  /** The address of a viewer of Stately's protocol. Default: there is no bridge to any. */
  readonly viewer?: URL | undefined;
}

const HOST = '127.0.0.1';
const MOST_CONNECTIONS = 128;
/** Longest a request may take to come in, milliseconds. */
const REQUEST_LIMIT_MS = 15_000;
const MOST_HEADER_BYTES = 16 * 1_024;
/** Longest that pages may take for what is left when it ends, milliseconds. */
const CLOSE_LIMIT_MS = 1_000;

/** Rejects with a `ConfigError` where the port cannot be had. */
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
    maxHeaderSize: MOST_HEADER_BYTES,
    headersTimeout: REQUEST_LIMIT_MS,
    requestTimeout: REQUEST_LIMIT_MS,
    connectionsCheckingInterval: REQUEST_LIMIT_MS,
  });
  server.maxConnections = MOST_CONNECTIONS;
  await listen(server, port);
  const { port: taken } = server.address() as AddressInfo;
  const gate = new WhoMayAsk(taken, token);
  server.on('request', (request, response) => {
    serve(request, response, { routes, gate }).catch(() => void response.destroy());
  });
  let closed: Promise<void> | undefined;
  const end = async (why: string): Promise<void> => {
    await doneWithin(clock, CLOSE_LIMIT_MS, source.close(why));
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
  { routes, gate }: { readonly routes: Routes; readonly gate: WhoMayAsk },
): Promise<void> {
  const { headers, url = '/' } = request;
  const refusal = gate.refusal(headers);
  if (refusal !== undefined) return refuse(response, refusal);
  if (!URL.canParse(url, `http://${HOST}`) || !url.startsWith('/'))
    return refuse(response, { status: 400, error: 'The address cannot be read.' });
  const exchange = { request, response, url: new URL(url, `http://${HOST}`) };
  if (!exchange.url.pathname.startsWith('/api/')) return routes.page(exchange);
  const apiRefusal = gate.apiRefusal(headers);
  if (apiRefusal !== undefined) return refuse(response, apiRefusal);
  return routes.api(exchange);
}

async function listen(server: Server, port: number): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, HOST);
  try {
    await listening;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new ConfigError(
      `Nothing can be served on port ${port} of ${HOST} (${code}): free it, or choose another.`,
      { cause: error },
    );
  }
}

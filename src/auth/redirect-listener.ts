/**
 * The listener to which the browser is redirected: one address of this machine, open while a person signs in (RFC 8252
 * section 7.3).
 *
 * B1. Parameters are never shown, and do not stay in the address: the browser is redirected to a page that states only
 *     the result of the sign-in.
 * B2. `close()` ends every connection, idle ones too. Before that it waits a limited time for redirected browsers to
 *     fetch their page.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import type { Clock } from '../ports.js';
import { settlesWithin } from '../async/timers.js';
import { HEADER_LIMITS, limitConnections } from '../transports/http/server-limits.js';
import { TransportError } from '../failures/transport-error.js';
import { reasonOf } from '../text/error-message.js';

export interface Loopback {
  readonly url: string;
  close(): Promise<void>;
}

/** What the browser shows; `isGood` if the sign-in is complete. */
export interface LoopbackAnswer {
  readonly isGood: boolean;
  readonly text: string;
}

export interface LoopbackOptions {
  readonly clock: Clock;
  /** The port to listen on; 0 = any. */
  readonly port: number;
  /** The host of the address, as the client is registered for it. Default 127.0.0.1. */
  readonly host?: string;
  /** The path of the address. Default `/callback`. */
  readonly path?: string;
  /** The port to try first if `port` is 0; 0 = none. */
  readonly preferred: number;
  /** Called with the parameters of each request to the address. */
  readonly onRedirect: (params: URLSearchParams) => Promise<LoopbackAnswer>;
}

const HOST = '127.0.0.1';
const PATH = '/callback';
const PAGES = '/signed-in/';
/** Browsers send some extra requests; nothing else has a reason to send many. */
const MAX_CONNECTIONS = 16;
const MAX_PAGES = 16;
/** How long to wait for redirected browsers: they follow a redirect at once, if at all. */
const GOES_ON_MS = 2_000;

export async function openLoopback({
  clock,
  port,
  host = HOST,
  path = PATH,
  preferred,
  onRedirect,
}: LoopbackOptions): Promise<Loopback> {
  const serving = new Set<Promise<void>>();
  const pages = new Pages();
  const server = createServer(HEADER_LIMITS, (request, response) => {
    const served = serve(request, response, { onRedirect, path, pages }).catch(() => void response.destroy());
    serving.add(served);
    void served.then(() => serving.delete(served));
  });
  // A connection without a request makes room for the browser.
  limitConnections(server, MAX_CONNECTIONS);
  // A browser that resolves `localhost` to several addresses tries this one too.
  await listen(server, host === '[::1]' ? '::1' : HOST, port, preferred);
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${taken}${path}`,
    close: async () => {
      await Promise.all(serving);
      await settlesWithin(clock, GOES_ON_MS, pages.fetched());
      const closed = once(server, 'close');
      server.close();
      await Promise.all(serving);
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, host: string, port: number, preferred: number): Promise<void> {
  if (port === 0 && preferred !== 0 && (await isTaken(server, host, preferred)) === undefined) return;
  const code = await isTaken(server, host, port);
  if (code === undefined) return;
  throw new TransportError({
    code: 'auth-required',
    message: `Cannot listen on port ${port} of ${host} (${code}), to which the browser is redirected.`,
    hint: "Free the port, or choose another with 'redirectPort', or with 'callbackPort' in the 'oauth' of the entry.",
  });
}

/** Listens there, or returns the error code. */
async function isTaken(server: Server, host: string, port: number): Promise<string | undefined> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  try {
    await listening;
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** The pages to which browsers were redirected, by address. */
class Pages {
  readonly #pages = new Map<string, LoopbackAnswer>();
  readonly #awaited = new Set<string>();
  #count = 0;
  #resolveAnswered = (): void => {};

  /** Returns the address of the page. */
  add(answer: LoopbackAnswer): string {
    this.#count += 1;
    const path = `${PAGES}${this.#count}`;
    this.#pages.set(path, answer);
    this.#awaited.add(path);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) {
      this.#pages.delete(oldest);
      this.#delivered(oldest);
    }
    return path;
  }

  async deliver(path: string, response: ServerResponse): Promise<void> {
    const answer = this.#pages.get(path);
    const status = answer === undefined ? 404 : answer.isGood ? 200 : 400;
    response.writeHead(status, HEADERS).end(answer === undefined ? '' : page(answer.text));
    try {
      await finished(response);
    } finally {
      this.#delivered(path);
    }
  }

  /** Resolves when every page was fetched. */
  async fetched(): Promise<void> {
    if (this.#awaited.size > 0) await new Promise<void>((resolve) => (this.#resolveAnswered = resolve));
  }

  #delivered(path: string): void {
    this.#awaited.delete(path);
    if (this.#awaited.size === 0) this.#resolveAnswered();
  }
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};

interface Served extends Pick<LoopbackOptions, 'onRedirect'> {
  readonly path: string;
  readonly pages: Pages;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { onRedirect, path, pages }: Served,
): Promise<void> {
  const url = new URL(request.url ?? '/', `http://${HOST}`);
  if (request.method !== 'GET' || url.pathname !== path) return pages.deliver(url.pathname, response);
  const location = pages.add(await onRedirect(url.searchParams));
  response.writeHead(303, { ...HEADERS, location }).end();
  await finished(response);
}

function page(text: string): string {
  return (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Troupe</title>' +
    `<body style="font: 1.1em system-ui; margin: 4em auto; max-width: 30em"><p>${text}</p></body></html>`
  );
}

/**
 * HTTP through `node:http` and `node:https` with its own agents: half the cost of the global `fetch`, and the end of its
 * sockets can be awaited. A proxy receives the whole address of an `http:` request, and opens a tunnel for an `https:` one.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type Socket } from 'node:net';
import { TLSSocket, type SecureContext } from 'node:tls';
import type { Clock } from '../../ports.js';
import { decodedBody } from './body-text.js';
import {
  errorCode,
  NetworkError,
  type HttpExchange,
  type HttpReply,
  type HttpRequest,
  type ProxyFailure,
} from './http-exchange.js';
import type { Proxy } from './proxy-choice.js';
import { withoutBrackets } from './server-address.js';
import { ProxyError, TunnelAgent } from './tunnel-agent.js';

/** Less than the 5 s after which many servers drop an idle socket, so that no request is sent on a closing one. */
const IDLE_SOCKET_MS = 4_000;
/** Limits for skipping the rest of a body: beyond them, closing the socket is cheaper. */
const DISCARDED_BYTES = 64 * 1024;
const DISCARD_LIMIT_MS = 2_500;

/** How the exchange connects. Default: directly, trusting the certificates that Node trusts. */
export interface Connections {
  /** The proxy for an address; undefined if there is none. May throw a `TransportError`. */
  readonly proxyFor?: (url: URL) => Proxy | undefined;
  /** The socket of this computer that replaces host and port of every address. */
  readonly socketPath?: string;
  /** The certificates to use for an address. */
  readonly secureContext?: ((url: URL) => SecureContext | undefined) | undefined;
}

export function createKeepAliveExchange(clock: Clock, connections: Connections = {}): HttpExchange {
  const agents = new Agents(connections, clock);
  return {
    send: async (request) => {
      const { url, fresh = false } = request;
      const proxy = connections.proxyFor?.(url);
      const agent = agents.get(url, proxy, fresh);
      const isSecure = url.protocol === 'https:' || agent instanceof https.Agent;
      const open = isSecure ? https.request : http.request;
      const { socketPath } = connections;
      const options = proxy === undefined || agent instanceof TunnelAgent ? {} : throughProxy(url, proxy);
      return send(open, { agent, ...options, ...(socketPath !== undefined && { socketPath }) }, request, {
        clock,
        proxy,
      });
    },
    close: () => agents.close(),
  };
}

/** A request for a proxy has the whole address in its first line (RFC 9112 section 3.2.2). */
function throughProxy(url: URL, { url: { hostname, port, protocol }, authorization }: Proxy) {
  const host = withoutBrackets(hostname);
  return {
    protocol,
    hostname: host,
    servername: isIP(host) === 0 ? host : '',
    port,
    path: url.href,
    headers: {
      host: url.host,
      ...(authorization !== undefined && { 'proxy-authorization': authorization }),
    },
  };
}

/** One agent for each kind of connection, created on first use. */
class Agents {
  readonly #connections: Connections;
  readonly #clock: Clock;
  readonly #made = new Map<string, http.Agent>();
  readonly #idleSince = new WeakMap<Socket, number>();

  constructor(connections: Connections, clock: Clock) {
    this.#connections = connections;
    this.#clock = clock;
  }

  get(url: URL, proxy: Proxy | undefined, fresh: boolean): http.Agent {
    const key = `${fresh} ${url.origin} ${proxy?.shown}`;
    const agent = this.#made.get(key) ?? this.#make(url, proxy, fresh);
    this.#made.set(key, agent);
    endStale(agent, (socket) => this.#clock.now() - (this.#idleSince.get(socket) ?? Infinity));
    return agent;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#made.values()].map(destroy));
  }

  #make(url: URL, proxy: Proxy | undefined, fresh: boolean): http.Agent {
    const kept = fresh ? {} : { keepAlive: true, timeout: IDLE_SOCKET_MS };
    const secure = { ...kept, ...this.#certificates(url) };
    const agent = this.#connecting(url, proxy, kept, secure);
    agent.on('free', (socket: Socket) => void this.#idleSince.set(socket, this.#clock.now()));
    return agent;
  }

  #connecting(
    url: URL,
    proxy: Proxy | undefined,
    kept: http.AgentOptions,
    secure: https.AgentOptions,
  ): http.Agent {
    if (proxy === undefined)
      return url.protocol === 'https:' ? new https.Agent(secure) : new http.Agent(kept);
    const { secureContext } = this.#certificates(proxy.url);
    if (url.protocol === 'https:') return new TunnelAgent(secure, proxy, secureContext);
    return proxy.url.protocol === 'https:'
      ? new https.Agent({ ...kept, ...(secureContext !== undefined && { secureContext }) })
      : new http.Agent(kept);
  }

  #certificates(url: URL): { readonly secureContext?: SecureContext } {
    const secureContext = this.#connections.secureContext?.(url);
    return secureContext === undefined ? {} : { secureContext };
  }
}

/** Timers stop while the machine sleeps, and the server has closed its end by then. */
function endStale(agent: http.Agent, idleMs: (socket: Socket) => number): void {
  for (const socket of freeOf(agent)) if (idleMs(socket) >= IDLE_SOCKET_MS) socket.destroy();
}

function freeOf({ freeSockets }: http.Agent): Socket[] {
  return Object.values(freeSockets).flatMap((some) => some ?? []);
}

function send(
  open: typeof http.request,
  options: http.RequestOptions,
  request: HttpRequest,
  { clock, proxy }: { readonly clock: Clock; readonly proxy: Proxy | undefined },
): Promise<HttpReply> {
  const { url, method, body, signal } = request;
  const headers = { ...request.headers, ...(options.headers as http.OutgoingHttpHeaders | undefined) };
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    let connected = false;
    const connect = (): void => {
      connected = true;
      request.onconnect?.();
    };
    let incoming: http.IncomingMessage | undefined;
    let outgoing: http.ClientRequest;
    try {
      outgoing = open(url, { ...options, method, headers });
    } catch (error) {
      // The token or id contains characters that a header cannot carry.
      return reject(new NetworkError(errorCode(error), connected, error));
    }

    const fail = (error?: Error, code = errorCode(error)): void => {
      const trouble = proxy && { shown: proxy.shown, ...faultOf(error, connected, options) };
      reject(new NetworkError(code, connected, error, outgoing.reusedSocket, trouble));
    };
    const abort = (): void => void (incoming ?? outgoing).destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    outgoing.once('close', () => {
      signal.removeEventListener('abort', abort);
      // It ended without an error event. This has no effect if the request has settled.
      fail(undefined, 'closed');
    });

    outgoing.once('socket', (socket) => {
      if (outgoing.reusedSocket) connect();
      else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', connect);
    });
    outgoing.on('error', (error) => (signal.aborted ? reject(signal.reason as Error) : fail(error)));
    outgoing.once('response', (response) => {
      incoming = response;
      if (proxy !== undefined && response.statusCode === 407) {
        connected = false;
        fail(new ProxyError(undefined, 407));
        return void response.destroy();
      }
      resolve(toReply(response, clock));
    });
    // Another protocol was not requested. The agent no longer owns the socket, so its end is awaited here.
    outgoing.once('upgrade', (response, socket) => {
      const reply = { ...toReply(response, clock), body: nothing(), discard: async () => {} };
      resolve(new Promise((done) => socket.once('close', () => done(reply))));
      socket.destroy();
    });
    // As a string, it would be written together with the head, and in its encoding: a header is Latin-1 (RFC 9110, section 5.5).
    outgoing.end(body === undefined ? undefined : Buffer.from(body));
  });
}

/** The part that the proxy plays in a request without a reply. A tunnel reports its own failures as `ProxyError`. */
function faultOf(
  error: unknown,
  connected: boolean,
  { agent }: http.RequestOptions,
): Omit<ProxyFailure, 'shown'> {
  if (error instanceof ProxyError) {
    return { isAtFault: true, ...(error.status !== undefined && { status: error.status }) };
  }
  return { isAtFault: !connected && !(agent instanceof TunnelAgent) };
}

function toReply(response: http.IncomingMessage, clock: Clock): HttpReply {
  const decoded = decodedBody(response, response.headers['content-encoding']);
  return {
    status: response.statusCode ?? 0,
    header: (name) => {
      if (name === 'content-encoding' && decoded !== undefined) return undefined;
      const value = response.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    cookies: () => response.headers['set-cookie'] ?? [],
    body: decoded ?? response,
    discard: () => discard(response, clock),
  };
}

function discard(response: http.IncomingMessage, clock: Clock): Promise<void> {
  if (response.closed) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    const limit = clock.setTimeout(() => response.destroy(), DISCARD_LIMIT_MS);
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DISCARDED_BYTES) response.destroy();
    });
    response.once('close', () => {
      clock.clearTimeout(limit);
      resolve();
    });
  });
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function destroy(agent: http.Agent): Promise<void> {
  const sockets = [...Object.values(agent.sockets).flatMap((some) => some ?? []), ...freeOf(agent)];
  agent.destroy();
  if (agent instanceof TunnelAgent) await agent.endOpening();
  await Promise.all(sockets.map(closed));
}

function closed(socket: Socket): Promise<void> {
  return socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));
}

/**
 * HTTP through `node:http` and `node:https` with its own agents: half the cost of the global `fetch`, and the end of its
 * sockets can be awaited.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../../ports.js';
import { decodedBody } from './content-coding.js';
import {
  errorCode,
  NetworkError,
  type HttpExchange,
  type HttpReply,
  type HttpRequest,
} from './http-exchange.js';

/** Less than the 5 s after which many servers drop an idle socket, so that no request is sent on a closing one. */
const IDLE_SOCKET_MS = 4_000;
/** Limits for skipping the rest of a body: beyond them, closing the socket is cheaper. */
const DISCARDED_BYTES = 64 * 1024;
const DISCARD_LIMIT_MS = 2_500;

export function createKeepAliveExchange(clock: Clock): HttpExchange {
  const kept = { keepAlive: true, timeout: IDLE_SOCKET_MS };
  const plain = { kept: new http.Agent(kept), fresh: new http.Agent() };
  const secure = { kept: new https.Agent(kept), fresh: new https.Agent() };
  const idleSince = new WeakMap<Socket, number>();
  for (const agent of [plain.kept, secure.kept]) {
    agent.on('free', (socket: Socket) => void idleSince.set(socket, clock.now()));
  }
  return {
    send: (request) => {
      const isSecure = request.url.protocol === 'https:';
      const { kept, fresh } = isSecure ? secure : plain;
      const open = isSecure ? https.request : http.request;
      endStale(kept, (socket) => clock.now() - (idleSince.get(socket) ?? Infinity));
      return send(open, request.fresh === true ? fresh : kept, request, clock);
    },
    close: async () => {
      await Promise.all([plain.kept, plain.fresh, secure.kept, secure.fresh].map(destroy));
    },
  };
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
  agent: http.Agent,
  request: HttpRequest,
  clock: Clock,
): Promise<HttpReply> {
  const { url, method, headers, body, signal } = request;
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
      outgoing = open(url, { method, headers, agent });
    } catch (error) {
      // The token or id contains characters that a header cannot carry.
      return reject(new NetworkError(errorCode(error), connected, error));
    }

    const abort = (): void => void (incoming ?? outgoing).destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    outgoing.once('close', () => {
      signal.removeEventListener('abort', abort);
      // It ended without an error event. This has no effect if the request has settled.
      reject(new NetworkError('closed', connected, undefined, outgoing.reusedSocket));
    });

    outgoing.once('socket', (socket) => {
      if (outgoing.reusedSocket) connect();
      else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', connect);
    });
    outgoing.on('error', (error) =>
      reject(
        signal.aborted
          ? (signal.reason as Error)
          : new NetworkError(errorCode(error), connected, error, outgoing.reusedSocket),
      ),
    );
    outgoing.once('response', (response) => {
      incoming = response;
      resolve(toReply(response, clock));
    });
    // Another protocol was not requested. The agent no longer owns the socket, so its end is awaited here.
    outgoing.once('upgrade', (response, socket) => {
      const reply = { ...toReply(response, clock), body: nothing(), discard: async () => {} };
      resolve(new Promise((done) => socket.once('close', () => done(reply))));
      socket.destroy();
    });
    outgoing.end(body);
  });
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
  await Promise.all(sockets.map(closed));
}

function closed(socket: Socket): Promise<void> {
  return socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));
}

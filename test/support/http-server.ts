/** A small HTTP server for tests: records the requests and lets the test answer them. */
import * as http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createWatch } from './watch.js';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** The JSON-RPC message in the body; empty if there is none. */
  readonly rpc: {
    readonly id?: number | string;
    readonly method?: string;
    readonly params?: Record<string, unknown>;
  };
  /** Resolves when the exchange is complete or the client has aborted it. */
  readonly over: Promise<void>;
}

export type Handler = (seen: Seen, res: http.ServerResponse) => void;

export interface TestServer {
  readonly origin: string;
  readonly url: string;
  readonly seen: Seen[];
  /** Number of open sockets. */
  readonly sockets: ReadonlySet<Socket>;
  handle: Handler;
  /** The first `count` matching requests, once they have arrived. */
  arrived(match: (seen: Seen) => boolean, count?: number): Promise<Seen[]>;
  /** Resolves when the last socket has closed. */
  idle(): Promise<void>;
  /** Stops listening and closes every connection. */
  close(): Promise<void>;
}

export async function startServer(handle: Handler, port = 0): Promise<TestServer> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const { changed, until } = createWatch();

  const server = http.createServer((req, res) => {
    const over = new Promise<void>((resolve) => res.once('close', resolve));
    let body = '';
    req.setEncoding('utf8');
    req.on('error', () => {});
    req.on('data', (chunk: string) => (body += chunk));
    req.on('end', () => {
      const one = { method: req.method!, path: req.url!, headers: req.headers, body, rpc: parse(body), over };
      seen.push(one);
      changed();
      test.handle(one, res);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      changed();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const test: TestServer = {
    origin,
    url: `${origin}/mcp`,
    seen,
    sockets,
    handle,
    arrived: async (match, count = 1) => {
      await until(() => seen.filter(match).length >= count);
      return seen.filter(match).slice(0, count);
    },
    idle: () => until(() => sockets.size === 0),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
  return test;
}

function parse(body: string): Seen['rpc'] {
  try {
    return JSON.parse(body) as Seen['rpc'];
  } catch {
    return {};
  }
}

/** The parts of a correct server that a test replaces. */
export interface McpParts {
  readonly sessionId?: string | undefined;
  /** GET; default 405. */
  readonly listen?: Handler;
  /** Requests other than `initialize`; default: the name of the method as the result. */
  readonly request?: Handler;
  /** Notifications and answers; default 202. */
  readonly accept?: Handler;
  readonly remove?: Handler;
  readonly initialize?: Handler;
}

export function mcp(parts: McpParts = {}): Handler {
  const session: Record<string, string> =
    parts.sessionId === undefined ? {} : { 'mcp-session-id': parts.sessionId };
  return (seen, res) => {
    if (seen.method === 'GET') return (parts.listen ?? refuse(405))(seen, res);
    if (seen.method === 'DELETE') return (parts.remove ?? refuse(200))(seen, res);
    if (seen.rpc.id === undefined || seen.rpc.method === undefined) {
      return (parts.accept ?? refuse(202))(seen, res);
    }
    if (seen.rpc.method !== 'initialize') return (parts.request ?? echo)(seen, res);
    if (parts.initialize !== undefined) return parts.initialize(seen, res);
    return answer(res, seen, INITIALIZED, session);
  };
}

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'test', version: '1' },
};

/** A reply with this status and body. */
export function refuse(status: number, body = '', headers: http.OutgoingHttpHeaders = {}): Handler {
  return (_seen, res) => void res.writeHead(status, headers).end(body);
}

export function echo(seen: Seen, res: http.ServerResponse): void {
  answer(res, seen, { method: seen.rpc.method });
}

/** A JSON answer. */
export function answer(
  res: http.ServerResponse,
  { rpc }: Seen,
  result: object,
  headers: http.OutgoingHttpHeaders = {},
): void {
  res.writeHead(200, { 'content-type': 'application/json', ...headers });
  res.end(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result }));
}

export function openStream(res: http.ServerResponse): http.ServerResponse {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.flushHeaders();
  return res;
}

export function event(message: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

export function result(id: number | string | undefined, value: object): object {
  return { jsonrpc: '2.0', id, result: value };
}

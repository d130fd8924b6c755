/**
 * A scripted server that listens on an address of this machine: streamable HTTP at `/mcp`, with sessions in the old era and
 * without in the new one, and the older HTTP+SSE transport at `/sse`.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject } from '../../json/json-object.js';
import type { JSONRPCMessage } from '../../mcp/messages.js';
import { requireKnown } from '../../text/option-names.js';
import { checkOrder } from '../check-script.js';
import { isStateless } from '../ordinary-answers.js';
import { createScriptedServer, type ScriptedServer } from '../scripted-server.js';
import type { Params, ScriptedOrder, ServerScript } from '../server-script.js';
import { HttpBody } from './http-body.js';

/** Options of `controlHttpServer`. */
export interface HttpServerOptions {
  /** Port to listen on. Default 0: any free one. */
  readonly port?: number;
}

/**
 * A scripted server at an address, which takes orders from the test. Made by `controlHttpServer`.
 *
 * @example
 * ```ts
 * import { controlHttpServer } from 'mcp-troupe/testing';
 *
 * const remote = await controlHttpServer();
 * await remote.send({ script: { on: { 'tools/call': { http: { status: 503 } } } } });
 * await remote.close();
 * ```
 */
export interface ControlledHttpServer {
  /** Entry for `createTroupe`. */
  readonly config: {
    /** Streamable HTTP. */
    readonly type: 'http';
    /** Address of the server, such as `http://127.0.0.1:49152/mcp`. */
    readonly url: string;
  };
  /** Entry for `createTroupe` that uses the older transport, HTTP+SSE (MCP 2024-11-05). */
  readonly sse: {
    /** HTTP+SSE. */
    readonly type: 'sse';
    /** Address of the server. */
    readonly url: string;
  };
  /** The server itself: what it has received, and all that a server in this process can do. */
  readonly server: ScriptedServer;
  /**
   * Sends an order. Resolves once the server has followed it.
   *
   * @param order What the server does now. An empty order does nothing.
   *
   * @throws `TypeError` for an order that makes no sense.
   * @throws `Error` if the server should listen again and its port is in use by now.
   */
  send(order: ScriptedOrder): Promise<void>;
  /** Ends all sessions and connections, and stops listening. */
  close(): Promise<void>;
}

/**
 * Starts a scripted server in this process that listens on 127.0.0.1. It follows the same scripts and orders as
 * `createScriptedServer` and `controlProgram`; `http` in an answer replaces the HTTP reply.
 *
 * @param script What it offers and how it answers. Default: a well-behaved server with one tool, `echo`.
 * @param options The port. Default: any free one.
 *
 * @throws `TypeError` if the script makes no sense, or for an unknown option.
 * @throws `Error` if the port is in use.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { controlHttpServer } from 'mcp-troupe/testing';
 *
 * const docs = await controlHttpServer({ on: { initialize: [{ http: { status: 503 } }, {}] } });
 * const troupe = createTroupe({ servers: { docs: docs.config } });
 * await troupe.start();
 * await docs.send({ fault: 'crash' }); // it knows none of its sessions any more
 * await troupe.close();
 * await docs.close();
 * ```
 */
export async function controlHttpServer(
  script: ServerScript = {},
  options: HttpServerOptions = {},
): Promise<ControlledHttpServer> {
  requireKnown('controlHttpServer', options, { port: true });
  const front = new HttpFront(createScriptedServer(script));
  await front.listen(options.port ?? 0);
  const origin = `http://127.0.0.1:${front.port}`;
  return {
    config: { type: 'http', url: `${origin}/mcp` },
    sse: { type: 'sse', url: `${origin}/sse` },
    server: front.scripted,
    send: (order) => front.obey(order),
    close: () => front.close(),
  };
}

class HttpFront {
  readonly scripted: ScriptedServer;
  port = 0;
  readonly #http: Server;
  readonly #sessions = new Map<string, HttpBody>();
  /** Requests of the new era belong to no session. Clients count by themselves, so equal ids need several bodies. */
  readonly #stateless: HttpBody[] = [];

  constructor(scripted: ScriptedServer) {
    this.scripted = scripted;
    this.#http = createServer((request, response) => {
      response.on('error', () => {});
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  async listen(port: number): Promise<void> {
    try {
      this.#http.listen(port, '127.0.0.1');
      await once(this.#http, 'listening');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
      throw new Error(`Port ${port} is in use: choose another one, or 0 for any free one.`, { cause });
    }
    this.port = (this.#http.address() as AddressInfo).port;
  }

  async obey(order: ScriptedOrder): Promise<void> {
    checkOrder(order);
    const { listening, ...rest } = order;
    this.scripted.obey(rest);
    if (listening === true && !this.#http.listening) await this.listen(this.port);
    if (listening === false) await this.#refuse();
  }

  async close(): Promise<void> {
    await this.scripted.die();
    await this.#refuse();
  }

  async #refuse(): Promise<void> {
    if (!this.#http.listening) return;
    const isClosed = once(this.#http, 'close');
    this.#http.close();
    this.#http.closeAllConnections();
    await isClosed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    const text = Buffer.concat(await request.toArray()).toString();
    const isOlder = pathname === '/sse' || pathname === '/messages';
    if (pathname !== '/mcp' && !isOlder) return refuse(response, 404);
    const session = request.headers['mcp-session-id'] ?? searchParams.get('session') ?? undefined;
    const body = this.#sessions.get(String(session));
    if (request.method === 'POST') return this.#post(text, session, body, response);
    if (request.method === 'GET' && isOlder) return this.#openOlder(response);
    const method = request.method === 'GET' || request.method === 'DELETE' ? request.method : undefined;
    if (method === undefined) return refuse(response, 405);
    if (body === undefined) return refuse(response, session === undefined ? 400 : 404);
    const isOrdinary = await this.#asked(body, method, response);
    if (!isOrdinary || body.isOver) return;
    if (method === 'GET') return body.listen(response);
    refuse(response, 200);
    await body.close();
  }

  async #post(
    text: string,
    session: unknown,
    known: HttpBody | undefined,
    response: ServerResponse,
  ): Promise<void> {
    const message = parsed(text);
    if (message === undefined) return refuse(response, 400, { code: -32_700, message: 'Parse error' });
    const { id, method, params = {} } = message as { id?: string | number; method?: string; params?: Params };
    const { era = 'old' } = this.scripted.script;
    const isNew = era === 'new' || (era === 'both' && isStateless(params));
    const body = isNew
      ? await this.#withoutSession(id)
      : method === 'initialize'
        ? await this.#begun(new HttpBody('response'))
        : known;
    if (body === undefined && session !== undefined) return refuse(response, 404);
    if (body === undefined)
      return refuse(response, 400, { code: -32_000, message: 'Bad Request: Server not initialized' });
    if (body.isOver) return void response.destroy();
    body.take(message, response);
  }

  /** The stream of the older transport, whose first event names the address to post to. */
  async #openOlder(response: ServerResponse): Promise<void> {
    const body = new HttpBody('stream');
    const isOrdinary = await this.#asked(body, 'GET', response);
    if (!isOrdinary) return;
    await this.#begun(body);
    if (body.isOver) return void response.destroy();
    body.listen(response);
    response.write(`event: endpoint\ndata: /messages?session=${body.headers['mcp-session-id']}\n\n`);
  }

  /** Asks the script about a request of HTTP itself. Resolves to whether it is served as usual. */
  async #asked(session: HttpBody, method: 'GET' | 'DELETE', response: ServerResponse): Promise<boolean> {
    const exchange = new HttpBody('response');
    exchange.hold(method, response);
    const isOrdinary = await this.scripted.heed(method, exchange, session);
    if (exchange.hasCrashed) await session.close();
    return isOrdinary && !response.destroyed;
  }

  async #begun(body: HttpBody): Promise<HttpBody> {
    const session = randomUUID();
    body.headers = { 'mcp-session-id': session };
    this.#sessions.set(session, body);
    await this.scripted.connect(body);
    const { onclose } = body;
    body.onclose = () => {
      this.#sessions.delete(session);
      onclose?.();
    };
    if (body.isOver) this.#sessions.delete(session);
    return body;
  }

  async #withoutSession(id: string | number | undefined): Promise<HttpBody> {
    const free = this.#stateless.find((body) => !body.isOver && (id === undefined || !body.isWaiting(id)));
    if (free !== undefined) return free;
    const body = new HttpBody('response');
    this.#stateless.push(body);
    await this.scripted.connect(body);
    return body;
  }
}

function parsed(text: string): JSONRPCMessage | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return isJsonObject(message) ? (message as unknown as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}

function refuse(response: ServerResponse, status: number, error?: object): void {
  const isJson = error !== undefined;
  response.writeHead(status, isJson ? { 'content-type': 'application/json' } : {});
  response.end(isJson ? JSON.stringify({ jsonrpc: '2.0', id: null, error }) : '');
}

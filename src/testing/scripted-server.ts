/**
 * An MCP server that follows a script, faults included: in this process as the `server` of an in-process entry, or as a
 * child process (`scriptedProgram`).
 *
 * One object serves every session of a connection. Its answers can be changed at any time; the messages it has received are
 * kept in order. It implements JSON-RPC itself, so that it can also misbehave. Longer than 300 lines because it documents
 * every public method.
 */
import type { Transport } from '../mcp/transport.js';
import type { JSONRPCMessage, RequestId } from '../mcp/messages.js';
import { systemClock, type Clock } from '../ports.js';
import { INTERNAL_ERROR } from '../protocol/protocol-client.js';
import { META_PREFIX } from '../protocol/server-identity.js';
import { messageOf } from '../text/error-message.js';
import { requireKnown } from '../text/option-names.js';
import { Timers } from '../async/timers.js';
import { checkOrder, checkScript } from './check-script.js';
import { ClientRequests } from './scripted-client-requests.js';
import { inNewEra, isStateless, ordinaryAnswer, text } from './ordinary-answers.js';
import { ScriptedTasks } from './scripted-tasks.js';
import type {
  Answer,
  Exchange,
  Handler,
  HttpReply,
  Params,
  Received,
  ScriptedOrder,
  ServerScript,
} from './server-script.js';

/** Not an answer. */
export const SILENCE = Symbol('no answer');

/** For a method that is never answered. */
export const silent: Handler = () => SILENCE;

/** A JSON-RPC error as an answer. */
export class RpcFault extends Error {
  /** @param message Text of the error. */
  constructor(
    /** JSON-RPC error code, such as -32602. */
    readonly code: number,
    message: string,
    /** Further data of the error; undefined if there is none. */
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/**
 * A handler that answers with a JSON-RPC error.
 *
 * @param code JSON-RPC error code, such as -32602.
 * @param message Text of the error. Default `refused`.
 * @param data Further data of the error. Default: none.
 *
 * @example
 * ```ts
 * import { createScriptedServer, refuse } from 'mcp-troupe/testing';
 *
 * const server = createScriptedServer({ on: { 'resources/list': refuse(-32601, 'Method not found') } });
 * ```
 */
export function refuse(code: number, message = 'refused', data?: unknown): Handler {
  return () => {
    throw new RpcFault(code, message, data);
  };
}

/** What carries a scripted server: any transport of the SDK. Faults that need more than messages are its own to offer. */
export interface ScriptedBody extends Transport {
  /**
   * Ends the process with that exit code. Default: the transport is closed.
   *
   * @param exitCode Exit code of the process, from 0 to 255.
   */
  crash?(exitCode: number): void;
  /**
   * Sends bytes that are not a message. Default: an invalid message.
   *
   * @param garbage The bytes, as a text in UTF-8.
   */
  writeGarbage?(garbage: string): void;
  /**
   * Writes a line to stderr. Default: the line is lost.
   *
   * @param line The line without its line feed.
   */
  writeStderr?(line: string): void;
  /**
   * Replies to the HTTP request that carried a request. Default: the request is answered as usual.
   *
   * @param id JSON-RPC id of the request.
   * @param reply The reply.
   */
  reply?(id: RequestId, reply: HttpReply): void;
  /** Ends the streams that carry no answer. Default: there are none. */
  endStreams?(): void;
}

interface Session {
  readonly number: number;
  readonly body: ScriptedBody;
  /** The waits of the session. At its end they are cleared: they never settle, and hold nothing. */
  readonly timers: Timers;
  readonly asks: ClientRequests;
  /** The streams of changes that are open, by the id of their request. */
  readonly listens: Map<RequestId, Params>;
}

/**
 * An in-memory MCP server that follows a script and may misbehave. Made by `createScriptedServer`.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { createScriptedServer, tool } from 'mcp-troupe/testing';
 *
 * const server = createScriptedServer({ tools: [tool('read')] });
 * await using troupe = createTroupe({ servers: { files: { type: 'in-process', server } } });
 * await troupe.start();
 * server.changeTools([tool('read'), tool('write')]);
 * await server.whenReceived('tools/list', 2);
 * await server.die();
 * ```
 */
export class ScriptedServer {
  /** Every request and notification, in order of arrival. */
  readonly received: Received[] = [];
  /** Every answer to a request of this server, in order of arrival. */
  readonly answers: JSONRPCMessage[] = [];
  #script: ServerScript;
  readonly #clock: Clock;
  /** How many answers of each list were given. */
  readonly #counts = new WeakMap<readonly unknown[], number>();
  readonly #tasks = new ScriptedTasks();
  #sessions = 0;
  /** The open sessions, the latest one last: several entries and a successor may share the server. */
  readonly #open = new Set<Session>();
  readonly #waiting = new Set<() => void>();

  /**
   * @param script What it offers and how it answers. Default: a well-behaved server with one tool, `echo`.
   * @param clock Measures `afterMs` of the script. Default: the system clock.
   *
   * @throws `TypeError` for an invalid script.
   */
  constructor(script: ServerScript = {}, clock: Clock = systemClock) {
    checkScript(script);
    this.#script = script;
    this.#clock = clock;
  }

  /** The present script. Set it to change what the server does from then on. */
  get script(): ServerScript {
    return this.#script;
  }

  /** @param script Takes effect with the next message. */
  set script(script: ServerScript) {
    checkScript(script);
    this.#script = script;
  }

  /** Number of sessions begun so far. */
  get sessions(): number {
    return this.#sessions;
  }

  /** Whether a session is open. */
  get isConnected(): boolean {
    return this.#open.size > 0;
  }

  /**
   * Begins a session. Rejects if the script says so.
   *
   * @param transport The server's end of a transport that has not been started.
   */
  async connect(transport: Transport): Promise<void> {
    const body: ScriptedBody = transport;
    this.#sessions += 1;
    const timers = new Timers(this.#clock);
    const asks = new ClientRequests((message) => void body.send(message).catch(() => {}));
    const session: Session = { number: this.#sessions, body, timers, asks, listens: new Map() };
    let isOver = false;
    transport.onmessage = (message) => this.#receive(session, message);
    transport.onclose = () => {
      isOver = true;
      timers.clearAll();
      asks.giveUp();
      this.#open.delete(session);
      this.#wake();
    };
    await this.script.beforeConnect?.(session.number);
    if (isOver) throw new Error('The session ended before the server accepted it.');
    this.#open.add(session);
    const { start } = this.script;
    if (start !== undefined) await this.#faultsOf(session, start);
    if (start?.fault === 'crash') return;
    if (start?.fault === 'silent') transport.onmessage = () => {};
    await transport.start();
  }

  /** Ends every open session from the server's side, as a crash would. */
  async die(): Promise<void> {
    await Promise.all([...this.#open].map(({ body }) => body.close()));
  }

  /**
   * Replaces the tools and sends `notifications/tools/list_changed`.
   *
   * @param tools All tools from now on; `pages` of the script is dropped.
   */
  changeTools(tools: NonNullable<ServerScript['tools']>): void {
    const { pages: _, ...script } = this.script;
    this.script = { ...script, tools };
    this.#announce('notifications/tools/list_changed', 'toolsListChanged');
  }

  /** To the streams that asked for it; without any, as servers of the old era do, unless it is of the new one. */
  #announce(method: string, kind: string): void {
    for (const { body, listens } of this.#open) {
      const asked = [...listens].filter(([, filter]) => filter[kind] === true);
      for (const [id] of asked) sendTo(body, notification(method, stampedWith(id)));
      if (asked.length === 0 && this.script.era !== 'new') sendTo(body, notification(method));
    }
  }

  /**
   * Sends a notification to every open session. Does nothing if there is none.
   *
   * @param method Method of the notification, for instance `notifications/progress`.
   * @param params Params of the notification. Default: `{}`.
   */
  notify(method: string, params: Params = {}): void {
    this.send(notification(method, params));
  }

  /**
   * Sends any message, valid or not, to every open session. Does nothing if there is none.
   *
   * @param message The message, sent as it is.
   */
  send(message: unknown): void {
    for (const { body } of this.#open) sendTo(body, message);
  }

  /**
   * Follows an order, as a program and an HTTP server do.
   *
   * @param order What every open session does now. An empty order does nothing.
   *
   * @throws `TypeError` for an order that makes no sense, or that only an HTTP server can follow.
   *
   * @example
   * ```ts
   * import { createScriptedServer } from 'mcp-troupe/testing';
   *
   * const server = createScriptedServer();
   * server.obey({ garbage: 'Listening on port 3000', fault: 'crash' });
   * ```
   */
  obey(order: ScriptedOrder): void {
    checkOrder(order);
    const { script, tools, send, endStreams, listening, stderr, garbage, fault, exitCode = 1 } = order;
    if (listening !== undefined)
      throw new TypeError("The order is invalid: 'listening': only an HTTP server listens.");
    if (script !== undefined) this.script = script;
    if (tools !== undefined) this.changeTools(tools);
    if (send !== undefined) this.send(send);
    for (const session of this.#open) {
      if (endStreams === true) endStreamsOf(session);
      if (stderr !== undefined) session.body.writeStderr?.(stderr);
      if (garbage !== undefined) writeGarbage(session.body, garbage);
      if (fault === 'crash') void crash(session.body, exitCode);
    }
  }

  /**
   * Sends a request to the client of the latest session and gives its result.
   *
   * @param method Method of the request, for instance `roots/list`.
   * @param params Params of the request. Default: `{}`.
   *
   * @throws `Error` if no session is open, if the client answers with an error, or if the session ends before
   * the answer.
   *
   * @example
   * ```ts
   * import { createScriptedServer } from 'mcp-troupe/testing';
   *
   * const server = createScriptedServer();
   * const roots = await server.ask('roots/list');
   * ```
   */
  async ask(method: string, params: Params = {}): Promise<unknown> {
    const latest = [...this.#open].at(-1);
    if (latest === undefined) throw new Error('No session is open.');
    return latest.asks.ask(method, params);
  }

  /**
   * Messages received with that method, in order of arrival.
   *
   * @param method Method of the requests or notifications, for instance `tools/call`.
   */
  of(method: string): Received[] {
    return this.received.filter((message) => message.method === method);
  }

  /**
   * Resolves with message number `count` of a method, once it has arrived.
   *
   * @param method Method of the request or notification, for instance `tools/call`.
   * @param count Which message of that method to wait for, counted from 1. Default 1.
   */
  async whenReceived(method: string, count = 1): Promise<Received> {
    await this.when(() => this.of(method).length >= count);
    return this.of(method)[count - 1] as Received;
  }

  /**
   * Resolves once the condition is true. It is checked when a message arrives and when a session ends.
   *
   * @param isSo The condition. It must not change anything.
   */
  async when(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /**
   * Does what the script says about a request of HTTP itself. Resolves to whether it is served as usual.
   *
   * @param method Method of the request.
   * @param exchange Carries the reply, under the method as its id.
   * @param session Carries the session of the request.
   *
   * @internal
   */
  async heed(method: 'GET' | 'DELETE', exchange: ScriptedBody, session: ScriptedBody): Promise<boolean> {
    const { number = this.#sessions + 1 } = [...this.#open].find(({ body }) => body === session) ?? {};
    this.received.push({ session: number, method, params: {}, id: undefined });
    this.#wake();
    const answer = this.#scripted(method);
    if (answer === undefined || typeof answer === 'function') return true;
    const timers = new Timers(this.#clock);
    exchange.onclose = () => timers.clearAll();
    if (await this.#faultsOf({ body: exchange, timers }, answer)) return false;
    if (answer.http === undefined) return true;
    exchange.reply?.(method, answer.http);
    return false;
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #receive(session: Session, message: JSONRPCMessage): void {
    if ('method' in message) {
      const { method, params = {} } = message;
      const id = 'id' in message ? message.id : undefined;
      this.received.push({ session: session.number, method, params, id });
      if (id !== undefined) void this.#answer(session, id, method, params);
    } else {
      this.answers.push(message);
      session.asks.settle(message);
    }
    if ('method' in message && message.method === 'notifications/cancelled') {
      session.listens.delete(message.params?.['requestId'] as RequestId);
    }
    this.#wake();
  }

  async #answer(session: Session, id: RequestId, method: string, params: Params): Promise<void> {
    const exchange = exchangeOf(session, id, params);
    const reply = (body: Params): Promise<void> =>
      session.body.send({ jsonrpc: '2.0', id, ...body } as unknown as JSONRPCMessage).catch(() => {});
    try {
      const result = await this.#resultOf(session, method, params, exchange);
      if (result === undefined) throw new Error(`The handler of '${method}' returned no result.`);
      if (result !== SILENCE)
        await reply({ result: isStateless(params) ? inNewEra(method, result) : result });
    } catch (error) {
      await reply({ error: errorOf(error) });
    }
  }

  async #resultOf(session: Session, method: string, params: Params, exchange: Exchange): Promise<unknown> {
    // The tools when the request came: an answer may change them.
    const { script } = this;
    const scripted = this.#scripted(method);
    if (scripted === undefined && method === 'subscriptions/listen' && isStateless(params)) {
      return this.#listen(session, exchange.id, params);
    }
    if (typeof scripted === 'function') return scripted(params, exchange);
    if (scripted === undefined && method.startsWith('tasks/')) return this.#tasks.answer(method, params);
    const ordinary = (): unknown => ordinaryAnswer(script, method, params);
    if (scripted === undefined) return ordinary();
    const result = await this.#follow(session, scripted, ordinary, exchange);
    if (scripted.task === undefined || result === SILENCE) return result;
    return this.#tasks.begin(scripted.task, params, result) ?? result;
  }

  /** Acknowledges the request and keeps it open. */
  #listen({ body, listens }: Session, id: RequestId, { notifications = {} }: Params): typeof SILENCE {
    listens.set(id, notifications as Params);
    const method = 'notifications/subscriptions/acknowledged';
    const message = { jsonrpc: '2.0', method, params: { notifications, ...stampedWith(id) } };
    void body.send(message as unknown as JSONRPCMessage).catch(() => {});
    return SILENCE;
  }

  /** The scripted answer: the next one of a list, or its last one. */
  #scripted(method: string): Handler | Answer | undefined {
    const entry = this.script.on?.[method];
    if (!isList(entry)) return entry;
    const count = this.#counts.get(entry) ?? 0;
    this.#counts.set(entry, count + 1);
    return entry[Math.min(count, entry.length - 1)];
  }

  async #follow(
    session: Session,
    answer: Answer,
    ordinary: () => unknown,
    exchange: Exchange,
  ): Promise<unknown> {
    for (let step = 1; step <= (answer.progress ?? 0); step += 1) exchange.progress(step, answer.progress);
    const isOver = await this.#faultsOf(session, answer);
    if (isOver) return SILENCE;
    if (answer.tools !== undefined) this.changeTools(answer.tools);
    if (answer.http !== undefined && session.body.reply !== undefined) {
      session.body.reply(exchange.id, answer.http);
      return SILENCE;
    }
    const reply = answer.ask && (await session.asks.ask(answer.ask.method, answer.ask.params ?? {}));
    if (answer.error !== undefined) {
      throw new RpcFault(answer.error.code, answer.error.message, answer.error.data);
    }
    if (answer.result !== undefined) return answer.result;
    return answer.ask === undefined ? ordinary() : text(JSON.stringify(reply));
  }

  /** Performs the faults. Resolves to whether no answer follows. */
  async #faultsOf(
    session: Pick<Session, 'body' | 'timers'>,
    { afterMs = 0, stderr, garbage, fault, exitCode = 1 }: Answer,
  ): Promise<boolean> {
    if (afterMs > 0) await new Promise<void>((resolve) => session.timers.setTimeout(resolve, afterMs));
    if (stderr !== undefined) session.body.writeStderr?.(stderr);
    if (garbage !== undefined) writeGarbage(session.body, garbage);
    if (fault === 'crash') await crash(session.body, exitCode);
    return fault === 'crash' || fault === 'silent';
  }
}

/** The answer to the request that opened a stream ends it (MCP 2026-07-28, "Subscriptions"). */
function endStreamsOf({ body, listens }: Session): void {
  for (const id of listens.keys())
    sendTo(body, { jsonrpc: '2.0', id, result: inNewEra('', stampedWith(id)) });
  listens.clear();
  body.endStreams?.();
}

function notification(method: string, params: Params = {}): object {
  return { jsonrpc: '2.0', method, params };
}

function sendTo(body: ScriptedBody, message: unknown): void {
  void body.send(message as JSONRPCMessage).catch(() => {});
}

/** The params of a message on the stream that this request opened. */
function stampedWith(id: RequestId): { _meta: Params } {
  return { _meta: { [`${META_PREFIX}subscriptionId`]: id } };
}

function isList<T extends object>(entry: T | readonly T[] | undefined): entry is readonly T[] {
  return Array.isArray(entry);
}

/** The JSON-RPC error for anything that a handler throws. The codes of Node's errors are words, which JSON-RPC does not allow. */
function errorOf(thrown: unknown): Params {
  const { code, message = messageOf(thrown), data } = Object(thrown) as Partial<RpcFault>;
  return {
    code: Number.isInteger(code) ? code : INTERNAL_ERROR,
    message,
    ...(data === undefined ? {} : { data }),
  };
}

function exchangeOf({ number, body }: Session, id: RequestId, params: Params): Exchange {
  const progressToken = (params['_meta'] as Params | undefined)?.['progressToken'];
  return {
    id,
    session: number,
    progress: (progress, total) => {
      if (progressToken === undefined) return;
      const params = { progressToken, progress, ...(total === undefined ? {} : { total }) };
      const message = { jsonrpc: '2.0', method: 'notifications/progress', params };
      void body.send(message as unknown as JSONRPCMessage).catch(() => {});
    },
  };
}

function writeGarbage(body: ScriptedBody, garbage: string): void {
  if (body.writeGarbage !== undefined) body.writeGarbage(garbage);
  else void body.send({ garbage } as unknown as JSONRPCMessage).catch(() => {});
}

async function crash(body: ScriptedBody, exitCode: number): Promise<void> {
  if (body.crash !== undefined) body.crash(exitCode);
  else await body.close();
}

/** Options of `createScriptedServer`. */
export interface ScriptedServerOptions {
  /** Clock that measures `afterMs`. Default: the system's. */
  readonly clock?: Clock;
}

/**
 * Makes an in-memory server that follows a script. The script may be replaced at any time.
 *
 * @param script What it offers and how it answers. Default: a well-behaved server with one
 *   tool, `echo`.
 * @param options Clock for the waits. Default: the system clock.
 *
 * @throws `TypeError` for a script that makes no sense, or an unknown option.
 *
 * @example
 * ```ts
 * import { createTroupe } from 'mcp-troupe';
 * import { createScriptedServer, text, tool } from 'mcp-troupe/testing';
 *
 * const server = createScriptedServer({
 *   tools: [tool('read')],
 *   on: { 'tools/call': [{ error: { code: -32603, message: 'busy' } }, { result: text('done') }] },
 * });
 * await using troupe = createTroupe({ servers: { files: { type: 'in-process', server } } });
 * ```
 */
export function createScriptedServer(
  script: ServerScript = {},
  options: ScriptedServerOptions = {},
): ScriptedServer {
  requireKnown('createScriptedServer', options, { clock: true });
  return new ScriptedServer(script, options.clock);
}

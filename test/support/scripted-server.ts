/**
 * An MCP server of this process that does what a test says: the `server` of an in-process entry.
 *
 * One object serves every session of a connection. What it answers can be changed at any time; what it has received
 * is kept in order. It speaks JSON-RPC by itself, so that it can also misbehave.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId, Tool } from '@modelcontextprotocol/sdk/types.js';

type Params = Readonly<Record<string, unknown>>;

/** What a handler may do beside answering. */
export interface Exchange {
  readonly id: RequestId;
  /** Number of the session, from 1. */
  readonly session: number;
  progress(progress: number, total?: number): void;
}

/** Gives the result, or throws an `RpcFault`. Returning `SILENCE` leaves the request without an answer. */
export type Handler = (params: Params, exchange: Exchange) => unknown;

/** Not an answer. */
export const SILENCE = Symbol('no answer');

/** For a method that is never answered. */
export const silent: Handler = () => SILENCE;

/** A JSON-RPC error as an answer. */
export class RpcFault extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** For a method that is answered with an error. */
export function refuse(code: number, message = 'refused', data?: unknown): Handler {
  return () => {
    throw new RpcFault(code, message, data);
  };
}

export interface Script {
  readonly tools?: readonly Tool[];
  /** The tools in pages; the cursor is the number of the next page. Instead of `tools`. */
  readonly pages?: readonly (readonly Tool[])[];
  /** Answered in `initialize`. Default: the version that was asked for. */
  readonly protocolVersion?: string;
  readonly capabilities?: Params;
  /** Handlers by method, instead of the ordinary ones. */
  readonly on?: Readonly<Record<string, Handler>>;
  /** Runs before a session is accepted; may wait or throw. */
  readonly beforeConnect?: (session: number) => Promise<void> | void;
}

export interface Received {
  readonly session: number;
  readonly method: string;
  readonly params: Params;
  readonly id: RequestId | undefined;
}

export function tool(name: string, more: Partial<Tool> = {}): Tool {
  return { name, description: `does ${name}`, inputSchema: { type: 'object' }, ...more };
}

export function text(value: string): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: value }] };
}

export class ScriptedServer {
  /** Every request and notification, in the order of arrival. */
  readonly received: Received[] = [];
  /** Every answer to a request of this server, in the order of arrival. */
  readonly answers: JSONRPCMessage[] = [];
  script: Script;
  #sessions = 0;
  #transport: Transport | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(script: Script = {}) {
    this.script = script;
  }

  /** How often a session was begun. */
  get sessions(): number {
    return this.#sessions;
  }

  /** Whether a session is open now. */
  get isConnected(): boolean {
    return this.#transport !== undefined;
  }

  async connect(transport: Transport): Promise<void> {
    this.#sessions += 1;
    const session = this.#sessions;
    await this.script.beforeConnect?.(session);
    this.#transport = transport;
    transport.onmessage = (message) => this.#hear(transport, session, message);
    transport.onclose = () => {
      if (this.#transport === transport) this.#transport = undefined;
      this.#wake();
    };
    await transport.start();
  }

  /** Ends the present session from this side, as a crash would. */
  async die(): Promise<void> {
    await this.#transport?.close();
  }

  notify(method: string, params: Params = {}): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  /** Sends any message, right or wrong. */
  send(message: unknown): void {
    void this.#transport?.send(message as JSONRPCMessage).catch(() => {});
  }

  /** What was received of one method. */
  of(method: string): Received[] {
    return this.received.filter((message) => message.method === method);
  }

  /** Resolves when that many messages of a method have arrived. */
  async whenReceived(method: string, count = 1): Promise<Received> {
    await this.when(() => this.of(method).length >= count);
    return this.of(method)[count - 1] as Received;
  }

  /** Resolves when it is so; looked at whenever something arrives or a session ends. */
  async when(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #hear(transport: Transport, session: number, message: JSONRPCMessage): void {
    if ('method' in message) {
      const { method, params = {} } = message;
      const id = 'id' in message ? message.id : undefined;
      this.received.push({ session, method, params, id });
      if (id !== undefined) void this.#answer(transport, { session, method, params, id });
    } else {
      this.answers.push(message);
    }
    this.#wake();
  }

  async #answer(transport: Transport, { session, method, params, id }: Received): Promise<void> {
    if (id === undefined) return;
    const exchange: Exchange = {
      id,
      session,
      progress: (progress, total) =>
        this.notify('notifications/progress', {
          progressToken: (params['_meta'] as Params | undefined)?.['progressToken'],
          progress,
          ...(total === undefined ? {} : { total }),
        }),
    };
    const reply = (body: Params): Promise<void> =>
      transport.send({ jsonrpc: '2.0', id, ...body } as unknown as JSONRPCMessage).catch(() => {});
    try {
      const result = await (this.script.on?.[method] ?? this.#ordinary(method))(params, exchange);
      if (result !== SILENCE) await reply({ result });
    } catch (error) {
      const { code, message, data } = error as RpcFault;
      await reply({ error: { code, message, ...(data === undefined ? {} : { data }) } });
    }
  }

  #ordinary(method: string): Handler {
    const { protocolVersion, capabilities = { tools: { listChanged: true } } } = this.script;
    switch (method) {
      case 'initialize':
        return (params) => ({
          protocolVersion: protocolVersion ?? params['protocolVersion'],
          capabilities,
          serverInfo: { name: 'scripted', version: '1.2.3' },
          instructions: 'Be kind.',
        });
      case 'tools/list':
        return ({ cursor }) => this.#page(cursor === undefined ? 0 : Number(cursor));
      case 'tools/call':
        return ({ name, arguments: args }) => text(`${String(name)} ${JSON.stringify(args)}`);
      case 'ping':
        return () => ({});
      default:
        return refuse(-32601, 'Method not found');
    }
  }

  #page(index: number): Params {
    const pages = this.script.pages ?? [this.script.tools ?? [tool('echo')]];
    const isLast = index >= pages.length - 1;
    return { tools: pages[index] ?? [], ...(isLast ? {} : { nextCursor: String(index + 1) }) };
  }
}

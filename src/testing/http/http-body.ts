/**
 * Carries one session of a scripted server over HTTP: which response belongs to which request, and which stream takes the
 * server's own messages.
 */
import type { ServerResponse } from 'node:http';
import { isJsonObject } from '../../json/json-object.js';
import type { JSONRPCMessage, RequestId } from '../../mcp/messages.js';
import type { Transport } from '../../mcp/transport.js';
import { META_PREFIX } from '../../protocol/server-identity.js';
import type { ScriptedBody } from '../scripted-server.js';
import type { HttpReply } from '../server-script.js';

/** How the answers travel: in the response to their request, or all on one stream, as MCP 2024-11-05 has it. */
export type Carriage = 'response' | 'stream';

export class HttpBody implements ScriptedBody {
  onclose?: () => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  /** Headers of the answers in responses of their own. */
  headers: Readonly<Record<string, string>> = {};
  hasCrashed = false;
  readonly #carriage: Carriage;
  /** The response to each request that is not answered, in order of arrival. */
  readonly #waiting = new Map<RequestId, ServerResponse>();
  #stream: ServerResponse | undefined;
  #isOver = false;

  constructor(carriage: Carriage) {
    this.#carriage = carriage;
  }

  async start(): Promise<void> {}

  get isOver(): boolean {
    return this.#isOver;
  }

  isWaiting(id: RequestId): boolean {
    return this.#waiting.has(id);
  }

  /** Takes a message of the client. The response to a request waits for its answer. */
  take(message: JSONRPCMessage, response: ServerResponse): void {
    if (!('method' in message) || !('id' in message)) {
      response.writeHead(202).end();
    } else this.hold(message.id, response);
    this.onmessage?.(message);
  }

  /** The response waits for an answer with this id, or for the end of its request. */
  hold(id: RequestId, response: ServerResponse): void {
    this.#waiting.set(id, response);
    response.on('close', () => {
      if (this.#waiting.get(id) === response) this.#waiting.delete(id);
      if (this.onmessage === undefined) this.onclose?.();
    });
  }

  /** Opens the stream of the server's own messages. A former one ends. */
  listen(response: ServerResponse): void {
    this.#stream?.end();
    this.#stream = response;
    response.on('close', () => {
      if (this.#stream === response) this.#stream = undefined;
      if (this.#carriage === 'stream') void this.close();
    });
    openStream(response, this.headers);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message || !('id' in message)) return this.#sendOwn(message);
    const response = this.#release(message.id as RequestId);
    if (this.#carriage === 'stream') {
      writeEvent(this.#stream, JSON.stringify(message));
      response?.writeHead(202).end();
    } else if (response?.headersSent === true) {
      writeEvent(response, JSON.stringify(message));
      response.end();
    } else {
      response?.writeHead(200, { 'content-type': 'application/json', ...this.headers });
      response?.end(JSON.stringify(message));
    }
  }

  reply(id: RequestId, { status = 200, headers = {}, body = '', broken = false }: HttpReply): void {
    const response = this.#release(id);
    if (response === undefined) return;
    if (!response.headersSent) response.writeHead(status, headers);
    if (!broken) return void response.end(body);
    response.write(body, () => response.destroy());
    if (body === '') response.destroy();
  }

  writeGarbage(garbage: string): void {
    this.#write(this.#latest() ?? this.#stream, garbage);
  }

  endStreams(): void {
    this.#stream?.end();
  }

  crash(): void {
    this.hasCrashed = true;
    void this.close();
  }

  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const response of [...this.#waiting.values(), this.#stream]) response?.destroy();
    this.onclose?.();
  }

  #release(id: RequestId): ServerResponse | undefined {
    const response = this.#waiting.get(id);
    this.#waiting.delete(id);
    return response;
  }

  /** What belongs to a call goes with its answer; the rest to the stream of the server's own messages. */
  #sendOwn(message: JSONRPCMessage): void {
    const { method = '', params = {} } = message as { method?: string; params?: Record<string, unknown> };
    const meta = params['_meta'];
    const listening = isJsonObject(meta) ? meta[`${META_PREFIX}subscriptionId`] : undefined;
    const isOfCall = 'id' in message || method === 'notifications/progress';
    const own = isOfCall ? (this.#latest() ?? this.#stream) : (this.#stream ?? this.#latest());
    const target = listening === undefined ? own : this.#waiting.get(listening as RequestId);
    this.#write(target, JSON.stringify(message));
  }

  #latest(): ServerResponse | undefined {
    return this.#carriage === 'stream' ? this.#stream : [...this.#waiting.values()].at(-1);
  }

  #write(response: ServerResponse | undefined, data: string): void {
    if (response !== undefined && !response.headersSent) openStream(response, this.headers);
    writeEvent(response, data);
  }
}

function openStream(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  response.flushHeaders();
}

function writeEvent(response: ServerResponse | undefined, data: string): void {
  response?.write(`event: message\n${data.replaceAll(/^/gm, 'data: ')}\n\n`);
}

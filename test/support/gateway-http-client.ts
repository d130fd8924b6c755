/** A client of the HTTP service that sends exactly what a test specifies and reads streams event by event. */
import { request, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { WAIT_LIMIT_MS } from './time-limit.js';

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer | object;
  readonly signal?: AbortSignal;
}

export interface StreamEvent {
  readonly id: string | undefined;
  /** Undefined for an event without data. */
  readonly message: Readonly<Record<string, unknown>> | undefined;
}

export const LATEST = '2025-11-25';

export class Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #response: IncomingMessage;
  /** Received text that is not an event. */
  comments = 0;
  #unread = '';
  readonly #chunks: AsyncIterator<Buffer>;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.#chunks = response.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  }

  async text(): Promise<string> {
    for (let chunk = await this.#chunks.next(); chunk.done !== true; chunk = await this.#chunks.next())
      this.#unread += String(chunk.value);
    return this.#unread;
  }

  async json(): Promise<Readonly<Record<string, unknown>>> {
    return JSON.parse(await this.text()) as Readonly<Record<string, unknown>>;
  }

  /** The next event; undefined if the stream has ended. Skips comments. */
  async event(): Promise<StreamEvent | undefined> {
    for (;;) {
      const end = this.#unread.indexOf('\n\n');
      if (end === -1) {
        const chunk = await this.#chunks.next().catch(() => ({ done: true }) as const);
        if (chunk.done === true) return undefined;
        this.#unread += String(chunk.value);
        continue;
      }
      const block = this.#unread.slice(0, end);
      this.#unread = this.#unread.slice(end + 2);
      if (!block.startsWith(':')) return toEvent(block);
      this.comments += 1;
    }
  }

  /** All events until the stream ends. */
  async events(): Promise<readonly StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (let event = await this.event(); event !== undefined; event = await this.event()) events.push(event);
    return events;
  }

  /** All messages until the stream ends. */
  async messages(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return (await this.events()).flatMap(({ message }) => (message === undefined ? [] : [message]));
  }

  /** The client disconnects. */
  leave(): void {
    this.#response.destroy();
  }
}

function toEvent(block: string): StreamEvent {
  const field = (name: string): string | undefined =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const data = field('data');
  return {
    id: field('id'),
    message: data === undefined || data === '' ? undefined : (JSON.parse(data) as StreamEvent['message']),
  };
}

/** Sends one HTTP request on its own connection. */
export function ask(port: number, asked: Asked): Promise<Reply> {
  const { method = 'POST', path = '/mcp', headers = {}, body, signal } = asked;
  const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const usual = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    connection: 'close',
    ...(payload === undefined ? {} : { 'content-length': Buffer.byteLength(payload) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        agent: false,
        headers: withoutEmpty({ ...usual, ...headers }),
        timeout: WAIT_LIMIT_MS,
        ...(signal === undefined ? {} : { signal }),
      },
      (response) => {
        response.on('error', () => {});
        resolve(new Reply(response));
      },
    );
    sent.on('error', reject);
    sent.on('timeout', () =>
      sent.destroy(new Error(`No answer to ${method} ${path} in ${WAIT_LIMIT_MS} ms.`)),
    );
    sent.end(payload);
  });
}

function withoutEmpty(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
}

/** A client of the service at a port. */
export interface ServiceClient {
  ask(asked: Asked): Promise<Reply>;
  /** Begins a session and returns its id. */
  begin(asked?: Asked): Promise<string>;
  /** Sends one request of a session. */
  post(session: string, body: object | string, headers?: OutgoingHttpHeaders): Promise<Reply>;
  /** Opens the GET stream of a session. */
  listen(session: string, headers?: OutgoingHttpHeaders): Promise<Reply>;
}

export function clientOf(port: number): ServiceClient {
  const send = (asked: Asked): Promise<Reply> => ask(port, asked);
  return {
    ask: send,
    begin: async (asked = {}) => {
      const reply = await send({ body: initialize(), ...asked });
      await reply.text();
      const id = reply.headers['mcp-session-id'];
      if (typeof id !== 'string') throw new Error(`no session: ${reply.status}`);
      return id;
    },
    post: (session, body, headers = {}) => send({ body, headers: ofSession(session, headers) }),
    listen: (session, headers = {}) => send({ method: 'GET', headers: ofSession(session, headers) }),
  };
}

export const initialize = (params: object = {}): object => ({
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: {
    protocolVersion: LATEST,
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
    ...params,
  },
});

export const call = (id: string | number, method = 'echo', params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** The headers of the requests of a session. */
export function ofSession(id: string, more: OutgoingHttpHeaders = {}): OutgoingHttpHeaders {
  return { 'mcp-session-id': id, 'mcp-protocol-version': LATEST, ...more };
}

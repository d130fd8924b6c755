/**
 * One client over streamable HTTP, as a transport (MCP specification, transports: streamable HTTP).
 *
 * Owns the streams of the session and its event log. Does not own HTTP requests: access, the choice of the session and
 * the limit of a body are decided before (`serve-http.ts`).
 *
 * H1. Every message goes to one stream: the stream of the request that it belongs to, or else the one that the client
 *     opened with GET. If there is none, the message waits for it, within the limits of the log.
 * H2. A client that goes away cancels nothing: it may come back and resume.
 * H3. `initialize` is answered with JSON. A client that got no result, or has gone, has no session.
 * H4. Nothing is left after `close()`.
 * H5. If too much waits unread, an answer is cut off, and a new request is refused until some of it is read.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Transport, TransportSendOptions, MessageExtraInfo } from '../../mcp/transport.js';
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '../../mcp/messages.js';
import { toJson, type RpcErrorAnswer } from '../client/client-message.js';
import { Conversation, type ReceivedMessage } from '../client/conversation.js';
import { answerJson, refuse, type Refused, JsonAnswer } from './http-answers.js';
import { toCursor, type HttpEventLog } from './http-event-log.js';
import type { Clock } from '../../ports.js';
import { HttpStream, type StreamPorts } from './http-stream.js';
import type { SessionWord, SessionWords } from './session-words.js';

/** The stream that belongs to no request. */
const LISTENING = 0;
/** The first version whose clients take an event without data (MCP 2025-11-25, resumability). */
const PRIMED_SINCE = '2025-11-25';

/** Maximum number of unread bytes of a session before the next message is written. */
const MAX_UNREAD = 16 * 1_024 * 1_024;
const UNREAD: Refused = {
  status: 503,
  error: 'Too many answers wait unread: read them first.',
  headers: { 'retry-after': '1' },
};

export const SESSION_OVER: Refused = { status: 404, error: 'There is no such session, or it has ended.' };

export const SESSION_HEADER = 'mcp-session-id';

export interface PostTerms {
  /** Whether the client accepts a stream as the answer. */
  readonly takesStream: boolean;
  /** The headers of the request; servers get those that their entry names. */
  readonly headers: IncomingHttpHeaders;
}

/** Where the streams of a session are, so that another host can continue them. */
export interface StreamPositions {
  /** The last number of a message. */
  readonly seq: number;
  /** The last message of the stream that belongs to no request: a client that has read it can resume there. */
  readonly listening: number;
  readonly lastStream: number;
}

export interface HttpSessionPorts {
  readonly clock: Clock;
  readonly log: HttpEventLog;
  /** Keeps what another host needs to continue the session. Undefined without other hosts. */
  readonly words?: SessionWords | undefined;
  /** Where the streams were on the host that had the session before. */
  readonly positions?: StreamPositions | undefined;
  /** Whether too much waits unread in all sessions of the subject. */
  readonly isOverfed: () => boolean;
}

export class HttpSession implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly sessionId: string;
  readonly conversation = new Conversation();
  readonly #ports: StreamPorts;
  readonly #words: SessionWords | undefined;
  readonly #ended: () => void;
  readonly #listening: HttpStream;
  /** The unfinished streams. */
  readonly #streams = new Map<number, HttpStream>();
  readonly #streamOf = new Map<RequestId, number>();
  /** The answers to requests whose client accepts no stream. */
  readonly #jsonOf = new Map<RequestId, JsonAnswer>();
  /** The responses that are not closed. */
  readonly #responses = new Set<ServerResponse>();
  /** Called with the answers to what is repeated from another host. */
  readonly #repeated = new Map<RequestId, (message: JSONRPCMessage) => void>();
  #lastStream: number;
  #opening: { readonly id: RequestId; readonly response: ServerResponse } | undefined;
  #isClosed = false;
  #disconnectedSince: number | undefined;

  /** `ended` is called once, when the session is over. */
  constructor(
    sessionId: string,
    { clock, log, isOverfed, words, positions }: HttpSessionPorts,
    ended: () => void,
  ) {
    this.sessionId = sessionId;
    const isFull = (): boolean => this.unread > MAX_UNREAD || isOverfed();
    this.#ports = { clock, log, isFull };
    this.#words = words;
    this.#ended = ended;
    this.#lastStream = positions?.lastStream ?? LISTENING;
    if (positions !== undefined) log.continueFrom(positions.seq);
    this.#disconnectedSince = clock.now();
    this.#listening = new HttpStream(log.begin(LISTENING, positions?.listening), this.#ports);
    this.#streams.set(LISTENING, this.#listening);
  }

  /** Since when the client has no stream, milliseconds since the epoch; undefined if it has one. */
  get disconnectedSince(): number | undefined {
    return this.#disconnectedSince;
  }

  /** Since when neither a stream nor a request is open; undefined if one is. */
  get unusedSince(): number | undefined {
    return this.conversation.pending > 0 || this.#opening !== undefined ? undefined : this.#disconnectedSince;
  }

  /** Bytes of answers that the client has not read. */
  get unread(): number {
    let bytes = 0;
    for (const { writableLength } of this.#responses) bytes += writableLength;
    return bytes;
  }

  async start(): Promise<void> {}

  /** The first request of the session. */
  initialize(message: JSONRPCRequest, response: ServerResponse): void {
    this.#opening = { id: message.id, response };
    response.once('close', () => {
      if (this.#opening !== undefined) void this.close();
    });
    const heard = this.conversation.heard(message);
    this.#words?.heard(message);
    const failure = heard.kind === 'request' ? this.conversation.handOn(heard, this) : undefined;
    if (failure !== undefined) this.#answerOpening(failure);
  }

  /**
   * The body of one POST: a message, or a batch. The answers to a batch come one by one on its stream, as MCP
   * 2025-03-26 allows: clients read one message per event. A client that accepts no stream gets the answers as JSON;
   * anything else that belongs to its requests goes to the stream that it opened with GET.
   */
  post(body: unknown, response: ServerResponse, { takesStream, headers }: PostTerms): void {
    if (this.#ports.isFull()) return refuse(response, UNREAD);
    this.#watch(response);
    const refusal = Array.isArray(body) ? this.conversation.refusalOfBatch(body) : undefined;
    if (refusal !== undefined) return answerJson(response, 400, refusal);
    const heard = (Array.isArray(body) ? body : [body]).map((value) => this.conversation.heard(value));
    const refusals = heard.flatMap((each) => (each.kind === 'refused' ? [each.answer] : []));
    const requests = heard.flatMap((each) => (each.kind === 'request' ? [each.message.id] : []));
    if (requests.length > 0 && takesStream) this.#openStream(requests, refusals, response);
    else if (requests.length > 0)
      this.#openJson(requests, response, { isBatch: Array.isArray(body), answers: refusals });
    else if (refusals.length > 0) answerRefusals(response, refusals, Array.isArray(body));
    else response.writeHead(202, { 'content-length': 0 }).end();
    for (const each of heard) this.#handOn(each, { requestInfo: { headers } });
  }

  /** Opens a stream for messages without a request, or resumes the one that broke after that event. */
  listen(response: ServerResponse, lastEventId?: string): void {
    if (this.#ports.isFull()) return refuse(response, UNREAD);
    this.#watch(response);
    if (lastEventId === undefined) return this.#attach(this.#listening, response);
    const cursor = toCursor(lastEventId);
    if (cursor === undefined || !this.#ports.log.isWholeSince(cursor))
      return refuse(response, {
        status: 400,
        error: 'The messages since that event are no longer available.',
      });
    const stream = this.#streams.get(cursor.stream);
    if (stream !== undefined) return this.#attach(stream, response, cursor.seq);
    const finished = new HttpStream(cursor, this.#ports);
    this.#attach(finished, response, cursor.seq);
    finished.finish();
  }

  /** What a host needs to continue the session; undefined before it has begun. */
  get continuation(): { words: readonly SessionWord[]; positions: StreamPositions } | undefined {
    const words = this.#words?.all;
    if (words === undefined || this.#opening !== undefined || this.#isClosed) return undefined;
    const { log } = this.#ports;
    const listening = this.#listening.writtenUpTo;
    const isRead = log.since({ stream: LISTENING, seq: listening }).length === 0;
    // What was not read is lost: no client resumes before it.
    const positions = isRead ? { seq: log.seq, listening } : { seq: log.seq + 1, listening: log.seq + 1 };
    return { words, positions: { ...positions, lastStream: this.#lastStream } };
  }

  /** Continues the session of another host: repeats what its client said. Rejects if it cannot begin. */
  async repeat(words: readonly SessionWord[]): Promise<void> {
    for (const [place, word] of words.entries()) {
      const isRequest = !word.method.startsWith('notifications/');
      const id = `repeated-${place}`;
      const heard = this.conversation.heard({ jsonrpc: '2.0', ...word, ...(isRequest && { id }) });
      if (!isRequest) this.#handOn(heard, {});
      else if ('error' in (await this.#repeatOne(id, heard)) && word.method === 'initialize')
        throw new Error('The session cannot begin here.');
    }
    // What the client was offered there may differ from what it is offered here.
    for (const list of ['tools', 'resources', 'prompts'])
      await this.send({ jsonrpc: '2.0', method: `notifications/${list}/list_changed` });
  }

  async #repeatOne(id: RequestId, heard: ReceivedMessage): Promise<JSONRPCMessage> {
    try {
      return await new Promise((resolve) => {
        this.#repeated.set(id, resolve);
        this.#handOn(heard, {});
      });
    } finally {
      this.#repeated.delete(id);
    }
  }

  async send(message: JSONRPCMessage, { relatedRequestId }: TransportSendOptions = {}): Promise<void> {
    if (this.#isClosed || !this.conversation.maySend(message)) return;
    const repeated = 'method' in message ? undefined : this.#repeated.get(message.id ?? '');
    if (repeated !== undefined) return repeated(message);
    if ('method' in message) this.#streamFor(relatedRequestId).send(toJson(message));
    else if (message.id !== undefined && message.id === this.#opening?.id) this.#answerOpening(message);
    else this.#answer(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening !== undefined) refuse(opening.response, SESSION_OVER);
    this.conversation.clear();
    for (const stream of this.#streams.values()) stream.finish();
    this.#streams.clear();
    this.#streamOf.clear();
    for (const answer of this.#jsonOf.values()) answer.refuse(SESSION_OVER);
    this.#ports.log.close();
    this.#ended();
    this.onclose?.();
  }

  #watch(response: ServerResponse): void {
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
  }

  #answerOpening(message: JSONRPCMessage | RpcErrorAnswer): void {
    const response = this.#opening?.response;
    this.#opening = undefined;
    if (response === undefined) return;
    const isOpen = 'result' in message;
    answerJson(response, 200, message, isOpen ? { [SESSION_HEADER]: this.sessionId } : {});
    if (!isOpen) void this.close();
  }

  #openJson(
    requests: readonly RequestId[],
    response: ServerResponse,
    about: { readonly isBatch: boolean; readonly answers: readonly RpcErrorAnswer[] },
  ): void {
    const answer = new JsonAnswer(response, { [SESSION_HEADER]: this.sessionId }, requests, about);
    for (const request of requests) this.#jsonOf.set(request, answer);
    this.#disconnectedSince = undefined;
    response.once('close', () => {
      for (const request of requests) this.#jsonOf.delete(request);
      this.#noteDisconnected();
    });
  }

  #openStream(
    requests: readonly RequestId[],
    refusals: readonly RpcErrorAnswer[],
    response: ServerResponse,
  ): void {
    this.#lastStream += 1;
    const number = this.#lastStream;
    const stream = new HttpStream(this.#ports.log.begin(number), this.#ports);
    this.#streams.set(number, stream);
    for (const request of requests) this.#streamOf.set(request, number);
    this.#attach(stream, response);
    for (const refusal of refusals) stream.send(toJson(refusal));
  }

  #handOn(heard: ReceivedMessage, extra: MessageExtraInfo): void {
    if (heard.kind !== 'request' && heard.kind !== 'delivered') return;
    this.#words?.heard(heard.message);
    const failure = this.conversation.handOn(heard, this, extra);
    if (failure !== undefined) this.#answer(failure);
    if (heard.kind === 'delivered' && heard.ends !== undefined) this.#over(heard.ends);
  }

  #answer(message: JSONRPCMessage | RpcErrorAnswer): void {
    const id = 'id' in message ? (message.id ?? undefined) : undefined;
    const json = id === undefined ? undefined : this.#jsonOf.get(id);
    if (id !== undefined && json !== undefined) {
      if (this.#ports.isFull()) json.refuse(UNREAD);
      return json.take(id, message);
    }
    this.#streamFor(id).send(toJson(message));
    if (id !== undefined) this.#over(id);
  }

  /** A stream is finished with its last request. */
  #over(id: RequestId): void {
    this.#jsonOf.get(id)?.take(id, undefined);
    const number = this.#streamOf.get(id);
    if (number === undefined) return;
    this.#streamOf.delete(id);
    if ([...this.#streamOf.values()].includes(number)) return;
    this.#streams.get(number)?.finish();
    this.#streams.delete(number);
  }

  #streamFor(request: RequestId | undefined): HttpStream {
    const number = request === undefined ? undefined : this.#streamOf.get(request);
    return (number === undefined ? undefined : this.#streams.get(number)) ?? this.#listening;
  }

  #attach(stream: HttpStream, response: ServerResponse, since?: number): void {
    const head = { [SESSION_HEADER]: this.sessionId };
    // Decided by the negotiated version: a header may name another one.
    const primes = (this.conversation.version ?? '') >= PRIMED_SINCE;
    stream.attach(response, { head, primes, since });
    this.#disconnectedSince = undefined;
    response.once('close', () => this.#noteDisconnected());
  }

  #noteDisconnected(): void {
    const isHeard = [...this.#streams.values()].some(({ isAttached }) => isAttached) || this.#jsonOf.size > 0;
    if (!isHeard) this.#disconnectedSince = this.#ports.clock.now();
  }
}

/** A refused request already has its answer; any other refused message makes a bad request. */
function answerRefusals(
  response: ServerResponse,
  refusals: readonly RpcErrorAnswer[],
  isBatch: boolean,
): void {
  const status = refusals.some(({ id }) => id === null) ? 400 : 200;
  answerJson(response, status, isBatch ? refusals : refusals[0]);
}

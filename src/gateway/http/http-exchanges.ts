/**
 * The requests without a session of one HTTP service (MCP 2026-07-28, transports: streamable HTTP). Any process of the
 * gateway can answer them.
 *
 * X1. A client that goes away has cancelled its request.
 * X2. One subject cannot keep others out: at most `mostOfOne` requests in flight are its own.
 * X3. When the service closes, streams of changes end at once, and other requests have the time of the sessions.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JSONRPCRequest, JSONRPCResponse } from '../../mcp/messages.js';
import { eraOf } from '../../../machines/policy/protocol-era.js';
import { settlesWithin } from '../../async/timers.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import type { Clock, Logger } from '../../ports.js';
import type { RpcError } from '../../protocol/protocol-client.js';
import { UNSUPPORTED_PROTOCOL_VERSION } from '../../transports/json-rpc.js';
import { RPC, rpcError, toClientMessage, toErrorAnswer } from '../client/client-message.js';
import { flawOfEnvelope, isStatelessMethod, LISTEN, versionIn } from '../client/envelope.js';
import { unknownMethod } from '../client/error-answer.js';
import { HEADER_MISMATCH, headerMismatch } from '../client/header-check.js';
import { CAPABILITY_MISSING } from '../client/stateless-front.js';
import { SHUTTING_DOWN } from '../drain.js';
import type { Gateway } from '../gateway.js';
import type { Caller } from './http-access.js';
import { answerJson } from './http-answers.js';
import { HttpReply } from './http-reply.js';
import type { Route } from './http-client-sessions.js';

export interface ExchangesPorts {
  readonly gateway: Pick<Gateway, 'answer'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Most requests in flight. */
  readonly max: number;
  readonly mostOfOne: number;
}

/** One POST. */
export interface Post {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly place: Route;
  readonly takesStream: boolean;
}

interface Exchange {
  readonly subject: string | undefined;
  readonly isStream: boolean;
  readonly over: AbortController;
  readonly answered: Promise<void>;
}

/** The errors of the protocol itself (MCP 2026-07-28, "Error Codes"). */
const BAD_REQUESTS: ReadonlySet<number> = new Set([
  HEADER_MISMATCH,
  CAPABILITY_MISSING,
  UNSUPPORTED_PROTOCOL_VERSION,
]);

/** Whether a message belongs to no session: by its body, or by the header if the body does not say. */
export function isStateless(body: unknown, { headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { method, params } = isJsonObject(body) ? body : {};
  if (isJsonObject(params) && versionIn(params) !== undefined) return true;
  return method !== 'initialize' && eraOf(headers['mcp-protocol-version']) === 'new';
}

export class HttpExchanges {
  readonly #ports: ExchangesPorts;
  readonly #open = new Set<Exchange>();
  #isClosing = false;

  constructor(ports: ExchangesPorts) {
    this.#ports = ports;
  }

  async answer(body: unknown, post: Post): Promise<void> {
    const { response } = post;
    const came = toClientMessage(body);
    switch (came.kind) {
      case 'invalid':
        return answerJson(response, 400, came.answer);
      case 'notification':
        return void response.writeHead(202, { 'content-length': 0 }).end();
      case 'request':
        return this.#exchange(came.message, post);
      default: {
        const reason = 'Without a session, nothing was asked.';
        return answerJson(response, 400, rpcError(null, RPC.invalidRequest, 'Invalid Request', { reason }));
      }
    }
  }

  /** Refuses new requests, waits up to the limit for those in flight, and ends the rest. */
  async close(gracePeriodMs: number, hurried: Promise<void>): Promise<void> {
    this.#isClosing = true;
    const all = [...this.#open];
    for (const { isStream, over } of all) if (isStream) over.abort(new Error(SHUTTING_DOWN));
    const answered = Promise.all(all.map((each) => each.answered));
    if (gracePeriodMs > 0)
      await settlesWithin(this.#ports.clock, gracePeriodMs, Promise.race([answered, hurried]));
    if (this.#open.size > 0)
      this.#ports.logger.warn('Calls in flight were aborted.', { pending: this.#open.size });
    for (const { over } of this.#open) over.abort(new Error(SHUTTING_DOWN));
    await answered;
  }

  async #exchange(
    message: JSONRPCRequest,
    { request, response, caller, place, takesStream }: Post,
  ): Promise<void> {
    const { id, method, params = {} } = message;
    const { headers } = request;
    const refusal = refusalOf(method, params, headers);
    if (refusal !== undefined) {
      const status = refusal.rpcCode === RPC.methodNotFound ? 404 : 400;
      return answerJson(response, status, toErrorAnswer(id, refusal));
    }
    const isStream = method === LISTEN;
    if (isStream && !takesStream) {
      const error = 'The answer is a stream: send Accept: application/json, text/event-stream.';
      return answerJson(response, 406, rpcError(id, RPC.serverError, error));
    }
    const full = this.#whyFull(caller.subject);
    if (full !== undefined) {
      return answerJson(response, 503, rpcError(id, RPC.serverError, full), { 'retry-after': '1' });
    }
    const over = new AbortController();
    const reply = new HttpReply(response, this.#ports.clock, takesStream);
    response.once('close', () => over.abort(new Error('The client is gone.')));
    const { server } = place;
    const terms = {
      signal: over.signal,
      notify: (notification: object) => reply.notify(notification),
      headers,
      ...(server !== undefined && { server }),
      ...(caller.subject !== undefined && { subject: caller.subject }),
    };
    const answered = this.#ports.gateway.answer(message, terms).then((answer) => {
      this.#open.delete(exchange);
      reply.finish(statusOf(answer), answer);
    });
    const exchange: Exchange = { subject: caller.subject, isStream, over, answered };
    this.#open.add(exchange);
    await answered;
  }

  #whyFull(subject: string | undefined): string | undefined {
    const { max, mostOfOne } = this.#ports;
    if (this.#isClosing) return SHUTTING_DOWN;
    const own = [...this.#open].filter((exchange) => exchange.subject === subject).length;
    return this.#open.size >= max || own >= mostOfOne ? 'Too many requests are in flight.' : undefined;
  }
}

/** Why a request is refused before the gateway sees it. */
function refusalOf(
  method: string,
  params: JsonObject,
  headers: IncomingMessage['headers'],
): RpcError | undefined {
  const version = versionIn(params);
  if (typeof version !== 'string') return flawOfEnvelope(params);
  const isKnown = isStatelessMethod(method);
  return (
    headerMismatch({ method, params, headers }, version) ??
    flawOfEnvelope(params) ??
    (isKnown ? undefined : unknownMethod(method))
  );
}

function statusOf(answer: JSONRPCResponse): number {
  return 'error' in answer && BAD_REQUESTS.has(answer.error.code) ? 400 : 200;
}

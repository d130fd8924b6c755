/**
 * JSON-RPC with one client over a transport: answers the client's requests and sends requests to it. Knows no methods
 * except cancellation and `initialize`, which cannot be cancelled, and forwards messages unchanged.
 *
 * R1. A request of the client gets one answer, and none once the client has cancelled it or is gone.
 * R2. `ask` settles exactly once: with the result, with the client's `RpcError`, with the reason of its signal, or with
 *     an `RpcError` when the client is gone. An abandoned request is cancelled at the client.
 * R3. No message of a client makes it throw, and nothing of a finished request is kept.
 */
import type { Transport } from '../../mcp/transport.js';
import type { JSONRPCMessage, JSONRPCRequest, JSONRPCResponse, RequestId } from '../../mcp/messages.js';
import { LazyAbortController, type AbortSignalLike } from '../../async/abort.js';
import type { JsonObject } from '../../json/json-object.js';
import { RpcError } from '../../protocol/protocol-client.js';
import type { RequestHeaders } from '../../transports/session-transport.js';
import { toError } from '../../text/error-message.js';
import { idInUse, RPC, toClientMessage, type RpcErrorAnswer } from './client-message.js';

/** A request of the client. */
export interface ClientRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  /** The headers of its HTTP request; undefined if it came in another way. */
  readonly headers: RequestHeaders | undefined;
  /** Aborts when the client cancels the request, and when it is gone. */
  readonly givenUp: AbortSignalLike;
  /** The same as an `AbortSignal`, for APIs that need one. */
  readonly signal: AbortSignal;
}

/** A request that the client waits for. */
class WorkOf implements ClientRequest {
  readonly givenUp = new LazyAbortController();

  constructor(
    readonly id: RequestId,
    readonly method: string,
    readonly params: JsonObject,
    readonly headers: RequestHeaders | undefined,
  ) {}

  get signal(): AbortSignal {
    return this.givenUp.signal;
  }
}

/** The side that talks to the client. */
export interface LinkListener {
  /** Rejects with an `RpcError`, which becomes the answer. Any other error goes only to `failed`. */
  answer(request: ClientRequest): Promise<JsonObject>;
  heard(method: string, params: JsonObject): void;
  /** An internal error, or an error of the transport. */
  failed(error: Error): void;
  /** Called once, when the client is gone. */
  closed(): void;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** The client's own request during which it is asked. */
  readonly relatedTo?: RequestId | undefined;
}

interface Asked {
  answer(result: JsonObject): void;
  fail(error: Error): void;
}

const NO_PARAMS: JsonObject = {};
const GONE = new RpcError(RPC.internalError, 'The client is gone.', undefined);

export class RpcLink {
  readonly #transport: Transport;
  readonly #listener: LinkListener;
  /** The client's requests in flight. */
  readonly #inWork = new Map<RequestId, WorkOf>();
  /** The requests to the client, by our ids. */
  readonly #asked = new Map<RequestId, Asked>();
  #lastId = 0;
  #isOver = false;
  #refusal: RpcError | undefined;
  #onidle: (() => void) | undefined;

  constructor(transport: Transport, listener: LinkListener) {
    this.#transport = transport;
    this.#listener = listener;
  }

  /** Whether nothing is sent any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Number of the client's unanswered requests. */
  get inWork(): number {
    return this.#inWork.size;
  }

  /** Number of unanswered requests to the client. */
  get asked(): number {
    return this.#asked.size;
  }

  /** Whether that request of the client is still unanswered. */
  isInWork(id: RequestId): boolean {
    return this.#inWork.has(id);
  }

  async start(): Promise<void> {
    const transport = this.#transport;
    transport.onmessage = (message, extra) => this.#receive(message, extra?.requestInfo?.headers);
    transport.onclose = () => this.#end();
    transport.onerror = (error) => this.#listener.failed(error);
    await transport.start();
  }

  ask(method: string, params: JsonObject, { signal, relatedTo }: AskOptions): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (this.#isOver || signal.aborted) {
        reject(this.#isOver ? GONE : toError(signal.reason));
        return;
      }
      this.#lastId += 1;
      const id = this.#lastId;
      const finish = (): boolean => {
        signal.removeEventListener('abort', onAbort);
        return this.#asked.delete(id);
      };
      const asked: Asked = {
        answer: (result) => void (finish() && resolve(result)),
        fail: (error) => void (finish() && reject(error)),
      };
      const onAbort = (): void => {
        asked.fail(toError(signal.reason));
        this.notify('notifications/cancelled', { requestId: id }, relatedTo);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#asked.set(id, asked);
      this.#send({ jsonrpc: '2.0', id, method, params }, relatedTo, () => asked.fail(GONE));
    });
  }

  /** A notification that cannot be sent is dropped. */
  notify(method: string, params?: JsonObject, relatedTo?: RequestId): void {
    if (this.#isOver) return;
    this.#send({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }, relatedTo);
  }

  /** Answers new requests with this error from now on. */
  refuse(refusal: RpcError): void {
    this.#refusal = refusal;
  }

  /** Resolves when the client waits for nothing. */
  async idle(): Promise<void> {
    if (this.#inWork.size > 0) await new Promise<void>((resolve) => (this.#onidle = resolve));
  }

  /** Answers requests in flight with this error, and closes the transport. Never rejects. */
  async close(last: RpcError): Promise<void> {
    this.refuse(last);
    for (const [id, work] of this.#inWork) {
      this.#answer(id, toErrorAnswer(id, last));
      work.givenUp.abort(last);
    }
    this.#end();
    try {
      await this.#transport.close();
    } catch (error) {
      this.#listener.failed(toError(error));
    }
  }

  #receive(value: unknown, headers?: RequestHeaders): void {
    if (this.#isOver) return;
    const came = toClientMessage(value);
    switch (came.kind) {
      case 'request':
        this.#receiveRequest(came.message, headers);
        break;
      case 'notification':
        this.#receiveNotification(came.message.method, came.message.params ?? NO_PARAMS);
        break;
      case 'answer':
        this.#receiveAnswer(came.message);
        break;
      case 'no-answer':
        this.#asked.get(came.id)?.fail(new RpcError(RPC.invalidRequest, came.reason, undefined));
        break;
      case 'invalid':
        this.#send(came.answer);
    }
  }

  #receiveRequest({ id, method, params }: JSONRPCRequest, headers: RequestHeaders | undefined): void {
    // Transports of others let a duplicate id through.
    if (this.#inWork.has(id)) return this.#send(idInUse(id));
    const work = new WorkOf(id, method, params ?? NO_PARAMS, headers);
    this.#inWork.set(id, work);
    if (this.#refusal !== undefined) {
      this.#answer(id, toErrorAnswer(id, this.#refusal));
      return;
    }
    this.#listener.answer(work).then(
      (result) => this.#answer(id, { jsonrpc: '2.0', id, result }, work),
      (error: unknown) => this.#answer(id, toErrorAnswer(id, this.#toRpcError(error)), work),
    );
  }

  /** `work` is the request that is answered: another one may have its id by now. */
  #answer(id: RequestId, answer: JSONRPCMessage | RpcErrorAnswer, work = this.#inWork.get(id)): void {
    if (work === undefined || this.#inWork.get(id) !== work) return;
    this.#send(answer, id);
    this.#inWork.delete(id);
    if (this.#inWork.size === 0) this.#onidle?.();
  }

  #toRpcError(error: unknown): RpcError {
    if (error instanceof RpcError) return error;
    this.#listener.failed(toError(error));
    return new RpcError(RPC.internalError, 'Internal error', undefined);
  }

  #receiveNotification(method: string, params: JsonObject): void {
    if (method === 'notifications/cancelled') this.#cancel(params['requestId'] as RequestId);
    else this.#listener.heard(method, params);
  }

  /** `initialize` must not be cancelled (MCP 2025-06-18, cancellation). */
  #cancel(id: RequestId): void {
    const work = this.#inWork.get(id);
    if (work === undefined || work.method === 'initialize') return;
    this.#inWork.delete(id);
    work.givenUp.abort(new Error('The client cancelled the request.'));
    if (this.#inWork.size === 0) this.#onidle?.();
  }

  #receiveAnswer(message: JSONRPCResponse & { readonly id: RequestId }): void {
    const asked = this.#asked.get(message.id);
    if ('result' in message) asked?.answer(message.result);
    else asked?.fail(new RpcError(message.error.code, message.error.message, message.error.data));
  }

  #send(message: JSONRPCMessage | RpcErrorAnswer, relatedRequestId?: RequestId, onlost?: () => void): void {
    const failed = (error: unknown): void => {
      if (!this.#isOver) this.#listener.failed(toError(error));
      onlost?.();
    };
    try {
      const options = relatedRequestId === undefined ? undefined : { relatedRequestId };
      this.#transport.send(message as JSONRPCMessage, options).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const work of this.#inWork.values()) work.givenUp.abort(GONE);
    this.#inWork.clear();
    for (const asked of this.#asked.values()) asked.fail(GONE);
    this.#onidle?.();
    this.#listener.closed();
  }
}

function toErrorAnswer(id: RequestId, { rpcCode: code, message, data }: RpcError): RpcErrorAnswer {
  return {
    jsonrpc: '2.0',
    id,
    error: { code, message, ...(data === undefined ? {} : { data: data as object }) },
  };
}

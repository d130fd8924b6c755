/**
 * One client at the other end of a transport, as JSON-RPC: answers what it asks and asks it in turn. Knows no method but
 * the cancellation and `initialize`, which has none, and changes nothing of what passes.
 *
 * R1. A request of the client has one answer, and none once the client has taken it back or is gone.
 * R2. `ask` settles exactly once: with the result, with the client's `RpcError`, with the reason of its signal, or with
 *     an `RpcError` when the client is gone. What is given up is cancelled at the client.
 * R3. Nothing that a client sends throws, and nothing is kept of it once it is over.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { LightAbort } from '../light-abort.js';
import { RpcError, type GiveUpSignal, type JsonObject } from '../protocol/protocol-client.js';
import { toError } from '../thrown.js';
import { idInUse, RPC, toClientMessage, type RpcErrorAnswer } from './client-message.js';

/** A request of the client. */
export interface ClientRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  /** Aborts when the client takes it back, and when it is gone. */
  readonly givenUp: GiveUpSignal;
  /** The same for those who take nothing else. */
  readonly signal: AbortSignal;
}

/** One that the client waits for. */
class WorkOf implements ClientRequest {
  readonly givenUp = new LightAbort();

  constructor(
    readonly id: RequestId,
    readonly method: string,
    readonly params: JsonObject,
  ) {}

  get signal(): AbortSignal {
    return this.givenUp.signal;
  }
}

/** Whoever speaks with the client. */
export interface LinkListener {
  /** Rejects with an `RpcError`, which is the answer then; anything else is told to nobody but `failed`. */
  answer(request: ClientRequest): Promise<JsonObject>;
  heard(method: string, params: JsonObject): void;
  /** Something of ours went wrong, or the transport says that something did. */
  failed(error: Error): void;
  /** Called once, when the client is gone. */
  closed(): void;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** The client's own request in whose course it is asked. */
  readonly relatedTo?: RequestId | undefined;
}

interface Asked {
  answer(result: JsonObject): void;
  fail(error: Error): void;
}

const NO_PARAMS: JsonObject = {};
const GONE = new RpcError(RPC.internalError, 'The client is not there any more.', undefined);

export class RpcLink {
  readonly #transport: Transport;
  readonly #listener: LinkListener;
  /** What the client waits for. */
  readonly #inWork = new Map<RequestId, WorkOf>();
  /** What it is asked, by our ids. */
  readonly #asked = new Map<RequestId, Asked>();
  #lastId = 0;
  #isOver = false;
  #refusal: RpcError | undefined;
  #onidle: (() => void) | undefined;

  constructor(transport: Transport, listener: LinkListener) {
    this.#transport = transport;
    this.#listener = listener;
  }

  /** Nothing is said any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Requests of the client without an answer. */
  get inWork(): number {
    return this.#inWork.size;
  }

  /** What the client was asked and did not answer. */
  get asked(): number {
    return this.#asked.size;
  }

  /** Whether the client waits for the answer to that request. */
  isInWork(id: RequestId): boolean {
    return this.#inWork.has(id);
  }

  async start(): Promise<void> {
    const transport = this.#transport;
    transport.onmessage = (message) => this.#hear(message);
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

  /** What cannot be sent is of no use to anybody. */
  notify(method: string, params?: JsonObject, relatedTo?: RequestId): void {
    if (this.#isOver) return;
    this.#send({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }, relatedTo);
  }

  /** From here on, new requests are answered with that. */
  refuse(refusal: RpcError): void {
    this.#refusal = refusal;
  }

  /** Resolves when the client waits for nothing. */
  async idle(): Promise<void> {
    if (this.#inWork.size > 0) await new Promise<void>((resolve) => (this.#onidle = resolve));
  }

  /** Answers what is in work with that, and closes the transport. Never rejects. */
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

  #hear(value: unknown): void {
    if (this.#isOver) return;
    const came = toClientMessage(value);
    switch (came.kind) {
      case 'request':
        this.#hearRequest(came.message.id, came.message.method, came.message.params ?? NO_PARAMS);
        break;
      case 'notification':
        this.#hearNotification(came.message.method, came.message.params ?? NO_PARAMS);
        break;
      case 'answer':
        this.#hearAnswer(came.message);
        break;
      case 'no-answer':
        this.#asked.get(came.id)?.fail(new RpcError(RPC.invalidRequest, came.reason, undefined));
        break;
      case 'invalid':
        this.#send(came.answer);
    }
  }

  #hearRequest(id: RequestId, method: string, params: JsonObject): void {
    // Transports that are not ours let it through.
    if (this.#inWork.has(id)) return this.#send(idInUse(id));
    const work = new WorkOf(id, method, params);
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

  /** `work` is that of the request: another one may have its id by now. */
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

  #hearNotification(method: string, params: JsonObject): void {
    if (method === 'notifications/cancelled') this.#cancel(params['requestId'] as RequestId);
    else this.#listener.heard(method, params);
  }

  /** `initialize` must not be cancelled (MCP 2025-06-18, cancellation). */
  #cancel(id: RequestId): void {
    const work = this.#inWork.get(id);
    if (work === undefined || work.method === 'initialize') return;
    this.#inWork.delete(id);
    work.givenUp.abort(new Error('The client cancelled it.'));
    if (this.#inWork.size === 0) this.#onidle?.();
  }

  #hearAnswer(message: JSONRPCResponse & { readonly id: RequestId }): void {
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

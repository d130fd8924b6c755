/**
 * The open requests of one client and to it.
 *
 * V1. A request has one answer: one under an id that is still in use is refused, and a second answer is not sent.
 * V2. A request that the client cancelled is over: it gets no answer (MCP, cancellation), however late one comes.
 * V3. The number of requests in flight is limited.
 * V4. Batches are accepted only in the one version that has them (MCP 2025-03-26).
 */
import type { Transport, MessageExtraInfo } from '../../mcp/transport.js';
import type { JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, RequestId } from '../../mcp/messages.js';
import { LISTEN } from './envelope.js';
import { idInUse, RPC, rpcError, toClientMessage, type RpcErrorAnswer } from './client-message.js';
import { toError } from '../../text/error-message.js';

/** Maximum number of requests of one client at the same time. */
const MAX_PENDING = 1_000;
const MAX_OF_A_BATCH = 1_000;
const HAS_BATCHES = '2025-03-26';

export type Deliverable =
  | { readonly kind: 'request'; readonly message: JSONRPCRequest }
  /** A message that needs no answer; `ends` is the request that it ends. */
  | { readonly kind: 'delivered'; readonly message: JSONRPCMessage; readonly ends?: RequestId | undefined };

export type ReceivedMessage =
  Deliverable | { readonly kind: 'refused'; readonly answer: RpcErrorAnswer } | { readonly kind: 'ignored' };

export class Conversation {
  /** The methods of unanswered requests. */
  readonly #pending = new Map<RequestId, string>();
  readonly #asked = new Set<RequestId>();
  #drained: (() => void) | undefined;
  #closing: string | undefined;
  #version: string | undefined;

  /** Number of unanswered requests. A stream of changes has its answer when it ends, so it does not count. */
  get pending(): number {
    let count = 0;
    for (const method of this.#pending.values()) if (method !== LISTEN) count += 1;
    return count;
  }

  /** The negotiated protocol version; before that, the one that the client requests. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Why this batch is refused; undefined if it is accepted. */
  refusalOfBatch({ length }: readonly unknown[]): RpcErrorAnswer | undefined {
    if (this.#version === HAS_BATCHES && length > 0 && length <= MAX_OF_A_BATCH) return undefined;
    const reason =
      this.#version === HAS_BATCHES
        ? `A batch has 1 to ${MAX_OF_A_BATCH} messages.`
        : `Only MCP ${HAS_BATCHES} supports batches: send one message at a time.`;
    return rpcError(null, RPC.invalidRequest, 'Invalid Request', { reason });
  }

  /** Refuses new requests from now on, for this reason. Requests in flight continue. */
  refuseNew(why: string): void {
    this.#closing = why;
  }

  /** Resolves when every request is answered. For one caller at a time. */
  settled(): Promise<void> {
    if (this.pending === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#drained = resolve));
  }

  /** How to handle an incoming message. A request counts as in flight from now on. */
  heard(value: unknown): ReceivedMessage {
    const came = toClientMessage(value);
    switch (came.kind) {
      case 'invalid':
        return { kind: 'refused', answer: came.answer };
      case 'no-answer':
        return this.#receivedNoAnswer(came.id, came.reason);
      case 'answer':
        return this.#asked.delete(came.message.id)
          ? { kind: 'delivered', message: came.message }
          : { kind: 'ignored' };
      case 'notification':
        return { kind: 'delivered', message: came.message, ends: this.#cancelledBy(came.message) };
      case 'request':
        return this.#receivedRequest(came.message);
    }
  }

  /** Whether a message may be sent to the client. An answer ends its request. */
  maySend(message: JSONRPCMessage): boolean {
    if ('method' in message) {
      if ('id' in message) this.#asked.add(message.id);
      else if (message.method === 'notifications/cancelled') this.#asked.delete(requestIn(message) ?? '');
      return true;
    }
    if (message.id === undefined) return false;
    const isOfInitialize = this.#pending.get(message.id) === 'initialize';
    if (isOfInitialize && 'result' in message) this.#version = versionIn(message.result);
    return this.end(message.id);
  }

  /** Delivers a message, with what is known of it. Returns an answer if the recipient throws; that answer does not reveal the cause. */
  handOn(
    heard: Deliverable,
    to: Pick<Transport, 'onmessage' | 'onerror'>,
    extra?: MessageExtraInfo,
  ): RpcErrorAnswer | undefined {
    try {
      to.onmessage?.(heard.message, extra);
    } catch (error) {
      to.onerror?.(toError(error));
      if (heard.kind === 'request' && this.end(heard.message.id))
        return rpcError(heard.message.id, RPC.internalError, 'Internal error');
    }
    if (heard.kind === 'delivered' && heard.ends !== undefined) this.end(heard.ends);
    return undefined;
  }

  /** Ends a request. False if it was not in flight. */
  end(id: RequestId): boolean {
    const wasPending = this.#pending.delete(id);
    if (this.#drained !== undefined && this.pending === 0) this.#drained();
    return wasPending;
  }

  /** The client is gone. */
  clear(): void {
    this.#pending.clear();
    this.#asked.clear();
    this.#drained?.();
  }

  #receivedRequest(message: JSONRPCRequest): ReceivedMessage {
    const { id, method, params } = message;
    const refuse = (code: number, what: string, reason: string): ReceivedMessage => ({
      kind: 'refused',
      answer: rpcError(id, code, what, { reason }),
    });
    if (this.#pending.has(id)) return { kind: 'refused', answer: idInUse(id) };
    if (this.#closing !== undefined) return refuse(RPC.serverError, this.#closing, 'closing');
    if (this.#pending.size >= MAX_PENDING)
      return refuse(RPC.serverError, `${MAX_PENDING} requests are in flight already.`, 'too-many-requests');
    this.#pending.set(id, method);
    if (method === 'initialize') this.#version ??= versionIn(params);
    return { kind: 'request', message };
  }

  /** The request must be answered, or it would wait forever. */
  #receivedNoAnswer(id: RequestId, reason: string): ReceivedMessage {
    if (this.#asked.delete(id)) {
      const error = { code: RPC.invalidRequest, message: `The client's answer is invalid: ${reason}` };
      return { kind: 'delivered', message: { jsonrpc: '2.0', id, error } };
    }
    return {
      kind: 'refused',
      answer: rpcError(null, RPC.invalidRequest, 'Invalid Request', { reason }),
    };
  }

  #cancelledBy(message: JSONRPCNotification): RequestId | undefined {
    if (message.method !== 'notifications/cancelled') return undefined;
    const id = requestIn(message);
    const method = id === undefined ? undefined : this.#pending.get(id);
    return method === undefined || method === 'initialize' ? undefined : id;
  }
}

/** Undefined if it is not a text; the handler of the request refuses that. */
function versionIn(params: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const version = params?.['protocolVersion'];
  return typeof version === 'string' ? version : undefined;
}

function requestIn({ params }: JSONRPCNotification): RequestId | undefined {
  const id = params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

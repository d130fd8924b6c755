/**
 * What one client has asked and was not told yet, and what it was asked and did not answer yet.
 *
 * V1. A request has one answer: one under an id that is still in use is refused, and a second answer is not sent.
 * V2. A request that the client cancelled is over: it gets no answer (MCP, cancellation), however late one comes.
 * V3. What a client may have in flight is bounded.
 * V4. Several messages at once are heard in the only version that has batches (MCP 2025-03-26).
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { idInUse, RPC, rpcError, toClientMessage, type RpcErrorAnswer } from './client-message.js';
import { toError } from '../thrown.js';

/** Requests of one client at the same time. */
const MOST_PENDING = 1_000;
const MOST_OF_A_BATCH = 1_000;
const HAS_BATCHES = '2025-03-26';

export type Deliverable =
  | { readonly kind: 'request'; readonly message: JSONRPCRequest }
  /** Something that wants no answer; `ends` is the request that is over with it. */
  | { readonly kind: 'told'; readonly message: JSONRPCMessage; readonly ends?: RequestId | undefined };

export type Heard =
  Deliverable | { readonly kind: 'refused'; readonly answer: RpcErrorAnswer } | { readonly kind: 'ignored' };

export class Conversation {
  /** By id, whether the client may cancel it. */
  readonly #pending = new Map<RequestId, boolean>();
  readonly #asked = new Set<RequestId>();
  #settled: (() => void) | undefined;
  #closing: string | undefined;
  #version: string | undefined;

  /** Requests that are not answered yet. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Of the protocol, as it was agreed on; before that, the one that the client wants. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Why these are not heard together; undefined where they may be. */
  refusalOfBatch({ length }: readonly unknown[]): RpcErrorAnswer | undefined {
    if (this.#version === HAS_BATCHES && length > 0 && length <= MOST_OF_A_BATCH) return undefined;
    const reason =
      this.#version === HAS_BATCHES
        ? `A batch has 1 to ${MOST_OF_A_BATCH} messages.`
        : `Only MCP ${HAS_BATCHES} has batches: send one message at a time.`;
    return rpcError(null, RPC.invalidRequest, 'Invalid Request', { reason });
  }

  /** From now on, a request is refused for this reason. What is in flight goes on. */
  refuseNew(why: string): void {
    this.#closing = why;
  }

  /** Resolves when every request is answered. For one waiting party. */
  settled(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#settled = resolve));
  }

  /** What is to be done about something that came. A request counts as in flight from here on. */
  heard(value: unknown): Heard {
    const came = toClientMessage(value);
    switch (came.kind) {
      case 'invalid':
        return { kind: 'refused', answer: came.answer };
      case 'no-answer':
        return this.#heardNoAnswer(came.id, came.reason);
      case 'answer':
        return this.#asked.delete(came.message.id)
          ? { kind: 'told', message: came.message }
          : { kind: 'ignored' };
      case 'notification':
        return { kind: 'told', message: came.message, ends: this.#cancelledBy(came.message) };
      case 'request':
        return this.#heardRequest(came.message);
    }
  }

  /** Whether something may be sent to the client. An answer ends its request. */
  mayBeSaid(message: JSONRPCMessage): boolean {
    if ('method' in message) {
      if ('id' in message) this.#asked.add(message.id);
      else if (message.method === 'notifications/cancelled') this.#asked.delete(requestIn(message) ?? '');
      return true;
    }
    if (message.id === undefined) return false;
    const isOfInitialize = this.#pending.get(message.id) === false;
    if (isOfInitialize && 'result' in message) this.#version = versionIn(message.result);
    return this.end(message.id);
  }

  /** Gives it to whoever deals with it. Comes to an answer where that one threw, which says nothing of why. */
  handOn(heard: Deliverable, to: Pick<Transport, 'onmessage' | 'onerror'>): RpcErrorAnswer | undefined {
    try {
      to.onmessage?.(heard.message);
    } catch (error) {
      to.onerror?.(toError(error));
      if (heard.kind === 'request' && this.end(heard.message.id))
        return rpcError(heard.message.id, RPC.internalError, 'Internal error');
    }
    if (heard.kind === 'told' && heard.ends !== undefined) this.end(heard.ends);
    return undefined;
  }

  /** A request is over. False where it was not in flight. */
  end(id: RequestId): boolean {
    const wasPending = this.#pending.delete(id);
    if (this.#pending.size === 0) this.#settled?.();
    return wasPending;
  }

  /** Nobody is there any more. */
  clear(): void {
    this.#pending.clear();
    this.#asked.clear();
    this.#settled?.();
  }

  #heardRequest(message: JSONRPCRequest): Heard {
    const { id, method, params } = message;
    const refuse = (code: number, what: string, reason: string): Heard => ({
      kind: 'refused',
      answer: rpcError(id, code, what, { reason }),
    });
    if (this.#pending.has(id)) return { kind: 'refused', answer: idInUse(id) };
    if (this.#closing !== undefined) return refuse(RPC.serverError, this.#closing, 'closing');
    if (this.#pending.size >= MOST_PENDING)
      return refuse(RPC.serverError, `${MOST_PENDING} requests are in flight already.`, 'too-many-requests');
    this.#pending.set(id, method !== 'initialize');
    if (method === 'initialize') this.#version ??= versionIn(params);
    return { kind: 'request', message };
  }

  /** What was asked is answered all the same, or it would wait for ever. */
  #heardNoAnswer(id: RequestId, reason: string): Heard {
    if (this.#asked.delete(id)) {
      const error = { code: RPC.invalidRequest, message: `The client gave no valid answer: ${reason}` };
      return { kind: 'told', message: { jsonrpc: '2.0', id, error } };
    }
    return {
      kind: 'refused',
      answer: rpcError(null, RPC.invalidRequest, 'Invalid Request', { reason }),
    };
  }

  #cancelledBy(message: JSONRPCNotification): RequestId | undefined {
    if (message.method !== 'notifications/cancelled') return undefined;
    const id = requestIn(message);
    return id !== undefined && this.#pending.get(id) === true ? id : undefined;
  }
}

/** Undefined for what is no text: whoever deals with the request refuses that. */
function versionIn(told: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const version = told?.['protocolVersion'];
  return typeof version === 'string' ? version : undefined;
}

function requestIn({ params }: JSONRPCNotification): RequestId | undefined {
  const id = params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/**
 * Stands between the SDK's engine and the transport: sees which request is written, and is started and closed by the
 * runtime instead of by the engine.
 */
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { TransportError, type SessionTransport } from '../transports/session-transport.js';
import { RequestLostError, type JsonObject, type Progress, type RequestOrigin } from './protocol-client.js';

/** A request without an answer. */
export interface Pending {
  /** Any byte of it may have reached the server. */
  written: boolean;
  /** A server may ask something in the course of it. */
  readonly canRaiseQuestions: boolean;
  readonly origin: RequestOrigin | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly onid: (id: RequestId) => void;
  readonly answer: (result: JsonObject) => void;
  readonly fail: (error: Error) => void;
}

export class Tap implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;
  /** Set around the engine's synchronous send of a request, to learn its id. */
  sending: Pending | undefined;
  /** Hears every message before it is sent. */
  onwire?: ((message: JSONRPCMessage) => void) | undefined;

  constructor(private readonly inner: SessionTransport) {}

  start(): Promise<void> {
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.onwire?.(message);
    const pending = this.sending;
    if ('id' in message && message.id !== undefined) pending?.onid(message.id);
    try {
      const sent = this.inner.send(message, options);
      if (pending !== undefined) pending.written = true;
      await sent;
    } catch (error) {
      if (pending !== undefined && error instanceof TransportError) {
        pending.written = error.written;
        pending.fail(new RequestLostError(error.failure, error.written));
      }
      throw error;
    }
  }

  /** Ends the engine: its timers and handlers go. The transport is left alone. */
  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }

  /** The request is settled: the engine keeps nothing of it, neither handler nor timer. */
  forget(id: number): void {
    this.onmessage?.({ jsonrpc: '2.0', id, result: {} });
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }
}

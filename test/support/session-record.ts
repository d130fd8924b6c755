/** Drives a transport without a protocol client and records what it reports. */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { TransportError, type RawFailure } from '../../src/failures/transport-error.js';
import type { SessionTransport, TransportNotice } from '../../src/transports/session-transport.js';
import { createWatch } from './watch.js';

export interface SessionRecord {
  readonly messages: JSONRPCMessage[];
  readonly notices: TransportNotice[];
  readonly unreachable: { readonly count: number; readonly failure: RawFailure }[];
  readonly lost: { readonly id: RequestId; readonly failure: RawFailure }[];
  closes: number;
  activity: number;
  /** How often it reported a reason to send a ping. */
  doubts: number;
  /** Resolves at the first `onclose`. */
  readonly closed: Promise<void>;
  /** Resolves when the condition holds. It is checked after each report of the transport. */
  until(holds: () => boolean): Promise<void>;
  /** The result or error with this id, once it has arrived. */
  answerTo(id: RequestId): Promise<JSONRPCMessage>;
}

export function record(transport: SessionTransport): SessionRecord {
  let onclosed = (): void => {};
  const { changed, until } = createWatch();
  const messages: JSONRPCMessage[] = [];
  const find = (id: RequestId): JSONRPCMessage | undefined =>
    messages.find((message) => 'id' in message && message.id === id && !('method' in message));
  const kept: SessionRecord = {
    messages,
    notices: [],
    unreachable: [],
    lost: [],
    closes: 0,
    activity: 0,
    doubts: 0,
    closed: new Promise((resolve) => (onclosed = resolve)),
    until,
    answerTo: async (id) => {
      await until(() => find(id) !== undefined);
      return find(id)!;
    },
  };
  Object.assign(transport, {
    onmessage: (message: JSONRPCMessage) => {
      kept.messages.push(message);
      changed();
    },
    onnotice: (notice: TransportNotice) => {
      kept.notices.push(notice);
      changed();
    },
    onlost: (id: RequestId, failure: RawFailure) => {
      kept.lost.push({ id, failure });
      changed();
    },
    onunreachable: (count: number, failure: RawFailure) => {
      kept.unreachable.push({ count, failure });
      changed();
    },
    onactivity: () => {
      kept.activity += 1;
      changed();
    },
    onsuspect: () => {
      kept.doubts += 1;
      changed();
    },
    onclose: () => {
      kept.closes += 1;
      onclosed();
      changed();
    },
  });
  return kept;
}

export function request(id: RequestId, method: string, params: Record<string, unknown> = {}): JSONRPCMessage {
  return { jsonrpc: '2.0', id, method, params };
}

export function notification(method: string, params: Record<string, unknown> = {}): JSONRPCMessage {
  return { jsonrpc: '2.0', method, params };
}

export const INITIALIZE = request(0, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

/** `start`, `initialize` and `notifications/initialized`. */
export async function open(transport: SessionTransport): Promise<void> {
  await transport.start();
  await transport.send(INITIALIZE);
  transport.setProtocolVersion?.('2025-11-25');
  await transport.send(notification('notifications/initialized'));
}

/** The error that this promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<TransportError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof TransportError) return error;
  throw new Error(`Expected a TransportError, not ${String(error)}`);
}

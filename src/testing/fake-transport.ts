/**
 * A session transport that does what a test says and remembers what was asked of it. Nothing is behind it unless a
 * `peer` is given: then whatever is sent reaches that server, and its answers come back.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type {
  RawFailure,
  SessionTransport,
  TransportKind,
  TransportNotice,
} from '../transports/session-transport.js';

/** What an operation of the transport waits for; undefined: nothing. */
export type Wait = (() => Promise<void>) | undefined;

export interface FakeTransportOptions {
  readonly kind?: TransportKind;
  readonly peer?: { connect(transport: Transport): Promise<void> };
  /** Each may wait or reject; a `close` or `kill` that waits for ever is a session that cannot be proven gone. */
  readonly start?: Wait;
  readonly send?: Wait;
  readonly close?: Wait;
  readonly kill?: Wait;
}

export class FakeTransport implements SessionTransport {
  readonly kind: TransportKind;
  readonly pid = 4_242;
  ended: RawFailure | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  onstderr?: ((line: string) => void) | undefined;
  onnotice?: ((notice: TransportNotice) => void) | undefined;
  onlost?: ((id: RequestId, failure: RawFailure) => void) | undefined;
  onactivity?: (() => void) | undefined;
  ondoubt?: (() => void) | undefined;
  readonly sent: JSONRPCMessage[] = [];
  /** What was asked, in order. */
  readonly asked: ('start' | 'close' | 'kill')[] = [];
  readonly stderr: string[] = [];
  readonly #options: FakeTransportOptions;
  #isOver = false;
  #toPeer: Transport | undefined;

  constructor(options: FakeTransportOptions = {}) {
    this.#options = options;
    this.kind = options.kind ?? 'in-process';
  }

  /** Started, and neither ended nor closed. */
  get isOpen(): boolean {
    return this.asked.includes('start') && !this.#isOver;
  }

  async start(): Promise<void> {
    this.asked.push('start');
    await this.#options.start?.();
    const { peer } = this.#options;
    if (peer === undefined) return;
    this.#toPeer = this.#serverEnd();
    await peer.connect(this.#toPeer);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.sent.push(message);
    await this.#options.send?.();
    queueMicrotask(() => this.#toPeer?.onmessage?.(message));
  }

  async close(): Promise<void> {
    this.asked.push('close');
    await this.#options.close?.();
    this.#finish();
  }

  async kill(): Promise<void> {
    this.asked.push('kill');
    await this.#options.kill?.();
    this.#finish();
  }

  stderrTail(): readonly string[] {
    return this.stderr;
  }

  simulateMessage(message: unknown): void {
    this.onactivity?.();
    this.onmessage?.(message as never);
  }

  /** The server's side is over. */
  simulateEnd(failure: RawFailure = { code: 'process-exited', message: 'It exited.' }): void {
    if (this.#isOver) return;
    this.ended = failure;
    this.#finish();
  }

  simulateStderr(line: string): void {
    this.stderr.push(line);
    this.onstderr?.(line);
  }

  simulateNotice(notice: TransportNotice): void {
    this.onnotice?.(notice);
  }

  /** One request will not be answered, though the session goes on. */
  simulateLost(
    id: RequestId,
    failure: RawFailure = { code: 'connection-lost', message: 'The stream was cut.' },
  ): void {
    this.onlost?.(id, failure);
  }

  /** Something broke that says nothing for sure. */
  simulateDoubt(): void {
    this.ondoubt?.();
  }

  simulateActivity(): void {
    this.onactivity?.();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#toPeer?.onclose?.();
    this.onclose?.();
  }

  #serverEnd(): Transport {
    return {
      start: async () => {},
      send: async (message) => {
        queueMicrotask(() => {
          if (!this.#isOver) this.simulateMessage(message);
        });
      },
      close: async () =>
        this.simulateEnd({ code: 'connection-lost', message: 'The server closed the session.' }),
    };
  }
}

/** A transport for a client of the SDK, or for whatever else speaks through one, with a test at the other end. */
export function createFakeTransport(options: FakeTransportOptions = {}): FakeTransport {
  return new FakeTransport(options);
}

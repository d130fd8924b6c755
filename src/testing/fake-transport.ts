/**
 * A session transport that a test controls, and that records every operation. With a `peer`, its messages reach that
 * server, and the answers come back; without one, nothing answers.
 */
import type { Transport } from '../mcp/transport.js';
import type { JSONRPCMessage, RequestId } from '../mcp/messages.js';
import type { SessionTransport, TransportKind, TransportNotice } from '../transports/session-transport.js';
import type { RawFailure } from '../failures/transport-error.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';

/** What an operation of the transport waits for; undefined: nothing. */
export type Wait = (() => Promise<void>) | undefined;

/**
 * Options of `createFakeTransport`. Each of `start`, `send`, `close` and `kill` runs before the operation
 * completes, and may wait or reject.
 */
export interface FakeTransportOptions {
  /** Kind that the transport reports. Default `in-process`. */
  readonly kind?: TransportKind;
  /** Server that answers, such as a `ScriptedServer`. Default: nobody answers. */
  readonly peer?: {
    /**
     * Called at `start` with the server's end of the transport.
     *
     * @param transport The server's end; its `onmessage` receives what the client sends.
     */
    connect(transport: Transport): Promise<void>;
  };
  /** Runs during `start`, which rejects if it does. */
  readonly start?: Wait;
  /** Runs during each `send`, which rejects if it does. */
  readonly send?: Wait;
  /** Runs during `close`. One that never resolves simulates a session that cannot be proven gone. */
  readonly close?: Wait;
  /** Runs during `kill`. One that never resolves simulates a session that cannot be proven gone. */
  readonly kill?: Wait;
}

/**
 * A transport without a server: it records what it is asked to do, and the test simulates the server's side.
 *
 * @example
 * ```ts
 * import { createFakeTransport } from 'mcp-troupe/testing';
 *
 * const transport = createFakeTransport();
 * await transport.start();
 * await transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
 * transport.simulateMessage({ jsonrpc: '2.0', id: 1, result: {} });
 * transport.simulateStderr('out of memory');
 * transport.simulateEnd({ code: 'process-exited', message: 'It exited.' });
 * ```
 */
export class FakeTransport implements SessionTransport {
  /** The kind from the options. Default `in-process`. */
  readonly kind: TransportKind;
  readonly pid = 4_242;
  ended: RawFailure | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  onstderr?: ((line: string) => void) | undefined;
  /** Called for each simulated notice. */
  onnotice?: ((notice: TransportNotice) => void) | undefined;
  onlost?: ((id: RequestId, failure: RawFailure) => void) | undefined;
  onactivity?: (() => void) | undefined;
  onunreachable?: SessionTransport['onunreachable'];
  onsuspect?: (() => void) | undefined;
  /** Every message that was sent, in order. */
  readonly sent: JSONRPCMessage[] = [];
  /** Every call of `start`, `close` and `kill`, in order. */
  readonly asked: ('start' | 'close' | 'kill')[] = [];
  /** Lines of simulated stderr, oldest first. */
  readonly stderr: string[] = [];
  readonly #options: FakeTransportOptions;
  #isOver = false;
  #toPeer: Transport | undefined;

  /** @param options Kind, peer, and what each operation waits for. Default: `in-process`, no peer, and no waits. */
  constructor(options: FakeTransportOptions = {}) {
    this.#options = options;
    this.kind = options.kind ?? 'in-process';
  }

  /** True after `start`, until it ends or is closed. */
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

  /**
   * Sends a message to the peer, if there is one.
   *
   * @param message The message. It is added to `sent` before anything else happens.
   */
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

  /**
   * Delivers a message from the server, valid or not.
   *
   * @param message The message, passed on as it is.
   */
  simulateMessage(message: unknown): void {
    this.onactivity?.();
    this.onmessage?.(message as never);
  }

  /**
   * Ends the session from the server's side.
   *
   * @param failure Why the session ended; becomes `ended`. Default: `process-exited`.
   */
  simulateEnd(failure: RawFailure = { code: 'process-exited', message: 'It exited.' }): void {
    if (this.#isOver) return;
    this.ended = failure;
    this.#finish();
  }

  /**
   * Delivers a line of the server's stderr.
   *
   * @param line The line without its line feed.
   */
  simulateStderr(line: string): void {
    this.stderr.push(line);
    this.onstderr?.(line);
  }

  /**
   * Delivers a notice of the transport.
   *
   * @param notice The kind of oddity, and a sentence about it.
   */
  simulateNotice(notice: TransportNotice): void {
    this.onnotice?.(notice);
  }

  /**
   * Reports that one request will not be answered, although the session goes on.
   *
   * @param id JSON-RPC id of a request that was sent.
   * @param failure Why there is no answer. Default: `connection-lost`.
   */
  simulateLost(
    id: RequestId,
    failure: RawFailure = { code: 'connection-lost', message: 'The stream was cut.' },
  ): void {
    this.onlost?.(id, failure);
  }

  /** Reports a fault that does not prove the session lost. */
  simulateDoubt(): void {
    this.onsuspect?.();
  }

  /** Reports a sign of life from the server. */
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

const OPTIONS: OptionNames<FakeTransportOptions> = {
  kind: true,
  peer: true,
  start: true,
  send: true,
  close: true,
  kill: true,
};

/**
 * Makes a transport without a server, for a client of the MCP SDK or anything else that uses a transport.
 *
 * @param options Kind, peer, and what each operation waits for. Default: `in-process`, no peer, and no waits.
 *
 * @throws `TypeError` for an unknown option.
 *
 * @example
 * ```ts
 * import { createFakeTransport } from 'mcp-troupe/testing';
 *
 * const transport = createFakeTransport();
 * await transport.start();
 * transport.simulateMessage({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
 * transport.simulateEnd();
 * ```
 */
export function createFakeTransport(options: FakeTransportOptions = {}): FakeTransport {
  requireKnown('createFakeTransport', options, OPTIONS);
  return new FakeTransport(options);
}

/**
 * A server in this process, connected in memory: two linked ends, one for the client and one for the server.
 *
 * Messages are passed by reference, not copied: a copy would cost more than the rest of a call, and the protocol layers on
 * both sides read messages without changing them.
 *
 * P1. Each message arrives in a microtask of its own, in the order of sending, and never inside the sender's `send()`.
 * P2. When one end closes, both end, once each, after the messages that were sent before.
 * P3. What a receiver throws goes to its own `onerror` and never reaches the sender.
 */
import type { Transport, TransportSendOptions } from '../mcp/transport.js';
import type { JSONRPCMessage } from '../mcp/messages.js';
import { messageOf } from '../text/error-message.js';
import { runGuarded, type MessageContext, type SessionTransport } from './session-transport.js';
import { TransportError, type RawFailure } from '../failures/transport-error.js';

/** Recognized by shape: a `Server` or `McpServer` of either major version of the SDK has it. */
export interface InProcessServer {
  connect(transport: never): Promise<void>;
}

export function createInProcessTransport(server: InProcessServer): SessionTransport {
  return new InProcessTransport(server);
}

/** A message, and the request of the receiver that it belongs to, as the sender says. */
interface Delivery {
  readonly message: JSONRPCMessage;
  readonly context: MessageContext | undefined;
}

const CLOSED: RawFailure = {
  code: 'connection-lost',
  message: 'The in-process server closed the session.',
};

/** `NOW.then(fn)` runs `fn` in a microtask of its own, and costs less than `queueMicrotask`. */
const NOW = Promise.resolve();

export class LinkedEnd implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: SessionTransport['onmessage'];
  #peer: LinkedEnd | undefined;
  #isStarted = false;
  /** Messages that arrived before the start; undefined if there are none. */
  #early: Delivery[] | undefined;

  link(peer: LinkedEnd): void {
    this.#peer = peer;
    peer.#peer = this;
  }

  /** Delivers the messages that arrived before. */
  async start(): Promise<void> {
    this.#isStarted = true;
    for (const delivery of this.#early ?? []) this.#deliverSoon(delivery);
    this.#early = undefined;
  }

  async send(message: JSONRPCMessage, { relatedRequestId }: TransportSendOptions = {}): Promise<void> {
    if (this.#peer === undefined) throw notOpen();
    const context = relatedRequestId === undefined ? undefined : { relatedRequestId };
    if (this.#peer.#isStarted) this.#peer.#deliverSoon({ message, context });
    else (this.#peer.#early ??= []).push({ message, context });
  }

  /** `why` is the reason that the other end gets. Default: the session was closed. */
  async close(why?: RawFailure): Promise<void> {
    const peer = this.#peer;
    if (peer === undefined) return;
    this.#peer = undefined;
    peer.#peer = undefined;
    await Promise.all([this.#finish(undefined), peer.#finish(why ?? CLOSED)]);
  }

  protected receive({ message, context }: Delivery): void {
    this.onmessage?.(message, context);
  }

  /** `byPeer` is why the other end has closed the link; undefined if this one has. */
  protected finish(_byPeer: RawFailure | undefined): void {
    this.onclose?.();
  }

  #deliverSoon(delivery: Delivery): void {
    void NOW.then(() => runGuarded(this, () => this.receive(delivery)));
  }

  async #finish(byPeer: RawFailure | undefined): Promise<void> {
    this.#early = undefined;
    await Promise.resolve();
    runGuarded(this, () => this.finish(byPeer));
  }
}

class InProcessTransport extends LinkedEnd implements SessionTransport {
  readonly kind = 'in-process';
  onactivity?: (() => void) | undefined;
  readonly #server: InProcessServer;
  readonly #serverEnd = new LinkedEnd();
  #phase: 'new' | 'open' | 'over' = 'new';
  #ended: RawFailure | undefined;
  /** Undefined except during the start. */
  #abortStart: ((reason: TransportError) => void) | undefined;

  constructor(server: InProcessServer) {
    super();
    this.#server = server;
    this.link(this.#serverEnd);
  }

  get ended(): RawFailure | undefined {
    return this.#ended;
  }

  stderrTail(): readonly string[] {
    return [];
  }

  /** A server whose `connect` never settles keeps this waiting until `close()`. */
  override async start(): Promise<void> {
    if (this.#phase !== 'new') {
      throw new TransportError({
        code: 'internal',
        message: 'The transport was started before; it can start only once.',
      });
    }
    this.#phase = 'open';
    await super.start();
    try {
      await Promise.race([this.#server.connect(this.#serverEnd as never), this.#isOver()]);
    } catch (error) {
      this.#phase = 'over';
      await super.close();
      throw error instanceof TransportError ? error : refused(error);
    } finally {
      this.#abortStart = undefined;
    }
  }

  kill(): Promise<void> {
    return this.close();
  }

  protected override receive(delivery: Delivery): void {
    this.onactivity?.();
    super.receive(delivery);
  }

  protected override finish(byPeer: RawFailure | undefined): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.#ended = byPeer;
    this.#abortStart?.(this.#ended === undefined ? notOpen() : new TransportError(this.#ended));
    super.finish(byPeer);
  }

  #isOver(): Promise<never> {
    return new Promise((_, reject) => {
      this.#abortStart = reject;
    });
  }
}

function notOpen(): TransportError {
  return new TransportError({ code: 'connection-lost', message: 'The in-process session is not open.' });
}

function refused(cause: unknown): TransportError {
  const reason = messageOf(cause);
  const message = `The in-process server did not accept the connection: ${reason}`;
  return new TransportError({ code: 'spawn-failed', message }, { cause });
}

/**
 * The registry of everything live: transports, protocol clients and calls, by connection and generation.
 *
 * Owns every live thing from the moment it may exist until it is proven gone. Knows no lifecycle state: the machines
 * decide, this obeys.
 *
 * S1. The entry exists before its transport is opened, so that a stop during `opening` finds it.
 * S2. `close` and `kill` never reject, are idempotent, and resolve when nothing of the session is left, or with the
 *     failure that says what could not be ended.
 * S3. A transport that arrives after its session was told to close is refused; its opener closes it.
 * S4. Pending requests are settled before a close begins.
 */
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { SessionKey } from '../machines/connection.events.js';
import type { ProtocolClient } from './protocol/protocol-client.js';
import { TransportError, type RawFailure, type SessionTransport } from './transports/session-transport.js';

const CLOSING: RawFailure = { code: 'connection-lost', message: 'The connection is being closed.' };

/** What survived the end of a session; undefined where nothing did. */
export type Released = RawFailure | undefined;

/** One live transport and the protocol client on it. */
export class Session {
  client: ProtocolClient | undefined;
  capabilities: ServerCapabilities = {};
  /** Time of the last sign of life from the server, milliseconds since the epoch. */
  activeAt = 0;
  onlost: ((failure: RawFailure) => void) | undefined;
  onlistchanged: (() => void) | undefined;
  #transport: SessionTransport | undefined;
  #ending: Promise<Released> | undefined;
  #calls = 0;
  #onidle: (() => void) | undefined;

  constructor(readonly key: SessionKey) {}

  get transport(): SessionTransport | undefined {
    return this.#transport;
  }

  get isClosing(): boolean {
    return this.#ending !== undefined;
  }

  /** Calls without an answer. */
  get calls(): number {
    return this.#calls;
  }

  /** Takes over a transport that was not started yet. Throws a `TransportError` when the session is closing. */
  own(transport: SessionTransport): void {
    if (this.isClosing) throw new TransportError(CLOSING);
    this.#transport = transport;
    transport.onclose = () => this.onlost?.(transport.ended ?? CLOSING);
  }

  beginCall(): void {
    this.#calls += 1;
  }

  endCall(): void {
    this.#calls -= 1;
    if (this.#calls === 0) this.#onidle?.();
  }

  /** Resolves when no call is in flight, or when the signal aborts. */
  async idle(signal: AbortSignal): Promise<void> {
    if (this.#calls === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#onidle = undefined;
        resolve();
      };
      this.#onidle = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }

  close(): Promise<Released> {
    return (this.#ending ??= this.#end((transport) => transport.close()));
  }

  async kill(): Promise<Released> {
    const ending = this.#ending;
    this.#ending ??= this.#end((transport) => transport.kill());
    if (ending !== undefined) await this.#transport?.kill();
    return this.#ending;
  }

  async #end(how: (transport: SessionTransport) => Promise<void>): Promise<Released> {
    this.onlost = undefined;
    this.onlistchanged = undefined;
    this.client?.abandon(this.#transport?.ended ?? CLOSING);
    if (this.#transport !== undefined) await how(this.#transport);
    const left = this.#transport?.ended;
    return left?.code === 'not-released' ? left : undefined;
  }
}

export class Sessions {
  readonly #live = new Map<string, Set<Session>>();

  /** Sessions that are not proven gone. */
  get size(): number {
    let size = 0;
    for (const sessions of this.#live.values()) size += sessions.size;
    return size;
  }

  begin(key: SessionKey): Session {
    const session = new Session(key);
    const sessions = this.#live.get(key.name);
    if (sessions === undefined) this.#live.set(key.name, new Set([session]));
    else sessions.add(session);
    return session;
  }

  get(key: SessionKey): Session | undefined {
    for (const session of this.#live.get(key.name) ?? []) {
      if (session.key.generation === key.generation) return session;
    }
    return undefined;
  }

  /** The newest session of a connection. */
  latest(name: string): Session | undefined {
    return [...(this.#live.get(name) ?? [])].at(-1);
  }

  /** Closes every session of a connection. See S2. */
  async close(name: string): Promise<Released> {
    return this.#each(name, (session) => session.close());
  }

  /** Ends every session of a connection without courtesy. See S2. */
  async kill(name: string): Promise<Released> {
    return this.#each(name, (session) => session.kill());
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#live.keys()].map((name) => this.close(name)));
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#live.keys()].map((name) => this.kill(name)));
  }

  async #each(name: string, end: (session: Session) => Promise<Released>): Promise<Released> {
    const sessions = [...(this.#live.get(name) ?? [])];
    const released = await Promise.all(
      sessions.map(async (session) => {
        const left = await end(session);
        this.#forget(session);
        return left;
      }),
    );
    return released.find((left) => left !== undefined);
  }

  #forget(session: Session): void {
    const sessions = this.#live.get(session.key.name);
    sessions?.delete(session);
    if (sessions?.size === 0) this.#live.delete(session.key.name);
  }
}

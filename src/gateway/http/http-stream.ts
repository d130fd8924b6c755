/**
 * One stream of a session: its messages, over one response after the other (MCP specification, transports: streamable
 * HTTP; the format is that of HTML, server-sent events).
 *
 * Owns the present response. The messages are in the session's event log.
 *
 * H1. It has at most one response: a later one takes over and the earlier one is ended.
 * H2. A response whose client does not read is cut off when too much waits for it, or when it is finished and the
 *     client takes too long for the rest; the client may resume.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../ports.js';
import { toEventId, type Cursor, type HttpEventLog, type LoggedEvent } from './http-event-log.js';

/** How often an idle stream sends a sign of life, milliseconds. */
export const KEEP_ALIVE_MS = 15_000;
/** Time limit for a client to read the rest of a finished response, milliseconds. */
const REST_LIMIT_MS = 30_000;
/** Time before a client reconnects a broken stream, milliseconds. */
const RETRY_MS = 1_000;

export const STREAM_HEAD = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

export interface Attachment {
  readonly head: Readonly<Record<string, string>>;
  readonly primes: boolean;
  readonly since?: number | undefined;
}

export interface StreamPorts {
  readonly clock: Clock;
  readonly log: HttpEventLog;
  /** Whether too much waits unread in the session. */
  readonly isFull: () => boolean;
}

export class HttpStream {
  readonly #number: number;
  readonly #ports: StreamPorts;
  #response: ServerResponse | undefined;
  #timer: unknown;
  #writtenUpTo: number;

  constructor(beginning: Cursor, ports: StreamPorts) {
    this.#number = beginning.stream;
    this.#writtenUpTo = beginning.seq;
    this.#ports = ports;
  }

  /**
   * Continues over this response, whose head is written here: with the messages after that event, or else with those
   * that were never written. `primes`: the client gets at once an event from which it can resume; older clients fail on such an
   * event.
   */
  attach(response: ServerResponse, { head, primes, since = this.#writtenUpTo }: Attachment): void {
    this.#endResponse();
    this.#response = response;
    response.once('close', () => {
      if (this.#response === response) this.#detach();
    });
    response.writeHead(200, { ...head, ...STREAM_HEAD });
    const cursor = { stream: this.#number, seq: since };
    if (primes) response.write(`id: ${toEventId(cursor)}\nretry: ${RETRY_MS}\ndata: \n\n`);
    else response.flushHeaders();
    for (const event of this.#ports.log.since(cursor)) this.#write(event);
    this.#armKeepAlive();
  }

  /** The last event that was written to a response. */
  get writtenUpTo(): number {
    return this.#writtenUpTo;
  }

  /** Whether it has a response. */
  get isAttached(): boolean {
    return this.#response !== undefined;
  }

  send(data: string): void {
    const event = this.#ports.log.add(this.#number, data);
    if (this.#response === undefined) return;
    if (this.#response.writableLength > 0 && this.#ports.isFull()) this.#detach()?.destroy();
    else this.#write(event);
  }

  /** No more messages follow. */
  finish(): void {
    this.#ports.log.finish(this.#number);
    this.#endResponse();
  }

  #write({ seq, data }: LoggedEvent): void {
    this.#writtenUpTo = Math.max(this.#writtenUpTo, seq);
    const id = toEventId({ stream: this.#number, seq });
    this.#response?.write(`event: message\nid: ${id}\ndata: ${data}\n\n`);
  }

  #armKeepAlive(): void {
    this.#timer = this.#ports.clock.setTimeout(() => {
      this.#response?.write(':\n\n');
      this.#armKeepAlive();
    }, KEEP_ALIVE_MS);
  }

  #endResponse(): void {
    const response = this.#detach();
    if (response !== undefined) endWithin(response, this.#ports.clock);
  }

  #detach(): ServerResponse | undefined {
    const response = this.#response;
    this.#response = undefined;
    this.#ports.clock.clearTimeout(this.#timer);
    return response;
  }
}

/** Ends a response, and cuts it off if the client takes too long for the rest. */
export function endWithin(response: ServerResponse, clock: Clock): void {
  response.end();
  if (response.writableLength === 0) return;
  const timer = clock.setTimeout(() => response.destroy(), REST_LIMIT_MS);
  response.once('close', () => clock.clearTimeout(timer));
}

/**
 * One stream of a session: what is said on it, over one response after the other (MCP specification, transports:
 * streamable HTTP; the format is that of HTML, server-sent events).
 *
 * Owns the response that it is attached to at the moment. What was said is in the session's event log.
 *
 * H1. It is attached to one response at most: a later one takes over and the earlier one is ended.
 * H2. A response whose client does not read is cut off when too much waits for it, or when it is finished and the client
 *     takes too long for the rest; the client may resume.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../ports.js';
import { toEventId, type Cursor, type HttpEventLog, type LoggedEvent } from './http-event-log.js';

/** How often a stream on which nothing is said shows that it lives, milliseconds. */
const KEEP_ALIVE_MS = 15_000;
/** Bytes that may wait for a client before the next message is written. */
const MOST_UNREAD = 16 * 1_024 * 1_024;
/** Longest that a client may take for the rest of a response that is finished, milliseconds. */
const REST_LIMIT_MS = 30_000;
/** When a client whose stream broke may be back, milliseconds. */
const RETRY_MS = 1_000;

const STREAM_HEAD = {
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
}

export class HttpStream {
  readonly #number: number;
  readonly #ports: StreamPorts;
  #response: ServerResponse | undefined;
  #timer: unknown;
  /** The last event that was given to a response. */
  #saidUpTo: number;

  constructor(beginning: Cursor, ports: StreamPorts) {
    this.#number = beginning.stream;
    this.#saidUpTo = beginning.seq;
    this.#ports = ports;
  }

  /**
   * Goes on over this response, whose head is written here: with what the client has not got since that event, or else
   * with what nobody has got yet. `primes` tells the client at once from where it may resume; older clients choke on that.
   */
  attach(response: ServerResponse, { head, primes, since = this.#saidUpTo }: Attachment): void {
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

  /** Somebody reads it. */
  get isAttached(): boolean {
    return this.#response !== undefined;
  }

  say(data: string): void {
    const event = this.#ports.log.add(this.#number, data);
    if (this.#response === undefined) return;
    if (this.#response.writableLength > MOST_UNREAD) this.#detach()?.destroy();
    else this.#write(event);
  }

  /** Nothing more is said on it. */
  finish(): void {
    this.#ports.log.finish(this.#number);
    this.#endResponse();
  }

  #write({ seq, data }: LoggedEvent): void {
    this.#saidUpTo = Math.max(this.#saidUpTo, seq);
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
    response?.end();
    if (response === undefined || response.writableLength === 0) return;
    const { clock } = this.#ports;
    const timer = clock.setTimeout(() => response.destroy(), REST_LIMIT_MS);
    response.once('close', () => clock.clearTimeout(timer));
  }

  #detach(): ServerResponse | undefined {
    const response = this.#response;
    this.#response = undefined;
    this.#ports.clock.clearTimeout(this.#timer);
    return response;
  }
}

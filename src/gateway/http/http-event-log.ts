/**
 * The messages on the streams of one session, so that a broken stream can be resumed (MCP specification, transports:
 * resumability).
 *
 * E1. It is limited by bytes and by age; the oldest messages are dropped first.
 * E2. A stream is resumed without a gap or not at all.
 * E3. Nothing is left after `close()`.
 */
import type { Clock } from '../../ports.js';

/** How much of one session is kept, and for how long. */
export interface EventLogLimits {
  /** Maximum size of the kept messages, in bytes. 0 keeps none. Default 4 MiB. */
  readonly maxBytes?: number;
  /** Maximum age of a kept message, in milliseconds. Default 300,000. */
  readonly maxAgeMs?: number;
}

export interface LoggedEvent {
  readonly seq: number;
  readonly data: string;
}

/** The position of a client when its stream broke. */
export interface Cursor {
  readonly stream: number;
  readonly seq: number;
}

interface KeptEvent {
  readonly stream: number;
  readonly data: string;
  readonly bytes: number;
  readonly at: number;
}

interface KnownStream {
  /** Number of its kept events. */
  count: number;
  /** The last event that is no longer kept. */
  lostUpTo: number;
  isFinished: boolean;
}

const DEFAULT_LIMITS: Required<EventLogLimits> = { maxBytes: 4 * 1_024 * 1_024, maxAgeMs: 300_000 };
/** In the form of `Last-Event-ID`. */
export function toEventId({ stream, seq }: Cursor): string {
  return `${stream}.${seq}`;
}

const CURSOR = /^(\d{1,15})\.(\d{1,15})$/;

export function toCursor(eventId: string): Cursor | undefined {
  const [, stream, seq] = CURSOR.exec(eventId) ?? [];
  return seq === undefined ? undefined : { stream: Number(stream), seq: Number(seq) };
}

export class HttpEventLog {
  readonly #clock: Clock;
  readonly #limits: Required<EventLogLimits>;
  readonly #streams = new Map<number, KnownStream>();
  /** By number, the oldest first. */
  readonly #events = new Map<number, KeptEvent>();
  #bytes = 0;
  #seq = 0;
  #timer: unknown;

  constructor(clock: Clock, limits: EventLogLimits = {}) {
    this.#clock = clock;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** Starts a stream and returns its first position. */
  begin(stream: number): Cursor {
    this.#streams.set(stream, { count: 0, lostUpTo: 0, isFinished: false });
    return { stream, seq: this.#seq };
  }

  /** Ends the stream; it is forgotten with its last event. */
  finish(stream: number): void {
    const known = this.#streams.get(stream);
    if (known === undefined) return;
    known.isFinished = true;
    if (known.count === 0) this.#streams.delete(stream);
  }

  add(stream: number, data: string): LoggedEvent {
    this.#seq += 1;
    const event: KeptEvent = { stream, data, bytes: Buffer.byteLength(data), at: this.#clock.now() };
    const known = this.#streams.get(stream);
    if (known !== undefined) {
      this.#events.set(this.#seq, event);
      this.#bytes += event.bytes;
      known.count += 1;
      this.#dropOld();
    }
    return { seq: this.#seq, data };
  }

  /** Whether everything on the stream since then is still kept. */
  isWholeSince({ stream, seq }: Cursor): boolean {
    this.#dropOld();
    const known = this.#streams.get(stream);
    return known !== undefined && known.lostUpTo <= seq && seq <= this.#seq;
  }

  /** The kept messages on the stream since then. */
  since({ stream, seq }: Cursor): readonly LoggedEvent[] {
    return [...this.#events]
      .filter(([number, event]) => event.stream === stream && number > seq)
      .map(([number, { data }]) => ({ seq: number, data }));
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#streams.clear();
    this.#events.clear();
    this.#bytes = 0;
  }

  #dropOld(): void {
    const oldest = this.#clock.now() - this.#limits.maxAgeMs;
    for (const [seq, event] of this.#events) {
      if (this.#bytes <= this.#limits.maxBytes && event.at > oldest) break;
      this.#drop(seq, event);
    }
    const [first] = this.#events.values();
    if (first === undefined || this.#timer !== undefined) return;
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#dropOld();
      },
      first.at + this.#limits.maxAgeMs - this.#clock.now(),
    );
  }

  #drop(seq: number, { stream, bytes }: KeptEvent): void {
    this.#events.delete(seq);
    this.#bytes -= bytes;
    const known = this.#streams.get(stream);
    if (known === undefined) return;
    known.count -= 1;
    known.lostUpTo = seq;
    if (known.isFinished && known.count === 0) this.#streams.delete(stream);
  }
}

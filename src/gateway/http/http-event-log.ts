/**
 * The messages on the streams of one session, so that a broken stream can be resumed (MCP specification, transports:
 * resumability).
 *
 * E1. It is limited by bytes and by age; the oldest messages are dropped first.
 * E2. A stream is resumed without a gap or not at all.
 * E3. Nothing is left after `close()`.
 */
import type { Clock } from '../../ports.js';
import { NumberedQueue } from './numbered-queue.js';

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

interface KeptEvent extends LoggedEvent {
  readonly stream: number;
  readonly bytes: number;
  readonly at: number;
}

interface KnownStream {
  readonly kept: NumberedQueue<KeptEvent>;
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
  /** Of all streams. The oldest of them is also the oldest of its stream. */
  readonly #kept = new NumberedQueue<KeptEvent>();
  #bytes = 0;
  #seq = 0;
  #timer: unknown;

  constructor(clock: Clock, limits: EventLogLimits = {}) {
    this.#clock = clock;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** The position after the last message. */
  get seq(): number {
    return this.#seq;
  }

  /** Continues the numbers of another log, whose messages are not here. */
  continueFrom(seq: number): void {
    this.#seq = seq;
  }

  /** Starts a stream and returns its first position. `lostUpTo`: its last message in the log that this one continues. */
  begin(stream: number, lostUpTo = 0): Cursor {
    this.#streams.set(stream, { kept: new NumberedQueue(), lostUpTo, isFinished: false });
    return { stream, seq: this.#seq };
  }

  /** Ends the stream; it is forgotten with its last event. */
  finish(stream: number): void {
    const known = this.#streams.get(stream);
    if (known === undefined) return;
    known.isFinished = true;
    if (known.kept.first === undefined) this.#streams.delete(stream);
  }

  add(stream: number, data: string): LoggedEvent {
    this.#seq += 1;
    const event = { seq: this.#seq, stream, data, bytes: Buffer.byteLength(data), at: this.#clock.now() };
    const known = this.#streams.get(stream);
    if (known !== undefined) {
      this.#kept.push(event);
      known.kept.push(event);
      this.#bytes += event.bytes;
      this.#dropOld();
    }
    return event;
  }

  /** Whether everything on the stream since then is still kept. */
  isWholeSince({ stream, seq }: Cursor): boolean {
    this.#dropOld();
    const known = this.#streams.get(stream);
    return known !== undefined && known.lostUpTo <= seq && seq <= this.#seq;
  }

  /** The kept messages on the stream since then. */
  since({ stream, seq }: Cursor): readonly LoggedEvent[] {
    return this.#streams.get(stream)?.kept.after(seq) ?? [];
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#streams.clear();
    this.#kept.clear();
    this.#bytes = 0;
  }

  #dropOld(): void {
    const oldest = this.#clock.now() - this.#limits.maxAgeMs;
    let { first } = this.#kept;
    while (first !== undefined && (this.#bytes > this.#limits.maxBytes || first.at <= oldest)) {
      this.#drop(first);
      ({ first } = this.#kept);
    }
    if (first === undefined || this.#timer !== undefined) return;
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#dropOld();
      },
      first.at + this.#limits.maxAgeMs - this.#clock.now(),
    );
  }

  #drop({ seq, stream, bytes }: KeptEvent): void {
    this.#kept.shift();
    this.#bytes -= bytes;
    const known = this.#streams.get(stream);
    if (known === undefined) return;
    known.kept.shift();
    known.lostUpTo = seq;
    if (known.isFinished && known.kept.first === undefined) this.#streams.delete(stream);
  }
}

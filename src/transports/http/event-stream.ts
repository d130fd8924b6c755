/**
 * Reads server-sent events from the body of a reply (HTML section 9.2, "Server-sent events").
 *
 * E1. Work and memory are linear in the size of the body, however it is split into chunks and whatever it holds.
 * E2. An event above the limit is skipped as a whole and reported once, without waiting for its end; the next one is read
 *     as usual.
 */
import type { RequestId } from '../../mcp/messages.js';
import { LineFramer, type OversizeLine } from '../../text/line-framer.js';
import { answeredId } from '../message-limits.js';
import type { HttpReply } from './http-exchange.js';
import { mediaType } from './http-refusal.js';

export const EVENT_STREAM = 'text/event-stream';

/** Other values do not encode anything: `none` is often sent to keep a proxy from encoding a stream. */
const ENCODED = /\b(?:gzip|deflate|br|zstd|compress)\b/i;

/** Whether the body is an event stream that can be read. No encoding was requested. */
export function isEventStream(reply: HttpReply): boolean {
  return mediaType(reply) === EVENT_STREAM && !ENCODED.test(reply.header('content-encoding') ?? '');
}

export interface ServerSentEvent {
  /** The id that this event carries; empty if it resets the last one. */
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

export interface EventReader {
  /** Characters one event may have, and bytes one line of it. */
  readonly maxSize: number;
  onEvent(event: ServerSentEvent): void;
  /** The pause that the server wants before a client reconnects, in milliseconds. */
  onRetry(ms: number): void;
  /** A message came, or more of a long one. Anything else may only keep the stream open. */
  onactivity(): void;
  /** An event exceeds the limit. It is skipped, and reading goes on unless this throws. */
  onOversize(): void;
  /** The event that exceeds the limit answers this request, as its first and last bytes say. */
  onSkippedAnswer?(id: RequestId): void;
}

/** An id is sent back in a header, which cannot carry these characters. The standard excludes NUL. */
const UNSENDABLE = /\p{Cc}/u;
const BYTE_ORDER_MARK = 0xfeff;
/** Anything longer is not a comment, or anything else that only keeps a stream open. */
const LONG_BYTES = 4_096;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/**
 * Resolves when the stream has ended; rejects when it is cut, or with what a callback threw.
 *
 * A microtask separates the events of one chunk: a protocol client that handles notifications a microtask later would
 * otherwise see a result before the progress that came ahead of it.
 */
export async function readEvents(body: AsyncIterable<Uint8Array>, reader: EventReader): Promise<void> {
  const parser = new EventParser(reader.maxSize);
  for await (const chunk of body) {
    const reports = parser.feed(chunk);
    if (parser.hasMessage) reader.onactivity();
    for (const report of reports) {
      report(reader);
      await Promise.resolve();
    }
  }
}

/**
 * Whether an event carries a JSON-RPC message: it has the default type, and does not only bring an id. An event that only
 * brings an id is empty (MCP 2025-11-25, "Streamable HTTP"); servers built on the SDK repeat it as `{}` when a stream is
 * resumed.
 */
export function carriesMessage(event: ServerSentEvent): boolean {
  return (event.event === undefined || event.event === 'message') && event.data !== '' && event.data !== '{}';
}

/** Reports one thing that a chunk has brought. Reports are made in order. */
type Report = (reader: EventReader) => void;

class EventParser {
  readonly #maxSize: number;
  readonly #lines: LineFramer;
  #reports: Report[] = [];
  #isFirstLine = true;
  #endedInReturn = false;
  /** Characters of the event that has not ended yet, with everything that belongs to it. */
  #size = 0;
  #isOversize = false;
  /** The beginning of the event that exceeds the limit. */
  #head: string | undefined;
  #isAnswerKnown = false;
  #data: string[] = [];
  #id: string | undefined;
  #event: string | undefined;
  #hasMessage = false;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
    const sink = {
      line: (text: string) => this.#read(text),
      oversize: (line: OversizeLine) => this.#overflow(line.head, line.tail),
    };
    this.#lines = new LineFramer(sink, maxSize);
  }

  /** Whether the last chunk brought a message, or more of a long one. */
  get hasMessage(): boolean {
    return this.#hasMessage || this.#size + this.#lines.unfinished > LONG_BYTES;
  }

  feed(chunk: Uint8Array): readonly Report[] {
    this.#hasMessage = false;
    this.#lines.push(this.#withLineFeeds(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)));
    if (this.#lines.unfinished > this.#maxSize) this.#overflow(this.#lines.beginning());
    const reports = this.#reports;
    this.#reports = [];
    return reports;
  }

  /** A line ends with CR, LF or both; after this, with LF alone. */
  #withLineFeeds(chunk: Buffer): Buffer {
    const hasLateFeed = this.#endedInReturn && chunk[0] === LINE_FEED;
    if (chunk.length > 0) this.#endedInReturn = chunk.at(-1) === CARRIAGE_RETURN;
    const rest = hasLateFeed ? chunk.subarray(1) : chunk;
    if (!rest.includes(CARRIAGE_RETURN)) return rest;
    const lines = Buffer.allocUnsafe(rest.length);
    let length = 0;
    let before = 0;
    for (const byte of rest) {
      if (byte !== LINE_FEED || before !== CARRIAGE_RETURN) {
        lines[length] = byte === CARRIAGE_RETURN ? LINE_FEED : byte;
        length += 1;
      }
      before = byte;
    }
    return lines.subarray(0, length);
  }

  #read(text: string): void {
    const hasMark = this.#isFirstLine && text.charCodeAt(0) === BYTE_ORDER_MARK;
    this.#isFirstLine = false;
    const line = hasMark ? text.slice(1) : text;
    if (line === '') return this.#dispatch();
    this.#size += line.length + 1;
    if (this.#size > this.#maxSize) this.#overflow(line);
    if (this.#isOversize || line.startsWith(':')) return;
    const colon = line.indexOf(':');
    if (colon === -1) return this.#set(line, '');
    this.#set(line.slice(0, colon), line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1));
  }

  #set(field: string, value: string): void {
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#event = value === '' ? undefined : value;
    if (field === 'id' && !UNSENDABLE.test(value)) this.#id = value;
    if (field === 'retry' && /^\d+$/.test(value))
      this.#reports.push((reader) => reader.onRetry(Number(value)));
  }

  /** @param line The line that exceeds the limit, or its beginning. */
  #overflow(line: string, tail = ''): void {
    this.#isFirstLine = false;
    this.#head ??= this.#data[0] ?? line.replace(/^\uFEFF?data: ?/, '');
    this.#data = [];
    if (!this.#isOversize) this.#reports.push((reader) => reader.onOversize());
    this.#isOversize = true;
    const id = this.#isAnswerKnown ? undefined : answeredId({ head: this.#head, tail });
    if (id === undefined) return;
    this.#isAnswerKnown = true;
    this.#reports.push((reader) => reader.onSkippedAnswer?.(id));
  }

  #dispatch(): void {
    if (!this.#isOversize && (this.#data.length > 0 || this.#id !== undefined)) {
      const event = { id: this.#id, event: this.#event, data: this.#data.join('\n') };
      this.#hasMessage ||= carriesMessage(event);
      this.#reports.push((reader) => reader.onEvent(event));
    }
    this.#size = 0;
    this.#isOversize = false;
    this.#head = undefined;
    this.#isAnswerKnown = false;
    this.#data = [];
    this.#id = undefined;
    this.#event = undefined;
  }
}

/**
 * Turns the bytes of a server's stdout into JSON-RPC messages.
 *
 * One `JSON.parse` a line and a cheap check of the shape: the protocol client validates what it uses. Anything else is
 * searched for messages (`message-search.ts`), and what is left is noise, never an error. JSON beyond the limits is refused
 * unparsed.
 */
import type { JSONRPCMessage, RequestId } from '../../mcp/messages.js';
import { messagesIn } from '../json-rpc.js';
import { LineFramer } from '../../text/line-framer.js';
import { excessOf, JSON_LIMITS, parseJson, type JsonLimits } from '../../json/parse-json.js';
import { piecesOf, SpreadMessage } from './message-search.js';
import { answeredId, endsOf } from '../message-limits.js';

export interface MessageSink {
  /** Must not throw. */
  message(message: JSONRPCMessage): void;
  /** A line that is not JSON-RPC, as it came. Must not throw. */
  noise(line: string): void;
  /** A line is beyond the limit; the request that it would have answered, if known. At most once a line. Must not throw. */
  tooLarge(id: RequestId | undefined): void;
  /** JSON is beyond a limit, `excess` says which; the request that it would have answered, if known. Must not throw. */
  tooComplex(excess: string, id: RequestId | undefined): void;
  /** A line far beyond the limit has not ended: nothing more can be read. Must not throw. */
  endless(): void;
}

const BYTE_ORDER_MARK = 0xfeff;
/** A line counts as endless when it exceeds the limit by this factor. */
const ENDLESS = 4;
/** An unfinished line is searched for a message without a line feed up to this length, and this many times. */
const LONGEST_UNFINISHED = 262_144;
const MAX_TRIES = 16;

export class MessageReader {
  readonly #sink: MessageSink;
  readonly #framer: LineFramer;
  readonly #maxBytes: number;
  readonly #limits: JsonLimits;
  #spread: SpreadMessage | undefined;
  /** Searches of the line that has not ended. */
  #tries = 0;
  #isReported = false;
  #isEndless = false;

  constructor(sink: MessageSink, maxMessageBytes: number, limits = JSON_LIMITS) {
    this.#sink = sink;
    this.#maxBytes = maxMessageBytes;
    this.#limits = limits;
    this.#framer = new LineFramer(
      {
        line: (text) => this.#read(text),
        oversize: (line) => {
          if (!this.#isReported) sink.tooLarge(answeredId(line));
          this.#isReported = false;
        },
      },
      maxMessageBytes,
    );
  }

  /** Lines that may still become a message, and the beginning of the line that has not ended. */
  get unread(): readonly string[] {
    const unfinished = this.#framer.beginning();
    return [...(this.#spread?.lines ?? []), ...(unfinished.trim() === '' ? [] : [unfinished])];
  }

  /** The line that has not ended is beyond the limit. */
  get isBeyondLimit(): boolean {
    return this.#framer.unfinished > this.#maxBytes;
  }

  push(chunk: Buffer): void {
    this.#framer.push(chunk);
    if (this.#framer.unfinished === 0) this.#tries = 0;
    else if (this.isBeyondLimit) this.#checkEnd();
    else if (chunk.at(-1) === CLOSING_BRACE) this.#readUnfinished();
  }

  /** Reports the line that has not ended, if it is beyond the limit. Otherwise it is reported at its end. */
  reportTooLarge(): void {
    if (!this.isBeyondLimit || this.#isReported) return;
    this.#isReported = true;
    this.#sink.tooLarge(answeredId({ head: this.#framer.beginning(), tail: '' }));
  }

  end(): void {
    this.#framer.end();
    this.#giveUpSpread();
  }

  #read(text: string): void {
    this.#tries = 0;
    const line = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
    const value = this.#parse(line);
    const messages = messagesIn(value);
    if (messages !== undefined) {
      this.#giveUpSpread();
      for (const message of messages) this.#sink.message(message);
    } else if (this.#spread !== undefined) this.#goOn(this.#spread, line);
    else if (value === undefined) this.#searchOrRefuse(line);
    else this.#noise(line);
  }

  #searchOrRefuse(line: string): void {
    if (!BEGINS_AS_JSON.test(line) || !this.#refuse(line)) this.#search(line);
  }

  /** Whether the text was refused: it is beyond a limit. */
  #refuse(text: string): boolean {
    const excess = excessOf(text, this.#limits);
    if (excess === undefined) return false;
    this.#sink.tooComplex(excess, answeredId(endsOf(text)));
    return true;
  }

  #goOn(spread: SpreadMessage, line: string): void {
    const next = spread.next(line);
    if (next.kind === 'open') return;
    if (next.kind === 'none') {
      this.#giveUpSpread();
      return this.#search(line);
    }
    this.#spread = undefined;
    if (next.kind === 'too-complex') this.#refuse(next.text);
    else for (const message of next.messages) this.#sink.message(message);
    if (next.rest.trim() !== '') this.#read(next.rest);
  }

  #search(line: string): void {
    const pieces = piecesOf(line, this.#limits);
    if (pieces === undefined) return this.#noise(line);
    for (const piece of pieces) {
      if (piece.kind === 'message') this.#sink.message(piece.message);
      else if (piece.kind === 'noise') this.#noise(piece.text);
      else if (piece.kind === 'too-complex') this.#refuse(piece.text);
      else this.#spread = new SpreadMessage(piece.text, this.#maxBytes, this.#limits);
    }
  }

  /** Some servers write a message without a line feed. */
  #readUnfinished(): void {
    const { unfinished } = this.#framer;
    if (unfinished > LONGEST_UNFINISHED || this.#tries >= MAX_TRIES) return;
    this.#tries += 1;
    const text = this.#framer.peek();
    if (!(this.#spread === undefined ? this.#endsInMessage(text) : /^\s*\}+$/.test(text))) return;
    this.#framer.drop();
    this.#read(text);
  }

  #checkEnd(): void {
    const { unfinished } = this.#framer;
    if (unfinished <= this.#maxBytes * ENDLESS || this.#isEndless) return;
    this.#isEndless = true;
    this.reportTooLarge();
    this.#sink.endless();
  }

  #giveUpSpread(): void {
    const lines = this.#spread?.lines ?? [];
    this.#spread = undefined;
    for (const line of lines) this.#noise(line);
  }

  #noise(line: string): void {
    if (line.trim() !== '') this.#sink.noise(line);
  }

  #endsInMessage(text: string): boolean {
    if (messagesIn(this.#parse(text)) !== undefined) return true;
    return piecesOf(text, this.#limits)?.at(-1)?.kind === 'message';
  }

  /** Undefined for anything but a JSON object or array. The check of the first character avoids an exception per banner line. */
  #parse(line: string): unknown {
    return BEGINS_AS_JSON.test(line) ? parseJson(line, this.#limits) : undefined;
  }
}

const CLOSING_BRACE = 0x7d;
const BEGINS_AS_JSON = /^\s*[{[]/;

/**
 * The server's side of MCP over stdin and stdout: one message a line, nothing else (MCP specification, transports: stdio).
 *
 * Owns the listeners on both streams (on the input by `PacedInput`) and what waits to be written. It does not own the
 * streams.
 *
 * S1. A line that is no text, no JSON, no message or too long is answered with an error and changes nothing else.
 * S2. A client that does not read what it is sent is not heard either, until it does; if even so too much waits for it, or
 *     it has ended its input meanwhile and reads nothing for `UNREAD_MS`, it counts as gone.
 * S3. After `close()` no listener is left on the streams, and everything said before is written, the stream is broken, or
 *     the client has read nothing for `UNREAD_MS`. A client that reads slowly is waited for, unless somebody is in a hurry.
 */
import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { parseJson } from '../parse-json.js';
import type { Clock } from '../ports.js';
import { doneWithin } from '../release.js';
import { LineFramer, type OversizeLine } from '../transports/line-framer.js';
import { answeredId } from '../transports/stdio/oversize-id.js';
import { WriteQueue } from '../transports/stdio/write-queue.js';
import { AnswerBatches, type Answer } from './answer-batches.js';
import { notText, parseError, tooLong, toJson } from './client-message.js';
import { Conversation, type Heard } from './conversation.js';
import { requestIdOf } from './oversize-request.js';
import { PacedInput } from './paced-input.js';

/** Characters that wait for a client; above the first it is not heard, below the second it is again. */
const PAUSE_ABOVE = 1_024 * 1_024;
const RESUME_BELOW = PAUSE_ABOVE / 2;
/** In which a client that reads its last messages at all has made room for more, milliseconds. */
const UNREAD_MS = 5_000;
/** How often that is looked at, milliseconds. */
const LOOK_MS = 1_000;
const BYTE_ORDER_MARK = '\uFEFF';

export interface StdioServerTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Longest line that is read, in bytes. */
  readonly maxMessageBytes: number;
  readonly clock: Clock;
}

/** How the conversation can end from the client's side. */
export type StdioEnd = 'end-of-input' | 'output-broken';

export class StdioServerTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** Nothing more comes, or nobody reads any more. At most once each. */
  onend?: (how: StdioEnd) => void;
  readonly conversation = new Conversation();
  readonly #options: StdioServerTransportOptions;
  readonly #input: PacedInput;
  readonly #framer: LineFramer;
  readonly #queue: WriteQueue;
  readonly #batches = new AnswerBatches((answers) => this.#writeLine(`[${answers.map(toJson).join(',')}]`));
  #waiting = 0;
  #lastWrite: Promise<void> = Promise.resolve();
  #isHurried = false;
  #closed: Promise<void> | undefined;
  #isBroken = false;

  constructor(options: StdioServerTransportOptions) {
    this.#options = options;
    this.#framer = new LineFramer(
      {
        line: (text) => this.#hearLine(text),
        garbled: (bytes) => this.#write(notText(bytes)),
        oversize: (line) => this.#hearTooLong(line),
      },
      options.maxMessageBytes,
    );
    this.#input = new PacedInput(options.input, {
      hear: (chunk) => this.#framer.push(chunk),
      end: () => this.#hearEnd(),
      endIsKept: () => void this.#awaitEnd(),
    });
    this.#queue = new WriteQueue(options.output, this.#onbroken);
  }

  async start(): Promise<void> {
    const { output } = this.#options;
    output.on('error', this.#onbroken);
    output.on('close', this.#onbroken);
    this.#input.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.conversation.mayBeSaid(message)) return;
    if ('method' in message || !this.#batches.take(message)) this.#write(message);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#end());
  }

  /** From here on no client is waited for longer than `LOOK_MS`. */
  hurry(): void {
    this.#isHurried = true;
  }

  async #end(): Promise<void> {
    const { output } = this.#options;
    this.#input.stop();
    this.conversation.clear();
    this.#batches.end();
    await this.#whileRead(() => this.#waiting === 0 || this.#isHurried);
    this.#fail();
    this.#input.leave();
    output.off('close', this.#onbroken);
    output.off('error', this.#onbroken);
    this.onclose?.();
  }

  /** A last line needs no line feed. */
  #hearEnd(): void {
    this.#framer.end();
    this.onend?.('end-of-input');
  }

  async #awaitEnd(): Promise<void> {
    await this.#whileRead(() => !this.#input.isEndKept);
    if (!this.#input.isEndKept) return;
    this.hurry();
    this.onend?.('output-broken');
  }

  /** Resolves when it is over, or when the client has read nothing for `UNREAD_MS`. */
  async #whileRead(isOver: () => boolean): Promise<void> {
    let unread = 0;
    do {
      const before = this.#queue.piecesTaken;
      await doneWithin(this.#options.clock, LOOK_MS, this.#lastWrite);
      unread = this.#queue.piecesTaken > before ? 0 : unread + LOOK_MS;
    } while (unread < UNREAD_MS && !isOver());
  }

  readonly #onbroken = (): void => {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#fail();
    if (this.#closed === undefined) this.onend?.('output-broken');
  };

  #fail(): void {
    this.#queue.fail({ code: 'connection-lost', message: 'The client does not read any more.' });
  }

  #hearLine(line: string): void {
    const text = line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
    if (text.trim() === '') return;
    const value = parseJson(text);
    if (value === undefined) this.#write(parseError(Buffer.byteLength(text)));
    else if (Array.isArray(value)) this.#hearBatch(value);
    else this.#hear(value);
  }

  #hearBatch(batch: readonly unknown[]): void {
    const refusal = this.conversation.refusalOfBatch(batch);
    if (refusal !== undefined) return this.#write(refusal);
    const heard = batch.map((value) => this.conversation.heard(value));
    this.#batches.await(heard);
    for (const each of heard) this.#handOn(each);
  }

  #hear(value: unknown): void {
    const heard = this.conversation.heard(value);
    if (heard.kind === 'refused') this.#write(heard.answer);
    else this.#handOn(heard);
  }

  #handOn(heard: Heard): void {
    if (heard.kind !== 'request' && heard.kind !== 'told') return;
    const failure = this.conversation.handOn(heard, this);
    if (failure !== undefined && !this.#batches.take(failure)) this.#write(failure);
    if (heard.kind === 'told' && heard.ends !== undefined) this.#batches.forget(heard.ends);
  }

  #hearTooLong(line: OversizeLine): void {
    const answered = answeredId(line);
    // An answer that cannot be read is none, and whoever waits for it is told.
    if (answered !== undefined) this.#hear({ jsonrpc: '2.0', id: answered });
    else this.#write(tooLong(requestIdOf(line) ?? null, line.bytes, this.#options.maxMessageBytes));
  }

  #write(message: Answer | JSONRPCMessage): void {
    this.#writeLine(toJson(message));
  }

  #writeLine(line: string): void {
    const text = `${line}\n`;
    this.#waiting += text.length;
    if (this.#waiting > PAUSE_ABOVE) this.#input.hold();
    const written = (): void => {
      this.#waiting -= text.length;
      if (this.#waiting < RESUME_BELOW && this.#closed === undefined) this.#input.release();
    };
    this.#lastWrite = this.#queue.send(text).then(written, () => {
      written();
      this.#onbroken();
    });
  }
}

/**
 * The server's side of MCP over stdin and stdout: one message a line, nothing else (MCP specification, transports:
 * stdio).
 *
 * Owns the listeners on both streams (on the input by `BackpressuredInput`) and the unwritten output. It does not own
 * the streams.
 *
 * S1. A line that is not text, not JSON, not a message or too long is answered with an error and changes nothing else.
 * S2. While a client does not read its output, its input is not read either. It counts as gone if too much output waits
 *     all the same, or if it has ended its input and reads nothing for `STALLED_READER_MS`.
 * S3. After `close()`, no listener is left on the streams, and either all output is written, or the stream is broken,
 *     or the client has read nothing for `STALLED_READER_MS`. A client that reads slowly is waited for, unless
 *     `hurry()` was called.
 */
import type { Readable, Writable } from 'node:stream';
import type { Transport } from '../../mcp/transport.js';
import type { JSONRPCMessage, RequestId, JSONRPCResponse } from '../../mcp/messages.js';
import { excessOf, parseJson } from '../../json/parse-json.js';
import type { Clock } from '../../ports.js';
import { settlesWithin } from '../../async/timers.js';
import { LineFramer, type OversizeLine } from '../../text/line-framer.js';
import { answeredId, endsOf } from '../../transports/message-limits.js';
import { WriteQueue } from '../../transports/stdio/write-queue.js';
import {
  notText,
  parseError,
  tooComplex,
  tooLong,
  toJson,
  type RpcErrorAnswer,
} from '../client/client-message.js';
import { Conversation, type ReceivedMessage } from '../client/conversation.js';
import { BackpressuredInput } from './client-streams.js';

/** Unread characters of a client: above the first limit its input is paused, below the second it is resumed. */
const PAUSE_ABOVE = 1_024 * 1_024;
const RESUME_BELOW = PAUSE_ABOVE / 2;
/** A client that reads its last messages at all has made room for more within this time, milliseconds. */
const STALLED_READER_MS = 5_000;
/** How often to check, milliseconds. */
const POLL_INTERVAL_MS = 1_000;
const BYTE_ORDER_MARK = '\uFEFF';

export interface StdioServerTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Maximum length of a line, in bytes. */
  readonly maxMessageBytes: number;
  readonly clock: Clock;
}

/** How the conversation can end from the client's side. */
export type StdioEnd = 'end-of-input' | 'output-broken';

export class StdioServerTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** The input has ended, or the output has no reader any more. At most once each. */
  onend?: (how: StdioEnd) => void;
  readonly conversation = new Conversation();
  readonly #options: StdioServerTransportOptions;
  readonly #input: BackpressuredInput;
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
        line: (text) => this.#receiveLine(text),
        garbled: (bytes) => this.#write(notText(bytes)),
        oversize: (line) => this.#receiveTooLong(line),
      },
      options.maxMessageBytes,
    );
    this.#input = new BackpressuredInput(options.input, {
      data: (chunk) => this.#framer.push(chunk),
      end: () => this.#receiveEnd(),
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
    if (!this.conversation.maySend(message)) return;
    if ('method' in message || !this.#batches.take(message)) this.#write(message);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#end());
  }

  /** From now on, waits for no client longer than `POLL_INTERVAL_MS`. */
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

  /** The last line needs no line feed. */
  #receiveEnd(): void {
    this.#framer.end();
    this.onend?.('end-of-input');
  }

  async #awaitEnd(): Promise<void> {
    await this.#whileRead(() => !this.#input.isEndKept);
    if (!this.#input.isEndKept) return;
    this.hurry();
    this.onend?.('output-broken');
  }

  /** Resolves when it is over, or when the client has read nothing for `STALLED_READER_MS`. */
  async #whileRead(isOver: () => boolean): Promise<void> {
    let unread = 0;
    do {
      const before = this.#queue.piecesTaken;
      await settlesWithin(this.#options.clock, POLL_INTERVAL_MS, this.#lastWrite);
      unread = this.#queue.piecesTaken > before ? 0 : unread + POLL_INTERVAL_MS;
    } while (unread < STALLED_READER_MS && !isOver());
  }

  readonly #onbroken = (): void => {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#fail();
    if (this.#closed === undefined) this.onend?.('output-broken');
  };

  #fail(): void {
    this.#queue.fail({ code: 'connection-lost', message: 'The client no longer reads.' });
  }

  #receiveLine(line: string): void {
    const text = line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
    if (text.trim() === '') return;
    const value = parseJson(text);
    if (value === undefined) this.#refuse(text);
    else if (Array.isArray(value)) this.#receiveBatch(value);
    else this.#receive(value);
  }

  #refuse(text: string): void {
    const excess = excessOf(text);
    if (excess === undefined) return this.#write(parseError(Buffer.byteLength(text)));
    this.#refuseUnread(endsOf(text), (id) => tooComplex(id, excess));
  }

  #receiveBatch(batch: readonly unknown[]): void {
    const refusal = this.conversation.refusalOfBatch(batch);
    if (refusal !== undefined) return this.#write(refusal);
    const heard = batch.map((value) => this.conversation.heard(value));
    this.#batches.await(heard);
    for (const each of heard) this.#handOn(each);
  }

  #receive(value: unknown): void {
    const heard = this.conversation.heard(value);
    if (heard.kind === 'refused') this.#write(heard.answer);
    else this.#handOn(heard);
  }

  #handOn(heard: ReceivedMessage): void {
    if (heard.kind !== 'request' && heard.kind !== 'delivered') return;
    const failure = this.conversation.handOn(heard, this);
    if (failure !== undefined && !this.#batches.take(failure)) this.#write(failure);
    if (heard.kind === 'delivered' && heard.ends !== undefined) this.#batches.forget(heard.ends);
  }

  #receiveTooLong(line: OversizeLine): void {
    this.#refuseUnread(line, (id) => tooLong(id, line.bytes, this.#options.maxMessageBytes));
  }

  #refuseUnread(
    line: Pick<OversizeLine, 'head' | 'tail'>,
    refusal: (id: RequestId | null) => RpcErrorAnswer,
  ): void {
    const answered = answeredId(line);
    // An unreadable answer becomes an error for the caller that waits for it.
    if (answered !== undefined) this.#receive({ jsonrpc: '2.0', id: answered });
    else this.#write(refusal(requestIdOf(line) ?? null));
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

/** Finds the id of a request from its first bytes. Pure. */
const SIMPLE = String.raw`(?:"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null)`;
const MEMBERS = new RegExp(String.raw`^\s*\{((?:\s*"\w+"\s*:\s*${SIMPLE}\s*,)*)`);

/** Looks only at members of the outermost object before its first composite value; a request has a method. */
function requestIdOf({ head }: { readonly head: string }): RequestId | undefined {
  const members = MEMBERS.exec(head)?.[1] ?? '';
  try {
    const { id, method } = JSON.parse(`{${members.replace(/,\s*$/, '')}}`) as Record<string, unknown>;
    if (typeof method !== 'string') return undefined;
    return typeof id === 'string' || typeof id === 'number' ? id : undefined;
  } catch {
    return undefined;
  }
}

type Answer = JSONRPCResponse | RpcErrorAnswer;

interface Batch {
  readonly answers: Answer[];
  readonly awaited: Set<RequestId>;
}

/**
 * Holds the answers to the requests of a batch until all of them are there (JSON-RPC 2.0, section 6).
 *
 * B1. The answers to a batch go out together, once. A batch without answers gets no response.
 */
class AnswerBatches {
  readonly #batchOf = new Map<RequestId, Batch>();
  readonly #send: (answers: readonly Answer[]) => void;

  constructor(send: (answers: readonly Answer[]) => void) {
    this.#send = send;
  }

  /** Starts a batch: these messages came together. */
  await(heard: readonly ReceivedMessage[]): void {
    const answers = heard.flatMap((each) => (each.kind === 'refused' ? [each.answer] : []));
    const ids = heard.flatMap((each) => (each.kind === 'request' ? [each.message.id] : []));
    const batch: Batch = { answers, awaited: new Set(ids) };
    for (const id of ids) this.#batchOf.set(id, batch);
    this.#sendWhole(batch);
  }

  /** False if it answers no request of a batch. */
  take(answer: Answer): boolean {
    const batch = this.#batchOf.get(answer.id ?? '');
    if (batch === undefined) return false;
    batch.answers.push(answer);
    this.forget(answer.id ?? '');
    return true;
  }

  /** That request no longer needs an answer. */
  forget(id: RequestId): void {
    const batch = this.#batchOf.get(id);
    if (batch === undefined) return;
    this.#batchOf.delete(id);
    batch.awaited.delete(id);
    this.#sendWhole(batch);
  }

  /** No more answers come: sends the answers so far. */
  end(): void {
    for (const id of this.#batchOf.keys()) this.forget(id);
  }

  #sendWhole({ answers, awaited }: Batch): void {
    if (awaited.size === 0 && answers.length > 0) this.#send(answers);
  }
}

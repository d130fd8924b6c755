/**
 * Turns the bytes of a server's stdout into JSON-RPC messages.
 *
 * One `JSON.parse` a line and a cheap check of the shape: the protocol client validates what it uses. A line that is not
 * JSON-RPC is noise, never an error.
 */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { messagesIn } from '../json-rpc.js';
import { LineFramer } from '../../text/line-framer.js';
import { parseJson } from '../../json/parse-json.js';
import { answeredId } from './oversize-id.js';

export interface MessageSink {
  /** Must not throw. */
  message(message: JSONRPCMessage): void;
  /** A line that is not JSON-RPC, as it came. Must not throw. */
  noise(line: string): void;
  /** A line beyond the limit, and the request that it would have answered, if known. Must not throw. */
  tooLarge(bytes: number, id: RequestId | undefined): void;
}

const BYTE_ORDER_MARK = 0xfeff;

export class MessageReader {
  readonly #sink: MessageSink;
  readonly #framer: LineFramer;

  constructor(sink: MessageSink, maxMessageBytes: number) {
    this.#sink = sink;
    this.#framer = new LineFramer(
      {
        line: (text) => this.#read(text),
        oversize: (line) => sink.tooLarge(line.bytes, answeredId(line)),
      },
      maxMessageBytes,
    );
  }

  push(chunk: Buffer): void {
    this.#framer.push(chunk);
  }

  end(): void {
    this.#framer.end();
  }

  #read(text: string): void {
    const line = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
    const messages = messagesIn(parse(line));
    if (messages !== undefined) for (const message of messages) this.#sink.message(message);
    else if (line.trim() !== '') this.#sink.noise(line);
  }
}

/** Undefined for anything but a JSON object or array. The check of the first character avoids an exception per banner line. */
function parse(line: string): unknown {
  return /^\s*[{[]/.test(line) ? parseJson(line) : undefined;
}

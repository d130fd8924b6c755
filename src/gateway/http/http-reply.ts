/**
 * The answer to one request without a session: JSON, or a stream if something comes before it, or if it takes so long that
 * a proxy might give up. Nothing of it can be resumed.
 */
import type { ServerResponse } from 'node:http';
import type { JSONRPCResponse } from '../../mcp/messages.js';
import type { Clock } from '../../ports.js';
import { toJson } from '../client/client-message.js';
import { answerText } from './http-answers.js';
import { endWithin, KEEP_ALIVE_MS, STREAM_HEAD } from './http-stream.js';

/** Maximum number of unread bytes before the next notification. */
const MAX_UNREAD = 16 * 1_024 * 1_024;

export class HttpReply {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #takesStream: boolean;
  #timer: unknown;

  constructor(response: ServerResponse, clock: Clock, takesStream: boolean) {
    this.#response = response;
    this.#clock = clock;
    this.#takesStream = takesStream;
    if (takesStream) this.#armKeepAlive();
    response.once('close', () => clock.clearTimeout(this.#timer));
  }

  /** A client that accepts no stream gets no notification. One that does not read is cut off. */
  notify(notification: object): void {
    const response = this.#response;
    if (!this.#takesStream || response.destroyed) return;
    if (response.writableLength > MAX_UNREAD) response.destroy();
    else this.#write(notification);
  }

  finish(status: number, answer: JSONRPCResponse): void {
    const response = this.#response;
    this.#clock.clearTimeout(this.#timer);
    if (response.destroyed) return;
    if (!response.headersSent) return answerText(response, status, toJson(answer), {});
    this.#write(answer);
    endWithin(response, this.#clock);
  }

  #write(message: object): void {
    this.#begin();
    this.#response.write(`event: message\ndata: ${toJson(message as JSONRPCResponse)}\n\n`);
  }

  #begin(): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, STREAM_HEAD);
  }

  #armKeepAlive(): void {
    this.#timer = this.#clock.setTimeout(() => {
      this.#begin();
      this.#response.write(':\n\n');
      this.#armKeepAlive();
    }, KEEP_ALIVE_MS);
  }
}

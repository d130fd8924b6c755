/** A test client in place of the inspection page: it sends raw requests, so that any header can be wrong. */
import { once } from 'node:events';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { expect } from 'vitest';
import { INSPECTION_PATHS, type InspectionMessage } from '../../src/inspector/page-protocol.js';
import { inTime, WAIT_LIMIT_MS } from './time-limit.js';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** Default: the correct token; undefined leaves it out. */
  readonly token?: string | undefined;
}

export class PageClient {
  readonly port: number;
  readonly token: string;

  constructor(url: string) {
    const { port, hash } = new URL(url);
    this.port = Number(port);
    this.token = hash.slice(1);
  }

  async ask(path: string, asked: Asked = {}): Promise<Answer> {
    const response = await this.#send(path, asked);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: Buffer.concat(chunks).toString(),
    };
  }

  async command(server: string, command: string, more: object = {}): Promise<Answer> {
    return this.ask(INSPECTION_PATHS.command, {
      method: 'POST',
      body: JSON.stringify({ server, command, ...more }),
    });
  }

  /** Opens a stream. */
  async watch(path: string = INSPECTION_PATHS.stream): Promise<WatchedStream> {
    const response = await this.#send(path, {});
    expect(response.statusCode).toBe(200);
    return new WatchedStream(response);
  }

  async #send(
    path: string,
    { method = 'GET', headers = {}, body, ...rest }: Asked,
  ): Promise<IncomingMessage> {
    const token = 'token' in rest ? rest.token : this.token;
    const asking = request({
      host: '127.0.0.1',
      port: this.port,
      path,
      method,
      agent: false,
      signal: AbortSignal.timeout(WAIT_LIMIT_MS),
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    });
    asking.on('error', () => {});
    asking.end(body);
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    return response;
  }
}

/** The messages of one stream as they arrive. */
export class WatchedStream {
  readonly messages: InspectionMessage[] = [];
  readonly #response: IncomingMessage;
  readonly #watchers = new Set<() => void>();
  #rest = '';
  isOver = false;

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(text));
    response.once('close', () => {
      this.isOver = true;
      this.#notify();
    });
  }

  /** All lines of the log so far. */
  get log(): string {
    return this.of('log')
      .map(({ lines }) => lines)
      .join('');
  }

  of<K extends InspectionMessage['kind']>(kind: K): Extract<InspectionMessage, { kind: K }>[] {
    return this.messages.filter(
      (message): message is Extract<InspectionMessage, { kind: K }> => message.kind === kind,
    );
  }

  /** Resolves when the condition holds; rejects after a time limit. */
  async until(isTrue: (stream: this) => boolean, what = 'the condition held'): Promise<void> {
    const done = new Promise<void>((resolve) => {
      const check = (): void => {
        if (!isTrue(this)) return;
        this.#watchers.delete(check);
        resolve();
      };
      this.#watchers.add(check);
      check();
    });
    await inTime(done, WAIT_LIMIT_MS, () => new Error(`${WAIT_LIMIT_MS} ms passed before ${what}.`));
  }

  /** The page stops reading. */
  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  /** The page is closed or its tab crashes. */
  async leave(): Promise<void> {
    this.#response.destroy();
    await this.until(({ isOver }) => isOver, 'the stream was closed');
  }

  #take(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.messages.push(JSON.parse(line) as InspectionMessage);
    this.#notify();
  }

  #notify(): void {
    for (const check of this.#watchers) check();
  }
}

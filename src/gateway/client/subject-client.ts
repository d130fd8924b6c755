/**
 * All requests without a session that one subject sends with the same capabilities. Nothing tells its programs apart, so
 * they share connections, and whom a server asks is decided by the request alone.
 */
import type { JsonObject } from '../../json/json-object.js';
import { Stillness } from '../../async/timers.js';
import type { Answers } from '../upstream/client-capabilities.js';
import type { GatewayClient } from './client-request.js';
import { CLOSED, NO_REQUEST } from './error-answer.js';
import type { StatelessRequest } from './held-request.js';
import { beginServing, type ClientSettings, type Opened, type Serving } from './serving.js';
import { StatelessFront } from './stateless-front.js';

export interface SubjectClientParts {
  readonly id: string;
  readonly answers: Answers;
  readonly settings: ClientSettings;
  /** Rejects with an `RpcError` if there is no room, or no such server. */
  readonly open: (client: SubjectClient) => Promise<Opened>;
  readonly instructions: () => Promise<string>;
  /** Milliseconds without a request after which its connections end; 0 = never. */
  readonly idleMs: number;
}

export class SubjectClient implements GatewayClient {
  readonly id: string;
  readonly answers: Answers;
  /** Resolves when nothing of it is left. Never rejects. */
  readonly closed: Promise<void>;
  readonly #parts: SubjectClientParts;
  readonly #front: StatelessFront;
  readonly #over = new AbortController();
  readonly #stillness: Stillness;
  #serving: Promise<Serving> | undefined;
  #inWork = 0;
  #usedAt: number;
  #onidle: (() => void) | undefined;
  #resolveClosed: () => void = () => {};

  constructor(parts: SubjectClientParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.answers = parts.answers;
    const { clock, serverInfo, isSelf, questionTimeoutMs, newState } = parts.settings;
    this.#usedAt = clock.now();
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#front = new StatelessFront({
      clock,
      serverInfo,
      isSelf,
      questionTimeoutMs,
      newState,
      open: () => this.#serve(),
      instructions: parts.instructions,
    });
    const endIfIdle = (): void => {
      if (this.disconnectedSince !== undefined) void this.close();
    };
    this.#stillness = new Stillness(clock, parts.idleMs, () => this.#usedAt, endIfIdle);
  }

  /** Since when it has neither a request nor a question. */
  get disconnectedSince(): number | undefined {
    return this.#inWork > 0 || this.#front.held > 0 ? undefined : this.#usedAt;
  }

  /** Rejects with an `RpcError`, or with an error of Troupe. */
  async answer(request: StatelessRequest): Promise<JsonObject> {
    if (this.#over.signal.aborted) throw CLOSED;
    this.#inWork += 1;
    try {
      return await this.#front.answer(request);
    } finally {
      this.#inWork -= 1;
      this.#usedAt = this.#parts.settings.clock.now();
      if (this.#inWork === 0) this.#onidle?.();
    }
  }

  ask(): Promise<JsonObject> {
    return Promise.reject(NO_REQUEST);
  }

  awaits(): void {}

  /** Which of its requests it belongs to is uncertain. */
  notifyLog(): void {}

  notifyProgress(): void {}

  notifyElicited(): void {}

  notifyUpdated(server: string, isOwn: boolean, params: JsonObject): void {
    this.#front.notifyUpdated(server, isOwn, params);
  }

  /** Ends the streams of changes. Resolves when all requests are answered. */
  async drain(): Promise<void> {
    this.#front.endStreams();
    if (this.#inWork > 0) await new Promise<void>((resolve) => (this.#onidle = resolve));
  }

  async close(): Promise<void> {
    if (!this.#over.signal.aborted) {
      this.#over.abort(CLOSED);
      this.#stillness.end();
      this.#front.close();
      try {
        const served = await this.#serving;
        await served?.close();
      } catch {
        // It was never open.
      }
      this.#resolveClosed();
    }
    await this.closed;
  }

  /** A refused client may try again. */
  #serve(): Promise<Serving> {
    if (this.#serving !== undefined) return this.#serving;
    const { settings, open } = this.#parts;
    const serving = beginServing(settings, {
      client: this,
      opening: open(this),
      instructed: () => undefined,
      isGreeted: false,
      signal: this.#over.signal,
    });
    this.#serving = serving;
    serving.catch(() => {
      if (this.#serving === serving) this.#serving = undefined;
    });
    return serving;
  }
}

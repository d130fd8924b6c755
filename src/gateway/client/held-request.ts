/**
 * A request of a client without a session. A server of the old era asks in the middle of it; the client gets the question as
 * the answer, and comes back with the request and its own answers (MCP 2026-07-28, "Multi Round-Trip Requests"). Meanwhile
 * the request stays open at the server.
 *
 * H1. The client gets one answer for each time that it comes.
 * H2. If the client gives up while it waits, or does not come back in time, the request is cancelled at the server.
 * H3. Nothing is sent while the client does not wait.
 */
import type { LoggingLevel } from '../../mcp/session.js';
import { LazyAbortController, onAbort } from '../../async/abort.js';
import { isSameJson, isJsonObject, type JsonObject } from '../../json/json-object.js';
import type { Clock } from '../../ports.js';
import { RpcError, type Progress } from '../../protocol/protocol-client.js';
import { LOG_LEVELS } from '../../requests/connection-requests.js';
import { toError } from '../../text/error-message.js';
import type { Answers } from '../upstream/client-capabilities.js';
import { Unanswered } from './answer-limit.js';
import { RPC } from './client-message.js';
import type { AskedClient, ClientRequest } from './client-request.js';
import type { Envelope } from './envelope.js';
import { invalidParams } from './error-answer.js';

/** A request that is answered over its own exchange alone. */
export interface StatelessRequest extends Omit<ClientRequest, 'asked'> {
  /** Sends a notification before the answer. */
  notify(method: string, params: JsonObject): void;
}

export interface HeldRequestPorts {
  readonly clock: Clock;
  /** Milliseconds in which the client must come back; 0 = no limit. */
  readonly limitMs: number;
  /** Keeps the request for a client that comes back with the returned state. Throws an `RpcError` if there is no room. */
  readonly keep: (held: HeldRequest) => string;
  readonly forget: (state: string) => void;
}

interface Question {
  readonly method: string;
  readonly params: JsonObject;
  answer(result: JsonObject): void;
  fail(error: Error): void;
}

/** One exchange in which the client waits. */
interface Turn {
  readonly request: StatelessRequest;
  readonly envelope: Envelope;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

type Outcome = { readonly result: JsonObject } | { readonly error: Error };

export class HeldRequest implements AskedClient {
  readonly answers: Answers;
  readonly #ports: HeldRequestPorts;
  readonly #first: StatelessRequest;
  readonly #over = new LazyAbortController();
  readonly #questions = new Map<string, Question>();
  #turn: Turn | undefined;
  #outcome: Outcome | undefined;
  #state: string | undefined;
  #timer: unknown;
  #lastKey = 0;

  constructor(first: StatelessRequest, { answers }: Envelope, ports: HeldRequestPorts) {
    this.#first = first;
    this.answers = answers;
    this.#ports = ports;
  }

  /** Sends the request with `send`, and resolves with the first answer. */
  start(envelope: Envelope, send: (request: ClientRequest) => Promise<JsonObject>): Promise<JsonObject> {
    const { id, method, params, headers } = this.#first;
    const over = this.#over;
    const request: ClientRequest = {
      id,
      method,
      params,
      headers,
      givenUp: over,
      get signal() {
        return over.signal;
      },
      asked: this,
    };
    const answer = this.#wait(this.#first, envelope);
    send(request).then(
      (result) => this.#end({ result }),
      (error: unknown) => this.#end({ error: toError(error) }),
    );
    return answer;
  }

  /** The client has come back. Rejects with an `RpcError` if it is not the same request. */
  async resume(request: StatelessRequest, envelope: Envelope): Promise<JsonObject> {
    const { inputResponses: answers = {} } = request.params;
    if (!isJsonObject(answers)) throw invalidParams("'inputResponses' is not an object");
    if (
      request.method !== this.#first.method ||
      !isSameJson(about(request.params), about(this.#first.params))
    )
      throw invalidParams("'requestState' belongs to another request");
    this.#forget();
    for (const [key, answer] of Object.entries(answers))
      if (isJsonObject(answer)) this.#questions.get(key)?.answer(answer);
    return this.#wait(request, envelope);
  }

  /** Ends it at the server; a client that waits gets this error. */
  abandon(error: Error): void {
    this.#end({ error });
    this.#over.abort(error);
    for (const question of this.#questions.values()) question.fail(error);
    this.#forget();
  }

  ask(method: string, params: JsonObject, { signal }: { signal: AbortSignal }): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (signal.aborted || this.#over.aborted) {
        reject(toError(signal.aborted ? signal.reason : this.#over.reason));
        return;
      }
      this.#lastKey += 1;
      const key = `question-${this.#lastKey}`;
      const finish = (): void => {
        leave();
        this.#questions.delete(key);
      };
      const question: Question = {
        method,
        params: withoutId(params),
        answer: (result) => {
          finish();
          resolve(result);
        },
        fail: (error) => {
          finish();
          reject(error);
        },
      };
      const leave = onAbort(signal, { handleEvent: () => question.fail(toError(signal.reason)) });
      this.#questions.set(key, question);
      this.#settle();
    });
  }

  /** In the new era, the client comes back by itself. */
  awaits(): void {}

  notifyLog(params: JsonObject): void {
    if (this.wantsLog(params)) this.#turn?.request.notify('notifications/message', params);
  }

  /** Whether the client waits and wants log messages of that level. */
  wantsLog({ level }: JsonObject): boolean {
    const lowest = this.#turn?.envelope.logLevel;
    return lowest !== undefined && LOG_LEVELS.indexOf(level as LoggingLevel) >= LOG_LEVELS.indexOf(lowest);
  }

  /** Sends the token of the present exchange, not the given one. */
  notifyProgress(_token: string | number, progress: Progress): void {
    const meta = this.#turn?.request.params['_meta'] as JsonObject | undefined;
    const { progress: done, total, message } = progress;
    if (meta?.['progressToken'] === undefined) return;
    this.#turn?.request.notify('notifications/progress', {
      progressToken: meta['progressToken'],
      progress: done,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    });
  }

  #wait(request: StatelessRequest, envelope: Envelope): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const leave = onAbort(request.givenUp, {
        handleEvent: () => {
          if (this.#turn === turn) this.abandon(toError(request.givenUp.reason));
        },
      });
      const turn: Turn = {
        request,
        envelope,
        resolve: (result) => {
          leave();
          resolve(result);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      this.#turn = turn;
      this.#settle();
    });
  }

  #end(outcome: Outcome): void {
    this.#outcome ??= outcome;
    this.#settle();
  }

  /** Answers the client that waits, if there is something to say. */
  #settle(): void {
    const turn = this.#turn;
    if (turn === undefined || (this.#outcome === undefined && this.#questions.size === 0)) return;
    this.#turn = undefined;
    if (this.#outcome === undefined) this.#putQuestions(turn);
    else if ('result' in this.#outcome) turn.resolve(this.#outcome.result);
    else turn.reject(this.#outcome.error);
  }

  #putQuestions(turn: Turn): void {
    try {
      this.#state = this.#ports.keep(this);
    } catch (error) {
      turn.reject(toError(error));
      return this.abandon(toError(error));
    }
    const { clock, limitMs } = this.#ports;
    if (limitMs > 0) this.#timer = clock.setTimeout(() => this.#expire(), limitMs);
    const inputRequests = Object.fromEntries(
      [...this.#questions].map(([key, { method, params }]) => [key, { method, params }]),
    );
    turn.resolve({ resultType: 'input_required', inputRequests, requestState: this.#state });
  }

  #expire(): void {
    const why = new Unanswered(`The client has not answered within ${this.#ports.limitMs} ms.`, 'timeout');
    for (const question of this.#questions.values()) question.fail(why);
    this.abandon(new RpcError(RPC.serverError, why.message, { reason: 'timeout' }));
  }

  #forget(): void {
    this.#ports.clock.clearTimeout(this.#timer);
    if (this.#state !== undefined) this.#ports.forget(this.#state);
    this.#state = undefined;
  }
}

/** What must be the same when the client comes back. */
function about(params: JsonObject): JsonObject {
  const { _meta: _m, inputResponses: _i, requestState: _s, ...same } = params;
  return same;
}

/** In the new era, nothing reports later that the person has finished. */
export function withoutId(params: JsonObject): JsonObject {
  const { elicitationId: _, ...others } = params;
  return others;
}

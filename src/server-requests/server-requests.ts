/**
 * `src/server-requests` answers the requests of servers to their client with the handlers of the host. This file routes
 * them and bounds them.
 *
 * Q1. Each request gets one answer and is published as one `server.request`, without its content.
 * Q2. If a handler throws or answers wrongly, the server gets an error. If it never answers, the request ends with its
 *     session or with the server's cancellation.
 * Q3. While a person or a model is asked, the timeouts of the calls over that session stand still, except for calls
 *     that are part of the answer.
 * Q4. The number of unanswered requests of a server is bounded.
 */
import { answering } from '../sessions/question-clocks.js';
import { cutText } from '../text/visible-text.js';
import type { LifecycleEventBody, ServerRequestOutcome } from '../lifecycle/event.js';
import type { Clock } from '../ports.js';
import type { JsonObject } from '../json/json-object.js';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  RpcError,
  type Asked,
} from '../protocol/protocol-client.js';
import { writeJson } from '../json/write-json.js';
import type { Mask } from '../secrets/secrets.js';
import type { Session } from '../sessions/sessions.js';
import { messageOf } from '../text/error-message.js';
import { abortable } from '../async/abort.js';
import { SchemaValidator } from '../schemas/schema-validator.js';
import { answerElicitation } from './elicitation.js';
import { type ServerRequestHandlers, answerRoots } from './handlers.js';
import { BadAnswer, BadRequest, type Responder } from './responder.js';
import { answerSampling } from './sampling.js';

/** A person answers one question at a time; many at once are an error of the server. */
const MAX_AT_ONCE = 32;
const MAX_CHARACTERS_OF_A_METHOD = 100;

/** The responder of each method. */
export type Responders = ReadonlyMap<string, Responder>;

export interface ServerRequestPorts {
  readonly clock: Clock;
  readonly publish: (event: LifecycleEventBody) => void;
  /** Masks the secrets of a server's entry. */
  readonly mask: (server: string) => Mask;
}

/** How a request ended, and the answer to the server. */
interface Outcome {
  readonly outcome: ServerRequestOutcome;
  readonly answer: JsonObject | RpcError;
}

export class ServerRequests {
  readonly #ports: ServerRequestPorts;
  readonly #responders: (server: string) => Responders;
  readonly #inWork = new WeakMap<Session, number>();

  constructor(responders: (server: string) => Responders, ports: ServerRequestPorts) {
    this.#ports = ports;
    this.#responders = responders;
  }

  /** Rejects with an `RpcError` if that is the answer. */
  async answer(session: Session, method: string, params: JsonObject, asked: Asked): Promise<JsonObject> {
    const { clock, publish, mask } = this.#ports;
    const { name: server, generation } = session.key;
    const startedAt = clock.now();
    const { outcome, answer } = await this.#outcome(session, method, params, asked);
    const call = asked.origin?.call;
    publish({
      type: 'server.request',
      server,
      generation,
      method: cutText(mask(server)(method), MAX_CHARACTERS_OF_A_METHOD),
      ...(call === undefined ? {} : { call }),
      outcome,
      durationMs: Math.max(0, clock.now() - startedAt),
    });
    if (answer instanceof RpcError) throw answer;
    return answer;
  }

  async #outcome(session: Session, method: string, params: JsonObject, asked: Asked): Promise<Outcome> {
    const responder = this.#responders(session.key.name).get(method);
    if (responder === undefined) return rejected(METHOD_NOT_FOUND, 'Method not found');
    const inWork = this.#inWork.get(session) ?? 0;
    if (inWork >= MAX_AT_ONCE) return rejected(INTERNAL_ERROR, 'Too many requests at once');
    this.#inWork.set(session, inWork + 1);
    if (responder.isQuestion) session.beginQuestion();
    try {
      return await this.#respond(responder, session, method, params, asked);
    } finally {
      this.#inWork.set(session, (this.#inWork.get(session) ?? 1) - 1);
      if (responder.isQuestion) session.endQuestion(this.#ports.clock.now());
    }
  }

  async #respond(
    responder: Responder,
    session: Session,
    method: string,
    params: JsonObject,
    { signal, origin, causes }: Asked,
  ): Promise<Outcome> {
    const { name: server, generation } = session.key;
    try {
      const about = { server, generation, signal, origin };
      const responding = answering(server, () => responder.respond(params, about, causes));
      const { isRefused, answer } = await abortable(responding, signal);
      requireJson(answer);
      return { outcome: isRefused ? 'refused' : 'answered', answer };
    } catch (error) {
      if (signal.aborted) return { outcome: 'cancelled', answer: cannot('Request cancelled') };
      if (error instanceof BadRequest) return rejected(INVALID_PARAMS, `Invalid params: ${error.message}`);
      this.#reportFault(session, method, error);
      return { outcome: 'failed', answer: cannot('The client could not answer this request') };
    }
  }

  #reportFault({ key }: Session, method: string, error: unknown): void {
    const { publish, mask } = this.#ports;
    const reason = messageOf(error);
    const what = error instanceof BadAnswer ? 'returned an answer that was not sent:' : 'threw:';
    const message = cutText(mask(key.name)(`The handler of '${method}' ${what} ${reason}`));
    const about = { server: key.name, generation: key.generation };
    publish({ type: 'diagnostic', ...about, kind: 'server-request-failed', message });
  }
}

/** The responders for the handlers of a host. */
export function toResponders({ roots, sampling, elicitation }: ServerRequestHandlers): Responders {
  const responders = new Map<string, Responder>();
  if (roots !== undefined) responders.set('roots/list', answerRoots(roots));
  if (sampling !== undefined) responders.set('sampling/createMessage', answerSampling(sampling));
  if (elicitation !== undefined) {
    const validator = new SchemaValidator({ formats: true });
    responders.set('elicitation/create', answerElicitation(elicitation, validator));
  }
  return responders;
}

/** Only JSON can be sent; the server would wait for an answer that cannot. */
function requireJson(answer: JsonObject | RpcError): void {
  try {
    // The message is around it.
    writeJson([answer]);
  } catch (error) {
    throw new BadAnswer(`it cannot be sent as JSON: ${messageOf(error)}`);
  }
}

/** Refused without asking the host. */
function rejected(code: number, message: string): Outcome {
  return { outcome: 'rejected', answer: new RpcError(code, message, undefined) };
}

function cannot(message: string): RpcError {
  return new RpcError(INTERNAL_ERROR, message, undefined);
}

/** Sends a notification to sessions. Failures are ignored: the session has ended. */
export async function notifySessions(sessions: readonly Session[], method: string): Promise<void> {
  const notify = async ({ client }: Session): Promise<void> => client?.notify(method);
  await Promise.allSettled(sessions.map(notify));
}

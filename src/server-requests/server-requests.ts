/**
 * Answers what servers ask of their client, by the handlers of the host.
 *
 * Q1. Each request has one answer, and is told as one `server.request` when that is known; nothing of its content is.
 * Q2. A handler that throws, answers wrongly or never answers harms nobody: the server gets an error, or the request
 *     ends with its session or with the server's own cancellation.
 * Q3. While a person or a model is asked, the clocks of the calls over that session stand still; but not of those that
 *     are made to answer.
 * Q4. A server has a bounded number of requests in work.
 */
import { answering } from '../answering.js';
import { cutText } from '../cut-text.js';
import type { LifecycleEventBody, ServerRequestOutcome } from '../lifecycle/event.js';
import type { Clock } from '../ports.js';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  RpcError,
  type Asked,
  type JsonObject,
} from '../protocol/protocol-client.js';
import type { Mask } from '../secrets.js';
import type { Session } from '../sessions.js';
import { messageOf } from '../thrown.js';
import { abortable } from '../transports/http/abortable.js';
import { SchemaValidator } from '../validation/schema-validator.js';
import { answerElicitation } from './elicitation.js';
import type { ServerRequestHandlers } from './handlers.js';
import { BadAnswer, BadRequest, type Responder } from './responder.js';
import { answerRoots } from './roots.js';
import { answerSampling } from './sampling.js';

/** A person answers one question at a time; many are a server's mistake. */
const MOST_AT_ONCE = 32;
const MOST_CHARACTERS_OF_A_METHOD = 100;

/** What answers, by method. */
export type Responders = ReadonlyMap<string, Responder>;

export interface ServerRequestPorts {
  readonly clock: Clock;
  readonly publish: (event: LifecycleEventBody) => void;
  /** Strikes out the secrets of a server's entry. */
  readonly mask: (server: string) => Mask;
}

/** How a request ended, and what its server is told. */
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

  /** Rejects with an `RpcError`, which is the answer then. */
  async answer(session: Session, method: string, params: JsonObject, asked: Asked): Promise<JsonObject> {
    const { clock, publish, mask } = this.#ports;
    const { name: connection, generation } = session.key;
    const startedAt = clock.now();
    const { outcome, answer } = await this.#outcome(session, method, params, asked);
    const call = asked.origin?.call;
    publish({
      type: 'server.request',
      connection,
      generation,
      method: cutText(mask(connection)(method), MOST_CHARACTERS_OF_A_METHOD),
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
    if (inWork >= MOST_AT_ONCE) return rejected(INTERNAL_ERROR, 'Too many requests at once');
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
      this.#tellFault(session, method, error);
      return { outcome: 'failed', answer: cannot('The client could not answer this request') };
    }
  }

  #tellFault({ key }: Session, method: string, error: unknown): void {
    const { publish, mask } = this.#ports;
    const said = messageOf(error);
    const what = error instanceof BadAnswer ? 'gave an answer that was not sent:' : 'threw:';
    const message = cutText(mask(key.name)(`The handler of '${method}' ${what} ${said}`));
    const about = { connection: key.name, generation: key.generation };
    publish({ type: 'diagnostic', ...about, kind: 'server-request-failed', message });
  }
}

/** The handlers of a host, by the methods that they answer. */
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

/** Nothing else can be sent, and the server would wait for it. */
function requireJson(answer: JsonObject | RpcError): void {
  try {
    JSON.stringify(answer);
  } catch (error) {
    throw new BadAnswer(`it cannot be sent as JSON: ${messageOf(error)}`);
  }
}

/** The host was not asked. */
function rejected(code: number, message: string): Outcome {
  return { outcome: 'rejected', answer: new RpcError(code, message, undefined) };
}

function cannot(message: string): RpcError {
  return new RpcError(INTERNAL_ERROR, message, undefined);
}

/**
 * What a server asks, put to a client as it came, and answered as the client did.
 *
 * Q1. Over a connection of one client's own, that client is asked. Over a shared one it is the client whose request made
 *     the server ask, where that is certain; otherwise nobody is, and the server is told so.
 * Q2. A client is asked nothing that it has not declared.
 * Q3. A question ends: with its answer, with the request that it is about, or when nobody answers it in time.
 */
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject } from '../catalog/json-object.js';
import { RpcError, type Cause, type JsonObject } from '../protocol/protocol-client.js';
import type { ServerRequestContext } from '../server-requests/handlers.js';
import type { Responder, Response } from '../server-requests/responder.js';
import type { Responders } from '../server-requests/server-requests.js';
import { RPC } from './client-message.js';
import { ASKED_OF, type Answers } from './answers.js';
import type { ClientRequest } from './rpc-link.js';
import type { SharedTurns } from './shared-turns.js';
import { GIVEN_UP, insteadOfAnswer, Unanswered } from './unanswered.js';

/** A client, as far as it can be asked. */
export interface AskedClient {
  readonly answers: Answers;
  /**
   * Rejects with the client's `RpcError`, or one of ours where it is not there any more; with the reason of the signal;
   * or with an `Unanswered` after too long a time.
   */
  ask(
    method: string,
    params: JsonObject,
    about: { signal: AbortSignal; relatedTo: RequestId | undefined },
  ): Promise<JsonObject>;
  /** What the person was sent to an address for is done: the client wants to know it. */
  awaits(server: string, elicitationId: string): void;
  /** Something that the server logs in the course of that request of the client. */
  tellLog(params: JsonObject, request: RequestId | undefined): void;
}

/** What is known of a request of a client to those who send it on: the `context` of calls and requests. */
export class RequestOfClient {
  constructor(
    readonly client: AskedClient,
    private readonly request: ClientRequest,
  ) {}

  get id(): RequestId {
    return this.request.id;
  }

  /** Aborts when the client takes it back, and when it is gone. */
  get signal(): AbortSignal {
    return this.request.signal;
  }
}

/** The request of a client that is behind a request of ours. */
export function requestBehind(origin: Cause): RequestOfClient | undefined {
  return origin?.context instanceof RequestOfClient ? origin.context : undefined;
}

/** The code that the specification shows for a person's no to sampling. */
const REFUSED = -1;

/** For a connection of one client's own. */
export function ownResponders(client: AskedClient): Responders {
  return respondersFor(client.answers, (method, params, about) => {
    const request = requestBehind(about.origin);
    return put(client, method, params, about, request?.id, request?.signal);
  });
}

/** For a connection that clients share, to a server that was told `declared`. */
export function sharedResponders(declared: Answers, turns: SharedTurns): Responders {
  return respondersFor(declared, async (method, params, about, causes) => {
    const { server } = about;
    const request = requestBehind(about.origin) ?? oneClients(causes);
    const asked = request === undefined ? undefined : turns.asking(server, request.client);
    if (request === undefined || asked === undefined) {
      if (causes.length > 1) turns.uncertain(server);
      return refusal(AMBIGUOUS);
    }
    try {
      return await put(request.client, method, params, about, request.id, asked.signal);
    } finally {
      asked.answered();
    }
  });
}

/** One of the requests, where all of them are of one client: the first, which is in work. */
function oneClients(causes: readonly Cause[]): RequestOfClient | undefined {
  const [first, ...others] = causes.map(requestBehind);
  return others.every((other) => other !== undefined && other.client === first?.client) ? first : undefined;
}

const AMBIGUOUS = new RpcError(
  RPC.serverError,
  'Several clients share this connection, and it is not certain whose request this belongs to, so nobody was asked.',
  { reason: 'ambiguous-recipient' },
);

type Method = keyof typeof ASKED_OF;
type Put = (
  method: Method,
  params: JsonObject,
  about: ServerRequestContext,
  causes: readonly Cause[],
) => Promise<Response>;

function respondersFor(declared: Answers, respond: Put): Responders {
  const methods = (Object.keys(ASKED_OF) as Method[]).filter(
    (method) => declared[ASKED_OF[method]] !== undefined,
  );
  return new Map(
    methods.map((method): [string, Responder] => [
      method,
      {
        isQuestion: method !== 'roots/list',
        respond: (params, about, causes) => respond(method, params, about, causes),
      },
    ]),
  );
}

/** `whileWanted` aborts when what the question is about is over. */
async function put(
  client: AskedClient,
  method: Method,
  params: JsonObject,
  { server, signal: wanted }: ServerRequestContext,
  relatedTo: RequestId | undefined,
  whileWanted: AbortSignal | undefined,
): Promise<Response> {
  const why = whyNotAsked(client.answers, method, params);
  if (why !== undefined) return refusal(why);
  if (typeof params['elicitationId'] === 'string') client.awaits(server, params['elicitationId']);
  const signal = whileWanted === undefined ? wanted : AbortSignal.any([wanted, whileWanted]);
  try {
    const answer = await client.ask(method, params, { signal, relatedTo });
    return { isRefused: method === 'elicitation/create' && answer['action'] !== 'accept', answer };
  } catch (error) {
    const over = whileWanted?.aborted === true && !wanted.aborted ? GIVEN_UP : error;
    if (over instanceof Unanswered) return { isRefused: true, answer: insteadOfAnswer(method, over) };
    if (!(error instanceof RpcError)) throw error;
    return { isRefused: error.rpcCode === REFUSED, answer: error };
  }
}

/** What a client declares is in MCP specification 2025-11-25, "Elicitation" and "Sampling", capabilities. */
function whyNotAsked(answers: Answers, method: Method, params: JsonObject): RpcError | undefined {
  const declared = answers[ASKED_OF[method]];
  if (declared === undefined) {
    return new RpcError(RPC.methodNotFound, `The client has not declared '${ASKED_OF[method]}'.`, { method });
  }
  const modes: JsonObject = isJsonObject(declared) ? declared : {};
  const isUrl = method === 'elicitation/create' && params['mode'] === 'url';
  if (isUrl && modes['url'] === undefined) return undeclared('elicitation.url');
  const needsTools = params['tools'] !== undefined || params['toolChoice'] !== undefined;
  if (method === 'sampling/createMessage' && needsTools && modes['tools'] === undefined) {
    return undeclared('sampling.tools');
  }
  return undefined;
}

function undeclared(capability: string): RpcError {
  return new RpcError(RPC.invalidParams, `The client has not declared '${capability}'.`, { capability });
}

function refusal(error: RpcError): Response {
  return { isRefused: true, answer: error };
}

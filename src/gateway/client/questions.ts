/**
 * Forwards a server's request to a client, and returns the client's answer unchanged.
 *
 * Q1. Over a client's own connection, that client is asked. Over a shared one, the client whose request made the server
 *     ask is asked, if that is certain; otherwise the server gets an error.
 * Q2. A client gets only requests that it has declared.
 * Q3. A question ends: with its answer, with the request that it is about, or at its time limit.
 */
import type { RequestId } from '../../mcp/messages.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import { RpcError, type Cause } from '../../protocol/protocol-client.js';
import type { ServerRequestContext } from '../../server-requests/handlers.js';
import type { Responder, Response } from '../../server-requests/responder.js';
import type { Responders } from '../../server-requests/server-requests.js';
import { RPC } from './client-message.js';
import { ASKED_OF, type Answers } from '../upstream/client-capabilities.js';
import type { AskedClient, ClientRequest } from './client-request.js';
import type { ClientLock } from '../upstream/client-lock.js';
import { GIVEN_UP, insteadOfAnswer, Unanswered } from './answer-limit.js';

/** The origin of a client's request: the `context` of calls and requests. */
export class RequestOfClient {
  constructor(
    readonly client: AskedClient,
    private readonly request: ClientRequest,
  ) {}

  get id(): RequestId {
    return this.request.id;
  }

  /** Aborts when the client cancels the request, and when it is gone. */
  get signal(): AbortSignal {
    return this.request.signal;
  }
}

/** The client's request behind a request of ours. */
export function requestBehind(origin: Cause): RequestOfClient | undefined {
  return origin?.context instanceof RequestOfClient ? origin.context : undefined;
}

/** The code that the specification shows for a person's refusal of sampling. */
const REFUSED = -1;

/** For a client's own connection. */
export function ownResponders(client: AskedClient): Responders {
  return respondersFor(client.answers, (method, params, about, causes) => {
    const request = requestBehind(about.origin);
    // A client without a session can be asked only during a request.
    const asked = request ?? causes.map(requestBehind).findLast((cause) => cause !== undefined);
    return put(asked?.client ?? client, method, params, about, request?.id, request?.signal);
  });
}

/** For a server that always names the request it asks about; `declared` was declared to it. */
export function exactResponders(declared: Answers): Responders {
  return respondersFor(declared, async (method, params, about) => {
    const request = requestBehind(about.origin);
    if (request === undefined) return refusal(AMBIGUOUS);
    return put(request.client, method, params, about, request.id, request.signal);
  });
}

/** For a connection that clients share; `declared` was declared to its server. */
export function sharedResponders(declared: Answers, turns: ClientLock): Responders {
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

/** The first of the requests, which is in flight, if all of them are from one client. */
function oneClients(causes: readonly Cause[]): RequestOfClient | undefined {
  const [first, ...others] = causes.map(requestBehind);
  return others.every((other) => other !== undefined && other.client === first?.client) ? first : undefined;
}

const AMBIGUOUS = new RpcError(
  RPC.serverError,
  'Several clients share this connection, and it is uncertain which of them this request belongs to, so none was asked.',
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

/** `whileWanted` aborts when the request behind the question is over. */
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

/** Capabilities of a client: MCP specification 2025-11-25, "Elicitation" and "Sampling", capabilities. */
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

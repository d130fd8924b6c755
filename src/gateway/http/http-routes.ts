/**
 * The routes of the gateway's HTTP service: `/mcp`, `/servers/NAME/mcp`, the metadata for OAuth clients, probes, and what
 * hosts of a fleet ask each other. Longer than 300 lines because every refusal has a sentence of its own.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { readBytes } from '../../transports/http/server-limits.js';
import { isJsonObject } from '../../json/json-object.js';
import { excessOf, parseJson } from '../../json/parse-json.js';
import type { Clock } from '../../ports.js';
import { KNOWN_VERSIONS } from '../../protocol/server-identity.js';
import { notText, parseError, RPC, toClientMessage, tooComplex, tooLong } from '../client/client-message.js';
import type { Readiness } from '../readiness.js';
import type { FleetSessions } from './fleet-sessions.js';
import type { FleetViewers } from './fleet-viewers.js';
import { SESSIONS_PATH } from './session-id.js';
import type { Caller, HttpAccess } from './http-access.js';
import { answerJson, dropRest, isRefused, refuse, type Refused } from './http-answers.js';
import { resourceMetadata, resourcePathOf, type ProtectedResource } from './http-oauth.js';
import { SESSION_HEADER, SESSION_OVER, type HttpSession } from './http-client-session.js';
import { isStateless, type HttpExchanges } from './http-exchanges.js';
import type { HttpSessions, Route } from './http-client-sessions.js';

const METHODS = 'GET, POST, DELETE';
/** Container platforms and load balancers request these, under any host name and without a token. */
const PROBES: ReadonlySet<string> = new Set(['/health', '/healthz', '/livez', '/readyz']);
const NOTHING_HERE: Refused = {
  status: 404,
  error: 'There is nothing here. All servers are at /mcp, and a single one is at /servers/NAME/mcp.',
};
const NO_SUCH_METHOD: Refused = {
  status: 405,
  error: `This address takes ${METHODS}.`,
  headers: { allow: METHODS },
};
const ONLY_POST: Refused = {
  status: 405,
  error: 'Without a session, this address takes POST.',
  headers: { allow: 'POST' },
};
const NOT_JSON: Refused = { status: 415, error: 'The body must be JSON: Content-Type: application/json.' };
const NO_ANSWER: Refused = {
  status: 406,
  error: 'The answer is JSON or a stream: send Accept: application/json, text/event-stream.',
};
const NO_STREAM: Refused = { status: 406, error: 'The answer is a stream: send Accept: text/event-stream.' };
const NO_SESSION: Refused = {
  status: 400,
  error: `A session begins with 'initialize'; later requests need the header ${SESSION_HEADER}.`,
  code: RPC.invalidRequest,
};
const NO_SUCH_VERSION: Refused = {
  status: 400,
  error: `This protocol version is not supported. Supported: ${KNOWN_VERSIONS.join(', ')}.`,
};
const TOO_LONG: Refused = { status: 413, error: 'The body is too long.' };
const OWN_HEADERS =
  'authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id';
const CORS_READABLE = 'mcp-session-id, www-authenticate';

export interface RoutesOptions {
  readonly access: HttpAccess;
  readonly viewers: FleetViewers;
  readonly sessions: HttpSessions;
  readonly exchanges: HttpExchanges;
  /** Undefined without other hosts. */
  readonly fleet: FleetSessions | undefined;
  readonly oauth: ProtectedResource | undefined;
  /** The origin by which clients know the service. */
  readonly origin: URL;
  readonly maxBodyBytes: number;
  /** Whether the service accepts no further sessions. */
  readonly isDraining: () => boolean;
  readonly readiness: () => Readiness;
  /** A request on this connection may be answered. */
  readonly admitted: (connection: Socket) => void;
  readonly clock: Clock;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly place: Route;
}

export class HttpRoutes {
  readonly #options: RoutesOptions;

  constructor(options: RoutesOptions) {
    this.#options = options;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { access, fleet, oauth, origin, viewers } = this.#options;
    const { method, url = '' } = request;
    const [path = ''] = url.split('?');
    const isProbe = PROBES.has(path) && (method === 'GET' || method === 'HEAD');
    if (isProbe) return this.#probed(path, request, response);
    // A proxy, or a client, finds another process by its next connection.
    if (this.#options.isDraining()) response.setHeader('connection', 'close');
    if (viewers.answer(request, response)) return this.#options.admitted(request.socket);
    const unsigned = fleet?.receive(request, path);
    if (unsigned !== undefined) return refuse(response, unsigned);
    if (fleet !== undefined && path === SESSIONS_PATH) return this.#take(request, response, fleet);
    const { headers } = request;
    const user = fleet?.userOf(request);
    const refusal = fleet?.isPassedOn(request) === true ? undefined : access.refusal(headers);
    if (refusal !== undefined) return refuse(response, refusal);
    if (headers.origin !== undefined && access.isAllowedOrigin(headers.origin)) {
      response.setHeader('access-control-allow-origin', headers.origin);
      response.setHeader('access-control-expose-headers', CORS_READABLE);
      response.setHeader('vary', 'origin');
      if (method === 'OPTIONS') return void response.writeHead(204, preflight(headers)).end();
    }
    const described = resourcePathOf(path);
    const isThere = described === '/' || placeOf(described ?? '') !== undefined;
    if (described !== undefined && isThere && oauth !== undefined && method === 'GET')
      return answerJson(response, 200, resourceMetadata(new URL(described, origin), oauth));
    const place = placeOf(path);
    if (place === undefined) return refuse(response, NOTHING_HERE);
    const caller = user ?? (await access.caller(headers, new URL(path, origin)));
    if (isRefused(caller)) return refuse(response, caller);
    this.#options.admitted(request.socket);
    return this.#converse({ request, response, caller, place });
  }

  /** The names of servers are only for those who may use them. */
  async #probed(path: string, { headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (path !== '/readyz') return answerJson(response, 200, { status: 'ok' });
    const { access, isDraining, origin, readiness } = this.#options;
    const { status, missing } = readiness();
    const verdict = isDraining() ? 'draining' : status;
    const isAdmitted =
      access.refusal(headers) === undefined &&
      !isRefused(await access.caller(headers, new URL('/mcp', origin)));
    const body = { status: verdict, ...(isAdmitted && missing.length > 0 && { missing }) };
    answerJson(response, verdict === 'ready' ? 200 : 503, body);
  }

  async #converse(exchange: Exchange): Promise<void> {
    const { request, response, place } = exchange;
    // An open session has been admitted before, and its server may have gone since.
    const isOfSession = request.headers[SESSION_HEADER] !== undefined;
    const nowhere = !isOfSession ? await this.#options.sessions.whyNowhere(place) : undefined;
    if (nowhere !== undefined) return refuse(response, nowhere);
    if (!isOfSession && request.method !== 'POST' && isStateless(undefined, request))
      return refuse(response, ONLY_POST);
    switch (request.method) {
      case 'POST':
        return this.#post(exchange);
      case 'GET':
        return this.#listen(exchange);
      case 'DELETE':
        return this.#end(exchange);
      default:
        return refuse(response, NO_SUCH_METHOD);
    }
  }

  async #post(exchange: Exchange): Promise<void> {
    const { request, response, caller, place } = exchange;
    const { exchanges, fleet, maxBodyBytes, sessions } = this.#options;
    const { headers } = request;
    if (!isJson(headers)) return refuse(response, NOT_JSON);
    if (!takesStream(headers) && !takesJson(headers)) return refuse(response, NO_ANSWER);
    const bytes = await readBytes(request, maxBodyBytes);
    if (bytes === undefined) {
      dropRest(request);
      return answerJson(response, 413, tooLong(null, undefined, maxBodyBytes));
    }
    const changed = fleet?.whyNotIntact(request, bytes);
    if (changed !== undefined) return refuse(response, changed);
    if (!isUtf8(bytes)) return answerJson(response, 400, notText(bytes.length));
    // Without a byte order mark, which a reader may ignore (RFC 8259, section 8.1).
    const text = new TextDecoder().decode(bytes);
    const body = parseJson(text);
    if (body === undefined) {
      const excess = excessOf(text);
      if (excess === undefined) return answerJson(response, 400, parseError(bytes.length));
      return answerJson(response, 413, tooComplex(null, excess));
    }
    const givenUp = hasRequest(body) ? fleet?.whyGivenUp(request) : undefined;
    if (givenUp !== undefined) return refuse(response, givenUp);
    if (isStateless(body, request)) {
      if (await this.#passStateless(exchange, body, bytes)) return;
      this.#endWithToken(response, caller);
      return exchanges.answer(body, { ...exchange, takesStream: takesStream(headers) });
    }
    if (headers[SESSION_HEADER] !== undefined) {
      const moving = hasRequest(body) ? sessions.moving(String(headers[SESSION_HEADER])) : undefined;
      if (moving !== undefined) await moving;
      if (await this.#isElsewhere(exchange, bytes)) return;
      const session = this.#session(exchange);
      if (isRefused(session)) return refuse(response, session);
      this.#endWithToken(response, caller);
      return session.post(body, response, { takesStream: takesStream(headers), headers });
    }
    const came = toClientMessage(body);
    if (came.kind === 'request' && came.message.method === 'initialize') {
      if (this.#isLeaving(caller) && (await fleet?.passToAny(exchange, bytes))) return;
      return sessions.open(came.message, response, caller, place);
    }
    if (came.kind === 'invalid') return answerJson(response, 400, came.answer);
    return refuse(response, NO_SESSION);
  }

  async #listen(exchange: Exchange): Promise<void> {
    const { request, response, caller } = exchange;
    if (!takesStream(request.headers)) return refuse(response, NO_STREAM);
    if (await this.#isElsewhere(exchange)) return;
    const session = this.#session(exchange);
    if (isRefused(session)) return refuse(response, session);
    this.#endWithToken(response, caller);
    session.listen(response, oneOf(request.headers['last-event-id']));
  }

  async #end(exchange: Exchange): Promise<void> {
    const { response } = exchange;
    const { [SESSION_HEADER]: id } = exchange.request.headers;
    await this.#options.sessions.moving(String(id));
    if (await this.#isElsewhere(exchange)) return;
    const session = this.#session(exchange);
    if (isRefused(session)) return refuse(response, session);
    await this.#options.sessions.end(session.sessionId);
    response.writeHead(204).end();
  }

  /** Takes a session that another host brings. */
  async #take(request: IncomingMessage, response: ServerResponse, fleet: FleetSessions): Promise<void> {
    const bytes = await readBytes(request, this.#options.maxBodyBytes);
    const changed = bytes === undefined ? TOO_LONG : fleet.whyNotIntact(request, bytes);
    if (bytes === undefined || changed !== undefined) return refuse(response, changed ?? TOO_LONG);
    this.#options.admitted(request.socket);
    const refused = await this.#options.sessions.continue(parseJson(new TextDecoder().decode(bytes)));
    if (refused !== undefined) return refuse(response, refused);
    answerJson(response, 200, {});
  }

  /** Hands on a request without a session that only another host can answer, or any other while this one drains. */
  async #passStateless(exchange: Exchange, body: unknown, bytes: Uint8Array): Promise<boolean> {
    const { fleet } = this.#options;
    if (fleet === undefined) return false;
    if (await fleet.passContinued(exchange, body, bytes)) return true;
    return this.#isLeaving(exchange.caller) && !fleet.isHeldHere(body) && fleet.passToAny(exchange, bytes);
  }

  /** Whether another host should answer that caller, if there is one. */
  #isLeaving({ isHost }: Caller): boolean {
    return this.#options.isDraining() && isHost !== true;
  }

  /** Whether another host has the session, and has answered. */
  async #isElsewhere(exchange: Exchange, body?: Uint8Array): Promise<boolean> {
    const { fleet, sessions } = this.#options;
    const id = exchange.request.headers[SESSION_HEADER];
    if (fleet === undefined || typeof id !== 'string' || sessions.has(id)) return false;
    return fleet.answerElsewhere(exchange, id, body);
  }

  /** The session that the request names, or the refusal. */
  #session({ request: { headers }, caller, place }: Exchange): HttpSession | Refused {
    const id = headers[SESSION_HEADER];
    if (typeof id !== 'string') return NO_SESSION;
    const session = this.#options.sessions.find(id, caller, place);
    if (session === undefined) return SESSION_OVER;
    const version = oneOf(headers['mcp-protocol-version']);
    return version === undefined || KNOWN_VERSIONS.includes(version) ? session : NO_SUCH_VERSION;
  }

  /** A stream does not outlive the token of its request; the client may resume it with another token. */
  #endWithToken(response: ServerResponse, { expiresAt }: Caller): void {
    if (expiresAt === undefined) return;
    const { clock } = this.#options;
    const timer = clock.setTimeout(() => response.destroy(), expiresAt - clock.now());
    response.once('close', () => clock.clearTimeout(timer));
  }
}

function placeOf(path: string): Route | undefined {
  if (path === '/mcp') return { path, server: undefined };
  const [, name] = /^\/servers\/([^/]{1,500})\/mcp$/.exec(path) ?? [];
  if (name === undefined) return undefined;
  try {
    return { path, server: decodeURIComponent(name) };
  } catch {
    return undefined;
  }
}

/** What pages of an allowed origin may send: a server may want further headers of the client (`forwardHeaders`). */
function preflight({
  'access-control-request-headers': asked = '',
}: IncomingHttpHeaders): OutgoingHttpHeaders {
  return {
    'access-control-allow-methods': METHODS,
    'access-control-allow-headers': asked === '' ? OWN_HEADERS : `${OWN_HEADERS}, ${asked}`,
    'access-control-max-age': '600',
  };
}

function isJson({ 'content-type': type = '', 'content-encoding': encoding }: IncomingHttpHeaders): boolean {
  return /^application\/json\s*(;|$)/i.test(type) && encoding === undefined;
}

function takesStream({ accept = '' }: IncomingHttpHeaders): boolean {
  return /text\/event-stream|text\/\*|\*\/\*/i.test(accept);
}

/** Without `Accept`, anything may be sent (RFC 9110, section 12.5.1). Such a client is probably simple, so it gets JSON. */
function takesJson({ accept = '*/*' }: IncomingHttpHeaders): boolean {
  return /application\/(json|\*)|\*\/\*/i.test(accept);
}

function hasRequest(body: unknown): boolean {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return messages.some((message) => isJsonObject(message) && 'method' in message && 'id' in message);
}

function oneOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

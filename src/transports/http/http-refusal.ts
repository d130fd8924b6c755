/**
 * Why a request got no usable answer, as a failure: a status that refuses, a body that is not MCP, a network error.
 *
 * Owns the wording, and the cleaning of text from servers. The transports decide which failure ends a session.
 * Longer than 300 lines because all messages and hints about failed HTTP requests are here.
 *
 * N1. Status and headers are known at once: a body that does not end delays a refusal by 1 s at most.
 * N2. A body with the id of the request shows that the server has read it, so the request is not repeated; the exception is
 *     404 with plain words about the session. Whatever the words, 404 ends a session (MCP 2025-11-25, "Session
 *     Management").
 */
import { STATUS_CODES } from 'node:http';
import type { JSONRPCRequest, RequestId } from '../../mcp/messages.js';
import { MAX_DELAY_MS } from '../../../machines/policy/backoff.js';
import type { HttpRefusal } from '../../../machines/policy/failure.js';
import type { Clock } from '../../ports.js';
import { TransportError, type RawFailure } from '../../failures/transport-error.js';
import { type HttpAddress, isWithinOrigin, shownUrl } from './server-address.js';
import { readStart, type BodyStart } from './body-text.js';
import type { HttpReply, NetworkError, ProxyFailure } from './http-exchange.js';
import { isAnswer, parseMessages, UNSUPPORTED_PROTOCOL_VERSION, type JsonRpcAnswer } from '../json-rpc.js';
import { parseUrl } from '../../text/parse-url.js';

/** Longest start of a body that a failure holds (`HttpRefusal.bodyStart`). */
const BODY_START_CHARS = 500;
/** Characters of a body that are cleaned for display. */
const CLEANED_CHARS = 4_096;
/** Characters of a body in the message. */
const MESSAGE_CHARS = 200;
/** Bytes read of the body of a refusal: it may be the answer to the request. */
const MAX_BYTES = 64 * 1024;
const BODY_LIMIT_MS = 1_000;

/** How servers report an unknown session with 400 instead of the 404 of the specification. */
const FORGOTTEN = /\bsession|not initialized/i;
/** The same in the message of an error that carries the id of a request. There, a tool may speak of its own sessions. */
const NO_SESSION =
  /^(?:bad request: |not found: )?(?:(?:no valid|(?:invalid|expired|unknown|missing)(?: or (?:invalid|expired|unknown|missing))?) (?:mcp[- ])?session\b|(?:mcp[- ])?session (?:id )?(?:not found|expired|does not exist|(?:has been )?terminated)|server not initialized)/i;
const INVALID_REQUEST = -32_600;
/** No such method, wrong parameters, no such resource (MCP 2025-11-25, "Resources"). */
const OF_REQUEST: ReadonlySet<number> = new Set([-32_601, -32_602, -32_002]);
/** Statuses of a gateway that gets no answer from the server behind it (RFC 9110 section 15.6; Cloudflare has its own). */
const OF_GATEWAY: readonly (readonly [first: number, last: number])[] = [
  [502, 504],
  [520, 530],
];
/** A session that is unknown right after it was issued: the request usually went to another instance. */
const JUST_ISSUED =
  'The server had just issued that session. If several instances share the address, they must share their sessions, or requests of a session must always go to the same instance.';
/** Stands for bytes that are not text. */
const NOT_UTF8 = '\ufffd';

interface JsonRpcErrorInBody {
  readonly code: number;
  readonly message: string;
}

/** A refusal with a JSON-RPC answer in its body. `seenByRequest` decides which request it answers. */
class AnsweringRefusal extends TransportError {
  constructor(
    readonly answer: JsonRpcAnswer,
    ...rest: ConstructorParameters<typeof TransportError>
  ) {
    super(...rest);
  }
}

/** What a failure means for that request: its answer, or the error to throw. */
export function seenByRequest(
  error: unknown,
  { id, method }: Pick<JSONRPCRequest, 'id' | 'method'>,
): { readonly answer: JsonRpcAnswer } | { readonly error: unknown } {
  if (!(error instanceof AnsweringRefusal) || !isSameId(error.answer.id, id)) return { error };
  const { answer, failure } = error;
  const status = failure.http?.status ?? 0;
  if (status >= 500) return { error };
  const rpcError = errorIn(answer);
  const isExpired = failure.code === 'session-expired' && rpcError !== undefined;
  if (!isExpired || !isOfSession(rpcError, status, method)) return { answer: { ...answer, id } };
  const written = status !== 404 || !saysNoSession(rpcError);
  return { error: written ? new TransportError(failure, { written, cause: error }) : error };
}

/** How a server refuses `initialize` if it speaks only versions without it: no such method, no `_meta`, wrong headers. */
const WITHOUT_INITIALIZE: ReadonlySet<number> = new Set([-32_601, -32_602, -32_020, -32_021]);

/**
 * What a refusal of the first request of a session means. Its status decides which transport to use, whatever the body says,
 * unless the server refuses the method or its version: then it speaks this transport. Without the version, it may not have
 * read the id.
 */
export function seenByFirst(
  error: unknown,
  { id }: Pick<JSONRPCRequest, 'id'>,
): { readonly answer: JsonRpcAnswer } | { readonly error: unknown } {
  if (!(error instanceof AnsweringRefusal)) return { error };
  const { answer } = error;
  const code = errorIn(answer)?.code ?? 0;
  const isAnswer =
    code === UNSUPPORTED_PROTOCOL_VERSION || (WITHOUT_INITIALIZE.has(code) && isSameId(answer.id, id));
  return isAnswer ? { answer: { ...answer, id } } : { error };
}

/** Some servers return a number as text. Troupe sends no other ids. */
function isSameId(answered: unknown, id: RequestId): boolean {
  return (typeof answered === 'string' || typeof answered === 'number') && String(answered) === String(id);
}

/**
 * Whether an error is about the session. With 404 it is, unless its code blames the request. With 400, a tool may speak of
 * its own sessions.
 */
function isOfSession(rpcError: JsonRpcErrorInBody, status: number, method: string): boolean {
  if (status === 404) return !OF_REQUEST.has(rpcError.code) || FORGOTTEN.test(rpcError.message);
  return method === 'tools/call' ? saysNoSession(rpcError) : FORGOTTEN.test(rpcError.message);
}

/** The code must be one of the server itself: a tool that does not find a session of its own uses others. */
function saysNoSession({ code, message }: JsonRpcErrorInBody): boolean {
  const isOfServer = code === INVALID_REQUEST || (code >= -32_099 && code <= -32_000);
  return isOfServer && NO_SESSION.test(message);
}

/** Undefined if there is none, or it is not valid. */
function errorIn(answer: JsonRpcAnswer): JsonRpcErrorInBody | undefined {
  const error: unknown = 'error' in answer ? answer.error : undefined;
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return typeof code === 'number' && typeof message === 'string' ? { code, message } : undefined;
}

/** Whether a gateway may send this status for a server that is gone. It is then no sign of life. */
export function isOfGateway(status: number): boolean {
  return OF_GATEWAY.some(([first, last]) => status >= first && status <= last);
}

/** Their failure is no reason for a ping: the first two are one, and the last is repeated anyway. */
const UNDOUBTED: ReadonlySet<string> = new Set(['ping', 'server/discover', 'subscriptions/listen']);

/** Whether the server may be gone, which is a reason to ping it. */
export function leavesDoubt({ code, http }: RawFailure, method?: string): boolean {
  if (method !== undefined && UNDOUBTED.has(method)) return false;
  return code === 'connection-lost' || (http !== undefined && isOfGateway(http.status));
}

export const JSON_TYPE = 'application/json';

/** The `content-type` without its parameters, in lower case; the first if a proxy has added another. */
export function mediaType(reply: HttpReply): string {
  return (reply.header('content-type') ?? '').split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? '';
}

/** Turns a reply without a 2xx status into the error to throw. Reads the start of its body. */
export async function refusal(
  reply: HttpReply,
  context: {
    readonly address: HttpAddress;
    readonly clock: Clock;
    readonly secrets: readonly string[];
    readonly inSession: boolean;
    /** The server has accepted a message of the session before. */
    readonly isKnown: boolean;
    /** Other credentials would help. */
    readonly needsSignIn: boolean;
    /** A person can be asked for them. */
    readonly canSignIn: boolean;
    /** It comes from the origin of the entry, so it may receive the credentials. */
    readonly isOwn: boolean;
    /** It is a redirect of a kind that is followed, up to a limit. */
    readonly isFollowed: boolean;
  },
): Promise<TransportError> {
  const { address, clock, secrets, inSession, needsSignIn, canSignIn, isOwn, isFollowed, isKnown } = context;
  const body = await startOfBody(reply, clock);
  const http = describe(reply, shown(body.text, reply, secrets), secrets, clock);
  const name = `${http.status} ${STATUS_CODES[http.status] ?? ''}`.trim();
  const detail = http.bodyStart === undefined ? '' : `: ${startOf(http.bodyStart)}`;

  if (needsSignIn) {
    const message = `${address.shown} requires authorization (HTTP ${name})${detail}`;
    const hint =
      http.wwwAuthenticate === undefined
        ? NO_CHALLENGE
        : 'Sign in, or correct the credentials of this server.';
    const failure: RawFailure = { code: 'auth-required', message, http, hint };
    return new TransportError(canSignIn ? failure : { ...failure, canSignIn }, { written: false });
  }
  const answer = answerIn(body);
  const error = answer === undefined ? undefined : errorIn(answer);
  // It is unknown what a JSON text without its end answers, and a body that has not begun may be JSON.
  const isUnclear = !body.isWhole && /^\s*(?:[[{]|$)/.test(body.text);
  // Below 500 the server says that it did not take the message; a gateway's 5xx may come after it did.
  const options = { written: http.status >= 500 || isUnclear };
  const fail = (failure: RawFailure): TransportError =>
    answer === undefined
      ? new TransportError(failure, options)
      : new AnsweringRefusal(answer, failure, options);

  const isForgotten = http.status === 404 || (http.status === 400 && !isUnclear && FORGOTTEN.test(body.text));
  if (inSession && isForgotten) {
    const message = `${address.shown} no longer knows the session (HTTP ${name})${detail}`;
    return fail({ code: 'session-expired', message, http, ...(isKnown ? {} : { hint: JUST_ISSUED }) });
  }
  const target = redirectTarget(reply, address.url);
  const message =
    target === undefined
      ? `${address.shown} refused with HTTP ${name}${detail}`
      : `${address.shown} redirects (HTTP ${name}) ${whereTo(target, isFollowed)}`;
  return fail({
    code: 'http-status',
    message,
    http,
    ...(error === undefined ? {} : { rpcCode: error.code }),
    ...hintFor(reply, address, { target, isOwn }),
  });
}

/** A 401 should say how to get credentials (RFC 9110 section 11.6.1); this one may have no authorization server at all. */
const NO_CHALLENGE = `It does not say how to sign in, so it may take only a token: put it into 'headers' of the entry, such as "Authorization": "Bearer \${TOKEN}". Otherwise, sign in.`;

/** For a 2xx reply whose body is not what MCP sends, such as the page of a sign-in proxy. */
export async function notMcp(
  reply: HttpReply,
  context: {
    readonly address: HttpAddress;
    readonly secrets: readonly string[];
    readonly clock: Clock;
    readonly text?: string | undefined;
  },
): Promise<TransportError> {
  const { address, secrets, clock } = context;
  const text = shown(context.text ?? (await startOfBody(reply, clock)).text, reply, secrets);
  const type = mediaType(reply);
  const body = text === '' ? 'and an empty body' : `(${startOf(text)})`;
  const message =
    `${address.shown} answered HTTP ${reply.status} with ${type === '' ? 'no content type' : `content type ${type}`} ` +
    `${body} instead of an MCP message.`;
  const http = {
    status: reply.status,
    ...(text === '' ? {} : { bodyStart: text.slice(0, BODY_START_CHARS) }),
  };
  const hint = "Check 'url'; a proxy or a sign-in page may stand in front of the server.";
  return new TransportError({ code: 'http-not-mcp', message, http, hint }, { written: true });
}

/** For a request without a reply. `place` is its destination as messages show it. */
export function notReached(error: NetworkError, place: string): TransportError {
  const { code, connected, proxy } = error;
  const via = proxy === undefined ? '' : ` through the proxy ${proxy.shown}`;
  const failure: RawFailure =
    proxy?.isAtFault === true
      ? proxyFailure(code, proxy, place)
      : connected
        ? {
            code: 'connection-lost',
            message: `The connection to ${place}${via} broke before the reply (${code}).`,
            ...replyHint(code),
          }
        : {
            code: 'address-refused',
            message: `${place.replace(/^the /, 'The ')} cannot be reached${via} (${code}).`,
            ...connectHint(code),
          };
  return new TransportError(failure, { written: connected, cause: error });
}

const CHECK_PROXY =
  "Check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or 'proxy' in the entry; NO_PROXY lists hosts to reach directly.";
const PROXY_CREDENTIALS =
  'Put the user name and password into the address of the proxy: http://user:password@host:port.';

/** A 4xx reply of the proxy is a configuration problem; a proxy that is down, or cannot reach the server, may recover. */
function proxyFailure(code: string, { shown, status }: ProxyFailure, place: string): RawFailure {
  if (status === undefined) {
    const message = `The proxy ${shown} for ${place} cannot be reached (${code}).`;
    return { code: 'address-refused', message, hint: CHECK_PROXY };
  }
  const name = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  const http = { status };
  if (status >= 500) {
    const message = `The proxy ${shown} cannot reach ${place} (HTTP ${name}).`;
    return { code: 'address-refused', message, http };
  }
  const message = `The proxy ${shown} refuses to connect to ${place} (HTTP ${name}).`;
  return { code: 'http-status', message, http, hint: status === 407 ? PROXY_CREDENTIALS : CHECK_PROXY };
}

/** The part for a message. The mark also shows the redactor where a secret may have been cut. */
function startOf(text: string): string {
  return text.length <= MESSAGE_CHARS ? text : `${text.slice(0, MESSAGE_CHARS)}…`;
}

/** The target of a redirect; undefined if it is not a valid address. */
export function redirectTarget(reply: HttpReply, from: URL): URL | undefined {
  const location = reply.status >= 300 && reply.status < 400 ? reply.header('location') : undefined;
  return location === undefined ? undefined : parseUrl(location, from);
}

/** Text without control characters and secrets, for a message. */
export function clean(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const secret of secrets) result = result.replaceAll(secret, '***');
  return result.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
}

function describe(reply: HttpReply, text: string, secrets: readonly string[], clock: Clock): HttpRefusal {
  const wwwAuthenticate = reply.header('www-authenticate');
  const retryAfterMs = parseRetryAfter(reply.header('retry-after'), clock.now());
  return {
    status: reply.status,
    ...(text === '' ? {} : { bodyStart: text.slice(0, BODY_START_CHARS) }),
    ...(wwwAuthenticate === undefined ? {} : { wwwAuthenticate: clean(wwwAuthenticate, secrets) }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** Seconds, or a date (RFC 9110 section 10.2.3). At most what a timer can wait, about 25 days. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_DELAY_MS);
}

function startOfBody(reply: HttpReply, clock: Clock): Promise<BodyStart> {
  return readStart(reply.body, { maxBytes: MAX_BYTES, maxMs: BODY_LIMIT_MS, clock });
}

/** The start of a body for people to read. */
function shown(body: string, reply: HttpReply, secrets: readonly string[]): string {
  const encoding = reply.header('content-encoding');
  const text =
    encoding !== undefined && body.includes(NOT_UTF8) ? `a body in the content encoding '${encoding}'` : body;
  return clean(withoutTags(text.slice(0, CLEANED_CHARS)), secrets);
}

/** The text of a page; anything else is left as it is. */
function withoutTags(text: string): string {
  if (!/^\s*<(?:!doctype html|html|head|body)\b/i.test(text)) return text;
  return text
    .replace(/<!--.*?(?:-->|$)|<(script|style)\b.*?(?:<\/\1\s*>|$)/gis, ' ')
    .replace(/<[^>]*(?:>|$)/g, ' ');
}

/** The first answer in the body of a refusal. */
function answerIn({ text, isWhole }: BodyStart): JsonRpcAnswer | undefined {
  return isWhole ? parseMessages(text)?.find(isAnswer) : undefined;
}

function whereTo(target: URL, isFollowed: boolean): string {
  const to = shownUrl(target);
  return isFollowed
    ? `too often, perhaps in a circle; the last time to ${to}`
    : `to ${to}, which is not followed`;
}

function hintFor(
  reply: HttpReply,
  address: HttpAddress,
  { target, isOwn }: { readonly target: URL | undefined; readonly isOwn: boolean },
): Pick<RawFailure, 'hint'> {
  if (!isOwn || (target !== undefined && !isWithinOrigin(address.url, target))) {
    return { hint: 'Headers are never sent to another origin. If the new address is right, configure it.' };
  }
  return reply.status === 404 ? { hint: "Check the path of 'url'." } : {};
}

type Hint = Pick<RawFailure, 'hint'>;

/** What helps if no connection could be made, by the code of the network error. */
function connectHint(code: string): Hint {
  if (code === 'ENOENT') return { hint: 'There is no such socket. Is the server running?' };
  if (code === 'EACCES') return { hint: 'This user does not have permission to use the socket.' };
  if (code === 'ECONNREFUSED') return { hint: 'Nothing listens there. Is the server running?' };
  if (code === 'ENOTFOUND') return { hint: 'The host name is unknown. Check its spelling and the network.' };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return { hint: "The certificate is for another name. Check the host in 'url'." };
  if (/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/.test(code)) {
    return {
      hint: 'The certificate is not valid at this time. Renew it, or correct the clock of this machine.',
    };
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return {
      hint: "The certificate is not trusted. Set 'ca' in the entry or NODE_EXTRA_CA_CERTS to a file with the certificate of its issuer.",
    };
  }
  if (/^(EPROTO|ERR_SSL)/.test(code))
    return { hint: "The server may not speak TLS there: try 'http:' in 'url'." };
  return {};
}

/** What helps if there was a connection. */
function replyHint(code: string): Hint {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return {
      hint: 'The headers of the reply are too long; --max-http-header-size of Node raises the limit.',
    };
  }
  return code.startsWith('HPE_') ? { hint: "The reply is not valid HTTP. Check the port in 'url'." } : {};
}

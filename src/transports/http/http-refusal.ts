/**
 * Why a request got no usable answer, as a failure: a status that refuses, a body that is not MCP, a network error.
 *
 * Owns the wording and the cleaning of what servers say. Which failure ends a session is for the transports to decide.
 *
 * N1. Status and headers are known at once: a body that does not end delays a refusal by 1 s at most.
 * N2. What carries the id of the request shows that the server has read it, so nothing in it leads to a repetition; only
 *     404, with plain words about the session, says the contrary. Whatever the words, 404 ends a session (MCP 2025-11-25,
 *     "Session Management").
 */
import { STATUS_CODES } from 'node:http';
import type { JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { LONGEST_DELAY_MS } from '../../../machines/policy/backoff.js';
import type { HttpRefusal } from '../../../machines/policy/failure.js';
import type { Clock } from '../../ports.js';
import { TransportError } from '../session-transport.js';
import type { RawFailure } from '../session-transport.js';
import type { HttpAddress } from './address.js';
import { isWithinOrigin, shownUrl } from './address.js';
import { readStart } from './body-text.js';
import type { BodyStart } from './body-text.js';
import type { HttpReply, NetworkError } from './exchange.js';
import { connectHint, replyHint } from './network-hint.js';
import { isAnswer, parseMessages } from '../json-rpc.js';
import type { JsonRpcAnswer } from '../json-rpc.js';

/** Longest start of a body that a failure holds (`HttpRefusal.bodyStart`). */
const BODY_START_CHARS = 500;
/** Characters of a body that are cleaned to be shown. */
const CLEANED_CHARS = 4_096;
/** The share of it that goes into the message. */
const MESSAGE_CHARS = 200;
/** Bytes read of the body of a refusal: it may be the answer to the request. */
const MOST_BYTES = 64 * 1024;
const BODY_LIMIT_MS = 1_000;

/** How servers say with 400, instead of the 404 of the specification, that they do not know a session. */
const FORGOTTEN = /\bsession|not initialized/i;
/** The same as the message of an error that carries the id of a request. A tool may speak of sessions of its own there. */
const NO_SESSION =
  /^(?:bad request: |not found: )?(?:(?:no valid|(?:invalid|expired|unknown|missing)(?: or (?:invalid|expired|unknown|missing))?) (?:mcp[- ])?session\b|(?:mcp[- ])?session (?:id )?(?:not found|expired|does not exist|(?:has been )?terminated)|server not initialized)/i;
const INVALID_REQUEST = -32_600;
/** No such method, wrong parameters, no such resource (MCP 2025-11-25, "Resources"). */
const OF_REQUEST: ReadonlySet<number> = new Set([-32_601, -32_602, -32_002]);
/** How a gateway says that it gets nothing from the server behind it (RFC 9110 section 15.6; Cloudflare has its own). */
const OF_GATEWAY: readonly (readonly [first: number, last: number])[] = [
  [502, 504],
  [520, 530],
];
/** What stands for bytes that are no text. */
const NOT_UTF8 = '\ufffd';

interface SaidError {
  readonly code: number;
  readonly message: string;
}

/** A refusal with a JSON-RPC answer in its body: to which request, `seenByRequest` tells. */
class AnsweringRefusal extends TransportError {
  constructor(
    readonly answer: JsonRpcAnswer,
    ...rest: ConstructorParameters<typeof TransportError>
  ) {
    super(...rest);
  }
}

/** What a failure is to that request: its answer, or the error to throw. */
export function seenByRequest(
  error: unknown,
  { id, method }: Pick<JSONRPCRequest, 'id' | 'method'>,
): { readonly answer: JsonRpcAnswer } | { readonly error: unknown } {
  if (!(error instanceof AnsweringRefusal) || !isSameId(error.answer.id, id)) return { error };
  const { answer, failure } = error;
  const status = failure.http?.status ?? 0;
  if (status >= 500) return { error };
  const said = errorIn(answer);
  const isExpired = failure.code === 'session-expired' && said !== undefined;
  if (!isExpired || !isOfSession(said, status, method)) return { answer: { ...answer, id } };
  const written = status !== 404 || !saysNoSession(said);
  return { error: written ? new TransportError(failure, { written, cause: error }) : error };
}

/** Some servers give a number back as a text. What is neither is none of ours. */
function isSameId(said: unknown, id: RequestId): boolean {
  return (typeof said === 'string' || typeof said === 'number') && String(said) === String(id);
}

/**
 * Whether an error is about the session. With 404 it is, but where the request itself was the matter. With 400, a tool
 * may speak of sessions of its own.
 */
function isOfSession(said: SaidError, status: number, method: string): boolean {
  if (status === 404) return !OF_REQUEST.has(said.code) || FORGOTTEN.test(said.message);
  return method === 'tools/call' ? saysNoSession(said) : FORGOTTEN.test(said.message);
}

/** The code has to be one of the server itself: a tool that finds no session of its own has others. */
function saysNoSession({ code, message }: SaidError): boolean {
  const isOfServer = code === INVALID_REQUEST || (code >= -32_099 && code <= -32_000);
  return isOfServer && NO_SESSION.test(message);
}

/** Undefined where there is none, or one that is not valid. */
function errorIn(answer: JsonRpcAnswer): SaidError | undefined {
  const error: unknown = 'error' in answer ? answer.error : undefined;
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return typeof code === 'number' && typeof message === 'string' ? { code, message } : undefined;
}

/** Whether that may be said in the place of a server that is gone: no sign of life of it. */
export function isOfGateway(status: number): boolean {
  return OF_GATEWAY.some(([first, last]) => status >= first && status <= last);
}

/** Whether the server may be gone, which is a reason to ask. No failed ping is: whoever pings asks again anyway. */
export function leavesDoubt({ code, http }: RawFailure, method?: string): boolean {
  if (method === 'ping') return false;
  return code === 'connection-lost' || (http !== undefined && isOfGateway(http.status));
}

/** The `content-type` without its parameters, in lower case. */
export function mediaType(reply: HttpReply): string {
  return (reply.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Turns a reply without a 2xx status into the error to throw. Reads the start of its body. */
export async function refusal(
  reply: HttpReply,
  context: {
    readonly address: HttpAddress;
    readonly clock: Clock;
    readonly secrets: readonly string[];
    readonly inSession: boolean;
    /** Other credentials would do. */
    readonly needsSignIn: boolean;
    /** It is a redirect that is followed as long as there are not too many. */
    readonly isFollowed: boolean;
  },
): Promise<TransportError> {
  const { address, clock, secrets, inSession, needsSignIn, isFollowed } = context;
  const body = await startOfBody(reply, clock);
  const http = describe(reply, shown(body.text, reply, secrets), secrets, clock);
  const name = `${http.status} ${STATUS_CODES[http.status] ?? ''}`.trim();
  const said = http.bodyStart === undefined ? '' : `: ${startOf(http.bodyStart)}`;

  if (needsSignIn) {
    const message = `${address.shown} asks for authorization (HTTP ${name})${said}`;
    const hint = 'Sign in, or correct the credentials of this server.';
    return new TransportError({ code: 'auth-required', message, http, hint }, { written: false });
  }
  const answer = answerIn(body);
  const error = answer === undefined ? undefined : errorIn(answer);
  // Of a JSON text without its end nobody can tell what it answers, and what has not begun may be one.
  const isUnclear = !body.isWhole && /^\s*(?:[[{]|$)/.test(body.text);
  // Below 500 the server says that it did not take the message; a gateway's 5xx may come after it did.
  const options = { written: http.status >= 500 || isUnclear };
  const fail = (failure: RawFailure): TransportError =>
    answer === undefined
      ? new TransportError(failure, options)
      : new AnsweringRefusal(answer, failure, options);

  const isForgotten = http.status === 404 || (http.status === 400 && !isUnclear && FORGOTTEN.test(body.text));
  if (inSession && isForgotten) {
    const message = `${address.shown} no longer knows the session (HTTP ${name})${said}`;
    return fail({ code: 'session-expired', message, http });
  }
  const target = redirectTarget(reply, address.url);
  const message =
    target === undefined
      ? `${address.shown} refused with HTTP ${name}${said}`
      : `${address.shown} redirects (HTTP ${name}) ${whereTo(target, isFollowed)}`;
  return fail({
    code: 'http-status',
    message,
    http,
    ...(error === undefined ? {} : { rpcCode: error.code }),
    ...hintFor(reply, address, target),
  });
}

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

/** For a request that got no reply. */
export function notReached(error: NetworkError, address: HttpAddress): TransportError {
  const place = `${address.url.hostname}:${address.url.port || (address.url.protocol === 'https:' ? '443' : '80')}`;
  const failure: RawFailure = error.connected
    ? {
        code: 'connection-lost',
        message: `The connection to ${place} broke before the reply (${error.code}).`,
        ...replyHint(error.code),
      }
    : {
        code: 'address-refused',
        message: `${place} cannot be reached (${error.code}).`,
        ...connectHint(error.code),
      };
  return new TransportError(failure, { written: error.connected, cause: error });
}

/** As much as a message holds; the mark also tells the redactor where a secret may have been cut. */
function startOf(text: string): string {
  return text.length <= MESSAGE_CHARS ? text : `${text.slice(0, MESSAGE_CHARS)}…`;
}

/** Where a redirect points, if that is an address at all. */
export function redirectTarget(reply: HttpReply, from: URL): URL | undefined {
  const location = reply.status >= 300 && reply.status < 400 ? reply.header('location') : undefined;
  return location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

/** Text fit for a message: no control characters, nothing secret. */
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
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), LONGEST_DELAY_MS);
}

function startOfBody(reply: HttpReply, clock: Clock): Promise<BodyStart> {
  return readStart(reply.body, { maxBytes: MOST_BYTES, maxMs: BODY_LIMIT_MS, clock });
}

/** The start of a body for people to read. */
function shown(body: string, reply: HttpReply, secrets: readonly string[]): string {
  const encoding = reply.header('content-encoding');
  const text =
    encoding !== undefined && body.includes(NOT_UTF8)
      ? `a body in the content encoding '${encoding}', which was not asked for`
      : body;
  return clean(text.slice(0, CLEANED_CHARS), secrets);
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

function hintFor(reply: HttpReply, address: HttpAddress, target: URL | undefined): Pick<RawFailure, 'hint'> {
  if (target !== undefined && !isWithinOrigin(address.url, target)) {
    return { hint: 'Headers are never sent to another origin. If the new address is right, configure it.' };
  }
  return reply.status === 404 ? { hint: "Check the path of 'url'." } : {};
}

/**
 * Why a request got no usable answer, as a failure: a status that refuses, a body that is not MCP, a network error.
 *
 * Owns the wording and the cleaning of what servers say. Which failure ends a session is for the transports to decide.
 */
import { STATUS_CODES } from 'node:http';
import { LONGEST_DELAY_MS } from '../../../machines/policy/backoff.js';
import type { HttpRefusal } from '../../../machines/policy/failure.js';
import type { Clock } from '../../ports.js';
import { TransportError } from '../session-transport.js';
import type { RawFailure } from '../session-transport.js';
import type { HttpAddress } from './address.js';
import { isWithinOrigin, shownUrl } from './address.js';
import type { HttpReply, NetworkError } from './exchange.js';
import { isMessage } from '../json-rpc.js';

/** Longest start of a body that a failure holds (`HttpRefusal.bodyStart`). */
const BODY_START_CHARS = 500;
/** Bytes read of a body that is only to be shown. Clean text of 500 characters fits, four bytes each. */
const BODY_START_BYTES = 4_096;
/** The share of it that goes into the message. */
const MESSAGE_CHARS = 200;

/** How servers say with 400, instead of the 404 of the specification, that they do not know a session. */
const FORGOTTEN = /\bsession|not initialized/i;

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
  },
): Promise<TransportError> {
  const { address, clock, secrets, inSession, needsSignIn } = context;
  const text = await startOfBody(reply);
  const http = describe(reply, clean(text, secrets), secrets, clock);
  const name = `${http.status} ${STATUS_CODES[http.status] ?? ''}`.trim();
  const said = http.bodyStart === undefined ? '' : `: ${startOf(http.bodyStart)}`;
  // Below 500 the server says that it did not take the message; a gateway's 5xx may come after it did.
  const options = { written: http.status >= 500 };

  if (needsSignIn) {
    const message = `${address.shown} asks for authorization (HTTP ${name})${said}`;
    return new TransportError(
      { code: 'auth-required', message, http, hint: 'Sign in, or correct the credentials of this server.' },
      options,
    );
  }
  if (inSession && (http.status === 404 || (http.status === 400 && FORGOTTEN.test(text)))) {
    const message = `${address.shown} no longer knows the session (HTTP ${name})${said}`;
    return new TransportError({ code: 'session-expired', message, http }, options);
  }
  const target = redirectTarget(reply, address.url);
  const message =
    target === undefined
      ? `${address.shown} refused with HTTP ${name}${said}`
      : `${address.shown} redirects (HTTP ${name}) to ${shownUrl(target)}, which is not followed`;
  const rpcCode = rpcErrorCode(text);
  return new TransportError(
    {
      code: 'http-status',
      message,
      http,
      ...(rpcCode === undefined ? {} : { rpcCode }),
      ...hintFor(reply, address, target),
    },
    options,
  );
}

/** For a 2xx reply whose body is not what MCP sends, such as the page of a sign-in proxy. */
export async function notMcp(
  reply: HttpReply,
  context: {
    readonly address: HttpAddress;
    readonly secrets: readonly string[];
    readonly text?: string | undefined;
  },
): Promise<TransportError> {
  const { address, secrets } = context;
  const text = clean((context.text ?? (await startOfBody(reply))).slice(0, BODY_START_BYTES), secrets);
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
      }
    : {
        code: 'address-refused',
        message: `${place} cannot be reached (${error.code}).`,
        ...networkHint(error.code),
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

async function startOfBody(reply: HttpReply): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of reply.body) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= BODY_START_BYTES) break;
    }
  } catch {
    // What has come is all there is to show.
  }
  return Buffer.concat(chunks).subarray(0, BODY_START_BYTES).toString('utf8');
}

/** The code of a JSON-RPC error that came with a refusing status. */
function rpcErrorCode(text: string): number | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMessage(value) && 'error' in value ? value.error.code : undefined;
  } catch {
    return undefined;
  }
}

function hintFor(reply: HttpReply, address: HttpAddress, target: URL | undefined): Pick<RawFailure, 'hint'> {
  if (target !== undefined && !isWithinOrigin(address.url, target)) {
    return { hint: 'Headers are never sent to another origin. If the new address is right, configure it.' };
  }
  return reply.status === 404 ? { hint: "Check the path of 'url'." } : {};
}

function networkHint(code: string): Pick<RawFailure, 'hint'> {
  if (code === 'ECONNREFUSED') return { hint: 'Nothing listens there. Is the server running?' };
  if (code === 'ENOTFOUND')
    return { hint: 'The name of the host is unknown. Check its spelling and the network.' };
  if (/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code)) {
    return {
      hint: 'The certificate is not trusted. NODE_EXTRA_CA_CERTS can name the authority that issued it.',
    };
  }
  if (/^(EPROTO|ERR_SSL)/.test(code))
    return { hint: "The server may not speak TLS there: try 'http:' in 'url'." };
  return {};
}

/**
 * The configured address of a server: the URL to request, the form that may be shown, and the parts that must stay secret.
 */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { isLocalSocket, parseLocalSocket } from '../../config/entry/local-socket.js';
import { percentDecoded, isLoopback } from '../../text/host-reach.js';
import { TransportError } from '../../failures/transport-error.js';
import { parseUrl } from '../../text/parse-url.js';

export interface HttpAddress {
  /** The URL of requests, without user name and password. */
  readonly url: URL;
  /** The same without query and hash: the only form that messages and status may hold. */
  readonly shown: string;
  /** Host and port, or the socket, for messages about the connection. */
  readonly place: string;
  /** A socket of this computer; the host of `url` means nothing. */
  readonly isSocket: boolean;
  /** The configured headers in lower case, with the user name and password of the address as `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Texts that a server may echo and that must not reach a message. */
  readonly secrets: readonly string[];
}

/** Masking shorter texts, or the names of schemes, would only garble messages. */
export const MIN_SECRET = 6;
const SCHEME = /^(basic|bearer|digest|negotiate)$/i;

/** These frame the message itself, so a configured value could only break it. */
const FRAMING_HEADERS = new Set(['connection', 'content-length', 'transfer-encoding']);

/** Throws `config-invalid` for anything but an address over HTTP with sendable headers. */
export function parseAddress(text: string, headers: Readonly<Record<string, string>> = {}): HttpAddress {
  if (isLocalSocket(text)) return socketAddress(text, lowerCased(headers));
  const url = parseUrl(text);
  if (url === undefined) throw invalid("'url' is not a valid address.");
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid(`'url' must begin with http:, https:, unix: or pipe:, not ${url.protocol}`);
  }
  const merged = { ...basicCredentials(url), ...lowerCased(headers) };
  url.username = '';
  url.password = '';
  url.hash = '';
  const place = `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
  return {
    url,
    shown: shownUrl(url),
    place,
    isSocket: false,
    headers: merged,
    secrets: secretsIn(url, merged),
  };
}

function socketAddress(text: string, headers: Readonly<Record<string, string>>): HttpAddress {
  const socket = parseLocalSocket(text);
  if (socket === undefined) throw invalid("'url' must contain the path of a socket after three slashes.");
  const { url, shown } = socket;
  return {
    url,
    shown,
    place: shown.replace(/#.*/, ''),
    isSocket: true,
    headers,
    secrets: secretsIn(url, headers),
  };
}

/** The address without credentials, query and hash. */
export function shownUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** The form that `parseAddress` would show; undefined if the text is not an address. */
export function shownText(text: string): string | undefined {
  if (isLocalSocket(text)) return parseLocalSocket(text)?.shown;
  const url = parseUrl(text);
  return url && shownUrl(url);
}

/** Whether headers meant for `from` may go to `to`: the same origin, or its https form on the default ports. */
export function isWithinOrigin(from: URL, to: URL): boolean {
  if (from.protocol === to.protocol && from.host === to.host) return true;
  const onDefaultPorts = from.port === '' && to.port === '';
  return (
    from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname && onDefaultPorts
  );
}

/** Whether a redirect to another origin is safe: it neither weakens encryption nor leads from elsewhere into this computer. */
export function isAsProtected(from: URL, to: URL): boolean {
  if (isLoopback(from.hostname))
    return to.protocol === 'https:' || (from.protocol === to.protocol && isLoopback(to.hostname));
  return to.protocol === 'https:' && !isLoopback(to.hostname);
}

function basicCredentials(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const pair = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** The headers in lower case, without the ones that frame the message. Throws `config-invalid` if one cannot be sent. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw invalid(`The header ${JSON.stringify(name)} has a name or a value that cannot be sent.`);
    }
    if (!FRAMING_HEADERS.has(name.toLowerCase())) result[name.toLowerCase()] = value;
  }
  return result;
}

function secretsIn(url: URL, headers: Readonly<Record<string, string>>): string[] {
  const texts = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  texts.push(url.search.slice(1));
  for (const value of url.searchParams.values()) texts.push(value, encodeURIComponent(value));
  return [...new Set(texts)]
    .filter((text) => text.length >= MIN_SECRET && !SCHEME.test(text))
    .toSorted((a, b) => b.length - a.length);
}

function invalid(message: string): TransportError {
  return new TransportError({ code: 'config-invalid', message });
}

/** The host of a URL; for an IPv6 address, without the brackets. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

/**
 * Addresses of HTTP servers that listen on a socket of this computer, as VS Code writes them:
 * `unix:///path/to.sock#/request` and, on Windows, `pipe:///pipe/name#/request`.
 */
import { percentDecoded } from '../../text/host-reach.js';
import { parseUrl } from '../../text/parse-url.js';

export interface LocalSocket {
  /** The path to connect to. */
  readonly path: string;
  /** The URL for requests. Its host is only used for the `Host` header. */
  readonly url: URL;
  /** The address without query, for messages. */
  readonly shown: string;
}

const SCHEME = /^(?:unix|pipe):/i;

export function isLocalSocket(address: string): boolean {
  return SCHEME.test(address);
}

/** Undefined if the address is not valid, or does not refer to a socket. */
export function parseLocalSocket(address: string): LocalSocket | undefined {
  const parsed = isLocalSocket(address) ? parseUrl(address) : undefined;
  if (parsed === undefined) return undefined;
  const { protocol, host, pathname, hash } = parsed;
  if (host !== '' || pathname.length < 2 || !pathname.startsWith('/')) return undefined;
  const request = hash.slice(1);
  const url = new URL(`http://localhost${request.startsWith('/') ? '' : '/'}${request}`);
  const place = percentDecoded(pathname);
  return {
    path: protocol === 'pipe:' ? `\\\\.${place.replaceAll('/', '\\')}` : place,
    url,
    shown: `${protocol}//${pathname}${url.pathname === '/' ? '' : `#${url.pathname}`}`,
  };
}

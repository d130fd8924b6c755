/**
 * Connects to servers behind TLS through a proxy: requests a tunnel with `CONNECT` (RFC 9110 section 9.3.6), and speaks TLS
 * with the server through it.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type ConnectionOptions, type SecureContext } from 'node:tls';
import { toError } from '../../text/error-message.js';
import { errorCode } from './http-exchange.js';
import type { Proxy } from './proxy-choice.js';
import { withoutBrackets } from './server-address.js';

/** The proxy did not open a tunnel: it could not be reached, or refused with a status. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code: string;

  constructor(
    cause: unknown,
    readonly status?: number,
  ) {
    super('The proxy did not open a tunnel.', { cause });
    this.code = status === undefined ? errorCode(cause) : `HTTP ${status}`;
  }
}

type Created = (error: Error | null, socket: Duplex) => void;

/** Node reads it only if there is no error. */
const NO_SOCKET = undefined as unknown as Duplex;

export class TunnelAgent extends https.Agent {
  readonly #proxy: Proxy;
  readonly #proxyContext: SecureContext | undefined;
  readonly #opening = new Map<http.ClientRequest, Promise<void>>();

  /** `proxyContext` has the certificates for a proxy that is itself behind TLS. */
  constructor(options: https.AgentOptions, proxy: Proxy, proxyContext: SecureContext | undefined) {
    super(options);
    this.#proxy = proxy;
    this.#proxyContext = proxyContext;
  }

  /** Node calls this for each new connection. */
  override createConnection(target: https.RequestOptions, created?: Created): undefined {
    const { path: _, ...options } = target as ConnectionOptions;
    this.#openTunnel(options.host ?? '', options.port ?? 443).then(
      (socket) => created?.(null, connect({ ...options, socket })),
      (error: unknown) => created?.(toError(error), NO_SOCKET),
    );
    return undefined;
  }

  /** Ends the tunnels that are not open yet. Resolves when none of their sockets is left. */
  async endOpening(): Promise<void> {
    const ends = [...this.#opening.values()];
    for (const request of this.#opening.keys()) request.destroy();
    await Promise.all(ends);
  }

  #openTunnel(host: string, port: number | string): Promise<Duplex> {
    const { url, authorization } = this.#proxy;
    const target = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
    const { request: ask } = url.protocol === 'https:' ? https : http;
    const request = ask(url, {
      method: 'CONNECT',
      // Otherwise, Node uses the name in the `Host` header.
      servername: isIP(withoutBrackets(url.hostname)) === 0 ? url.hostname : '',
      path: target,
      agent: false,
      headers: {
        host: target,
        'user-agent': 'mcp-troupe',
        ...(authorization !== undefined && { 'proxy-authorization': authorization }),
      },
      ...(this.#proxyContext !== undefined && { secureContext: this.#proxyContext }),
    });
    this.#opening.set(request, new Promise((resolve) => request.once('close', resolve)));
    request.once('close', () => this.#opening.delete(request));
    return new Promise((resolve, reject) => {
      request.once('connect', ({ statusCode = 0 }, socket, head) => {
        if (statusCode >= 200 && statusCode < 300) {
          if (head.length > 0) socket.unshift(head);
          resolve(socket);
        } else {
          socket.destroy();
          reject(new ProxyError(undefined, statusCode));
        }
      });
      request.once('error', (error) => reject(new ProxyError(error)));
      request.end();
    });
  }
}

/**
 * HTTP through a `fetch` that the host supplies, or through a dispatcher of undici. Their sockets belong to the host, so
 * this can only promise that every request is aborted.
 */
import type { Readable } from 'node:stream';
import { decodedBody } from './body-text.js';
import { errorCode, NetworkError, type HttpExchange, type HttpReply } from './http-exchange.js';
import type { Dispatcher } from './network-options.js';

/** Codes that mean that there was no connection. Any other code counts as a lost connection. */
const NOT_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOST|ENET|UND_ERR_CONNECT|UND_ERR_PRX|CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

export function createFetchExchange(fetch: typeof globalThis.fetch): HttpExchange {
  return {
    send: async ({ url, method, headers, body, signal, onconnect }) => {
      signal.throwIfAborted();
      // From here on, nothing reports how far the request gets.
      onconnect?.();
      try {
        const init = { method, headers: { ...headers }, signal, redirect: 'manual' as const };
        const response = await fetch(url, body === undefined ? init : { ...init, body });
        return {
          status: response.status,
          // `fetch` has decoded the body.
          header: (name) =>
            name === 'content-encoding' ? undefined : (response.headers.get(name) ?? undefined),
          cookies: () => response.headers.getSetCookie(),
          body: response.body ?? nothing(),
          discard: async () => response.body?.cancel().catch(() => {}),
        };
      } catch (error) {
        throw broken(error, signal);
      }
    },
    close: async () => {},
  };
}

/** The inactivity timeouts of the dispatcher are turned off: an event stream may be silent for hours. */
export function createDispatcherExchange(dispatcher: Dispatcher): HttpExchange {
  return {
    send: async ({ url, method, headers, body, signal, onconnect }) => {
      signal.throwIfAborted();
      onconnect?.();
      try {
        const { statusCode, ...reply } = await dispatcher.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method,
          headers: { ...headers },
          ...(body === undefined ? {} : { body }),
          signal,
          headersTimeout: 0,
          bodyTimeout: 0,
        } as never);
        return { status: statusCode, ...toReply(reply.headers, reply.body) };
      } catch (error) {
        throw broken(error, signal);
      }
    },
    close: async () => {},
  };
}

function toReply(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Readable,
): Omit<HttpReply, 'status'> {
  const decoded = decodedBody(body, [headers['content-encoding'] ?? []].flat().join(', '));
  return {
    header: (name) => {
      if (name === 'content-encoding' && decoded !== undefined) return undefined;
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    cookies: () => [headers['set-cookie'] ?? []].flat(),
    body: decoded ?? body,
    discard: async () => {
      // A body that is destroyed before it was read emits an error.
      body.on('error', () => {});
      body.destroy();
    },
  };
}

function broken(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const code = errorCode(error);
  return new NetworkError(code, !NOT_CONNECTED.test(code), error);
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

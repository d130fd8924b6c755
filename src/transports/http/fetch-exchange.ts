/**
 * HTTP through a `fetch` that the host supplies, for instance one that uses a proxy. Its sockets belong to the host, so
 * this can only promise that every request is aborted.
 */
import { errorCode, NetworkError, type HttpExchange } from './http-exchange.js';

/** Codes that mean that there was no connection. Any other code counts as a lost connection. */
const NOT_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOST|ENET|UND_ERR_CONNECT|CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

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
          body: response.body ?? nothing(),
          discard: async () => response.body?.cancel().catch(() => {}),
        };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const code = errorCode(error);
        throw new NetworkError(code, !NOT_CONNECTED.test(code), error);
      }
    },
    close: async () => {},
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

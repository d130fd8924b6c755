/**
 * HTTP through a `fetch` that the host supplies, for instance one that goes through a proxy. Its sockets belong to the
 * host; all that can be promised here is that every request is aborted.
 */
import { errorCode, NetworkError } from './exchange.js';
import type { HttpExchange } from './exchange.js';

/** Codes that mean that there never was a connection. What is not here counts as one that was lost. */
const NOT_CONNECTED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOST|ENET|UND_ERR_CONNECT|CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

export function createFetchExchange(fetch: typeof globalThis.fetch): HttpExchange {
  return {
    send: async ({ url, method, headers, body, signal, onconnect }) => {
      signal.throwIfAborted();
      // From here on, nobody says how far it gets.
      onconnect?.();
      try {
        const init = { method, headers: { ...headers }, signal, redirect: 'manual' as const };
        const response = await fetch(url, body === undefined ? init : { ...init, body });
        return {
          status: response.status,
          // A body that comes through `fetch` has been decoded.
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

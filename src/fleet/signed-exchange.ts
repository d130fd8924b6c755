/** Requests to the gateway of another host, signed so that it takes them without a token. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../ports.js';
import type { OpenExchange } from '../transports/http/http-session.js';
import type { FleetKey } from './fleet-key.js';
import { requestKeys, SIGNATURE_HEADER, signRequest } from './signed-request.js';

/** The purpose of a request to a server that runs once in the fleet. */
export const USE_SERVER = 'use-server';

export interface SigningTerms {
  readonly key: FleetKey;
  /** Name of this host. */
  readonly from: string;
  /** Name of the host that the requests are for. */
  readonly to: string;
  readonly clock: Pick<Clock, 'now'>;
}

/** The same exchange, with a signature on each request. */
export function signedExchange({ key, from, to, clock }: SigningTerms): (open: OpenExchange) => OpenExchange {
  const keys = requestKeys(key);
  return (open) => (its) => {
    const exchange = open(its);
    return {
      send: (request) => {
        const { method, url, body = '' } = request;
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]),
        );
        const signature = signRequest(
          keys,
          {
            method,
            path: `${url.pathname}${url.search}`,
            session: headers['mcp-session-id'] ?? '',
            headers,
            body: Buffer.from(body),
          },
          { purpose: USE_SERVER, from, to },
          { at: clock.now(), nonce: randomUUID() },
        );
        return exchange.send({ ...request, headers: { ...headers, [SIGNATURE_HEADER]: signature } });
      },
      close: () => exchange.close(),
    };
  };
}

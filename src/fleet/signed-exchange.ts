/** Requests to the gateway of another host, signed so that it takes them without a token. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../ports.js';
import { NetworkError } from '../transports/http/http-exchange.js';
import type { OpenExchange } from '../transports/http/http-session.js';
import type { FleetKey } from './fleet-key.js';
import { NOT_HERE, requestKeys, SIGNATURE_HEADER, signRequest } from './signed-request.js';

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

/**
 * The same exchange, with a signature on each request. A host that answers that it is not the right one counts as not reached: it
 * has done nothing, and the lease of the server has, or soon gets, another holder.
 */
export function signedExchange({ key, from, to, clock }: SigningTerms): (open: OpenExchange) => OpenExchange {
  const keys = requestKeys(key);
  return (open) => (its) => {
    const exchange = open(its);
    return {
      send: async (request) => {
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
        const reply = await exchange.send({
          ...request,
          headers: { ...headers, [SIGNATURE_HEADER]: signature },
        });
        if (reply.status !== NOT_HERE) return reply;
        await reply.discard();
        throw new NetworkError(`HTTP ${NOT_HERE}`, false, undefined);
      },
      close: () => exchange.close(),
    };
  };
}

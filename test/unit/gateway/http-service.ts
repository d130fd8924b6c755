/** HTTP services in front of a stand-in gateway, closed after each test. */
import type { OutgoingHttpHeaders } from 'node:http';
import { afterEach } from 'vitest';
import { serveHttp, type HttpService } from '../../../src/gateway/http/serve-http.js';
import type { ServeHttpOptions } from '../../../src/gateway/http/serve-http-options.js';
import { ask, initialize, ofSession, type Asked, type Reply } from '../../support/gateway-http-client.js';
import { StandInGateway } from './serve-stand-in.js';

export interface Serving {
  readonly gateway: StandInGateway;
  readonly service: HttpService;
  readonly logged: string[];
  ask(asked: Asked): Promise<Reply>;
  /** Starts a session and returns its id. */
  begin(asked?: Asked): Promise<string>;
  /** Sends one request of a session. */
  post(session: string, body: object | string, headers?: OutgoingHttpHeaders): Promise<Reply>;
  /** Opens the GET stream of a session. */
  listen(session: string, headers?: OutgoingHttpHeaders): Promise<Reply>;
}

const services: HttpService[] = [];

export async function serving(options: ServeHttpOptions = {}): Promise<Serving> {
  const gateway = new StandInGateway();
  const logged: string[] = [];
  const log = (...words: readonly unknown[]): void => void logged.push(JSON.stringify(words));
  const logger = { debug: log, info: log, warn: log, error: log };
  const service = await serveHttp(gateway, { logger, ...options });
  services.push(service);
  const send = (asked: Asked): Promise<Reply> => ask(service.port, asked);
  return {
    gateway,
    service,
    logged,
    ask: send,
    begin: async (asked = {}) => {
      const reply = await send({ body: initialize(), ...asked });
      await reply.text();
      const id = reply.headers['mcp-session-id'];
      if (typeof id !== 'string') throw new Error(`no session: ${reply.status}`);
      return id;
    },
    post: (session, body, headers = {}) => send({ body, headers: ofSession(session, headers) }),
    listen: (session, headers = {}) => send({ method: 'GET', headers: ofSession(session, headers) }),
  };
}

export function endServicesAfterEach(): void {
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.close({ gracePeriodMs: 0 })));
  });
}

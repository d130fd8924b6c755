/** HTTP services in front of a stand-in gateway, closed after each test. */
import { afterEach } from 'vitest';
import { serveHttp, type HttpService } from '../../../src/gateway/http/serve-http.js';
import type { ServeHttpOptions } from '../../../src/gateway/http/serve-http-options.js';
import { clientOf, type ServiceClient } from '../../support/gateway-http-client.js';
import { StandInGateway } from './serve-stand-in.js';

export interface Serving extends ServiceClient {
  readonly gateway: StandInGateway;
  readonly service: HttpService;
  readonly logged: string[];
}

const services: HttpService[] = [];

export async function serving(options: ServeHttpOptions = {}): Promise<Serving> {
  const gateway = new StandInGateway();
  const logged: string[] = [];
  const log = (...words: readonly unknown[]): void => void logged.push(JSON.stringify(words));
  const logger = { debug: log, info: log, warn: log, error: log };
  const service = await serveHttp(gateway, { logger, ...options });
  services.push(service);
  return { gateway, service, logged, ...clientOf(service.port) };
}

export function endServicesAfterEach(): void {
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.close({ gracePeriodMs: 0 })));
  });
}

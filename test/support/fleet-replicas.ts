/** HTTP services in front of stand-in gateways that are hosts of one fleet, over one engine in memory. Closed after each test. */
import { randomBytes } from 'node:crypto';
import { afterEach } from 'vitest';
import { CONNECTION_STATES, type ConnectionState } from '../../machines/connection/connection.states.js';
import type { FleetEngine } from '../../src/fleet/engine.js';
import type { FleetHost } from '../../src/fleet/hosts.js';
import { createMemoryEngine } from '../../src/fleet/memory-engine.js';
import { createFleet, type Fleet } from '../../src/fleet/stores.js';
import { serveHttp, type HttpService } from '../../src/gateway/http/serve-http.js';
import type { ServeHttpOptions } from '../../src/gateway/http/serve-http-options.js';
import { StandInGateway } from '../unit/gateway/serve-stand-in.js';
import { clientOf, type ServiceClient } from './gateway-http-client.js';
import { losable, type LosableEngine } from './losable-engine.js';

export interface Replica extends ServiceClient {
  readonly gateway: StandInGateway;
  readonly fleet: Fleet;
  readonly service: HttpService;
  readonly id: string;
  /** Its own link to the engine. */
  readonly link: LosableEngine;
  readonly logged: string[];
  say(about: Partial<FleetHost>): Promise<void>;
  /** As a process that was killed: its port is closed, and its entry stays. */
  die(): Promise<void>;
}

export interface Replicas {
  readonly engine: FleetEngine;
  /** Makes hosts that know each other. */
  make(count: number, options?: ServeHttpOptions): Promise<readonly Replica[]>;
}

export const KEY = randomBytes(32).toString('base64');

export function useReplicas(): Replicas {
  const ends: (() => Promise<void>)[] = [];
  let engine = createMemoryEngine();
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
    await engine.close();
    engine = createMemoryEngine();
  });
  const one = async (options: ServeHttpOptions): Promise<Replica> => {
    const link = losable(engine);
    const fleet = createFleet({ engine: link.engine, key: KEY });
    const gateway = new StandInGateway();
    const logged: string[] = [];
    const log = (...words: readonly unknown[]): void => void logged.push(JSON.stringify(words));
    const logger = { debug: log, info: log, warn: log, error: log };
    let state: FleetHost['state'] = 'up';
    const membership = {
      drains: (): void => {
        state = 'draining';
        void say({});
      },
      serves: (): void => {},
      admits: (): boolean => false,
      end: async (): Promise<void> => {},
    };
    const troupe = { inside: { membership } } as never;
    const service = await serveHttp(Object.assign(gateway, { fleet, troupe }), { logger, ...options });
    const say = (about: Partial<FleetHost>): Promise<void> =>
      fleet.hosts.announce({
        address: `http://127.0.0.1:${service.port}`,
        version: '1',
        charts: 'x',
        startedAt: 0,
        state,
        counts: NO_COUNTS,
        ...about,
      });
    await say({});
    const die = (): Promise<void> => service.close({ gracePeriodMs: 0 });
    ends.push(async () => {
      await die();
      await fleet.hosts.leave();
    });
    return {
      gateway,
      fleet,
      service,
      id: fleet.hosts.self,
      link,
      logged,
      ...clientOf(service.port),
      say,
      die,
    };
  };
  return {
    get engine() {
      return engine;
    },
    make: async (count, options = {}) => {
      const made = await Promise.all(Array.from({ length: count }, () => one(options)));
      await Promise.all(made.map(({ fleet }) => whenHosts(fleet, (hosts) => hosts.size >= count)));
      return made;
    },
  };
}

/** Resolves when the hosts that are known fit. */
export async function whenHosts(
  { hosts }: Fleet,
  isSo: (now: ReadonlyMap<string, FleetHost>) => boolean,
): Promise<void> {
  let stop: (() => void) | undefined;
  await new Promise<void>((resolve) => {
    stop = hosts.watch((now) => {
      if (isSo(now)) resolve();
    });
  });
  stop?.();
}

const NO_COUNTS = Object.fromEntries(CONNECTION_STATES.map((state) => [state, 0])) as Record<
  ConnectionState,
  number
>;

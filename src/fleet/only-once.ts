/**
 * Servers that run once in the fleet (`only: 'fleet'`), as one troupe sees them: which of them this host runs, and where the
 * others are. What it takes loads with the first of them.
 */
import type { OncePort, Placed } from '../actors/effect-ports.js';
import type { StdioServerConfig } from '../config/entry/server-config.js';
import type { LifecycleEvent } from '../lifecycle/event.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { Clock } from '../ports.js';
import type { Sessions } from '../sessions/sessions.js';
import type { HeldLease, LeaseRoots } from './held-lease.js';
import type { Fleet } from './stores.js';

/** The environment variable with the token of the lease. */
export const FENCE_VARIABLE = 'TROUPE_FENCE';

export interface OnlyOnceParts {
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly roots: () => LeaseRoots;
  readonly sessions: Pick<Sessions, 'expire'>;
  /** Whether the connection is stopped or dormant now. */
  readonly isAtRest: (server: string) => boolean;
  /** A connection that has failed, or waits for its next attempt, makes it now. */
  readonly retry: (server: string) => void;
  /** Default: `performance.now`. */
  readonly steady?: () => number;
}

export class OnlyOnce implements OncePort {
  readonly #parts: OnlyOnceParts;
  readonly #leases = new Map<string, Promise<HeldLease>>();

  constructor(parts: OnlyOnceParts) {
    this.#parts = parts;
  }

  async place(server: string, config: StdioServerConfig, signal: AbortSignal): Promise<Placed> {
    const lease = await this.#leaseOf(server);
    const place = await lease.whereabouts(signal);
    const isCurrent = (): boolean => lease.isCurrent;
    if (place.kind === 'here') {
      const { token, term } = place;
      const env = { ...config.env, [FENCE_VARIABLE]: token };
      return { config: { ...config, env }, place: { isCurrent, term } };
    }
    const { host, address } = place;
    const { hosts, key } = this.#parts.fleet;
    const { signedExchange } = await import('./signed-exchange.js');
    const {
      command: _c,
      args: _a,
      env: _e,
      envFile: _f,
      cwd: _d,
      inheritEnv: _i,
      keepDaemons: _k,
      ...rest
    } = config;
    const { type: _t, only: _o, ...settings } = rest;
    const url = `${address.replace(/\/$/, '')}/servers/${encodeURIComponent(server)}/mcp`;
    const sign = signedExchange({ key, from: hosts.self, to: host, clock: this.#parts.clock });
    return {
      config: { ...settings, type: 'http', url, oauth: false, proxy: false },
      place: { isCurrent, sign },
    };
  }

  follow(publisher: Pick<Publisher, 'onevent'>): void {
    publisher.onevent((event) => void this.#heard(event));
  }

  /** Gives every lease back. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([...this.#leases.values()].map(async (lease) => (await lease).close()));
  }

  /** A host whose connection has come to rest leaves the server to others. */
  async #heard(event: LifecycleEvent): Promise<void> {
    if (event.type !== 'connection.state' && event.type !== 'connection.removed') return;
    const lease = await this.#leases.get(event.server);
    if (lease === undefined) return;
    if (event.type === 'connection.removed' || this.#parts.isAtRest(event.server)) lease.unwant();
    // A host that only stands by goes on to do so.
    else if (event.to === 'failed' && lease.isHolding) lease.unwant();
  }

  #leaseOf(server: string): Promise<HeldLease> {
    const lease = this.#leases.get(server) ?? this.#open(server);
    this.#leases.set(server, lease);
    return lease;
  }

  async #open(server: string): Promise<HeldLease> {
    const { fleet, clock, roots, sessions, retry, steady = () => performance.now() } = this.#parts;
    const id = `lease:${this.#leases.size + 1}`;
    const [{ HeldLease }, { SealedEntries }] = await Promise.all([
      import('./held-lease.js'),
      import('./sealed-entries.js'),
    ]);
    return new HeldLease({
      server,
      id,
      host: fleet.hosts.self,
      ttlMs: fleet.serverLeaseMs,
      engine: fleet.engine,
      entries: new SealedEntries(fleet.engine, fleet.key),
      clock,
      steady,
      roots,
      sessions,
      addressOf: (host) => fleet.hosts.addressOf(host),
      moved: () => retry(server),
    });
  }
}

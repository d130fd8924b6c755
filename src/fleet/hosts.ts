/**
 * Who is in the fleet: one entry `host/ID` for each host, which it writes again every five seconds.
 *
 * A host that left, or whose entry was lost with the data of the engine, is not among the hosts, but its address stays known
 * for a time. A host that hears that its own entry is gone writes it at once; one that does not listen, within five seconds.
 */
import { randomBytes } from 'node:crypto';
import type { ConnectionState } from '../../machines/connection/connection.states.js';
import { systemClock, type Clock } from '../ports.js';
import { parseUrl } from '../text/parse-url.js';
import { call, type FleetEngine } from './engine.js';
import type { FleetKey } from './fleet-key.js';
import { LivingEntries } from './living-entries.js';
import { RepeatedEntry } from './repeated-entry.js';
import { SealedEntries } from './sealed-entries.js';

/** What a host says of itself. */
export interface FleetHost {
  /** Its name: random, new for each process; letters and digits only. */
  readonly id: string;
  /** Where other hosts reach its gateway, such as `http://10.0.0.7:8080`; undefined if they cannot. */
  readonly address?: string;
  /** Version of this package. */
  readonly version: string;
  /** Hash of its charts: hosts with the same hash behave alike. */
  readonly charts: string;
  /** When it was started, by its own clock: milliseconds since the epoch. */
  readonly startedAt: number;
  /** `draining` takes no new sessions. */
  readonly state: 'up' | 'draining';
  /** How many of its connections are in each state. */
  readonly counts: Readonly<Record<ConnectionState, number>>;
}

/** The hosts of a fleet, and the place of this one among them. */
export interface FleetHosts {
  /** Name of this host in the fleet: random, new for each fleet that is created; letters and digits only. */
  readonly self: string;
  /**
   * Where that host is reached, as it says itself. Known without the engine while the hosts are watched. Undefined if there is
   * no such host, or if it has no address.
   *
   * @param host The name of the host.
   *
   * @throws {@link FleetError} if the engine is needed and cannot be reached.
   */
  addressOf(host: string): Promise<string | undefined>;
  /**
   * Calls a function with the hosts now, then after each change, until the returned function is called. If the engine
   * cannot be reached yet, the first call comes when it can.
   *
   * @param onChange Called with all hosts that are there, by their names. Its errors are dropped.
   */
  watch(onChange: (hosts: ReadonlyMap<string, FleetHost>) => void): () => void;
  /**
   * Says that this host is there, and keeps saying it until `leave`. Replaces what it said before. Never rejects: what
   * could not be written is written within five seconds.
   *
   * @param host What it says. The `address` of `createFleet` takes precedence over its own.
   */
  announce(host: Omit<FleetHost, 'id'>): Promise<void>;
  /** This host leaves: its entry is removed. Never rejects: if the engine is gone, others notice after 15 seconds. */
  leave(): Promise<void>;
}

const PREFIX = 'host/';

export interface HostsParts {
  readonly engine: FleetEngine;
  readonly key: FleetKey;
  /** Of this host, if it serves HTTP to the others. */
  readonly address?: string | undefined;
  readonly clock?: Clock;
}

type Watcher = (hosts: ReadonlyMap<string, FleetHost>) => void;

export class Hosts implements FleetHosts {
  readonly self = randomBytes(8).toString('hex');
  readonly #parts: HostsParts & { readonly clock: Clock };
  readonly #entries: SealedEntries;
  readonly #own: RepeatedEntry;
  readonly #watchers = new Set<Watcher>();
  /** While somebody watches. */
  #living: LivingEntries<FleetHost> | undefined;

  constructor({ clock = systemClock, ...parts }: HostsParts) {
    this.#parts = { ...parts, clock };
    this.#entries = new SealedEntries(parts.engine, parts.key);
    this.#own = new RepeatedEntry({ entries: this.#entries, name: PREFIX + this.self, clock });
  }

  async addressOf(host: string): Promise<string | undefined> {
    const known = this.#living?.find(host);
    if (known !== undefined) return known.isGone ? undefined : known.value?.address;
    // Clients choose these names: nothing of them is kept.
    const { value } = await this.#entries.read(PREFIX + host);
    return (value as FleetHost | undefined)?.address;
  }

  watch(onChange: Watcher): () => void {
    // The same function may watch twice.
    const watcher: Watcher = (hosts) => call(onChange, hosts);
    this.#watchers.add(watcher);
    if (this.#living?.isHeard === true) watcher(this.#living.present);
    this.#living ??= new LivingEntries<FleetHost>({
      ...this.#parts,
      prefix: PREFIX,
      onChange: (now) => [...this.#watchers].forEach((each) => each(now)),
      onRemoved: (id) => {
        if (id === this.self) void this.#own.again();
      },
    });
    return () => {
      if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
      this.#living?.stop();
      this.#living = undefined;
    };
  }

  announce(host: Omit<FleetHost, 'id'>): Promise<void> {
    const address = this.#parts.address ?? host.address;
    return this.#own.say({ ...host, ...(address !== undefined && { address }), id: this.self });
  }

  leave(): Promise<void> {
    return this.#own.end();
  }
}

/** Throws a `TypeError` unless it is an address of HTTP without credentials, query and fragment. */
export function checkAddress(address: string): void {
  const url = parseUrl(address);
  if (url !== undefined && /^https?:$/.test(url.protocol) && isBare(url)) return;
  throw new TypeError(
    "createFleet: 'address' must be a URL of http or https without a user, a query and a fragment, such as 'http://10.0.0.7:8080'.",
  );
}

function isBare({ username, password, search, hash }: URL): boolean {
  return username + password + search + hash === '';
}

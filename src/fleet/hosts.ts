/**
 * Who is in the fleet: one sealed entry `host/ID` for each host, which writes it again every five seconds.
 *
 * I1. A reader judges a host by its own timers: if it hears nothing of it for 15 s, the host is gone. No clocks of two
 *     machines are compared. A reader that was frozen counts that as one second.
 * I2. The time in which the engine cannot be reached does not count: what was known stays known.
 * I3. A reader removes an entry that nobody has written for 60 s.
 * I4. A host that left is no longer among the hosts, but its address stays known for as long as a host may be silent: an
 *     engine that has lost its data removes entries as well, and those hosts are still there.
 * I5. A host that hears that its own entry is gone writes it at once; a host that does not listen does so within five
 *     seconds.
 */
import { randomBytes } from 'node:crypto';
import type { ConnectionState } from '../../machines/connection/connection.states.js';
import { systemClock, type Clock } from '../ports.js';
import { parseUrl } from '../text/parse-url.js';
import { call, type FleetEngine, type StopFleet } from './engine.js';
import type { FleetKey } from './fleet-key.js';
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
   * @param host What it says. Its `address` defaults to the one of the fleet.
   */
  announce(host: Omit<FleetHost, 'id'>): Promise<void>;
  /** This host leaves: its entry is removed. Never rejects: if the engine is gone, others notice after 15 seconds. */
  leave(): Promise<void>;
}

const PREFIX = 'host/';
const BEAT_MS = 5_000;
const TICK_MS = 1_000;
/** Seconds without a word after which a host is gone. */
const GONE_AFTER = 15;
/** Seconds without a word after which its entry is removed. */
const REMOVED_AFTER = 60;
/** Changes within this time are one. */
const TOGETHER_MS = 100;

export interface HostsParts {
  readonly engine: FleetEngine;
  readonly key: FleetKey;
  /** Of this host, if it serves HTTP to the others. */
  readonly address?: string | undefined;
  readonly clock?: Clock;
}

/** What a reader knows of one entry. */
interface Seen {
  host: FleetHost | undefined;
  /** Whether the engine has the entry. */
  isStored: boolean;
  /** Seconds without a word, counted while the engine could be reached. */
  quiet: number;
}

export class Hosts implements FleetHosts {
  readonly self = randomBytes(8).toString('hex');
  readonly #engine: FleetEngine;
  readonly #key: FleetKey;
  readonly #entries: SealedEntries;
  readonly #address: string | undefined;
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();
  readonly #watchers = new Set<(hosts: ReadonlyMap<string, FleetHost>) => void>();
  #watching: Promise<StopFleet> | undefined;
  #isHeard = false;
  #tick: unknown;
  #telling: unknown;
  #said: FleetHost | undefined;
  #beat: unknown;
  /** Writes are in order. */
  #written: Promise<void> = Promise.resolve();

  constructor({ engine, key, address, clock = systemClock }: HostsParts) {
    this.#engine = engine;
    this.#key = key;
    this.#entries = new SealedEntries(engine, key);
    this.#address = address;
    this.#clock = clock;
  }

  async addressOf(host: string): Promise<string | undefined> {
    const seen = this.#seen.get(host);
    if (seen !== undefined) return seen.quiet < GONE_AFTER ? seen.host?.address : undefined;
    const { value } = await this.#entries.recall(PREFIX + host);
    return (value as FleetHost | undefined)?.address;
  }

  watch(onChange: (hosts: ReadonlyMap<string, FleetHost>) => void): () => void {
    // The same function may watch twice.
    const watcher = (hosts: ReadonlyMap<string, FleetHost>): void => call(onChange, hosts);
    this.#watchers.add(watcher);
    if (this.#watching === undefined) this.#listen();
    else if (this.#isHeard) watcher(this.#present());
    return () => {
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) this.#stopListening();
    };
  }

  async announce(host: Omit<FleetHost, 'id'>): Promise<void> {
    const address = host.address ?? this.#address;
    this.#said = { ...host, ...(address !== undefined && { address }), id: this.self };
    await this.#say();
  }

  async leave(): Promise<void> {
    this.#clock.clearTimeout(this.#beat);
    if (this.#said === undefined) return;
    this.#said = undefined;
    this.#written = this.#written.then(() => this.#engine.remove(PREFIX + this.self)).catch(() => {});
    await this.#written;
  }

  #say(): Promise<void> {
    this.#clock.clearTimeout(this.#beat);
    this.#beat = this.#clock.setTimeout(() => void this.#say(), BEAT_MS);
    this.#written = this.#written
      .then(async () => {
        if (this.#said !== undefined) await this.#entries.write(PREFIX + this.self, this.#said);
      })
      .catch(() => {});
    return this.#written;
  }

  #listen(): void {
    const watching = this.#engine.watch(PREFIX, (name, sealed) => this.#hear(name, sealed));
    this.#watching = watching;
    this.#tick = this.#clock.setTimeout(() => this.#count(), TICK_MS);
    const heard = (): void => {
      if (this.#watching !== watching) return;
      this.#isHeard = true;
      this.#tell();
    };
    // It rejects only if the engine is closed.
    watching.then(heard, () => {});
  }

  #stopListening(): void {
    this.#watching?.then((stop) => stop()).catch(() => {});
    this.#watching = undefined;
    this.#isHeard = false;
    for (const timer of [this.#tick, this.#telling]) this.#clock.clearTimeout(timer);
    this.#telling = undefined;
    this.#seen.clear();
  }

  #hear(name: string, sealed: string | undefined): void {
    if (this.#watchers.size === 0) return;
    const id = name.slice(PREFIX.length);
    const before = this.#seen.get(id);
    if (sealed === undefined) {
      if (before !== undefined) before.isStored = false;
      if (id === this.self && this.#said !== undefined) void this.#say();
      return this.#tellSoon();
    }
    const host = this.#open(name, sealed);
    this.#seen.set(id, { host, isStored: true, quiet: 0 });
    if (JSON.stringify(host) !== JSON.stringify(isThere(before) ? before?.host : undefined)) this.#tellSoon();
  }

  /** Undefined if it was sealed with another key: then it is no host of this fleet. */
  #open(name: string, sealed: string): FleetHost | undefined {
    try {
      return JSON.parse(this.#key.open(name, sealed)) as FleetHost;
    } catch {
      return undefined;
    }
  }

  #count(): void {
    this.#tick = this.#clock.setTimeout(() => this.#count(), TICK_MS);
    if (!this.#engine.isUp || !this.#isHeard) return;
    for (const [id, seen] of this.#seen) {
      seen.quiet += 1;
      if (seen.quiet === GONE_AFTER) this.#tellSoon();
      if (seen.quiet >= GONE_AFTER && !seen.isStored) this.#seen.delete(id);
      // If it fails, it is tried again after the next second.
      if (seen.quiet >= REMOVED_AFTER) this.#engine.remove(PREFIX + id).catch(() => {});
    }
  }

  #tellSoon(): void {
    if (!this.#isHeard) return;
    this.#telling ??= this.#clock.setTimeout(() => this.#tell(), TOGETHER_MS);
  }

  #tell(): void {
    this.#clock.clearTimeout(this.#telling);
    this.#telling = undefined;
    const hosts = this.#present();
    for (const watcher of [...this.#watchers]) watcher(hosts);
  }

  #present(): ReadonlyMap<string, FleetHost> {
    const hosts = new Map<string, FleetHost>();
    for (const [id, seen] of this.#seen)
      if (isThere(seen) && seen.host !== undefined) hosts.set(id, seen.host);
    return hosts;
  }
}

function isThere(seen: Seen | undefined): boolean {
  return seen !== undefined && seen.isStored && seen.quiet < GONE_AFTER;
}

/** Throws a `TypeError` for an address that is none, or that has a secret in it. */
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

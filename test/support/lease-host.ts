/**
 * A host of a fleet with the lease of one server, on clocks of the test: where a connection would open its session, it starts
 * a server of which only the time is real. A guard beside the process ends that server when its term is over.
 */
import { RootSupervisor } from '../../src/actor-system/root-actors.js';
import { NumberedClock } from '../../src/actor-system/numbered-clock.js';
import { pause } from '../../src/async/abort.js';
import { TransportError } from '../../src/failures/transport-error.js';
import { FleetKey } from '../../src/fleet/fleet-key.js';
import { HeldLease, type Whereabouts } from '../../src/fleet/held-lease.js';
import { SealedEntries } from '../../src/fleet/sealed-entries.js';
import { LEASE_LOST, type RunTerm } from '../../src/transports/run-term.js';
import { FLEET_KEY } from './fleet-host.js';
import { HostClock } from './host-clock.js';
import { SimulatedLink, type SimulatedEngine } from './simulated-engine.js';

const KEY = new FleetKey([FLEET_KEY]);
const RETRY_MS = 300;

export interface LeaseHostOptions {
  readonly name: string;
  readonly ttlMs: number;
  /** The address of a host. Default: every host has one. */
  readonly addressOf?: (host: string) => string | undefined;
  /** Called when a server starts. */
  readonly started?: (token: string) => void;
}

interface Run {
  readonly token: string;
  readonly term: RunTerm;
}

export class LeaseHost {
  readonly name: string;
  readonly clock: HostClock;
  readonly link: SimulatedLink;
  readonly lease: HeldLease;
  readonly roots: RootSupervisor;
  /** The server that runs here. */
  run: Run | undefined;
  /** Where the connection is. */
  place: Whereabouts | undefined;
  /** The codes of the failures of the connection so far. */
  readonly failures: string[] = [];
  /** How often a waiting connection was asked to try again. */
  moves = 0;
  /** Milliseconds until a server starts, and until it is gone; Infinity if it cannot be killed. */
  launchMs = 0;
  killMs = 0;
  readonly #started: (token: string) => void;
  #guardAt = Infinity;
  #wanting: AbortController | undefined;
  #again = (): void => {};

  constructor(engine: SimulatedEngine, options: LeaseHostOptions) {
    const { name, ttlMs, addressOf = (host) => `http://${host}`, started = () => {} } = options;
    this.name = name;
    this.#started = started;
    this.clock = new HostClock(engine.clock);
    this.link = new SimulatedLink(engine, this.clock);
    this.roots = new RootSupervisor(new NumberedClock(this.clock), ({ message }) => {
      throw new Error(message);
    });
    this.lease = new HeldLease({
      server: 'one',
      id: 'lease:1',
      host: name,
      ttlMs,
      engine: this.link,
      entries: new SealedEntries(this.link, KEY),
      clock: this.clock,
      steady: this.clock.steady,
      roots: () => this.roots,
      sessions: { expire: (_, { code }) => this.#expire(code) },
      addressOf: async (host) => addressOf(host),
      moved: () => (this.moves += 1),
    });
  }

  /** A connection needs the server from now on. */
  want(): void {
    if (this.#wanting !== undefined) return;
    this.#wanting = new AbortController();
    void this.#connect(this.#wanting.signal);
  }

  /** No connection needs it any more: the server ends before the lease is given back. */
  unwant(): void {
    this.#wanting?.abort(new Error('unwanted'));
    this.#wanting = undefined;
    this.place = undefined;
    this.lease.unwant();
  }

  /** The connection loses its session, and makes another attempt. */
  drop(): void {
    this.run = undefined;
    this.#again();
  }

  async close(): Promise<void> {
    this.#wanting?.abort(new Error('closed'));
    await this.lease.close();
  }

  /** The process is killed, and its guard ends the server. */
  die(): void {
    this.clock.die();
    this.run = undefined;
  }

  /** To be called after each moment. The guard runs while its machine does. */
  guard(): void {
    if (!this.clock.isSuspended && this.clock.steady() >= this.#guardAt) this.run = undefined;
  }

  /** Whether the server would get a message now. */
  get sends(): boolean {
    return !this.clock.isStopped && this.run !== undefined && this.run.term.leftMs() > 0;
  }

  async #connect(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.place = undefined;
        const place = await this.lease.whereabouts(signal);
        await this.#pause(this.launchMs, signal);
        this.place = place;
        const ended = new Promise<void>((resolve) => (this.#again = resolve));
        if (!this.lease.isCurrent) throw new TransportError(LEASE_LOST);
        if (place.kind === 'here') this.#start(place);
        signal.addEventListener('abort', this.#again);
        await ended;
      } catch (error) {
        if (error instanceof TransportError) this.failures.push(error.failure.code);
        await this.#pause(RETRY_MS, signal).catch(() => {});
      }
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await pause(this.clock, ms, signal);
  }

  #start({ token, term }: Run): void {
    if (term.leftMs() <= 0) throw new TransportError(LEASE_LOST);
    this.run = { token, term };
    this.#started(token);
    const tellGuard = (): void => {
      this.#guardAt = this.clock.steady() + Math.max(0, term.leftMs());
    };
    tellGuard();
    term.follow(tellGuard);
  }

  async #expire(code: string): Promise<undefined> {
    const again = this.#again;
    if (this.place !== undefined) this.failures.push(code);
    this.place = undefined;
    if (this.run !== undefined) {
      if (this.killMs === Infinity) return new Promise(() => {});
      await this.#pause(this.killMs, new AbortController().signal);
      this.run = undefined;
    }
    again();
    return undefined;
  }
}

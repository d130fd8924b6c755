/**
 * A memory engine on a clock of the test that can forget everything, and the link of a host to it: slow, with questions and
 * answers that are lost, or away.
 */
import {
  FleetError,
  type FleetEngine,
  type FleetEntry,
  type FleetLease,
  type PutTerms,
  type StopFleet,
} from '../../src/fleet/engine.js';
import { createMemoryEngine } from '../../src/fleet/memory-engine.js';
import type { HandClock } from './hand-clock.js';
import type { HostClock } from './host-clock.js';

/** What happens to one question. */
export interface Trip {
  /** Milliseconds until the engine has the question, and until its answer is back. */
  readonly there: number;
  readonly back: number;
  readonly lost?: 'question' | 'answer';
}

export const AT_ONCE: Trip = { there: 0, back: 0 };
/** The limit of every operation (E9). */
const LIMIT_MS = 1_000;

export class SimulatedEngine {
  readonly memory: FleetEngine;
  readonly #names = new Set<string>();
  readonly #leases = new Set<FleetLease>();
  #givesFrom = 0;

  constructor(readonly clock: HandClock) {
    this.memory = createMemoryEngine({ clock, steady: () => clock.now() });
  }

  /** It loses its data, so it gives no lease for one whole time (E5). */
  async wipe(ttlMs: number): Promise<void> {
    this.#givesFrom = this.clock.now() + ttlMs;
    for (const lease of this.#leases) await this.memory.release(lease);
    for (const name of this.#names) await this.memory.remove(name);
    this.#leases.clear();
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<FleetLease | undefined> {
    if (this.clock.now() < this.#givesFrom) return undefined;
    const lease = await this.memory.acquire(name, holder, ttlMs);
    if (lease !== undefined) this.#leases.add(lease);
    return lease;
  }

  put(key: string, value: string, terms: PutTerms | undefined): Promise<string | undefined> {
    this.#names.add(key);
    return this.memory.put(key, value, terms);
  }
}

/** What the lease of a server needs of an engine, as one host reaches it. */
export class SimulatedLink implements Pick<
  FleetEngine,
  'get' | 'put' | 'remove' | 'watch' | 'acquire' | 'renew' | 'release'
> {
  readonly #engine: SimulatedEngine;
  readonly #host: HostClock;
  readonly #given = new WeakMap<FleetLease, FleetLease>();
  readonly #watches = new Set<() => void>();
  #isUp = true;
  /** What happens to the next question. */
  trip: (operation: string) => Trip = () => AT_ONCE;

  constructor(engine: SimulatedEngine, host: HostClock) {
    this.#engine = engine;
    this.#host = host;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  set isUp(now: boolean) {
    this.#isUp = now;
    for (const read of now ? this.#watches : []) read();
  }

  get(key: string): Promise<FleetEntry | undefined> {
    return this.#ask('get', () => this.#engine.memory.get(key));
  }

  put(key: string, value: string, terms?: PutTerms): Promise<string | undefined> {
    return this.#ask('put', () => this.#engine.put(key, value, terms));
  }

  remove(key: string): Promise<void> {
    return this.#ask('remove', () => this.#engine.memory.remove(key));
  }

  async watch(key: string, onChange: (key: string, value: string | undefined) => void): Promise<StopFleet> {
    const { memory, clock } = this.#engine;
    let told: string | undefined;
    const hear = async (): Promise<void> => {
      const value = (await memory.get(key))?.value;
      if (!this.#watches.has(read) || !this.#isUp || value === told) return;
      told = value;
      onChange(key, value);
    };
    const read = (): void => {
      if (this.#isUp) clock.setTimeout(() => this.#host.run(() => void hear()), this.trip('watch').there);
    };
    this.#watches.add(read);
    const stop = await memory.watch(key, read);
    return async () => {
      this.#watches.delete(read);
      await stop();
    };
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<FleetLease | undefined> {
    const sentAt = this.#host.steady();
    const given = await this.#ask('acquire', () => this.#engine.acquire(name, holder, ttlMs));
    if (given === undefined) return undefined;
    const lease = { ...given, deadline: sentAt + ttlMs };
    this.#given.set(lease, given);
    return lease;
  }

  async renew(lease: FleetLease): Promise<boolean> {
    const sentAt = this.#host.steady();
    const isHeld = await this.#ask('renew', () => this.#engine.memory.renew(this.#given.get(lease) ?? lease));
    if (isHeld) lease.deadline = sentAt + lease.ttlMs;
    return isHeld;
  }

  release(lease: FleetLease): Promise<void> {
    return this.#ask('release', () => this.#engine.memory.release(this.#given.get(lease) ?? lease));
  }

  #ask<T>(operation: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { clock } = this.#engine;
      const settle = (settled: () => void): void =>
        this.#host.run(() => {
          this.#host.clearTimeout(limit);
          settled();
        });
      const fail = (): void => reject(new FleetError('engine-unavailable', 'It does not answer.'));
      const limit = this.#host.setTimeout(() => settle(fail), LIMIT_MS);
      if (!this.#isUp) return settle(fail);
      const { there, back, lost } = this.trip(operation);
      if (lost === 'question') return;
      clock.setTimeout(() => {
        const answer = work();
        const arrive = (): void => void answer.then((value) => settle(() => resolve(value)), reject);
        if (lost === undefined) clock.setTimeout(arrive, back);
      }, there);
    });
  }
}

/** The engine within one process: nothing is loaded, opened or sent. All its users are one fleet. */
import { systemClock, type Clock } from '../ports.js';
import { settlesWithin } from '../async/timers.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';
import {
  call,
  checkName,
  checkText,
  checkTtl,
  FleetError,
  isAsked,
  nobody,
  unanswered,
  type FleetEngine,
  type FleetEntry,
  type FleetLease,
  type FleetLine,
  type PutTerms,
  type StopFleet,
} from './engine.js';

const NAMES: OptionNames<MemoryEngineOptions> = { clock: true, steady: true };

type Listener<T> = readonly [asked: string, fn: (name: string, value: T) => void];

/** Options of `createMemoryEngine`. */
export interface MemoryEngineOptions {
  /** The clock by which budgets fill up. Default: the system's. */
  readonly clock?: Clock;
  /** The clock by which leases end, milliseconds. It is monotonic. Default: `performance.now`. */
  readonly steady?: () => number;
}

/** See `createMemoryEngine`. */
class MemoryEngine implements FleetEngine {
  readonly #entries = new Map<string, FleetEntry>();
  readonly #leases = new Map<string, FleetLease>();
  readonly #logs = new Map<string, FleetLine[]>();
  readonly #budgets = new Map<string, number>();
  readonly #hosts = new Map<string, (data: string) => Promise<string>>();
  readonly #watches = new Set<Listener<string | undefined>>();
  readonly #subscriptions = new Set<Listener<string>>();
  #last = 0;
  readonly #clock: Clock;
  readonly #steady: () => number;
  #isClosed = false;

  constructor({ clock = systemClock, steady = () => performance.now() }: MemoryEngineOptions) {
    this.#clock = clock;
    this.#steady = steady;
  }

  get isUp(): boolean {
    return !this.#isClosed;
  }

  async get(key: string): Promise<FleetEntry | undefined> {
    return this.#open.#entries.get(checkName(key));
  }

  async put(key: string, value: string, { ifVersion }: PutTerms = {}): Promise<string | undefined> {
    const known = this.#open.#entries.get(checkName(key))?.version ?? '0';
    checkText(value);
    if (ifVersion !== undefined && ifVersion !== known) return undefined;
    const version = this.#next();
    this.#entries.set(key, { value, version });
    tell(this.#watches, key, value);
    return version;
  }

  async remove(key: string): Promise<void> {
    if (this.#open.#entries.delete(checkName(key))) tell(this.#watches, key, undefined);
  }

  async watch(keys: string, onChange: (key: string, value: string | undefined) => void): Promise<StopFleet> {
    const stop = listen(this.#open.#watches, [checkName(keys), onChange]);
    for (const [key, { value }] of this.#entries) if (isAsked(keys, key)) call(onChange, key, value);
    return stop;
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<FleetLease | undefined> {
    const held = this.#open.#leases.get(checkName(name));
    const now = this.#steady();
    checkName(holder);
    checkTtl(ttlMs);
    if (held !== undefined && held.holder !== holder && held.deadline > now) return undefined;
    const token = this.#next().padStart(16, '0');
    const lease: FleetLease = { name, holder, ttlMs, token, deadline: now + ttlMs };
    this.#leases.set(name, lease);
    return lease;
  }

  async renew(lease: FleetLease): Promise<boolean> {
    const now = this.#steady();
    if (this.#open.#leases.get(lease.name) !== lease || lease.deadline <= now) return false;
    lease.deadline = now + lease.ttlMs;
    return true;
  }

  async release(lease: FleetLease): Promise<void> {
    if (this.#open.#leases.get(lease.name) === lease) this.#leases.delete(lease.name);
  }

  publish(topic: string, data: string): void {
    checkName(topic);
    checkText(data);
    if (this.isUp) tell(this.#subscriptions, topic, data);
  }

  async subscribe(topics: string, onMessage: (topic: string, data: string) => void): Promise<StopFleet> {
    return listen(this.#open.#subscriptions, [checkName(topics), onMessage]);
  }

  async answer(host: string, answer: (data: string) => Promise<string>): Promise<StopFleet> {
    this.#open.#hosts.set(checkName(host), answer);
    return async () => {
      if (this.#hosts.get(host) === answer) this.#hosts.delete(host);
    };
  }

  async ask(host: string, data: string, timeoutMs: number): Promise<string> {
    const answer = this.#open.#hosts.get(checkName(host));
    checkText(data);
    if (answer === undefined) throw nobody(host);
    const answering = Promise.resolve(data)
      .then(answer)
      .then(checkText)
      .catch(() => Promise.reject(unanswered(host)));
    if (await settlesWithin(systemClock, timeoutMs, answering)) return answering;
    throw unanswered(host);
  }

  async append(log: string, lines: readonly string[]): Promise<void> {
    const kept = this.#open.#logs.get(checkName(log)) ?? [];
    kept.push(...lines.map(checkText).map((line) => ({ cursor: this.#next(), line })));
    this.#logs.set(log, kept);
  }

  async read(log: string, after: string): Promise<readonly FleetLine[]> {
    const kept = this.#open.#logs.get(checkName(log)) ?? [];
    return kept.filter(({ cursor }) => Number(cursor) > Number(after));
  }

  async drop(log: string): Promise<void> {
    this.#open.#logs.delete(checkName(log));
  }

  async take(budget: string, burst: number, everyMs: number): Promise<number> {
    const now = this.#clock.now();
    // A clock that was set back makes no budget wait for longer than a full one.
    const due = Math.min(
      Math.max(this.#open.#budgets.get(checkName(budget)) ?? 0, now),
      now + burst * everyMs,
    );
    const waitMs = due - now - (burst - 1) * everyMs;
    if (waitMs > 0) return waitMs;
    this.#budgets.set(budget, due + everyMs);
    return 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const all of [this.#watches, this.#subscriptions, this.#hosts]) all.clear();
  }

  get #open(): this {
    if (this.#isClosed) throw new FleetError('engine-unavailable', "The fleet's engine is closed.");
    return this;
  }

  #next(): string {
    this.#last += 1;
    return String(this.#last);
  }
}

function tell<T>(listeners: ReadonlySet<Listener<T>>, name: string, value: T): void {
  for (const [asked, fn] of listeners) if (isAsked(asked, name)) queueMicrotask(() => call(fn, name, value));
}

function listen<T>(listeners: Set<Listener<T>>, listener: Listener<T>): StopFleet {
  listeners.add(listener);
  return async () => void listeners.delete(listener);
}

/**
 * An engine within one process, for tests and for several troupes of one host. It starts nothing and keeps nothing open.
 * Throws a `TypeError` for an unknown option.
 *
 * @param options The clocks. Default: the system's.
 *
 * @example
 * ```ts
 * import { createFleet, createMemoryEngine } from 'mcp-troupe/fleet';
 *
 * const fleet = createFleet({ engine: createMemoryEngine(), key: process.env.TROUPE_FLEET_KEY });
 * ```
 */
export function createMemoryEngine(options: MemoryEngineOptions = {}): FleetEngine {
  requireKnown('createMemoryEngine', options, NAMES);
  return new MemoryEngine(options);
}

/** Hosts with the lease of one server over one engine, on one clock. Each moment is checked: never two servers. */
import { HandClock } from './hand-clock.js';
import { LeaseHost, type LeaseHostOptions } from './lease-host.js';
import { SimulatedEngine } from './simulated-engine.js';

/** Shorter than the margin of every lease in use here. */
const STEP_MS = 50;
/** A machine that was suspended looks at its clocks within this time. */
const LOOK_MS = 1_000;

export class LeaseFleet {
  readonly clock = new HandClock();
  readonly engine = new SimulatedEngine(this.clock);
  readonly hosts: LeaseHost[] = [];
  /** Of every server that was started, in that order. */
  readonly tokens: string[] = [];
  readonly #ttlMs: number;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  add(name: string, options: Partial<LeaseHostOptions> = {}): LeaseHost {
    const started = (token: string): void => {
      const last = this.tokens.at(-1) ?? '';
      if (token < last) throw new Error(`The token ${token} came after ${last}.`);
      this.tokens.push(token);
    };
    const host = new LeaseHost(this.engine, { name, ttlMs: this.#ttlMs, started, ...options });
    this.hosts.push(host);
    return host;
  }

  remove(host: LeaseHost): void {
    host.die();
    this.hosts.splice(this.hosts.indexOf(host), 1);
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await this.clock.advance(Math.min(STEP_MS, ms - passed));
      this.#check();
    }
  }

  /** Milliseconds until it is so; fails after the limit. */
  async until(isSo: () => boolean, limitMs: number): Promise<number> {
    const from = this.clock.now();
    while (!isSo()) {
      if (this.clock.now() - from > limitMs) throw new Error(`It was not so within ${limitMs} ms.`);
      await this.pass(STEP_MS);
    }
    return this.clock.now() - from;
  }

  /** Ends every host. Resolves to the number of timers that are left. */
  async close(): Promise<number> {
    let isClosed = false;
    void Promise.all(this.hosts.map((host) => host.close())).then(() => (isClosed = true));
    await this.until(() => isClosed, 20_000);
    // A question that was lost ends with its limit.
    await this.pass(10_000);
    return this.clock.pending;
  }

  /** A machine that was suspended has the server until it looks, but sends it nothing. */
  #check(): void {
    for (const host of this.hosts) host.guard();
    const now = this.clock.now();
    const running = this.hosts.filter(
      ({ run, clock }) => run !== undefined && !clock.isSuspended && now - clock.wokeAt > LOOK_MS,
    );
    const sending = this.hosts.filter(({ sends }) => sends);
    const holding = this.hosts.filter(({ clock, lease }) => !clock.isStopped && lease.isHolding);
    for (const [what, { length }] of Object.entries({ running, sending, holding }))
      if (length > 1) throw new Error(`${length} hosts at once: ${what}.`);
  }
}

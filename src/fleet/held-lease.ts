/**
 * The lease of one server that runs once in the fleet: carries out what `leaseMachine` decides, and knows where the server runs.
 *
 * W1. A server is known in the fleet by its name: two hosts never run programs of one name at the same time, even if their
 *     entries differ.
 * W2. The time of a lease is over for good once the chart has left `holding`, or once `leaseLeftMs` says so, whichever comes
 *     first. The transport checks it before each message to the server.
 * W3. The sealed entry `only/HASH` says who holds the lease. A holder writes it over the version that it has read under its
 *     lease, so a late write never replaces the entry of a later holder. It only tells others where to connect: what it says
 *     may be out of date, and gives nobody the right to run the server.
 * W4. A session that was opened for one place is ended when the server runs at another.
 *
 * Longer than 300 lines because the effects of the chart and the knowledge of the place change together.
 */
import { createHash, randomUUID } from 'node:crypto';
import { fromPromise, type ActorRefFrom, type AnyActorRef } from 'xstate';
import {
  leaseMachine,
  type AcquireLeaseOutput,
  type EndServerOutput,
  type LeaseEffectInput,
  type LeaseEffectOutput,
  type LeaseEvent,
  type RenewLeaseOutput,
} from '../../machines/lease/lease.machine.js';
import { leaseLeftMs, leasePolicy, type Reading } from '../../machines/policy/lease-term.js';
import type { ObservableRoots, RootActors } from '../actor-system/root-actors.js';
import { pause } from '../async/abort.js';
import { settlesWithin } from '../async/timers.js';
import { TransportError } from '../failures/transport-error.js';
import type { Clock } from '../ports.js';
import type { Sessions } from '../sessions/sessions.js';
import { LEASE_LOST, type RunTerm } from '../transports/run-term.js';
import type { FleetEngine, FleetLease } from './engine.js';
import type { SealedEntries } from './sealed-entries.js';

export type LeaseRoots = RootActors & Pick<ObservableRoots, 'follow'>;

export interface HeldLeaseParts {
  /** Name of the server. */
  readonly server: string;
  /** Id of the chart, without a number. */
  readonly id: string;
  /** Name of this host. */
  readonly host: string;
  readonly ttlMs: number;
  readonly engine: Pick<FleetEngine, 'acquire' | 'renew' | 'release'>;
  readonly entries: SealedEntries;
  readonly clock: Clock;
  /** A clock that is never set, milliseconds: the one of the deadlines of leases. */
  readonly steady: () => number;
  readonly roots: () => LeaseRoots;
  readonly sessions: Pick<Sessions, 'expire'>;
  /** The address of a host; undefined if it has none. */
  readonly addressOf: (host: string) => Promise<string | undefined>;
  /** The server runs elsewhere now: a connection that waits for its next attempt makes it. */
  readonly moved: () => void;
}

/** Where the server runs. */
export type Whereabouts =
  | { readonly kind: 'here'; readonly token: string; readonly term: RunTerm }
  | { readonly kind: 'elsewhere'; readonly host: string; readonly address: string };

/** What a holder says of itself. */
interface Holder {
  readonly token: string;
  /** Name of the host; null once it has given the lease back. */
  readonly host: string | null;
  /** Who has the lease: several troupes of a host have different names. */
  readonly holder: string;
}

/** A lease that this host has. */
interface Held {
  readonly lease: FleetLease;
  readonly term: Term;
}

/** How long the kill of a server may take before it is tried again. */
const KILL_LIMIT_MS = 5_000;
/** A wall clock that was set, or a machine that was suspended, is noticed within this time. */
const LOOK_MS = 1_000;

export class HeldLease {
  readonly #parts: HeldLeaseParts;
  readonly #name: string;
  /** The unique name under which this troupe asks for the lease. */
  readonly #holder = randomUUID();
  readonly #waiting = new Set<() => void>();
  #ref: ActorRefFrom<typeof leaseMachine> | undefined;
  #starts = 0;
  #held: Held | undefined;
  /** What the entry says. */
  #said: Holder | undefined;
  /** The entry has changed, and could not be read. */
  #isStale = false;
  /** The place that the connection was given last. */
  #used: string | undefined;
  #unfollowChart = (): void => {};
  readonly #unfollow: () => void;

  constructor(parts: HeldLeaseParts) {
    this.#parts = parts;
    this.#name = `only/${createHash('sha256').update(parts.server).digest('hex')}`;
    this.#unfollow = parts.entries.follow(this.#name, () => void this.#read());
  }

  /**
   * Waits until it is known where the server runs. Rejects with `no-lease` if that takes longer than a dead holder's lease lasts.
   */
  async whereabouts(signal: AbortSignal): Promise<Whereabouts> {
    const { ttlMs, steady } = this.#parts;
    const giveUpAt = steady() + ttlMs * 1.5;
    for (;;) {
      signal.throwIfAborted();
      this.#want();
      const before = this.#place;
      const place = await this.#find();
      if (before !== this.#place) continue;
      if (place !== undefined) {
        this.#used = before;
        return place;
      }
      const leftMs = giveUpAt - steady();
      if (leftMs <= 0) throw new TransportError(NO_LEASE);
      await this.#change(leftMs, signal);
    }
  }

  /** The place of the server now; undefined if nobody is known to have the lease. */
  get #place(): string | undefined {
    if (this.isHolding) return `here/${this.#held?.lease.token}`;
    const said = this.#said;
    return said === undefined || said.host === null ? undefined : `${said.holder}/${said.token}`;
  }

  /** Whether the place that the connection was given last is still the right one. */
  get isCurrent(): boolean {
    return this.#used !== undefined && this.#used === this.#place;
  }

  /** A lease counts once the chart has it: the server may run only then. */
  get isHolding(): boolean {
    const isInChart = this.#ref?.getSnapshot().hasTag('holding') === true;
    return isInChart && this.#held !== undefined && this.#held.term.leftMs() > 0;
  }

  /** No connection of this host needs the server any more. */
  unwant(): void {
    this.#used = undefined;
    this.#send({ type: 'lease.unwanted' });
  }

  /** Resolves when the lease is given back, if it was held. Never rejects. */
  async close(): Promise<void> {
    this.#unfollow();
    const ref = this.#ref;
    if (ref?.getSnapshot().status === 'active') {
      const over = new Promise<void>((resolve) => {
        ref.subscribe({ complete: resolve, error: () => resolve() });
      });
      this.unwant();
      await settlesWithin(this.#parts.clock, KILL_LIMIT_MS, over);
    }
    this.#unfollowChart();
  }

  async #find(): Promise<Whereabouts | undefined> {
    const held = this.#held;
    if (held !== undefined && this.isHolding)
      return { kind: 'here', token: held.lease.token, term: held.term };
    const said = this.#said;
    // An entry of this holder is of a lease that is over.
    if (said === undefined || said.host === null || said.holder === this.#holder) return undefined;
    const { host } = said;
    const address = await this.#parts.addressOf(host).catch(() => undefined);
    return address === undefined || this.#said !== said ? undefined : { kind: 'elsewhere', host, address };
  }

  #want(): void {
    if (this.#ref?.getSnapshot().status === 'active') return this.#send({ type: 'lease.wanted' });
    const { server, id, ttlMs, roots } = this.#parts;
    const name = `${id}.${(this.#starts += 1)}`;
    const machine = leaseMachine.provide({
      actors: {
        acquireLease: does(({ signal }) => this.#acquire(signal)),
        renewLease: does(() => this.#renew()),
        keepTerm: does(({ signal }) => this.#keepTerm(signal)),
        endServer: does(() => this.#endServer()),
        releaseLease: does(() => this.#release()),
      },
    });
    this.#unfollowChart();
    this.#unfollowChart = roots().follow((ref) => {
      if (ref.id === name) this.#follow(ref);
    });
    roots().start(name, machine, { server, policy: leasePolicy(ttlMs) });
  }

  #follow(ref: AnyActorRef): void {
    const followed = ref as ActorRefFrom<typeof leaseMachine>;
    this.#ref = followed;
    let wasHolding = false;
    followed.subscribe({
      next: (snapshot) => {
        const isHolding = snapshot.hasTag('holding');
        if (isHolding === wasHolding) return;
        wasHolding = isHolding;
        this.#moved();
      },
      complete: () => this.#wake(),
      error: () => {},
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #send(event: LeaseEvent): void {
    if (this.#ref?.getSnapshot().status === 'active') this.#ref.send(event);
  }

  /** Reads what the holder says. If the engine is gone, what it said last stays. */
  async #read(): Promise<void> {
    try {
      const { value } = await this.#parts.entries.read(this.#name);
      this.#said = value as Holder | undefined;
      this.#isStale = false;
    } catch {
      this.#isStale = true;
      return;
    }
    if (this.isHolding) {
      // An engine that was wiped has lost it.
      if (this.#said === undefined) await this.#say().catch(() => {});
      return;
    }
    this.#send({ type: 'holder.changed' });
    this.#moved();
  }

  #moved(): void {
    this.#wake();
    if (this.#used !== undefined && !this.isCurrent) {
      this.#used = undefined;
      const { sessions, server } = this.#parts;
      void sessions.expire(server, LEASE_LOST);
    }
    if (this.#place !== undefined) this.#parts.moved();
  }

  /** Resolves at the next change, after that time, or when the signal aborts. */
  async #change(limitMs: number, signal: AbortSignal): Promise<void> {
    let wake = (): void => {};
    const changed = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake);
    await settlesWithin(this.#parts.clock, limitMs, changed);
    this.#waiting.delete(wake);
    signal.removeEventListener('abort', wake);
  }

  #reading(): Reading {
    return { steady: this.#parts.steady(), wall: this.#parts.clock.now() };
  }

  async #acquire(signal: AbortSignal): Promise<AcquireLeaseOutput> {
    const { engine, ttlMs, clock } = this.#parts;
    const wall = clock.now();
    const lease = await engine.acquire(this.#name, this.#holder, ttlMs);
    if (lease === undefined) {
      if (this.#isStale) await this.#read();
      return { token: null, at: clock.now() };
    }
    const term = new Term(ttlMs, () => this.#reading(), sentAt(lease, wall));
    if (signal.aborted || term.leftMs() <= 0) {
      await engine.release(lease).catch(() => {});
      return { token: null, at: clock.now() };
    }
    const held = { lease, term };
    this.#held = held;
    await this.#say().catch(() => {});
    if (signal.aborted) {
      if (this.#held === held) this.#held = undefined;
      await this.#giveBack(held);
    }
    return { token: lease.token, at: clock.now() };
  }

  async #renew(): Promise<RenewLeaseOutput> {
    const { engine, clock } = this.#parts;
    const held = this.#held;
    if (held === undefined) return { isHeld: false, at: clock.now() };
    const wall = clock.now();
    const isHeld = await engine.renew(held.lease);
    if (isHeld) {
      held.term.extend(sentAt(held.lease, wall));
      if (!this.#isSaid(held)) await this.#say().catch(() => {});
    }
    return { isHeld: isHeld && held.term.leftMs() > 0, at: clock.now() };
  }

  /** Resolves when the time is over, or rejects when the state is left. */
  async #keepTerm(signal: AbortSignal): Promise<LeaseEffectOutput> {
    const { clock } = this.#parts;
    const leftMs = (): number => this.#held?.term.leftMs() ?? 0;
    while (leftMs() > 0) await pause(clock, Math.min(leftMs(), LOOK_MS), signal);
    return { at: clock.now() };
  }

  async #endServer(): Promise<EndServerOutput> {
    const { sessions, server, clock } = this.#parts;
    this.#held?.term.end();
    const ending = sessions.expire(server, LEASE_LOST);
    const isGone = (await settlesWithin(clock, KILL_LIMIT_MS, ending)) && (await ending) === undefined;
    return { isGone, at: clock.now() };
  }

  async #release(): Promise<LeaseEffectOutput> {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) await this.#giveBack(held);
    return { at: this.#parts.clock.now() };
  }

  /** If the engine is gone, the lease ends by itself. */
  async #giveBack({ lease }: Held): Promise<void> {
    await this.#parts.engine.release(lease).catch(() => {});
    await this.#write(lease.token, null).catch(() => {});
  }

  /** Whether the entry says that this lease is held here. */
  #isSaid({ lease }: Held): boolean {
    const said = this.#said;
    return said?.holder === this.#holder && said.token === lease.token && said.host !== null;
  }

  async #say(): Promise<void> {
    const held = this.#held;
    if (held !== undefined) await this.#write(held.lease.token, this.#parts.host);
  }

  async #write(token: string, host: string | null): Promise<void> {
    const { entries } = this.#parts;
    const { value, version } = await entries.read(this.#name);
    const said = value as Holder | undefined;
    // A later holder has written already.
    if (said !== undefined && said.token > token) return;
    const mine: Holder = { token, host, holder: this.#holder };
    if ((await entries.write(this.#name, mine, version)) !== undefined) this.#said = mine;
  }
}

/** The time of one lease; see W2. */
class Term implements RunTerm {
  readonly #ttlMs: number;
  readonly #reading: () => Reading;
  readonly #followers = new Set<() => void>();
  #sent: Reading;
  #isOver = false;

  constructor(ttlMs: number, reading: () => Reading, sent: Reading) {
    this.#ttlMs = ttlMs;
    this.#reading = reading;
    this.#sent = sent;
  }

  leftMs(): number {
    if (this.#isOver) return 0;
    const leftMs = leaseLeftMs(this.#ttlMs, this.#sent, this.#reading());
    if (leftMs <= 0) this.#isOver = true;
    return leftMs;
  }

  follow(onextended: () => void): () => void {
    this.#followers.add(onextended);
    return () => this.#followers.delete(onextended);
  }

  extend(sent: Reading): void {
    if (this.leftMs() <= 0) return;
    this.#sent = sent;
    for (const extended of this.#followers) extended();
  }

  end(): void {
    this.#isOver = true;
  }
}

const does = <T>(work: (terms: { readonly signal: AbortSignal }) => Promise<T>) =>
  fromPromise<T, LeaseEffectInput>(work);

/** The wall clock was read before the question was sent. */
function sentAt({ deadline, ttlMs }: FleetLease, wall: number): Reading {
  return { steady: deadline - ttlMs, wall };
}

const NO_LEASE = {
  code: 'no-lease',
  message:
    'The server runs once in the fleet: this host did not get its lease, and cannot reach a host that has it.',
  hint: "Check whether the fleet's engine can be reached, and whether every host has an 'address' in its createFleet and serves the gateway there.",
} as const;

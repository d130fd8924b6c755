/** The chart of a lease: every transition, and random walks of two hosts over one engine, on a virtual clock. */
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, type ActorRefFrom } from 'xstate';
import {
  leaseMachine,
  type AcquireLeaseOutput,
  type EndServerOutput,
  type LeaseEffectInput,
  type LeaseEffectOutput,
  type LeaseEvent,
  type LeaseInput,
  type RenewLeaseOutput,
} from '../../../machines/lease/lease.machine.js';
import { leaseLeftMs, leasePolicy, type Reading } from '../../../machines/policy/lease-term.js';
import { pause } from '../../../src/async/abort.js';
import { stateText } from '../../../src/event-log/replay/divergence.js';
import { HandClock } from '../../support/hand-clock.js';
import { HeldLeaseEffects } from '../../support/held-lease.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const TTL = 10_000;
const GIVEN = { token: '7' };
const REFUSED = { token: null };

class Driver {
  readonly clock = new HandClock();
  readonly effects = new HeldLeaseEffects();
  readonly actor: ActorRefFrom<typeof leaseMachine>;

  constructor(input: Partial<LeaseInput> = {}) {
    this.actor = createActor(this.effects.machine, {
      input: { server: 'one', policy: leasePolicy(TTL), ...input },
      clock: this.clock,
    });
    this.actor.start();
  }

  get state(): string {
    return stateText(this.actor.getSnapshot().value);
  }

  async send(...types: LeaseEvent['type'][]): Promise<string> {
    for (const type of types) this.actor.send({ type });
    await turn();
    return this.state;
  }

  async settle(effect: Parameters<HeldLeaseEffects['settle']>[0], outcome: object | Error): Promise<string> {
    this.effects.settle(effect, outcome);
    await turn();
    return this.state;
  }

  async pass(ms: number): Promise<string> {
    await this.clock.advance(ms);
    return this.state;
  }

  static async holding(): Promise<Driver> {
    const driver = new Driver();
    expect(await driver.settle('acquireLease', GIVEN)).toBe('holding.resting');
    return driver;
  }
}

const { renewMs, retryMs, askMs } = leasePolicy(TTL);
const broken = new Error('The engine is gone.');

describe('while another host has the lease', () => {
  it('asks at once, then at each pause, and after a failure', async () => {
    const driver = new Driver();
    expect(driver.state).toBe('waiting.asking');
    expect(await driver.settle('acquireLease', REFUSED)).toBe('waiting.resting');
    expect(await driver.pass(askMs - 1)).toBe('waiting.resting');
    expect(await driver.pass(1)).toBe('waiting.asking');
    expect(await driver.settle('acquireLease', broken)).toBe('waiting.resting');
    expect(driver.effects.running).toEqual([]);
  });

  it('asks at once when the holder changes; while it asks, that changes nothing', async () => {
    const driver = new Driver();
    expect(await driver.send('holder.changed', 'lease.wanted')).toBe('waiting.asking');
    await driver.settle('acquireLease', REFUSED);
    expect(await driver.send('holder.changed')).toBe('waiting.asking');
    expect(await driver.settle('acquireLease', GIVEN)).toBe('holding.resting');
    expect(driver.actor.getSnapshot().context.token).toBe('7');
  });

  it('ends once nobody needs the server', async () => {
    const driver = new Driver();
    expect(await driver.send('lease.unwanted')).toBe('over');
    expect(driver.effects.running).toEqual([]);
    expect(driver.actor.getSnapshot().status).toBe('done');
  });
});

describe('a holder', () => {
  it('renews at each third of the lease, and tries a failed renewal again', async () => {
    const driver = await Driver.holding();
    expect(driver.effects.running).toEqual(['keepTerm']);
    expect(await driver.pass(renewMs)).toBe('holding.renewing');
    expect(await driver.settle('renewLease', { isHeld: true })).toBe('holding.resting');
    await driver.pass(renewMs);
    expect(await driver.settle('renewLease', broken)).toBe('holding.retrying');
    expect(await driver.pass(retryMs)).toBe('holding.renewing');
    expect(driver.effects.running).toEqual(['keepTerm', 'renewLease']);
  });

  it.each(['resting', 'renewing', 'retrying'])(
    'ends the server when its time is over (%s)',
    async (where) => {
      const driver = await Driver.holding();
      if (where !== 'resting') await driver.pass(renewMs);
      if (where === 'retrying') await driver.settle('renewLease', broken);
      expect(driver.state).toBe(`holding.${where}`);
      expect(await driver.settle('keepTerm', {})).toBe('ending');
      expect(driver.effects.running).toEqual(['endServer']);
    },
  );

  it('ends the server when the engine does not know the lease, or when the time cannot be kept', async () => {
    const unknown = await Driver.holding();
    await unknown.pass(renewMs);
    expect(await unknown.settle('renewLease', { isHeld: false })).toBe('ending');
    const blind = await Driver.holding();
    expect(await blind.settle('keepTerm', broken)).toBe('ending');
  });

  it('hears of itself without effect', async () => {
    const driver = await Driver.holding();
    expect(await driver.send('holder.changed', 'lease.wanted')).toBe('holding.resting');
  });

  it('gives the lease back only after the server is proven gone', async () => {
    const driver = await Driver.holding();
    expect(await driver.send('lease.unwanted')).toBe('ending');
    expect(await driver.settle('endServer', { isGone: false })).toBe('stuck');
    expect(await driver.pass(askMs)).toBe('ending');
    expect(await driver.settle('endServer', broken)).toBe('stuck');
    await driver.pass(askMs);
    expect(await driver.settle('endServer', { isGone: true })).toBe('releasing');
    expect(await driver.settle('releaseLease', {})).toBe('over');
    expect(driver.actor.getSnapshot().context.token).toBeNull();
  });

  it.each(['ending', 'stuck', 'releasing'])(
    'asks anew if it is needed again meanwhile (%s)',
    async (where) => {
      const driver = await Driver.holding();
      await driver.send('lease.unwanted');
      if (where === 'stuck') await driver.settle('endServer', { isGone: false });
      if (where === 'releasing') await driver.settle('endServer', { isGone: true });
      expect(await driver.send('lease.wanted', 'lease.unwanted', 'holder.changed', 'lease.wanted')).toBe(
        where,
      );
      if (where === 'stuck') await driver.pass(askMs);
      if (where !== 'releasing') await driver.settle('endServer', { isGone: true });
      expect(await driver.settle('releaseLease', broken)).toBe('waiting.asking');
    },
  );
});

it('an actor that replaces one that died ends the server before it asks', async () => {
  const driver = new Driver({ crash: 'a bug' });
  expect(driver.state).toBe('ending');
  await driver.settle('endServer', { isGone: true });
  expect(await driver.settle('releaseLease', {})).toBe('waiting.asking');
});

describe('the time of a lease', () => {
  const at = (steady: number, wall = steady): Reading => ({ steady, wall });

  it('ends 5 % before the lease, and 200 ms at least', () => {
    expect(leaseLeftMs(30_000, at(0), at(0))).toBe(28_500);
    expect(leaseLeftMs(2_000, at(0), at(0))).toBe(1_800);
    expect(leaseLeftMs(30_000, at(100), at(28_600))).toBe(0);
  });

  it('counts the clock on which more time has passed: after a suspension, and after a clock was set back', () => {
    expect(leaseLeftMs(30_000, at(0, 1_000), at(10, 61_000))).toBeLessThan(0);
    expect(leaseLeftMs(30_000, at(0, 1_000), at(29_000, -500_000))).toBeLessThan(0);
  });
});

/** What happens to one of two hosts, or to the engine, between two pauses. */
const step = fc.record({
  what: fc.constantFrom(
    'freeze',
    'thaw',
    'lose engine',
    'find engine',
    'wipe',
    'want',
    'unwant',
    'jump',
    'pass',
  ),
  host: fc.nat(1),
  ms: fc.integer({ min: 1, max: TTL * 1.5 }),
});

/** An engine as E4 and E5 promise it, on the virtual clock. */
class Engine {
  isUp = true;
  #holder: { readonly host: number; readonly token: number; endsAt: number } | undefined;
  #openAt = 0;
  #last = 0;

  constructor(readonly clock: HandClock) {}

  wipe(): void {
    this.#holder = undefined;
    this.#openAt = this.clock.now() + TTL;
  }

  acquire(host: number): number | null {
    const now = this.clock.now();
    if (now < this.#openAt) return null;
    if (this.#holder !== undefined && this.#holder.host !== host && this.#holder.endsAt > now) return null;
    this.#last = Math.max(this.#last + 1, now);
    this.#holder = { host, token: this.#last, endsAt: now + TTL };
    return this.#last;
  }

  renew(token: number): boolean {
    const now = this.clock.now();
    if (this.#holder?.token !== token || this.#holder.endsAt <= now) return false;
    this.#holder.endsAt = now + TTL;
    return true;
  }

  release(token: number): void {
    if (this.#holder?.token === token) this.#holder = undefined;
  }
}

/** A host that may be frozen. Its guard is not: it ends the server at the time that it was given last. */
class Host {
  isFrozen = false;
  /** A suspended machine: its wall clock is ahead by this. */
  jumped = 0;
  runs: number | undefined;
  readonly #waiting: (() => void)[] = [];
  #held: { readonly token: number; sent: Reading } | undefined;
  #guardAt = Infinity;
  readonly actor: ActorRefFrom<typeof leaseMachine>;

  constructor(
    readonly number: number,
    readonly engine: Engine,
    readonly seen: (token: number) => void,
  ) {
    const { clock } = engine;
    // A frozen host goes on once it is thawed.
    const awake = async (): Promise<void> => {
      await turn();
      while (this.isFrozen) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    };
    const asked = async <T>(question: () => T): Promise<T> => {
      await awake();
      if (!engine.isUp) throw broken;
      const answer = question();
      await awake();
      return answer;
    };
    const machine = leaseMachine.provide({
      actors: {
        acquireLease: fromPromise<AcquireLeaseOutput, LeaseEffectInput>(async () => {
          const sent = this.#reading();
          const token = await asked(() => engine.acquire(number));
          if (token === null || leaseLeftMs(TTL, sent, this.#reading()) <= 0) return { token: null, at: 0 };
          this.#held = { token, sent };
          this.#start(token);
          return { token: String(token), at: 0 };
        }),
        renewLease: fromPromise<RenewLeaseOutput, LeaseEffectInput>(async () => {
          const sent = this.#reading();
          const held = this.#held!;
          const isHeld = await asked(() => engine.renew(held.token));
          if (!isHeld || this.#leftMs <= 0) return { isHeld: false, at: 0 };
          held.sent = sent;
          this.#tellGuard();
          return { isHeld, at: 0 };
        }),
        keepTerm: fromPromise<LeaseEffectOutput, LeaseEffectInput>(async ({ signal }) => {
          while (this.#leftMs > 0) {
            await pause(clock, Math.min(this.#leftMs, 1_000), signal);
            await awake();
          }
          return { at: 0 };
        }),
        endServer: fromPromise<EndServerOutput, LeaseEffectInput>(async () => {
          await awake();
          this.runs = undefined;
          return { isGone: true, at: 0 };
        }),
        releaseLease: fromPromise<LeaseEffectOutput, LeaseEffectInput>(async () => {
          const held = this.#held!;
          this.#held = undefined;
          await asked(() => engine.release(held.token)).catch(() => {});
          return { at: 0 };
        }),
      },
    });
    this.actor = createActor(machine, { input: { server: 'one', policy: leasePolicy(TTL) }, clock });
    this.actor.start();
  }

  send(type: LeaseEvent['type']): void {
    if (!this.isFrozen && this.actor.getSnapshot().status === 'active') this.actor.send({ type });
  }

  thaw(): void {
    this.isFrozen = false;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Called after each moment. */
  guard(): void {
    if (this.engine.clock.now() >= this.#guardAt) this.runs = undefined;
  }

  #start(token: number): void {
    this.runs = token;
    this.seen(token);
    this.#tellGuard();
  }

  #tellGuard(): void {
    this.#guardAt = this.engine.clock.now() + this.#leftMs;
  }

  get #leftMs(): number {
    return this.#held === undefined ? 0 : leaseLeftMs(TTL, this.#held.sent, this.#reading());
  }

  #reading(): Reading {
    const now = this.engine.clock.now();
    return { steady: now, wall: now + this.jumped };
  }
}

it('never runs twice, and no token shrinks, whatever happens to two hosts and their engine', async () => {
  let handedOn = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const engine = new Engine(new HandClock());
      const tokens: number[] = [];
      const hosts = [0, 1].map((number) => new Host(number, engine, (token) => tokens.push(token)));
      for (const { what, host: number, ms } of steps) {
        const host = hosts[number]!;
        if (what === 'freeze') host.isFrozen = true;
        else if (what === 'thaw') host.thaw();
        else if (what === 'lose engine') engine.isUp = false;
        else if (what === 'find engine') engine.isUp = true;
        else if (what === 'wipe') engine.wipe();
        else if (what === 'want') host.send('lease.wanted');
        else if (what === 'unwant') host.send('lease.unwanted');
        else if (what === 'jump') host.jumped += ms;
        for (let passed = 0; passed < ms; passed += 100) {
          await engine.clock.advance(Math.min(100, ms - passed));
          for (const each of hosts) each.guard();
          expect(hosts.filter(({ runs }) => runs !== undefined).length).toBeLessThan(2);
        }
      }
      expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
      handedOn += Math.max(0, tokens.length - 1);
      for (const host of hosts) {
        host.actor.stop();
        host.thaw();
      }
    }),
    { numRuns: 15, seed: 7 },
  );
  expect(handedOn).toBeGreaterThan(0);
});

/** The lease of a server that runs once, on clocks of the test: what is late, lost, frozen, set or wiped. */
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { LeaseFleet } from '../../support/lease-fleet.js';
import type { LeaseHost } from '../../support/lease-host.js';
import { AT_ONCE, type Trip } from '../../support/simulated-engine.js';

useLeakCheck();

const TTL = 10_000;
/** What is left of it for the holder. */
const TERM = 9_500;
const RENEWED_AT = TTL / 3;
const LOST: Trip = { ...AT_ONCE, lost: 'question' };
const STEP = 50;

/** The first host holds the lease since 0, and the second one uses its server. */
async function two(): Promise<{ fleet: LeaseFleet; a: LeaseHost; b: LeaseHost }> {
  const fleet = new LeaseFleet(TTL);
  const [a, b] = [fleet.add('a'), fleet.add('b')];
  a.want();
  await fleet.pass(STEP);
  expect(a.run).toBeDefined();
  b.want();
  await fleet.pass(STEP);
  expect(b.place).toMatchObject({ kind: 'elsewhere', host: 'a', address: 'http://a' });
  return { fleet, a, b };
}

const passTo = (fleet: LeaseFleet, at: number): Promise<void> => fleet.pass(at - fleet.clock.now());

async function endsAt(fleet: LeaseFleet, host: LeaseHost, at: number): Promise<void> {
  await passTo(fleet, at - STEP);
  expect(host.sends).toBe(true);
  await passTo(fleet, at);
  expect(host.sends).toBe(false);
}

describe('the holder of a lease', () => {
  it('renews it, and keeps one token', async () => {
    const { fleet, a, b } = await two();
    await passTo(fleet, TTL * 5);
    expect([a.run?.token, a.failures, b.failures]).toEqual([fleet.tokens[0], [], []]);
    expect(fleet.tokens).toHaveLength(1);
    expect(await fleet.close()).toBe(0);
  });

  it('gives it back when it leaves, and the next host has it at once', async () => {
    const { fleet, a, b } = await two();
    a.unwant();
    await fleet.pass(STEP);
    expect([a.run, b.run !== undefined]).toEqual([undefined, true]);
    expect(fleet.tokens[1]! > fleet.tokens[0]!).toBe(true);
    expect(await fleet.close()).toBe(0);
  });

  it('relies on it from the sending of a renewal, however late the answer comes', async () => {
    const { fleet, a } = await two();
    a.link.trip = (operation) => ({ there: 0, back: operation === 'renew' ? 900 : 0 });
    await passTo(fleet, RENEWED_AT + 1_000);
    a.link.isUp = false;
    await endsAt(fleet, a, RENEWED_AT + TERM + 17);
    expect(a.failures).toEqual(['lease-lost']);
  });

  it('tries lost renewals again, and stops in time although the engine has renewed it', async () => {
    const { fleet, a } = await two();
    a.link.trip = (operation) => (operation === 'renew' ? { ...AT_ONCE, lost: 'answer' } : AT_ONCE);
    const { term } = a.run!;
    await passTo(fleet, TERM - STEP);
    expect([term.leftMs() > 0, a.sends]).toEqual([true, true]);
    await passTo(fleet, TERM);
    // It asks anew, as the other host does.
    expect([term.leftMs(), fleet.tokens.length]).toEqual([0, 2]);
    expect(a.failures).toEqual(['lease-lost']);
    expect(await fleet.close()).toBe(0);
  });

  it('keeps it while the engine is away for less than its time', async () => {
    const { fleet, a } = await two();
    await passTo(fleet, RENEWED_AT - 100);
    a.link.isUp = false;
    await fleet.pass(5_500);
    a.link.isUp = true;
    await passTo(fleet, TTL * 3);
    expect([fleet.tokens.length, a.failures]).toEqual([1, []]);
  });

  it('stops while the engine is away for longer, and the lease is free when it is over', async () => {
    const { fleet, a, b } = await two();
    a.link.trip = () => LOST;
    await endsAt(fleet, a, TERM);
    await passTo(fleet, TTL - STEP);
    expect(b.run).toBeUndefined();
    await fleet.until(() => b.run !== undefined, 700);
    a.link.trip = () => AT_ONCE;
    await fleet.until(() => a.place?.kind === 'elsewhere', 2_000);
    expect(await fleet.close()).toBe(0);
  });

  it.each(['first to last', 'last to first'])(
    'does not use it after it was frozen, in whatever order it goes on (%s)',
    async (order) => {
      const { fleet, a, b } = await two();
      a.link.trip = () => ({ there: 0, back: 300 });
      await passTo(fleet, RENEWED_AT + 100);
      a.clock.freeze();
      // The guard ends the server: it knows nothing of the renewal.
      await passTo(fleet, TERM);
      expect(a.run).toBeUndefined();
      await fleet.until(() => b.run !== undefined, RENEWED_AT + 1_100);
      a.clock.goOn(order === 'first to last' ? () => 0 : (count) => count - 1);
      expect([a.sends, a.lease.isHolding]).toEqual([false, false]);
      await fleet.until(() => a.place?.kind === 'elsewhere', 2_000);
      expect(a.failures).toContain('lease-lost');
      expect(fleet.tokens).toHaveLength(2);
      expect(await fleet.close()).toBe(0);
    },
  );

  it('sends nothing after its machine was suspended, although the steady clock stood still', async () => {
    const { fleet, a, b } = await two();
    await passTo(fleet, 1_000);
    a.clock.suspend();
    await fleet.until(() => b.run !== undefined, TTL);
    a.clock.goOn();
    expect(a.sends).toBe(false);
    await fleet.until(() => a.run === undefined, 1_000);
    expect(await fleet.close()).toBe(0);
  });

  it('is not given longer by a wall clock that is set back', async () => {
    const { fleet, a } = await two();
    a.link.trip = () => LOST;
    await passTo(fleet, 1_000);
    a.clock.setWallBy(-3_600_000);
    await endsAt(fleet, a, TERM);
    expect(a.failures).toEqual(['lease-lost']);
  });

  it('ends early if its wall clock jumps forward, and gets it again', async () => {
    const { fleet, a } = await two();
    await passTo(fleet, 1_000);
    a.clock.setWallBy(3_600_000);
    expect(a.sends).toBe(false);
    await fleet.until(() => fleet.tokens.length === 2, 1_000);
    expect(a.failures).toEqual(['lease-lost']);
    expect(fleet.tokens[1]! > fleet.tokens[0]!).toBe(true);
  });

  it('loses it with the data of the engine, and nobody has it for one whole time', async () => {
    const { fleet, a, b } = await two();
    await passTo(fleet, 1_000);
    await fleet.engine.wipe(TTL);
    await passTo(fleet, RENEWED_AT + STEP);
    expect([a.run, a.failures]).toEqual([undefined, ['lease-lost']]);
    await passTo(fleet, 1_000 + TTL - STEP);
    expect([a.run, b.run]).toEqual([undefined, undefined]);
    await fleet.until(() => a.run !== undefined || b.run !== undefined, 700);
    expect(fleet.tokens[1]! > fleet.tokens[0]!).toBe(true);
    expect(await fleet.close()).toBe(0);
  });

  it('gives it back only when the server is gone', async () => {
    const { fleet, a, b } = await two();
    a.killMs = Infinity;
    a.unwant();
    await fleet.pass(6_000);
    expect([a.run !== undefined, a.sends, b.run]).toEqual([true, false, undefined]);
    a.killMs = 0;
    await fleet.until(() => b.run !== undefined, 6_000);
    expect(await fleet.close()).toBe(0);
  });

  it('says with the next renewal where the server runs, if it could not say so before', async () => {
    const { fleet, a, b } = await two();
    b.unwant();
    a.unwant();
    await fleet.pass(STEP);
    a.link.trip = (operation) => (operation === 'put' ? LOST : AT_ONCE);
    a.want();
    await fleet.until(() => a.run !== undefined, 2_000);
    a.link.trip = () => AT_ONCE;
    b.want();
    await fleet.until(() => b.place?.kind === 'elsewhere', RENEWED_AT + 100);
    expect(b.failures).toEqual([]);
  });

  it('closes within a limit, with nothing left, also while the engine is away', async () => {
    const { fleet, a, b } = await two();
    a.link.isUp = false;
    b.link.isUp = false;
    expect(await fleet.close()).toBe(0);
  });
});

describe('a host without the lease', () => {
  it('does not use a lease whose answer came after its end', async () => {
    const fleet = new LeaseFleet(TTL);
    const [a, b] = [fleet.add('a'), fleet.add('b')];
    a.link.trip = () => ({ there: 0, back: 100 });
    a.want();
    await fleet.pass(STEP);
    a.clock.freeze();
    b.want();
    await fleet.until(() => b.run !== undefined, TTL + 600);
    a.clock.goOn();
    await fleet.until(() => a.place?.kind === 'elsewhere', 2_000);
    expect(fleet.tokens).toHaveLength(1);
    expect(await fleet.close()).toBe(0);
  });

  it.each(['the holder has no address', 'the engine is away'])(
    'fails as no-lease after one and a half of its time (%s)',
    async (why) => {
      const fleet = new LeaseFleet(TTL);
      const [a, b] = [fleet.add('a'), fleet.add('b', { addressOf: () => undefined })];
      a.want();
      await fleet.pass(STEP);
      b.link.isUp = why !== 'the engine is away';
      b.want();
      await fleet.pass(TTL * 1.5 - STEP);
      expect(b.failures).toEqual([]);
      await fleet.pass(STEP * 2);
      expect(b.failures).toEqual(['no-lease']);
      b.link.isUp = true;
      a.unwant();
      await fleet.until(() => b.run !== undefined, 2_000);
      expect(await fleet.close()).toBe(0);
    },
  );

  it('stops waiting when it is not needed any more', async () => {
    const fleet = new LeaseFleet(TTL);
    const a = fleet.add('a');
    a.link.isUp = false;
    a.want();
    await fleet.pass(2_000);
    a.unwant();
    await fleet.pass(2_000);
    expect(fleet.clock.pending).toBe(0);
    await fleet.close();
  });

  it('leaves the place of a dead host for its own, also if it looked for one while it got the lease', async () => {
    const { fleet, a, b } = await two();
    let isAsked = false;
    b.link.trip = (operation) => {
      isAsked ||= operation === 'put';
      return { there: operation === 'put' ? 800 : 0, back: 0 };
    };
    fleet.remove(a);
    await fleet.until(() => isAsked, TTL + 600);
    b.drop();
    await fleet.until(() => b.run !== undefined, 2_000);
    expect(b.place?.kind).toBe('here');
    expect(b.moves).toBeGreaterThan(0);
  });
});

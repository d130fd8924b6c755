/** The chart of a lease: every transition, on a virtual clock. `test/property/model/lease.test.ts` has walks of several hosts. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createActor, type ActorRefFrom } from 'xstate';
import {
  leaseMachine,
  type LeaseContext,
  type LeaseEvent,
  type LeaseInput,
} from '../../../machines/lease/lease.machine.js';
import { verdict } from '../../../machines/verdict.js';
import { leaseLeftMs, leasePolicy, type Reading } from '../../../machines/policy/lease-term.js';
import { stateText } from '../../../src/event-log/replay/divergence.js';
import { ChartEdges } from '../../support/chart-edges.js';
import { HandClock } from '../../support/hand-clock.js';
import { HeldLeaseEffects } from '../../support/held-lease.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

const edges = new ChartEdges(leaseMachine);
const TTL = 10_000;
const BEGINNING: LeaseContext = {
  server: 'one',
  policy: leasePolicy(TTL),
  token: null,
  wanted: true,
  crashed: false,
};
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
      inspect: edges.count,
    });
    this.actor.start();
  }

  get context(): LeaseContext {
    return this.actor.getSnapshot().context;
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
    expect(driver.context).toEqual(BEGINNING);
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
    expect(driver.context).toEqual({ ...BEGINNING, wanted: false });
  });
});

describe('a holder', () => {
  it('renews at each third of the lease, and tries a failed renewal again', async () => {
    const driver = await Driver.holding();
    expect(driver.effects.running).toEqual(['keepTerm']);
    expect(driver.actor.getSnapshot().hasTag('holding')).toBe(true);
    expect(await driver.pass(renewMs)).toBe('holding.renewing');
    expect(await driver.settle('renewLease', { isHeld: true })).toBe('holding.resting');
    // The time is kept through all renewals.
    expect(driver.effects.inputs.keepTerm).toHaveLength(1);
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
    expect(driver.context.token).toBeNull();
    const { acquireLease, keepTerm, endServer, releaseLease } = driver.effects.inputs;
    expect([acquireLease, keepTerm, endServer, releaseLease].map(([input]) => input)).toEqual(
      Array.from({ length: 4 }, () => ({ server: 'one' })),
    );
  });

  it('is over also if the lease cannot be given back', async () => {
    const driver = await Driver.holding();
    await driver.send('lease.unwanted');
    await driver.settle('endServer', { isGone: true });
    expect(await driver.settle('releaseLease', broken)).toBe('over');
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
      expect(driver.context).toEqual(BEGINNING);
    },
  );
});

it('an actor that replaces one that died ends the server before it asks', async () => {
  const driver = new Driver({ crash: 'a bug' });
  expect(driver.state).toBe('ending');
  await driver.settle('endServer', { isGone: true });
  expect(await driver.settle('releaseLease', {})).toBe('waiting.asking');
  expect(driver.context).toEqual(BEGINNING);
});

it('an actor that replaces one that died ends if it is not needed meanwhile', async () => {
  const driver = new Driver({ crash: 'a bug' });
  await driver.send('lease.unwanted');
  await driver.settle('endServer', { isGone: true });
  expect(await driver.settle('releaseLease', {})).toBe('over');
});

describe('every event', () => {
  const HANDLED = {
    'waiting.asking': ['ignored', 'accepted', 'ignored'],
    'waiting.resting': ['ignored', 'accepted', 'accepted'],
    'holding.resting': ['ignored', 'accepted', 'ignored'],
    'holding.renewing': ['ignored', 'accepted', 'ignored'],
    'holding.retrying': ['ignored', 'accepted', 'ignored'],
    ending: ['accepted', 'accepted', 'ignored'],
    stuck: ['accepted', 'accepted', 'ignored'],
    releasing: ['accepted', 'accepted', 'ignored'],
  } as const;

  it('is handled in every state: needed, not needed, another holder.', async () => {
    const driver = new Driver();
    const seen: Record<string, readonly string[]> = {};
    const look = (): void => {
      const types = ['lease.wanted', 'lease.unwanted', 'holder.changed'] as const;
      seen[driver.state] = types.map((type) => verdict(driver.actor.getSnapshot(), { type }));
    };
    look();
    await driver.settle('acquireLease', REFUSED);
    look();
    await driver.pass(askMs);
    await driver.settle('acquireLease', GIVEN);
    look();
    await driver.pass(renewMs);
    look();
    await driver.settle('renewLease', broken);
    look();
    await driver.settle('keepTerm', {});
    look();
    await driver.settle('endServer', { isGone: false });
    look();
    await driver.pass(askMs);
    await driver.settle('endServer', { isGone: true });
    look();
    expect(seen).toEqual(HANDLED);
  });
});

describe('the time of a lease', () => {
  it.each([
    [1_000, { retryMs: 50, askMs: 100 }],
    [3_000, { retryMs: 150, askMs: 150 }],
    [30_000, { retryMs: 1_500, askMs: 1_500 }],
    [60_000, { retryMs: 3_000, askMs: 2_000 }],
  ])('of %i ms has these pauses: %j', (ttlMs, pauses) => {
    expect(leasePolicy(ttlMs)).toEqual({ ttlMs, renewMs: ttlMs / 3, ...pauses });
  });

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

describe('the transitions of the lease chart', () => {
  it('have all been taken by the tests above.', () => {
    process.stdout.write(`${edges.summary}\n`);
    expect(edges.total).toBeGreaterThan(30);
    expect(edges.missing).toEqual([]);
  });
});

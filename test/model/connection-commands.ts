/**
 * Everything that can happen to a connection, as commands of a random story: each happens to the model and to the
 * real chart, which then must agree, and must keep the invariants that neither of them states.
 */
import * as fc from 'fast-check';
import { expect } from 'vitest';
import {
  CONNECTION_COMMANDS,
  type ConnectionCommand,
  type TransportKind,
} from '../../machines/connection.events.js';
import type { ConnectionDriver } from '../support/connection-driver.js';
import type { Slot } from '../support/held-effects.js';
import { VERDICTS } from '../support/sample-failures.js';
import { LEGAL_MOVES, MODEL_POLICY, type LifecycleModel } from './lifecycle-model.js';

/** A real connection, and what has been seen of it so far. */
export interface Observed {
  readonly driver: ConnectionDriver;
  /** A session may be alive. */
  mayBeAlive: boolean;
  /** Effects and paths that were looked at already. */
  startedSeen: number;
  movesSeen: number;
}

export type Story = fc.AsyncCommand<LifecycleModel, Observed>;

const RELEASES: readonly string[] = ['releaseSession', 'closeSession', 'killSession', 'authorize'];

const topOf = (path: string): string => path.split('.')[0]!;

function expectLegalMoves(observed: Observed): void {
  const { history } = observed.driver;
  for (const [index, path] of history.entries()) {
    const before = history[index - 1];
    if (index < observed.movesSeen || before === undefined || topOf(before) === topOf(path)) continue;
    expect(LEGAL_MOVES[topOf(before)]).toContain(topOf(path));
  }
  observed.movesSeen = history.length;
}

function expectNoSecondSession(observed: Observed): void {
  for (const { slot } of observed.driver.started.slice(observed.startedSeen)) {
    if (slot !== 'openTransport') continue;
    expect(observed.mayBeAlive).toBe(false);
    observed.mayBeAlive = true;
  }
  observed.startedSeen = observed.driver.started.length;
}

/** A start slot is asked for, given back, asked for again: never twice in a row. */
function expectOrderlyReports({ driver }: Observed): void {
  let isInStart = false;
  for (const report of driver.reports) {
    if (report === 'child.wantsSlot') expect(isInStart).toBe(false);
    if (report !== 'child.settled') isInStart = report === 'child.wantsSlot';
  }
  expect(driver.reports.filter((report) => report === 'child.settled').length).toBeLessThan(2);
}

function expectAgreement(model: LifecycleModel, observed: Observed): void {
  const { driver } = observed;
  const { attempt, generation, transport } = driver.context;
  expect({ path: driver.path, effects: driver.running(), attempt, generation, transport }).toEqual({
    path: model.path,
    effects: model.effects,
    attempt: model.attempt,
    generation: model.generation,
    transport: model.transport,
  });
  expect(attempt).toBeLessThanOrEqual(MODEL_POLICY.maxAttempts);
  expectLegalMoves(observed);
  expectNoSecondSession(observed);
  expectOrderlyReports(observed);
  const seen = [driver.context, driver.emitted, driver.started];
  expect(JSON.parse(JSON.stringify(seen))).toStrictEqual(seen);
}

/** One thing that can happen; `happen` gives false where it cannot happen now. */
function story(
  words: string,
  canHappen: (model: Readonly<LifecycleModel>) => boolean,
  happen: (model: LifecycleModel, observed: Observed) => Promise<void>,
): Story {
  return {
    check: canHappen,
    run: async (model, observed) => {
      await happen(model, observed);
      expectAgreement(model, observed);
    },
    toString: () => words,
  };
}

const always = (): boolean => true;

const whileReady = (model: Readonly<LifecycleModel>): boolean => model.isReady;

const settling = (model: Readonly<LifecycleModel>): Slot[] =>
  model.effects.filter((slot) => slot !== 'watchSession') as Slot[];

const isSettling = (model: Readonly<LifecycleModel>): boolean => settling(model).length > 0;

/** One of the effects that run, by a number of any size. */
function pick(model: LifecycleModel, index: number): Slot {
  const slots = settling(model);
  return slots[index % slots.length]!;
}

function commanded(command: ConnectionCommand): Story {
  return story(command.type, always, async (model, { driver }) => {
    const before = driver.snapshot;
    const isObeyed = model.command(command);
    const answer = await driver.command(command);
    expect(answer === 'accepted').toBe(isObeyed);
    if (!isObeyed) expect(driver.snapshot).toBe(before);
  });
}

const commands: fc.Arbitrary<Story> = fc
  .record({
    type: fc.constantFrom(...CONNECTION_COMMANDS),
    transport: fc.constantFrom<TransportKind>('stdio', 'http', 'in-process'),
  })
  .map(({ type, transport }) => {
    if (type === 'connection.stop') return commanded({ type, reason: 'stop' });
    if (type === 'connection.reload') return commanded({ type, transport, policy: MODEL_POLICY });
    return commanded({ type });
  });

const successes: fc.Arbitrary<Story> = fc
  .record({ index: fc.nat(2), kind: fc.constantFrom('resolved', 'resolved', 'untrusted', 'dormant') })
  .map(({ index, kind }) =>
    story(`succeed:${index}:${kind}`, isSettling, async (model, observed) => {
      const slot = pick(model, index);
      if (RELEASES.includes(slot)) observed.mayBeAlive = false;
      model.succeed(slot, kind);
      const { transport } = model;
      if (slot === 'resolveConfig') await observed.driver.settle(slot, { kind });
      else await observed.driver.settle(slot, slot === 'openTransport' ? { transport } : {});
      model.slowRetryIn(() => observed.driver.context.delayMs);
    }),
  );

const failures: fc.Arbitrary<Story> = fc
  .record({ index: fc.nat(2), how: fc.constantFrom('retry', ...VERDICTS) })
  .map(({ index, how }) =>
    story(`fail:${index}:${how}`, isSettling, async (model, { driver }) => {
      const slot = pick(model, index);
      model.fail(slot, how);
      await driver.fail(slot, how);
    }),
  );

const losses: fc.Arbitrary<Story> = fc.constantFrom(...VERDICTS).map((how) =>
  story(`lose:${how}`, whileReady, async (model, { driver }) => {
    model.lose(how);
    await driver.lose(how);
  }),
);

const watched: fc.Arbitrary<Story> = fc.constantFrom(
  story('stable', whileReady, async (model, { driver }) => {
    model.stable();
    await driver.watcher('session.stable');
  }),
  story('idle', whileReady, async (model, { driver }) => {
    model.idle();
    await driver.watcher('session.idle');
  }),
  story('quiet', whileReady, async (model, { driver }) => {
    model.quiet();
    await driver.watcher('session.quiet');
  }),
  story('listChanged', whileReady, async (model, { driver }) => {
    model.listChanged();
    await driver.listChanged();
  }),
);

const granted: fc.Arbitrary<Story> = fc.constant(
  story('slot.granted', always, async (model, { driver }) => {
    model.slotGranted();
    await driver.fact({ type: 'slot.granted' });
  }),
);

const network: fc.Arbitrary<Story> = fc.boolean().map((online) =>
  story(online ? 'online' : 'offline', always, async (model, { driver }) => {
    const at = driver.clock.now();
    await driver.fact(online ? { type: 'network.online', at } : { type: 'network.offline' });
    model.network(online, () => driver.context.delayMs);
  }),
);

const called: fc.Arbitrary<Story> = fc.constant(
  story('call', always, async (model, { driver }) => {
    const answer = await driver.fact({ type: 'call.waiting', at: driver.clock.now() });
    expect(answer === 'accepted').toBe(model.mayTryForCall);
    model.callWaits();
  }),
);

const jumped: fc.Arbitrary<Story> = fc.constant(
  story('jump', always, async (model, { driver }) => {
    if (model.isReady) model.quiet();
    await driver.fact({ type: 'clock.jumped' });
  }),
);

const passing: fc.Arbitrary<Story> = fc.constantFrom(100, 300, 1_000, 2_000, 9_000).map((ms) =>
  story(`pass:${ms}`, always, async (model, { driver }) => {
    model.pass(ms);
    await driver.advance(ms);
  }),
);

/** What goes well is told more often, so that stories get somewhere. */
export const STORIES: fc.Arbitrary<Story>[] = [
  successes,
  successes,
  successes,
  successes,
  granted,
  granted,
  passing,
  passing,
  commands,
  commands,
  failures,
  losses,
  watched,
  network,
  called,
  jumped,
];

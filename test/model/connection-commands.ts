/**
 * Everything that can happen to a connection, as commands of a random story: each happens to the real chart and to the
 * model, which then must agree, and must keep the invariants that neither of them states.
 *
 * Longer than most files because it is a list of all that can happen.
 */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import {
  CONNECTION_COMMANDS,
  type ConnectionCommand,
  type ExtraList,
  type TransportKind,
} from '../../machines/connection.events.js';
import type { Failure, Verdict } from '../../machines/policy/failure.js';
import type { ConnectionDriver } from '../support/connection-driver.js';
import type { Slot } from '../support/held-effects.js';
import { VERDICTS } from '../support/sample-failures.js';
import { expectInvariants, type Observed } from './invariants.js';
import { MODEL_POLICY, type LifecycleModel, type Particulars } from './lifecycle-model.js';

export type Story = fc.AsyncCommand<LifecycleModel, Observed>;

/** A failure as the model sees it, and what makes it one of the chart. */
interface Mishap {
  readonly words: string;
  readonly particulars: Particulars & { readonly verdict: (typeof VERDICTS)[number] };
  readonly details: Partial<Failure>;
}

const MISHAPS: readonly Mishap[] = [
  ...VERDICTS.map((verdict) => ({ words: verdict, particulars: { verdict }, details: {} })),
  {
    words: 'not-released',
    particulars: { verdict: 'permanent', isLate: true },
    details: { code: 'not-released' },
  },
  {
    words: 'second-refused',
    particulars: { verdict: 'permanent', isSecondRefused: true },
    details: { code: 'http-status', phase: 'handshake', http: { status: 409 } },
  },
];

const TRANSPORTS = ['stdio', 'http', 'in-process'] as const satisfies readonly TransportKind[];

/** One thing that can happen; told to the chart first, since what it has drawn is not for the model to know. */
function story(
  words: string,
  canHappen: (model: Readonly<LifecycleModel>) => boolean,
  happen: (model: LifecycleModel, driver: ConnectionDriver) => Promise<void>,
): Story {
  return {
    check: canHappen,
    run: async (model, observed) => {
      await happen(model, observed.driver);
      expectAgreement(model, observed);
    },
    toString: () => words,
  };
}

function expectAgreement(model: LifecycleModel, observed: Observed): void {
  const { driver } = observed;
  const { attempt, generation, transport } = driver.context;
  const found = {
    states: leavesOf(driver.snapshot.value),
    effects: driver.running(),
    attempt,
    generation,
    transport,
  };
  const wanted = {
    states: model.states,
    effects: model.effects,
    attempt: model.attempt,
    generation: model.generation,
    transport: model.transport,
  };
  if (!isDeepStrictEqual(found, wanted)) expect(found).toEqual(wanted);
  expectInvariants(observed);
  if (model.session !== 'maybe') expect(observed.mayBeAlive).toBe(model.session === 'yes');
}

/** The active states of a snapshot, sorted. */
function leavesOf(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value === 'string') return [[...path, value].join('.')];
  return Object.entries(value as Record<string, unknown>)
    .flatMap(([key, inner]) => leavesOf(inner, [...path, key]))
    .toSorted();
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

const drawn = ({ context }: ConnectionDriver): Particulars => ({ drawnMs: context.delayMs });

function commanded(command: ConnectionCommand): Story {
  const words = 'transport' in command ? `${command.type}:${command.transport}` : command.type;
  return story(words, always, async (model, driver) => {
    const before = driver.snapshot;
    const answer = await driver.command(command);
    const isObeyed = model.command(command);
    expect(answer === 'accepted').toBe(isObeyed);
    if (!isObeyed) expect(driver.snapshot).toBe(before);
  });
}

const stop = commanded({ type: 'connection.stop', reason: 'stop' });

const reload = (transport: TransportKind): Story =>
  commanded({ type: 'connection.reload', transport, policy: MODEL_POLICY });

/** What ends a story soon comes seldom. */
const COMMAND_WEIGHTS: Readonly<Record<ConnectionCommand['type'], number>> = {
  'connection.start': 4,
  'connection.stop': 1,
  'connection.retry': 3,
  'connection.restart': 1,
  'connection.refresh': 4,
  'connection.reload': 4,
  'trust.granted': 2,
  'trust.denied': 1,
};

const commands: fc.Arbitrary<Story> = fc
  .record({
    type: fc.oneof(
      ...CONNECTION_COMMANDS.map((type) => ({ arbitrary: fc.constant(type), weight: COMMAND_WEIGHTS[type] })),
    ),
    transport: fc.constantFrom(...TRANSPORTS),
  })
  .map(({ type, transport }) => {
    if (type === 'connection.stop') return stop;
    if (type === 'connection.reload') return reload(transport);
    return commanded({ type });
  });

type Outcome = NonNullable<Particulars['outcome']>;

function succeed(index: number, outcome?: Outcome): Story {
  return story(`succeed:${index}:${outcome ?? 'plain'}`, isSettling, async (model, driver) => {
    const slot = pick(model, index);
    await settle(driver, slot, outcome);
    model.ends(slot, 'succeeds', { ...drawn(driver), ...(outcome === undefined ? {} : { outcome }) });
  });
}

async function settle(driver: ConnectionDriver, slot: Slot, outcome: Outcome | undefined): Promise<void> {
  const { next, transport } = driver.context;
  if (slot === 'resolveConfig') await driver.settle(slot, { kind: outcome ?? 'resolved' });
  else if (slot === 'openTransport') await driver.settle(slot, { transport });
  else if (slot !== 'prepareSession') await driver.settle(slot);
  else if (outcome === 'untrusted') await driver.settle(slot, { kind: outcome });
  else await driver.settle(slot, { kind: 'prepared', transport: next?.transport ?? transport });
}

const successes: fc.Arbitrary<Story> = fc
  .record({
    index: fc.nat(4),
    outcome: fc.constantFrom(undefined, undefined, undefined, 'untrusted' as const, 'dormant' as const),
  })
  .map(({ index, outcome }) => succeed(index, outcome));

function fail(index: number, { words, particulars, details }: Mishap): Story {
  return story(`fail:${index}:${words}`, isSettling, async (model, driver) => {
    const slot = pick(model, index);
    await driver.fail(slot, particulars.verdict, details);
    model.ends(slot, 'fails', { ...drawn(driver), ...particulars });
  });
}

const failures: fc.Arbitrary<Story> = fc
  .record({ index: fc.nat(4), mishap: fc.constantFrom(...MISHAPS) })
  .map(({ index, mishap }) => fail(index, mishap));

const lose = (verdict: Verdict): Story =>
  story(`lose:${verdict}`, whileReady, async (model, driver) => {
    await driver.lose(verdict);
    model.happens('session.lost', { ...drawn(driver), verdict });
  });

const losses: fc.Arbitrary<Story> = fc.constantFrom(...VERDICTS).map(lose);

const watcher = (type: 'session.stable' | 'session.idle' | 'session.quiet'): Story =>
  story(type, whileReady, async (model, driver) => {
    await driver.watcher(type);
    model.happens(type);
  });

const listChanged = story('catalog.listChanged', whileReady, async (model, driver) => {
  await driver.listChanged();
  model.happens('catalog.listChanged');
});

const extrasChanged = (list: ExtraList): Story =>
  story(`catalog.extrasChanged:${list}`, whileReady, async (model, driver) => {
    await driver.extrasChanged(list);
    model.happens('catalog.extrasChanged');
  });

const watched: fc.Arbitrary<Story> = fc.constantFrom(
  watcher('session.stable'),
  watcher('session.quiet'),
  watcher('session.quiet'),
  listChanged,
  listChanged,
  extrasChanged('resources'),
  extrasChanged('prompts'),
);

const grant = story('slot.granted', always, async (model, driver) => {
  await driver.fact({ type: 'slot.granted' });
  model.happens('slot.granted');
});

const network: fc.Arbitrary<Story> = fc.boolean().map((online) =>
  story(online ? 'network.online' : 'network.offline', always, async (model, driver) => {
    const at = driver.clock.now();
    await driver.fact(online ? { type: 'network.online', at } : { type: 'network.offline' });
    model.happens(online ? 'network.online' : 'network.offline', drawn(driver));
  }),
);

const called: fc.Arbitrary<Story> = fc.constant(
  story('call.waiting', always, async (model, driver) => {
    const answer = await driver.fact({ type: 'call.waiting', at: driver.clock.now() });
    expect(answer === 'accepted').toBe(model.happens('call.waiting'));
  }),
);

const told: fc.Arbitrary<Story> = fc.constantFrom(
  story('clock.jumped', always, async (model, driver) => {
    await driver.fact({ type: 'clock.jumped' });
    model.happens('clock.jumped');
  }),
  story('policy.changed', always, async (model, driver) => {
    await driver.fact({ type: 'policy.changed', policy: MODEL_POLICY });
    model.happens('policy.changed');
  }),
);

const pass = (ms: number): Story =>
  story(`pass:${ms}`, always, async (model, driver) => {
    await driver.advance(ms);
    model.pass(ms);
  });

const passing: fc.Arbitrary<Story> = fc.constantFrom(100, 300, 1_000, 2_000, 9_000).map(pass);

/** Several things that often come together, which a story made of single ones would seldom bring about. */
function chain(
  words: string,
  canHappen: Story['check'],
  next: (model: LifecycleModel, step: number) => Story | undefined,
): Story {
  return {
    check: canHappen,
    run: async (model, observed) => {
      for (let step = 0; step < LONGEST_CHAIN; step += 1) {
        const one = next(model, step);
        if (one === undefined || !one.check(model)) return;
        await one.run(model, observed);
      }
    },
    toString: () => words,
  };
}

const LONGEST_CHAIN = 14;

/** What is next on the way to `ready`, where all goes well. */
function upwards(model: LifecycleModel): Story | undefined {
  if (model.isReady) return undefined;
  if (model.states.includes('launching.waitingForSlot')) return grant;
  return model.states.includes('reconnecting.backingOff') ? pass(1_000) : succeed(0);
}

const rise = chain('rise', always, upwards);

/** Every attempt fails, and time passes. */
const fall = chain('fall', always, (model) => {
  const [state = ''] = model.states;
  if (state.startsWith('failed.') && model.effects.length === 0) return pass(9_000);
  return state.startsWith('handshaking.') ? fail(0, MISHAPS[0]!) : upwards(model);
});

/** Lost as soon as it can be used. */
const crash = chain('crash', always, (model) => (model.isReady ? lose('retry') : upwards(model)));

/** Changes come faster than anybody can read them. */
const storm = (change: Story): Story =>
  chain(`storm of ${String(change)}`, whileReady, (_, step) => (step % 2 === 0 ? change : pass(200)));

/** One ping is not answered, and then another in a way of its own. */
const silence = (mishap: Mishap): Story =>
  chain(`silence, then ${mishap.words}`, whileReady, (model, step) => {
    if (step === 0) return watcher('session.quiet');
    const probe = settling(model).indexOf('probe');
    return step <= 2 && probe !== -1 ? fail(probe, step === 1 ? MISHAPS[0]! : mishap) : undefined;
  });

/** A new entry, and what becomes of its session. */
const successor = (next: (index: number) => Story): Story =>
  chain('a new entry', whileReady, (model, step) => {
    if (step === 0) return reload('http');
    const preparing = settling(model).indexOf('prepareSession');
    return step === 1 && preparing !== -1 ? next(preparing) : undefined;
  });

const successors: fc.Arbitrary<Story> = fc.constantFrom(
  successor((index) => fail(index, MISHAPS[0]!)),
  successor((index) => fail(index, MISHAPS.at(-1)!)),
  successor((index) => succeed(index)),
  successor((index) => succeed(index, 'untrusted')),
  successor(() => watcher('session.idle')),
);

const threeStops = chain('three stops', always, (_, step) => (step < 3 ? stop : undefined));

const courses: fc.Arbitrary<Story> = fc.oneof(
  { arbitrary: fc.constant(rise), weight: 8 },
  { arbitrary: fc.constant(fall), weight: 1 },
  { arbitrary: fc.constant(crash), weight: 1 },
  { arbitrary: fc.constantFrom(storm(listChanged), storm(extrasChanged('prompts'))), weight: 2 },
  { arbitrary: fc.constantFrom(...MISHAPS).map(silence), weight: 3 },
  { arbitrary: successors, weight: 3 },
  { arbitrary: fc.constant(threeStops), weight: 1 },
);

const idle: fc.Arbitrary<Story> = fc.constant(watcher('session.idle'));

/** What goes well is told more often, so that stories get somewhere. */
export const STORIES: fc.Arbitrary<Story> = fc.oneof(
  { arbitrary: successes, weight: 12 },
  { arbitrary: courses, weight: 5 },
  { arbitrary: watched, weight: 6 },
  { arbitrary: failures, weight: 4 },
  { arbitrary: fc.constant(grant), weight: 3 },
  { arbitrary: passing, weight: 3 },
  { arbitrary: commands, weight: 3 },
  { arbitrary: losses, weight: 2 },
  { arbitrary: network, weight: 2 },
  { arbitrary: called, weight: 1 },
  { arbitrary: told, weight: 1 },
  { arbitrary: idle, weight: 1 },
);

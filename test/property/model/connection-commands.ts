/**
 * All events of a connection as commands of a random sequence. Each is applied to the real chart and to the model, which
 * must then agree and keep the invariants that neither of them states.
 *
 * Longer than most files because it lists every event.
 */
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import {
  CONNECTION_COMMANDS,
  type ConnectionCommand,
  type ExtraList,
  type TransportKind,
} from '../../../machines/connection/connection.events.js';
import type { Failure, Verdict } from '../../../machines/policy/failure.js';
import { leavesOf, type ConnectionDriver } from '../../support/connection-driver.js';
import type { Slot, Whose } from '../../support/held-effects.js';
import { VERDICTS } from '../../support/sample-failures.js';
import { expectInvariants, type Observed } from './invariants.js';
import {
  MODEL_POLICY,
  type LifecycleModel,
  type Outcome,
  type Particulars,
  type RunningEffect,
} from './lifecycle-model.js';

export type Story = fc.AsyncCommand<LifecycleModel, Observed>;

/** Failures by their name in a sequence: the verdict and other details. */
interface Mishap {
  readonly words: string;
  readonly verdict: Verdict;
  readonly details: Partial<Failure>;
}

const PLAIN: Mishap = { words: 'retry', verdict: 'retry', details: {} };

const SECOND_REFUSED: Mishap = {
  words: 'second-refused',
  verdict: 'permanent',
  details: { code: 'http-status', http: { status: 409 } },
};

const NO_SIGN_IN: Mishap = { words: 'no-sign-in', verdict: 'authorize', details: { canSignIn: false } };

/** The server does not know the request. */
const UNSUPPORTED: Mishap = { words: 'unsupported', verdict: 'retry', details: { rpcCode: -32_601 } };

const MISHAPS: readonly Mishap[] = [
  ...VERDICTS.map((verdict) => ({ words: verdict, verdict, details: {} })),
  SECOND_REFUSED,
  NO_SIGN_IN,
  UNSUPPORTED,
];

const TRANSPORTS = ['stdio', 'http', 'in-process'] as const satisfies readonly TransportKind[];

/** One command. It is applied to the chart first, because the model cannot know the random delays. */
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
  const { attempt, generation, transport, wanted: isWanted, online } = driver.context;
  const found = {
    states: leavesOf(driver.snapshot.value).toSorted(),
    effects: driver.running(),
    attempt,
    generation,
    transport,
    isWanted,
    isOnline: online,
  };
  const wanted = {
    states: model.states,
    effects: model.effects,
    attempt: model.attempt,
    generation: model.generation,
    transport: model.transport,
    isWanted: model.isWanted,
    isOnline: model.isOnline,
  };
  if (!isDeepStrictEqual(found, wanted)) expect(found).toEqual(wanted);
  expectInvariants(observed);
  if (model.session !== 'maybe') expect(observed.alive.size > 0).toBe(model.session === 'yes');
}

const always = (): boolean => true;

const whileReady = (model: Readonly<LifecycleModel>): boolean => model.isReady;

const isSettling = (model: Readonly<LifecycleModel>): boolean => model.running.length > 0;

const whoseOf = ({ isSuccessors }: RunningEffect): Whose => (isSuccessors ? 'successor' : 'current');

/** One of the running effects, chosen by any number. */
function pick({ running }: LifecycleModel, index: number): RunningEffect {
  return running[index % running.length]!;
}

const drawn = ({ context }: ConnectionDriver): Particulars => ({ drawnMs: context.delayMs });

function commanded(command: ConnectionCommand): Story {
  const words =
    'transport' in command
      ? `${command.type}:${command.transport}${command.wanted ? ':wanted' : ''}`
      : command.type;
  return story(words, always, async (model, driver) => {
    const before = driver.snapshot;
    const answer = await driver.command(command);
    const isObeyed = model.command(command);
    expect(answer === 'accepted').toBe(isObeyed);
    if (!isObeyed) expect(driver.snapshot).toBe(before);
  });
}

const stop = commanded({ type: 'connection.stop', reason: 'stop' });

const reload = (transport: TransportKind, wanted = false): Story =>
  commanded({ type: 'connection.reload', transport, policy: MODEL_POLICY, wanted });

/** Events that soon end a sequence are rare. */
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
    wanted: fc.boolean(),
  })
  .map(({ type, transport, wanted }) => {
    if (type === 'connection.stop') return stop;
    if (type === 'connection.reload') return reload(transport, wanted);
    return commanded({ type });
  });

const STATELESS = {
  info: { name: 'sample', version: '1.0.0' },
  capabilities: {},
  protocolVersion: '2026-07-28',
  instructions: null,
};

/** `isOther`: a handshake leads into the new era, and a stream of changes is not needed. */
function succeed(index: number, outcome: Outcome = 'resolved', isOther = false): Story {
  return story(`succeed:${index}:${outcome}:${isOther}`, isSettling, async (model, driver) => {
    const effect = pick(model, index);
    const whose = whoseOf(effect);
    const slot = effect.slot as Slot;
    if (slot === 'resolveConfig') await driver.settle(slot, { kind: outcome }, whose);
    else if (slot === 'handshake' && isOther) await driver.settle(slot, { server: STATELESS }, whose);
    else if (slot === 'subscribe') await driver.settle(slot, { isOpen: !isOther }, whose);
    else await driver.settle(slot, {}, whose);
    const told = { isStateless: isOther, hasNothing: isOther };
    model.ends(effect, 'succeeds', { ...drawn(driver), ...told, outcome });
  });
}

const successes: fc.Arbitrary<Story> = fc
  .record({
    index: fc.nat(4),
    outcome: fc.constantFrom<Outcome>('resolved', 'resolved', 'resolved', 'untrusted', 'dormant'),
    isOther: fc.boolean(),
  })
  .map(({ index, outcome, isOther }) => succeed(index, outcome, isOther));

function fail(index: number, { words, verdict, details }: Mishap): Story {
  return story(`fail:${index}:${words}`, isSettling, async (model, driver) => {
    const effect = pick(model, index);
    await driver.fail(effect.slot as Slot, verdict, details, whoseOf(effect));
    const isSecondRefused = details.http?.status === 409 && effect.slot === 'handshake';
    model.ends(effect, 'fails', {
      ...drawn(driver),
      verdict,
      isSecondRefused,
      isUnsupported: details.rpcCode !== undefined,
      canSignIn: details.canSignIn,
    });
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

const unreachable = (count: number, verdict: Verdict): Story =>
  story(`session.unreachable:${count}:${verdict}`, whileReady, async (model, driver) => {
    await driver.unreachable(count, verdict);
    model.happens('session.unreachable', { ...drawn(driver), count, verdict });
  });

const losses: fc.Arbitrary<Story> = fc.oneof(
  { arbitrary: fc.constantFrom(...VERDICTS).map(lose), weight: 2 },
  {
    arbitrary: fc
      .record({ count: fc.integer({ min: 1, max: 3 }), verdict: fc.constantFrom(...VERDICTS) })
      .map(({ count, verdict }) => unreachable(count, verdict)),
    weight: 1,
  },
);

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

const subscription = (type: 'subscription.ended' | 'subscription.wanted'): Story =>
  story(type, whileReady, async (model, driver) => {
    await driver.subscription(type);
    model.happens(type);
  });

const watched: fc.Arbitrary<Story> = fc.constantFrom(
  subscription('subscription.ended'),
  subscription('subscription.wanted'),
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

const called = story('call.waiting', always, async (model, driver) => {
  const answer = await driver.fact({ type: 'call.waiting', at: driver.clock.now() });
  expect(answer === 'accepted').toBe(model.happens('call.waiting'));
});

const others: fc.Arbitrary<Story> = fc.constantFrom(
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

/** Series of commands that random single commands would rarely produce. */
function chain(
  words: string,
  canHappen: Story['check'],
  next: (model: LifecycleModel, step: number) => Story | undefined,
  longest = MAX_CHAIN,
): Story {
  return {
    check: canHappen,
    run: async (model, observed) => {
      for (let step = 0; step < longest; step += 1) {
        const one = next(model, step);
        if (one === undefined || !one.check(model)) return;
        await one.run(model, observed);
      }
    },
    toString: () => words,
  };
}

const MAX_CHAIN = 14;

/** The next step on the way to `ready` if all goes well. */
function upwards(model: LifecycleModel): Story | undefined {
  if (model.isReady) return undefined;
  if (model.isIn('launching.waitingForSlot')) return grant;
  if (model.isIn('configuring.dormant')) return commanded({ type: 'connection.start' });
  return model.isIn('reconnecting.backingOff') ? pass(1_000) : succeed(0);
}

const rise = chain('rise', always, upwards);

/** The same in the new era. */
const riseStateless = (model: LifecycleModel): Story | undefined =>
  model.isIn('handshaking.initializing') ? succeed(0, 'resolved', true) : upwards(model);

/** There is nothing to report at first, and then there is. */
const laterWanted = chain('wanted later', always, (model) => {
  if (!model.isReady) return riseStateless(model);
  const asked = model.running.findIndex(({ slot }) => slot === 'subscribe');
  if (asked !== -1) return succeed(asked, 'resolved', true);
  return model.isIn('ready.subscription.none') ? subscription('subscription.wanted') : undefined;
});

/** The stream of changes ends, or cannot be opened, again and again. `opens`: it opens each time. */
const deaf = (opens: boolean): Story =>
  chain(
    `deaf:${opens}`,
    always,
    (model) => {
      if (!model.isReady) return riseStateless(model);
      const asked = model.running.findIndex(({ slot }) => slot === 'subscribe');
      if (asked !== -1) return opens ? succeed(asked) : fail(asked, PLAIN);
      if (model.isIn('ready.subscription.subscribed')) return subscription('subscription.ended');
      return model.isIn('ready.subscription.waiting') ? pass(15_000) : undefined;
    },
    3 * MAX_CHAIN,
  );

/** Every attempt fails, and time passes. */
const fall = chain('fall', always, (model) => {
  if (model.isIn('failed') && model.running.length === 0) return pass(9_000);
  return model.isIn('handshaking') ? fail(0, PLAIN) : upwards(model);
});

const AUTHORIZE = MISHAPS.find(({ verdict }) => verdict === 'authorize')!;

/** The server requires a sign-in repeatedly. */
const signIns = chain('sign-ins', always, (model) =>
  model.isIn('handshaking') ? fail(0, AUTHORIZE) : upwards(model),
);

/** The same for a session that was in use. */
const refusals = chain(
  'refusals',
  always,
  (model) => (model.isReady ? lose('authorize') : upwards(model)),
  2 * MAX_CHAIN,
);

const AUTHORIZING = ['configuring.authorizing.releasing', 'configuring.authorizing.signingIn'] as const;

/** The server requires a sign-in, and a command arrives meanwhile. */
const during = (state: (typeof AUTHORIZING)[number], happens: Story): Story =>
  chain(`${String(happens)} in ${state}`, always, (model) => {
    if (model.isIn(state)) return happens;
    return model.isIn('handshaking') ? fail(0, AUTHORIZE) : upwards(model);
  });

const signInEnds: fc.Arbitrary<Story> = fc
  .record({
    state: fc.constantFrom(...AUTHORIZING),
    happens: fc.constantFrom(
      commanded({ type: 'connection.retry' }),
      commanded({ type: 'connection.start' }),
      ...MISHAPS.map((mishap) => fail(0, mishap)),
    ),
  })
  .map(({ state, happens }) => during(state, happens));

/** The session is lost as soon as it is usable. */
const crash = chain(
  'crash',
  always,
  (model) => (model.isReady ? lose('retry') : upwards(model)),
  2 * MAX_CHAIN,
);

/** Changes arrive faster than they can be read. */
const storm = (change: Story): Story =>
  chain(`storm of ${String(change)}`, whileReady, (_, step) => (step % 2 === 0 ? change : pass(200)));

/** The effect in a slot of the current session or of its successor, as a number for `pick`; −1 if there is none. */
function indexOf({ running }: LifecycleModel, slot: string, isSuccessors = false): number {
  return running.findIndex((effect) => effect.slot === slot && effect.isSuccessors === isSuccessors);
}

/** One ping is not answered, and the next has the given outcome. */
const silence = (mishap: Mishap): Story =>
  chain(`silence, then ${mishap.words}`, whileReady, (model, step) => {
    if (step === 0) return watcher('session.quiet');
    const probe = indexOf(model, 'probe');
    return step <= 2 && probe !== -1 ? fail(probe, step === 1 ? PLAIN : mishap) : undefined;
  });

const PREPARING = ['resolveConfig', 'openTransport', 'handshake', 'readTools'] as const;

/** A new entry whose session gets as far as `until`, with the outcome there. */
const successor = (
  words: string,
  until: (typeof PREPARING)[number],
  next: (index: number, step: number) => Story | undefined,
): Story => {
  let since = 0;
  return chain(`a new entry: ${until} ${words}`, whileReady, (model, step) => {
    if (step === 0) return reload('http');
    const [effect] = model.running.filter(({ isSuccessors }) => isSuccessors);
    if (step === 1) since = 0;
    if (since === 0 && effect !== undefined && effect.slot !== until) {
      return succeed(indexOf(model, effect.slot, true));
    }
    since += 1;
    const at = effect === undefined ? indexOf(model, 'retireSession') : indexOf(model, effect.slot, true);
    return at === -1 ? undefined : next(at, since);
  });
};

const once =
  (next: (index: number) => Story) =>
  (index: number, step: number): Story | undefined =>
    step === 1 ? next(index) : undefined;

const successors: fc.Arbitrary<Story> = fc.oneof(
  fc
    .record({ until: fc.constantFrom(...PREPARING), mishap: fc.constantFrom(...MISHAPS) })
    .map(({ until, mishap }) =>
      successor(`fails: ${mishap.words}`, until, (index, step) =>
        step === 1 ? fail(index, mishap) : step === 2 ? succeed(index) : undefined,
      ),
    ),
  fc
    .constantFrom(...PREPARING)
    .map((until) =>
      successor('is overtaken by another', until, (index, step) =>
        step === 1 ? reload('sse') : step === 2 ? succeed(index) : undefined,
      ),
    ),
  fc.constantFrom(
    successor('succeeds', 'readTools', once(succeed)),
    successor('succeeds, and its predecessor ends', 'readTools', (index, step) =>
      step <= 2 ? succeed(index) : undefined,
    ),
    successor(
      'asks for trust',
      'resolveConfig',
      once((index) => succeed(index, 'untrusted')),
    ),
    successor(
      'meets idleness',
      'openTransport',
      once(() => watcher('session.idle')),
    ),
  ),
);

/** A successor has taken over, and the outcome of its list. */
const adoption = (words: string, meanwhile: Story | undefined, end: (index: number) => Story): Story => {
  const takeOver = successor('takes over', 'readTools', once(succeed));
  return chain(`a list ${words}`, whileReady, (model, step) => {
    if (step === 0) return takeOver;
    const adopting = model.isIn('ready.catalog.adopting') ? indexOf(model, 'adoptTools') : -1;
    if (adopting === -1) return undefined;
    return step === 1 && meanwhile !== undefined ? meanwhile : end(adopting);
  });
};

const adoptions: fc.Arbitrary<Story> = fc.constantFrom(
  adoption('is adopted', undefined, succeed),
  adoption('is adopted although somebody refreshes', commanded({ type: 'connection.refresh' }), succeed),
  adoption('changes while it is adopted', listChanged, succeed),
  adoption('cannot be adopted', undefined, (index) => fail(index, PLAIN)),
  adoption('cannot be adopted after it has changed', listChanged, (index) => fail(index, PLAIN)),
);

/** The list changes while it is read, which then fails. */
const vainRefresh = chain('a refresh in vain', whileReady, (model, step) => {
  if (step === 0) return commanded({ type: 'connection.refresh' });
  if (step === 1) return listChanged;
  const reading = indexOf(model, 'readTools');
  return step === 2 && reading !== -1 ? fail(reading, PLAIN) : undefined;
});

/** The entry changes while the server is not needed, and then it is. */
const lateWish = chain(
  'a late wish',
  (model) => model.isIn('configuring.resolving'),
  (_, step) => {
    if (step === 0) return succeed(0, 'dormant');
    if (step === 1) return reload('stdio');
    return step === 2 ? called : undefined;
  },
);

const threeStops = chain('three stops', always, (_, step) => (step < 3 ? stop : undefined));

const courses: fc.Arbitrary<Story> = fc.oneof(
  { arbitrary: fc.constant(rise), weight: 8 },
  { arbitrary: fc.constantFrom(fall, signIns, refusals, deaf(true), deaf(false), laterWanted), weight: 3 },
  { arbitrary: signInEnds, weight: 1 },
  { arbitrary: fc.constant(crash), weight: 1 },
  { arbitrary: fc.constantFrom(storm(listChanged), storm(extrasChanged('prompts'))), weight: 2 },
  { arbitrary: fc.constantFrom(...MISHAPS).map(silence), weight: 3 },
  { arbitrary: successors, weight: 4 },
  { arbitrary: adoptions, weight: 4 },
  { arbitrary: fc.constantFrom(vainRefresh, lateWish), weight: 1 },
  { arbitrary: fc.constant(threeStops), weight: 1 },
);

const idle: fc.Arbitrary<Story> = fc.constant(watcher('session.idle'));

/** Successes are more frequent, so that sequences reach later states. */
export const COMMANDS: fc.Arbitrary<Story> = fc.oneof(
  { arbitrary: successes, weight: 12 },
  { arbitrary: courses, weight: 5 },
  { arbitrary: watched, weight: 6 },
  { arbitrary: failures, weight: 4 },
  { arbitrary: fc.constant(grant), weight: 3 },
  { arbitrary: passing, weight: 3 },
  { arbitrary: commands, weight: 3 },
  { arbitrary: losses, weight: 2 },
  { arbitrary: network, weight: 2 },
  { arbitrary: fc.constant(called), weight: 1 },
  { arbitrary: others, weight: 1 },
  { arbitrary: idle, weight: 1 },
);

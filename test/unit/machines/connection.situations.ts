/**
 * How to reach each state of the connection chart: one entry for every state, and for every circumstance in which a
 * state answers differently. The key is the path of the state, with the circumstance in brackets.
 */
import type { ConnectionDriver, DriverOptions } from '../../support/connection-driver.js';
import type { Slot } from '../../support/held-effects.js';
import { sampleFailure } from '../../support/sample-failures.js';

export interface Situation {
  readonly options?: DriverOptions;
  readonly reach: (driver: ConnectionDriver) => Promise<unknown>;
}

type Reach = Situation['reach'];

const REMOTE: DriverOptions = { transport: 'http' };
const LAZY: DriverOptions = { wanted: false };
const LAST_ATTEMPT: DriverOptions = { policy: { maxAttempts: 1 } };
const LAST_ATTEMPT_REMOTE: DriverOptions = { ...REMOTE, ...LAST_ATTEMPT };
const LONG_SINCE: DriverOptions = {
  policy: { maxAttempts: 1, exhausted: { callAfterMs: 0, remoteEveryMs: 60_000 } },
};
const CRASH_LOOP: DriverOptions = { policy: { intensity: { restarts: 1, periodMs: 30_000 } } };
const ONE_SIGN_IN: DriverOptions = { policy: { signIns: { restarts: 1, periodMs: 60_000 } } };
const NO_PATIENCE: DriverOptions = { policy: { listChanged: { debounceMs: 300, maxWaitMs: 0 } } };

const to =
  (until?: Slot): Reach =>
  (driver) =>
    driver.bringUp(until);

/** A sign-in was completed, and the server has refused it at once. */
const toAfterSignIn =
  (until?: Slot): Reach =>
  async (driver) => {
    await toSigningIn(driver);
    await driver.settle('authorize');
    await driver.bringUp(until);
  };

const toRefused: Reach = async (driver) => {
  await driver.bringUp('openTransport');
  await driver.fail('openTransport', 'authorize');
};

const toSigningIn: Reach = async (driver) => {
  await toRefused(driver);
  await driver.settle('releaseSession');
};

/** The effects that start a successor, in order. */
const SUCCESSOR = ['resolveConfig', 'openTransport', 'handshake', 'readTools'] as const;

const toPreparing =
  (until: (typeof SUCCESSOR)[number]): Reach =>
  async (driver) => {
    await driver.bringUp();
    await driver.command('connection.reload');
    for (const slot of SUCCESSOR.slice(0, SUCCESSOR.indexOf(until))) await driver.settle(slot);
  };

const STATELESS = {
  info: { name: 'sample', version: '1.0.0' },
  capabilities: { tools: { listChanged: true } },
  protocolVersion: '2026-07-28',
  instructions: null,
};

const toTakenOver: Reach = async (driver) => {
  await toPreparing('readTools')(driver);
  await driver.settle('readTools');
  await driver.settle('enrichCatalog');
};

const toRetiring: Reach = async (driver) => {
  await toTakenOver(driver);
  await driver.settle('adoptTools');
};

const toOutdated: Reach = async (driver) => {
  await toPreparing('resolveConfig')(driver);
  await driver.fail('resolveConfig', 'retry');
};

const toProbing: Reach = async (driver) => {
  await driver.bringUp();
  await driver.watcher('session.quiet');
};

const toSuspect: Reach = async (driver) => {
  await toProbing(driver);
  await driver.fail('probe', 'retry');
};

const toDebouncing: Reach = async (driver) => {
  await driver.bringUp();
  await driver.listChanged();
};

const toReading: Reach = async (driver) => {
  await driver.bringUp();
  await driver.command('connection.refresh');
  await driver.settle('enrichCatalog');
};

const toAdopting: Reach = async (driver) => {
  await toReading(driver);
  await driver.settle('readTools');
};

const toExtrasChanged: Reach = async (driver) => {
  await driver.bringUp();
  await driver.extrasChanged('prompts');
};

const toSubscribing: Reach = async (driver) => {
  await driver.bringUp('handshake');
  await driver.settle('handshake', { server: STATELESS });
  await driver.bringUp();
};

/** Further tries for the stream of changes are used up. */
const toLastTry: Reach = async (driver) => {
  await toSubscribing(driver);
  for (let tries = 0; tries < 8; tries += 1) {
    await driver.fail('subscribe', 'retry');
    await driver.advance(15_000);
  }
};

/** The stream is open, and the lists that may have changed in the meantime have been read. */
const toReopened: Reach = async (driver) => {
  await toLastTry(driver);
  await driver.settle('subscribe');
  await driver.advance(300);
  for (const slot of ['readTools', 'adoptTools', 'enrichCatalog'] as const) await driver.settle(slot);
};

const toReleasing: Reach = async (driver) => {
  await driver.bringUp('openTransport');
  await driver.fail('openTransport', 'retry');
};

const toBackingOff: Reach = async (driver) => {
  await toReleasing(driver);
  await driver.settle('releaseSession');
};

const toUnreleased: Reach = async (driver) => {
  await toReleasing(driver);
  await driver.fail('releaseSession', 'permanent', { code: 'not-released' });
};

const toFailed: Reach = async (driver) => {
  await driver.bringUp('openTransport');
  await driver.fail('openTransport', 'permanent');
};

type Ending = 'stop' | 'restart' | 'reload' | 'idle';

const toDraining =
  (how: Ending): Reach =>
  async (driver) => {
    await driver.bringUp();
    if (how === 'idle') await driver.watcher('session.idle');
    else await driver.command(`connection.${how}`);
  };

const toClosing =
  (how: Ending): Reach =>
  async (driver) => {
    await toDraining(how)(driver);
    await driver.settle('drainCalls');
  };

const toKilling =
  (how: Ending): Reach =>
  async (driver) => {
    await toClosing(how)(driver);
    await driver.fail('closeSession', 'permanent');
  };

/** One event after the other. */
const then =
  (first: Reach, second: Reach): Reach =>
  async (driver) => {
    await first(driver);
    await second(driver);
  };

const missPing: Reach = async (driver) => {
  await driver.watcher('session.quiet');
  await driver.fail('probe', 'retry');
};

export const SITUATIONS: Readonly<Record<string, Situation>> = {
  'configuring.resolving': { reach: async () => {} },
  'configuring.resolving (lazy)': { options: LAZY, reach: async () => {} },
  'configuring.awaitingTrust': { reach: (driver) => driver.settle('resolveConfig', { kind: 'untrusted' }) },
  'configuring.awaitingTrust (lazy)': {
    options: LAZY,
    reach: (driver) => driver.settle('resolveConfig', { kind: 'untrusted' }),
  },
  'configuring.dormant': {
    options: LAZY,
    reach: (driver) => driver.settle('resolveConfig', { kind: 'dormant' }),
  },
  'configuring.authorizing.releasing': { reach: toRefused },
  'configuring.authorizing.signingIn': { reach: toSigningIn },
  'launching.waitingForSlot': { reach: (driver) => driver.settle('resolveConfig') },
  'launching.opening': { reach: to('openTransport') },
  'launching.opening (last attempt)': { options: LAST_ATTEMPT, reach: to('openTransport') },
  'launching.opening (signed in)': { options: ONE_SIGN_IN, reach: toAfterSignIn('openTransport') },
  'handshaking.initializing': { reach: to('handshake') },
  'handshaking.initializing (last attempt)': { options: LAST_ATTEMPT, reach: to('handshake') },
  'handshaking.initializing (signed in)': { options: ONE_SIGN_IN, reach: toAfterSignIn('handshake') },
  'handshaking.listing': { reach: to('readTools') },
  'handshaking.listing (last attempt)': { options: LAST_ATTEMPT, reach: to('readTools') },
  'handshaking.listing (signed in)': { options: ONE_SIGN_IN, reach: toAfterSignIn('readTools') },
  'handshaking.adopting': { reach: to('adoptTools') },
  'handshaking.adopting (last attempt)': { options: LAST_ATTEMPT, reach: to('adoptTools') },
  'handshaking.adopting (signed in)': { options: ONE_SIGN_IN, reach: toAfterSignIn('adoptTools') },
  'ready.resting+current+listing': { reach: to('enrichCatalog') },
  'ready.resting+current+listing (changed meanwhile)': {
    reach: then(to('enrichCatalog'), (driver) => driver.extrasChanged('resources')),
  },
  'ready.resting+current+debouncing': { reach: toExtrasChanged },
  'ready.resting+current+debouncing (for long)': { options: NO_PATIENCE, reach: toExtrasChanged },
  'ready.resting+current': { reach: to() },
  'ready.resting+current (last attempt)': { options: LAST_ATTEMPT, reach: to() },
  'ready.resting+current (crash loop)': { options: CRASH_LOOP, reach: to() },
  'ready.resting+current (signed in)': { options: ONE_SIGN_IN, reach: toAfterSignIn() },
  'ready.resting+current (remote)': { options: REMOTE, reach: to() },
  'ready.resting+current (outdated)': { options: REMOTE, reach: toOutdated },
  'ready.resting+current (new era)': {
    reach: then(toSubscribing, (driver) => driver.settle('subscribe', { isOpen: false })),
  },
  'ready.resting+current+subscribing': { reach: toSubscribing },
  'ready.resting+current+subscribing (last try)': { reach: toLastTry },
  'ready.resting+current+subscribed': { reach: then(toSubscribing, (driver) => driver.settle('subscribe')) },
  'ready.resting+current+subscribed (last try)': { reach: toReopened },
  'ready.resting+current+waiting': {
    reach: then(toSubscribing, (driver) => driver.fail('subscribe', 'retry')),
  },
  'ready.resting+current+givenUp': {
    reach: then(toSubscribing, (driver) => driver.fail('subscribe', 'retry', { rpcCode: -32601 })),
  },
  'ready.resting+current+preparing.resolving': { options: REMOTE, reach: toPreparing('resolveConfig') },
  'ready.resting+current+preparing.awaitingRetirement+retiring': {
    options: REMOTE,
    reach: async (driver) => {
      await toRetiring(driver);
      await driver.command('connection.reload');
      await driver.settle('resolveConfig');
    },
  },
  'ready.resting+current+preparing.opening': { options: REMOTE, reach: toPreparing('openTransport') },
  'ready.resting+current+preparing.initializing': { options: REMOTE, reach: toPreparing('handshake') },
  'ready.resting+current+preparing.listing': { options: REMOTE, reach: toPreparing('readTools') },
  'ready.resting+current+preparing.discarding': {
    options: REMOTE,
    reach: then(toPreparing('handshake'), (driver) => driver.fail('handshake', 'retry')),
  },
  'ready.resting+adopting+retiring': { options: REMOTE, reach: toTakenOver },
  'ready.resting+adopting+retiring (changed meanwhile)': {
    options: REMOTE,
    reach: then(toTakenOver, (driver) => driver.listChanged()),
  },
  'ready.resting+current+retiring': { options: REMOTE, reach: toRetiring },
  'ready.probing+current': { reach: toProbing },
  'ready.suspect+current': { reach: toSuspect },
  'ready.suspect+current (last attempt)': { options: LAST_ATTEMPT, reach: toSuspect },
  'ready.suspect+current (crash loop)': { options: CRASH_LOOP, reach: toSuspect },
  'ready.suspect+current (signed in)': { options: ONE_SIGN_IN, reach: then(toAfterSignIn(), missPing) },
  'ready.suspect+current (outdated)': { options: REMOTE, reach: then(toOutdated, missPing) },
  'ready.resting+debouncing': { reach: toDebouncing },
  'ready.resting+debouncing (for long)': { options: NO_PATIENCE, reach: toDebouncing },
  'ready.resting+refreshing.reading': { reach: toReading },
  'ready.resting+refreshing.reading (changed meanwhile)': {
    reach: then(toReading, (driver) => driver.listChanged()),
  },
  'ready.resting+refreshing.adopting': { reach: toAdopting },
  'ready.resting+refreshing.adopting (changed meanwhile)': {
    reach: then(toAdopting, (driver) => driver.listChanged()),
  },
  'ready.resting+refreshing.reading+listing': {
    reach: then(to(), (driver) => driver.command('connection.refresh')),
  },
  'ready.resting+stale': { reach: then(toReading, (driver) => driver.fail('readTools', 'retry')) },
  'reconnecting.releasing': { reach: toReleasing },
  'reconnecting.releasing (remote, offline)': { options: { ...REMOTE, online: false }, reach: toReleasing },
  'reconnecting.backingOff': { reach: toBackingOff },
  'reconnecting.backingOff (remote)': { options: REMOTE, reach: toBackingOff },
  'reconnecting.offline': { options: { ...REMOTE, online: false }, reach: toBackingOff },
  'failed.permanent.releasing': { reach: toFailed },
  'failed.permanent.releasing (crashed)': {
    options: { crash: sampleFailure('permanent', 'session', 0, { code: 'internal' }), generation: 3 },
    reach: async () => {},
  },
  'failed.permanent.waiting': { reach: then(toFailed, (driver) => driver.settle('releaseSession')) },
  'failed.exhausted.releasing': { options: LAST_ATTEMPT, reach: toReleasing },
  'failed.exhausted.releasing (remote)': { options: LAST_ATTEMPT_REMOTE, reach: toReleasing },
  'failed.exhausted.releasing (remote, never again)': {
    options: {
      ...REMOTE,
      policy: { maxAttempts: 1, exhausted: { callAfterMs: 30_000, remoteEveryMs: 0 } },
    },
    reach: toReleasing,
  },
  'failed.exhausted.resting': { options: LAST_ATTEMPT, reach: toBackingOff },
  'failed.exhausted.resting (long since)': { options: LONG_SINCE, reach: toBackingOff },
  'failed.exhausted.retryingSlowly': { options: LAST_ATTEMPT_REMOTE, reach: toBackingOff },
  'failed.exhausted.retryingSlowly (long since)': {
    options: { ...REMOTE, ...LONG_SINCE },
    reach: toBackingOff,
  },
  'failed.exhausted.retryingSlowly (offline)': {
    options: { ...LAST_ATTEMPT_REMOTE, online: false },
    reach: toBackingOff,
  },
  'failed.unreleased.releasing': { reach: toUnreleased },
  'failed.unreleased.waiting': {
    reach: then(toUnreleased, (driver) => driver.fail('releaseSession', 'permanent')),
  },
  'shuttingDown.draining+ending': { reach: toDraining('stop') },
  'shuttingDown.draining+restarting': { reach: toDraining('restart') },
  'shuttingDown.draining+reloading': { reach: toDraining('reload') },
  'shuttingDown.draining+reloading (lazy)': {
    options: LAZY,
    reach: async (driver) => {
      await driver.settle('resolveConfig', { kind: 'dormant' });
      await driver.command('connection.reload');
    },
  },
  'shuttingDown.draining+resting': { reach: toDraining('idle') },
  'shuttingDown.closing+ending': { reach: toClosing('stop') },
  'shuttingDown.closing+restarting': { reach: toClosing('restart') },
  'shuttingDown.closing+reloading': { reach: toClosing('reload') },
  'shuttingDown.closing+resting': { reach: toClosing('idle') },
  'shuttingDown.killing+ending': { reach: toKilling('stop') },
  'shuttingDown.killing+restarting': { reach: toKilling('restart') },
  'shuttingDown.killing+reloading': { reach: toKilling('reload') },
  'shuttingDown.killing+resting': { reach: toKilling('idle') },
  stopped: {
    reach: async (driver) => {
      await driver.bringUp();
      await driver.stop();
    },
  },
};

/**
 * How each state of the connection chart is reached, one entry for every state and for every circumstance in which a
 * state answers differently. The key is the path of the state, with the circumstance in brackets.
 */
import type { ConnectionDriver, DriverOptions } from '../support/connection-driver.js';

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

const toReady: Reach = (driver) => driver.bringUp();

const toPreparing: Reach = async (driver) => {
  await driver.bringUp();
  await driver.command('connection.reload');
};

const toOutdated: Reach = async (driver) => {
  await toPreparing(driver);
  await driver.fail('prepareSession', 'retry');
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

const toRefreshing: Reach = async (driver) => {
  await driver.bringUp();
  await driver.command('connection.refresh');
  await driver.settle('enrichCatalog');
};

const toExtrasChanged: Reach = async (driver) => {
  await driver.bringUp();
  await driver.extrasChanged('prompts');
};

const toReleasing: Reach = async (driver) => {
  await driver.bringUp('openTransport');
  await driver.fail('openTransport', 'retry');
};

const toBackingOff: Reach = async (driver) => {
  await toReleasing(driver);
  await driver.settle('releaseSession');
};

const toFailed: Reach = async (driver) => {
  await driver.bringUp('openTransport');
  await driver.fail('openTransport', 'permanent');
};

const toExhausted: Reach = async (driver) => {
  await driver.bringUp('openTransport');
  await driver.fail('openTransport', 'retry');
};

const toResting: Reach = async (driver) => {
  await toExhausted(driver);
  await driver.settle('releaseSession');
};

type Ending = 'stop' | 'restart' | 'idle';

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
  'launching.waitingForSlot': { reach: (driver) => driver.settle('resolveConfig') },
  'launching.opening': { reach: (driver) => driver.bringUp('openTransport') },
  'launching.opening (last attempt)': {
    options: LAST_ATTEMPT,
    reach: (driver) => driver.bringUp('openTransport'),
  },
  'handshaking.initializing': { reach: (driver) => driver.bringUp('handshake') },
  'handshaking.initializing (last attempt)': {
    options: LAST_ATTEMPT,
    reach: (driver) => driver.bringUp('handshake'),
  },
  'handshaking.listing': { reach: (driver) => driver.bringUp('listTools') },
  'handshaking.listing (last attempt)': {
    options: LAST_ATTEMPT,
    reach: (driver) => driver.bringUp('listTools'),
  },
  'handshaking.authorizing': {
    reach: async (driver) => {
      await driver.bringUp('openTransport');
      await driver.fail('openTransport', 'authorize');
    },
  },
  'handshaking.authorizing (remote)': {
    options: REMOTE,
    reach: async (driver) => {
      await driver.bringUp('openTransport');
      await driver.fail('openTransport', 'authorize');
    },
  },
  'ready.resting+current+listing': { reach: (driver) => driver.bringUp('enrichCatalog') },
  'ready.resting+current+listing (changed meanwhile)': {
    reach: async (driver) => {
      await driver.bringUp('enrichCatalog');
      await driver.extrasChanged('resources');
    },
  },
  'ready.resting+current+debouncing': { reach: toExtrasChanged },
  'ready.resting+current+debouncing (for long)': {
    options: { policy: { listChanged: { debounceMs: 300, maxWaitMs: 0 } } },
    reach: toExtrasChanged,
  },
  'ready.resting+current': { reach: toReady },
  'ready.resting+current (last attempt)': { options: LAST_ATTEMPT, reach: toReady },
  'ready.resting+current (crash loop)': { options: CRASH_LOOP, reach: toReady },
  'ready.resting+current (remote)': { options: REMOTE, reach: toReady },
  'ready.resting+current (outdated)': { options: REMOTE, reach: toOutdated },
  'ready.resting+current+preparing': { options: REMOTE, reach: toPreparing },
  'ready.resting+current+retiring': {
    options: REMOTE,
    reach: async (driver) => {
      await toPreparing(driver);
      await driver.settle('prepareSession');
      await driver.settle('enrichCatalog');
    },
  },
  'ready.probing+current': { reach: toProbing },
  'ready.suspect+current': { reach: toSuspect },
  'ready.suspect+current (last attempt)': { options: LAST_ATTEMPT, reach: toSuspect },
  'ready.suspect+current (outdated)': {
    options: REMOTE,
    reach: async (driver) => {
      await toOutdated(driver);
      await driver.watcher('session.quiet');
      await driver.fail('probe', 'retry');
    },
  },
  'ready.resting+debouncing': { reach: toDebouncing },
  'ready.resting+debouncing (for long)': {
    options: { policy: { listChanged: { debounceMs: 300, maxWaitMs: 0 } } },
    reach: toDebouncing,
  },
  'ready.resting+refreshing': { reach: toRefreshing },
  'ready.resting+refreshing (changed meanwhile)': {
    reach: async (driver) => {
      await toRefreshing(driver);
      await driver.listChanged();
    },
  },
  'ready.resting+refreshing+listing': {
    reach: async (driver) => {
      await driver.bringUp();
      await driver.command('connection.refresh');
    },
  },
  'ready.resting+stale': {
    reach: async (driver) => {
      await toRefreshing(driver);
      await driver.fail('listTools', 'retry');
    },
  },
  'reconnecting.releasing': { reach: toReleasing },
  'reconnecting.releasing (remote, offline)': {
    options: { ...REMOTE, online: false },
    reach: toReleasing,
  },
  'reconnecting.backingOff': { reach: toBackingOff },
  'reconnecting.backingOff (remote)': { options: REMOTE, reach: toBackingOff },
  'reconnecting.offline': { options: { ...REMOTE, online: false }, reach: toBackingOff },
  'failed.releasing': { reach: toFailed },
  'failed.releasing (out of attempts)': { options: LAST_ATTEMPT, reach: toExhausted },
  'failed.releasing (out of attempts, remote)': { options: LAST_ATTEMPT_REMOTE, reach: toExhausted },
  'failed.releasing (out of attempts, never again)': {
    options: {
      ...REMOTE,
      policy: { maxAttempts: 1, exhausted: { callAfterMs: 30_000, remoteEveryMs: 0 } },
    },
    reach: toExhausted,
  },
  'failed.releasing (released late)': {
    reach: async (driver) => {
      await toReleasing(driver);
      await driver.fail('releaseSession', driver.failure('permanent', 'release', { code: 'not-released' }));
    },
  },
  'failed.settled': {
    reach: async (driver) => {
      await toFailed(driver);
      await driver.settle('releaseSession');
    },
  },
  'failed.settled (not released)': {
    reach: async (driver) => {
      await toFailed(driver);
      await driver.fail('releaseSession', 'permanent');
    },
  },
  'failed.resting': { options: LAST_ATTEMPT, reach: toResting },
  'failed.resting (long since)': { options: LONG_SINCE, reach: toResting },
  'failed.retryingSlowly': { options: LAST_ATTEMPT_REMOTE, reach: toResting },
  'failed.retryingSlowly (long since)': { options: { ...REMOTE, ...LONG_SINCE }, reach: toResting },
  'failed.retryingSlowly (offline)': { options: { ...LAST_ATTEMPT_REMOTE, online: false }, reach: toResting },
  'shuttingDown.draining (to stop)': { reach: toDraining('stop') },
  'shuttingDown.draining (to restart)': { reach: toDraining('restart') },
  'shuttingDown.draining (to rest)': { reach: toDraining('idle') },
  'shuttingDown.closing (to stop)': { reach: toClosing('stop') },
  'shuttingDown.closing (to restart)': { reach: toClosing('restart') },
  'shuttingDown.closing (to rest)': { reach: toClosing('idle') },
  'shuttingDown.killing (to stop)': { reach: toKilling('stop') },
  'shuttingDown.killing (to restart)': { reach: toKilling('restart') },
  'shuttingDown.killing (to rest)': { reach: toKilling('idle') },
  stopped: {
    reach: async (driver) => {
      await driver.bringUp();
      await driver.stop();
    },
  },
};

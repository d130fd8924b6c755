/**
 * What happens to replicas, to the engine, and to the network between them; and what that may do to calls: which of them may
 * fail (`mayFail`), which may get no answer within the limit of their client (`mayGiveUp`), and whether sessions may be lost.
 * `victim` says whether the fault is of one replica, or of one host.
 */

/** A host is gone for others after 15 s. */
const BEYOND_PRESENCE_MS = 18_000;
/** The checks of a balancer take this long to find that a replica does not answer. */
const NOTICED_AFTER_MS = 2_000;
/** Longer than hosts wait for an answer. */
const BEYOND_CALLS_MS = 10_000;

const never = () => false;
const isOfOnce = ({ server }) => server === 'once';
const isOfSession = ({ client }) => client.startsWith('v1');
/** Its way leads through a replica, or to the holder of a lease. */
const isElsewhere = (call) => call.client !== 'host' || isOfOnce(call);

/** Longer than any lease. */
const beyondLease = (scene) => scene.pause(scene.leaseMs * 1.6);

const WITHOUT_ENGINE = { mayFail: isOfOnce, mayGiveUp: never, losesSessions: false };

export const FAULTS = {
  'replica drained': {
    victim: 'replica',
    mayFail: never,
    mayGiveUp: never,
    losesSessions: false,
    run: (scene, replica) => scene.drain(replica),
  },
  'replica killed': {
    victim: 'replica',
    mayFail: isElsewhere,
    // SDK v1 tries to resume the answer of the dead host, and then says nothing (see `docs/guide/testing-troupe.md`).
    mayGiveUp: isOfSession,
    losesSessions: true,
    async run(scene, replica) {
      await replica.end();
      await scene.pause(1_000);
      await scene.replace(replica);
    },
  },
  'replica frozen': {
    victim: 'replica',
    mayFail: isElsewhere,
    mayGiveUp: isElsewhere,
    losesSessions: true,
    async run(scene, replica) {
      replica.signal('SIGSTOP');
      await scene.pause(NOTICED_AFTER_MS);
      scene.leaveOut(replica);
      await scene.pause(BEYOND_PRESENCE_MS - NOTICED_AFTER_MS);
      replica.signal('SIGCONT');
      await scene.pause(NOTICED_AFTER_MS);
      scene.takeIn(replica);
    },
  },
  'engine frozen': {
    ...WITHOUT_ENGINE,
    async run(scene) {
      scene.engine.signal('SIGSTOP');
      await beyondLease(scene);
      scene.engine.signal('SIGCONT');
    },
  },
  'engine restarted': {
    ...WITHOUT_ENGINE,
    async run(scene) {
      await scene.engine.end();
      await scene.pause(200);
      await scene.engine.start();
      await beyondLease(scene);
    },
  },
  'engine wiped': {
    ...WITHOUT_ENGINE,
    async run(scene) {
      await scene.engine.end();
      scene.engine.wipe();
      await scene.engine.start();
      await beyondLease(scene);
    },
  },
  'host cut off': {
    victim: 'host',
    // The others count it as gone, with its sessions.
    mayFail: (call) => isOfOnce(call) || isOfSession(call),
    mayGiveUp: never,
    losesSessions: true,
    async run(scene, { engineLink }) {
      engineLink.cut();
      await scene.pause(BEYOND_PRESENCE_MS);
      engineLink.join();
    },
  },
  'hosts cut off': {
    hasPeerLinks: true,
    mayFail: (call) => isOfOnce(call) || isOfSession(call),
    mayGiveUp: isOfSession,
    losesSessions: false,
    async run(scene) {
      scene.cutPeers();
      await scene.pause(BEYOND_CALLS_MS);
      scene.joinPeers();
    },
  },
};

/** `reconnecting` and `failed`: what happens after a session is lost or an attempt fails. */
import { connection } from './connection.setup.js';
import {
  alreadySo,
  at,
  failureOf,
  notReleased,
  released,
  releaseAndTryAnew,
  releasing,
  shutdownCommands,
  tryAnew,
} from './connection.transitions.js';

export const reconnecting = connection.createStateConfig({
  description: 'Between two sessions.',
  initial: 'releasing',
  tags: 'attempted',
  entry: 'reportSettled',
  on: { ...shutdownCommands, 'connection.start': alreadySo },
  states: {
    releasing: {
      description: 'Releases the old session; a new one may start only when it is proven gone.',
      invoke: {
        id: 'releaseSession',
        src: 'releaseSession',
        input: releasing,
        onDone: [
          { guard: 'isHeldOffline', target: 'offline', actions: released },
          { target: 'backingOff', actions: [...released, 'emitRetrying'] },
        ],
        onError: notReleased,
      },
      on: { 'connection.retry': { actions: 'beginRound' } },
    },
    backingOff: {
      description: 'Waits for the next attempt.',
      tags: 'backingOff',
      after: { backoffDelay: '#connection.configuring.resolving' },
      on: {
        'connection.retry': tryAnew,
        'network.offline': { guard: 'needsNetwork', target: 'offline', actions: 'goOffline' },
      },
    },
    offline: {
      description: 'The network is down: a remote server is not tried until it is back.',
      tags: 'offline',
      on: {
        'network.online': {
          target: 'backingOff',
          actions: ['goOnline', { type: 'planNetworkRetry', params: at }, 'emitRetrying'],
        },
        'connection.retry': tryAnew,
      },
    },
  },
});

/** A call causes one attempt more than the round allows, if the last failure is long enough ago. */
const tryForCall = {
  guard: { type: 'mayTryForCall', params: at },
  target: '#connection.configuring.resolving',
  actions: { type: 'allowOneAttempt', params: { unasked: false } },
} as const;

/** A new round that is requested while the session is being released waits for the release. */
const whileReleasing = { 'connection.retry': releaseAndTryAnew, 'connection.start': releaseAndTryAnew };

const onceReleased = { 'connection.retry': tryAnew, 'connection.start': tryAnew };

const stillAlive = '#connection.failed.unreleased.waiting';

export const failed = connection.createStateConfig({
  description: 'Given up, with the cause. Only a person, a call or a slow timer tries again.',
  initial: 'permanent',
  tags: 'attempted',
  entry: ['emitFailed', 'reportSettled'],
  on: shutdownCommands,
  states: {
    permanent: {
      description: 'Retrying cannot help until something is changed.',
      initial: 'releasing',
      states: {
        releasing: {
          invoke: {
            id: 'releaseFailed',
            src: 'releaseSession',
            input: releasing,
            onDone: { target: 'waiting', actions: released },
            onError: stillAlive,
          },
          on: whileReleasing,
        },
        waiting: {
          description: 'Waits for a person.',
          tags: 'settled',
          on: onceReleased,
        },
      },
    },
    exhausted: {
      description: 'Out of attempts, for a cause that may be temporary.',
      initial: 'releasing',
      states: {
        releasing: {
          invoke: {
            id: 'releaseExhausted',
            src: 'releaseSession',
            input: releasing,
            onDone: [
              {
                guard: 'isTriedForEver',
                target: 'retryingSlowly',
                actions: [...released, 'planSlowRetry', 'emitRetryingSlowly'],
              },
              { target: 'resting', actions: released },
            ],
            onError: stillAlive,
          },
          on: whileReleasing,
        },
        resting: {
          description: 'A person starts a new round; a call gets one more attempt.',
          tags: ['settled', 'exhausted'],
          on: { ...onceReleased, 'call.waiting': tryForCall },
        },
        retryingSlowly: {
          description: 'Remote: retried on a slow timer, for a call, or when the network is back.',
          tags: ['settled', 'exhausted', 'retryingSlowly'],
          after: {
            slowRetryDelay: {
              guard: 'isOnline',
              target: '#connection.configuring.resolving',
              actions: { type: 'allowOneAttempt', params: { unasked: true } },
            },
          },
          on: {
            ...onceReleased,
            'call.waiting': tryForCall,
            'network.online': {
              target: '#connection.reconnecting.backingOff',
              actions: [
                'goOnline',
                { type: 'allowOneAttempt', params: { unasked: true } },
                { type: 'planNetworkRetry', params: at },
                'emitRetrying',
              ],
            },
          },
        },
      },
    },
    unreleased: {
      description: 'The old session is not proven gone, so no new one may start.',
      initial: 'releasing',
      states: {
        releasing: {
          description: 'Waits once more for the session to end.',
          invoke: {
            id: 'releaseLate',
            src: 'releaseSession',
            input: releasing,
            onDone: {
              target: '#connection.reconnecting.backingOff',
              actions: [...released, 'emitRetrying'],
            },
            onError: { target: 'waiting', actions: { type: 'recordFailure', params: failureOf } },
          },
          on: whileReleasing,
        },
        waiting: {
          description: 'Waits for a person; the session must be proven gone before the next attempt.',
          tags: 'settled',
          on: whileReleasing,
        },
      },
    },
  },
});

/**
 * `shuttingDown`: two regions. `procedure` ends the session step by step; `purpose` says what comes after, and may change
 * while the procedure goes on. They communicate by raised events.
 */
import { connection } from './connection.setup.js';
import {
  alreadySo,
  boundedBy,
  closing,
  failureOf,
  released,
  releasing,
  shutdownCommands,
} from './connection.transitions.js';

const closed = { target: 'closed', actions: [...released, 'announceClosed'] } as const;

const stopForGood = { target: 'ending', actions: shutdownCommands['connection.stop'].actions } as const;

const byTheNewEntry = {
  target: 'reloading',
  actions: shutdownCommands['connection.reload'].actions,
} as const;

/** A lazy server that is reloaded while it shuts down for idleness becomes dormant again. */
const wantIt = [{ guard: 'isWanted' }, { actions: 'want' }] as const;

/** It comes back with its past attempts forgotten. */
const comeBack = {
  target: '#connection.configuring.resolving',
  actions: ['forgetFailure', 'resetAttempts'],
} as const;

/** It cannot come back while the old session may be alive. */
const cannotComeBack = { target: '#connection.failed.unreleased', actions: 'resetAttempts' } as const;

export const shuttingDown = connection.createStateConfig({
  description: 'No new calls. What comes after depends on the purpose.',
  type: 'parallel',
  entry: 'reportSettled',
  states: {
    procedure: {
      initial: 'draining',
      states: {
        draining: {
          description: 'Calls in flight may finish; the rest are settled.',
          invoke: {
            id: 'drainCalls',
            src: 'drainCalls',
            input: boundedBy((policy) => policy.stop.drainMs),
            onDone: 'closing',
            onError: 'closing',
          },
          on: { 'connection.stop': { guard: 'isEnding', target: 'closing' } },
        },
        closing: {
          description: 'Orderly end: HTTP DELETE of the session, end of stdin, SIGTERM.',
          invoke: {
            id: 'closeSession',
            src: 'closeSession',
            input: closing,
            onDone: closed,
            onError: 'killing',
          },
          on: { 'connection.stop': { guard: 'isEnding', target: 'killing' } },
        },
        killing: {
          description: 'Forced end: SIGKILL to the whole process tree.',
          invoke: {
            id: 'killSession',
            src: 'killSession',
            input: releasing,
            onDone: closed,
            onError: {
              target: 'closed',
              actions: [{ type: 'recordFailure', params: failureOf }, 'announceNotClosed'],
            },
          },
        },
        closed: { description: 'The procedure is over.' },
      },
    },
    purpose: {
      initial: 'ending',
      states: {
        ending: {
          description: 'Stops for good. Another stop skips a step.',
          tags: 'ending',
          on: {
            'connection.stop': alreadySo,
            'shutdown.closed': { target: '#connection.stopped', actions: 'forgetFailure' },
            'shutdown.failed': '#connection.stopped',
          },
        },
        restarting: {
          description: 'A new session follows, with the same entry.',
          tags: 'returning',
          on: {
            'connection.start': alreadySo,
            'connection.restart': alreadySo,
            'connection.reload': byTheNewEntry,
            'connection.stop': stopForGood,
            'shutdown.closed': comeBack,
            'shutdown.failed': cannotComeBack,
          },
        },
        reloading: {
          description: 'A new session follows, with the new entry.',
          tags: 'returning',
          on: {
            'connection.start': wantIt,
            'connection.restart': wantIt,
            'call.waiting': wantIt,
            'connection.reload': { actions: byTheNewEntry.actions },
            'connection.stop': stopForGood,
            'shutdown.closed': comeBack,
            'shutdown.failed': cannotComeBack,
          },
        },
        resting: {
          description: 'It was idle and becomes dormant. A start or a call brings it back.',
          tags: 'returning',
          on: {
            'connection.start': { target: 'restarting', actions: 'want' },
            'connection.restart': { target: 'restarting', actions: 'want' },
            'call.waiting': { target: 'restarting', actions: 'want' },
            'connection.reload': byTheNewEntry,
            'connection.stop': stopForGood,
            'shutdown.closed': {
              target: '#connection.configuring.dormant',
              actions: 'resetAttempts',
            },
            'shutdown.failed': cannotComeBack,
          },
        },
      },
    },
  },
});

/**
 * The regions of `ready` in which one session takes over from another: `succession` brings up the session of the changed
 * entry, `retirement` ends the former one.
 */
import type { ConnectionContext } from './connection.events.js';
import { connection } from './connection.setup.js';
import { comingPolicy } from './connection.succession.js';
import { failureOf, outputOf, reloadInTurn, retiring, termsOf } from './connection.transitions.js';
import type { ConnectionPolicy } from '../policy/policy.js';

/** The new session comes up before the old one ends, unless either is a child process. */
const prepareSuccessor = {
  guard: { type: 'canOverlap', params: termsOf },
  target: '.preparing',
  actions: { type: 'planSuccessor', params: termsOf },
} as const;

/** The entry changes again: the successor so far retires at once, so that there is no third session. */
const prepareAnother = {
  guard: { type: 'canOverlap', params: termsOf },
  target: '#connection.ready.succession.preparing',
  actions: ['retireSuccessor', { type: 'planSuccessor', params: termsOf }],
} as const;

const successorBoundedBy =
  (limit: (policy: ConnectionPolicy) => number) =>
  ({ context }: { context: ConnectionContext }) => ({
    name: context.name,
    generation: context.issued,
    limitMs: limit(comingPolicy(context)),
  });

const outdated = [{ type: 'emitOutdated', params: failureOf }] as const;

/** The successor has no session yet. */
const notResolved = [
  { guard: { type: 'mustTakeTurns', params: failureOf }, ...reloadInTurn },
  { target: '#connection.ready.succession.none', actions: outdated },
] as const;

const notPrepared = [
  { guard: { type: 'mustTakeTurns', params: failureOf }, ...reloadInTurn },
  { target: 'discarding', actions: outdated },
] as const;

const preparing = connection.createStateConfig({
  description:
    'The entry has changed. Its session is brought up beside the one in use, which stays if that fails.',
  initial: 'resolving',
  tags: 'preparing',
  states: {
    resolving: {
      description: 'Asks for trust, then expands the new entry.',
      invoke: {
        id: 'resolveSuccessor',
        src: 'resolveConfig',
        input: ({ context }) => ({ name: context.name, generation: context.issued, wanted: true }),
        onDone: [
          { guard: { type: 'isUntrusted', params: outputOf }, ...reloadInTurn },
          {
            target: 'awaitingRetirement',
            actions: {
              type: 'emitAttempting',
              params: ({ event }) => ({ output: event.output, ahead: 0 }),
            },
          },
        ],
        onError: notResolved,
      },
    },
    awaitingRetirement: {
      description: 'Waits until the former session is gone: there are never more than two.',
      always: { guard: 'isNothingRetiring', target: 'opening' },
    },
    opening: {
      description: 'Opens the transport of the successor.',
      on: { 'connection.reload': prepareAnother },
      invoke: {
        id: 'openSuccessor',
        src: 'openTransport',
        input: ({ context }) => ({
          ...successorBoundedBy((policy) => policy.launchTimeoutMs)({ context }),
          replaces: context.generation,
        }),
        onDone: {
          target: 'initializing',
          actions: [
            { type: 'emitOpened', params: outputOf },
            { type: 'recordSuccessorOpened', params: outputOf },
          ],
        },
        onError: notPrepared,
      },
    },
    initializing: {
      description: 'Sends `initialize` and `notifications/initialized`, or `server/discover` in the new era.',
      on: { 'connection.reload': prepareAnother },
      invoke: {
        id: 'handshakeSuccessor',
        src: 'handshake',
        input: successorBoundedBy((policy) => policy.handshakeTimeoutMs),
        onDone: {
          target: 'listing',
          actions: [
            { type: 'emitInitialized', params: outputOf },
            { type: 'recordSuccessorEra', params: outputOf },
          ],
        },
        onError: notPrepared,
      },
    },
    listing: {
      description: 'Reads its first list of tools.',
      on: { 'connection.reload': prepareAnother },
      invoke: {
        id: 'readSuccessor',
        src: 'readTools',
        input: successorBoundedBy((policy) => policy.listTimeoutMs),
        onDone: {
          target: '#connection.ready',
          actions: [{ type: 'emitListed', params: outputOf }, 'switchSession', 'announceListed'],
        },
        onError: notPrepared,
      },
    },
    discarding: {
      description: 'The successor failed: its session is released, and the one in use stays.',
      on: { 'connection.reload': prepareAnother },
      invoke: {
        id: 'discardSuccessor',
        src: 'retireSession',
        input: retiring(({ issued }) => issued, 0),
        onDone: '#connection.ready.succession.none',
        onError: '#connection.ready.succession.none',
      },
    },
  },
});

export const succession = connection.createStateConfig({
  initial: 'none',
  on: { 'connection.reload': prepareSuccessor },
  states: {
    none: {
      description: 'No successor is being prepared.',
      on: {
        'session.idle': {
          guard: 'isNothingRetiring',
          target: '#connection.shuttingDown.purpose.resting',
          actions: 'unwant',
        },
      },
    },
    preparing,
  },
});

const retired = { target: 'none', actions: 'forgetRetired' } as const;

export const retirement = connection.createStateConfig({
  initial: 'none',
  states: {
    none: {
      description: 'No former session is left.',
      always: { guard: 'isRetiring', target: 'retiring' },
    },
    retiring: {
      description: 'The former session takes no new calls; calls in flight may finish.',
      invoke: {
        id: 'retireSession',
        src: 'retireSession',
        input: retiring((context) => context.retiring),
        onDone: retired,
        onError: retired,
      },
    },
  },
});

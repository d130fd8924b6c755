/**
 * `starting`: an attempt, from the queue for a start slot to the first list of tools. Its public states are `launching`
 * and `handshaking`. Both hold one claim on a start, which the exit of `starting` gives back.
 */
import { connection } from './connection.setup.js';
import {
  adopted,
  alreadySo,
  attemptFailed,
  boundedBy,
  inUse,
  outputOf,
  sessionKey,
  shutdownCommands,
} from './connection.transitions.js';

export const starting = connection.createStateConfig({
  description: 'An attempt is under way.',
  initial: 'launching',
  exit: 'leaveStart',
  on: { ...shutdownCommands, 'connection.start': alreadySo },
  states: {
    launching: {
      description: 'Opens the transport: starts the process or reaches the address.',
      initial: 'waitingForSlot',
      states: {
        waitingForSlot: {
          description:
            'A stdio server waits for one of the start slots, a retry of a remote one for its share of the budget.',
          entry: 'claimStart',
          always: { guard: 'needNotQueue', target: 'opening' },
          on: { 'slot.granted': 'opening' },
        },
        opening: {
          description: 'From here on the session exists and must be released.',
          tags: 'opening',
          entry: 'beginSession',
          invoke: {
            id: 'openTransport',
            src: 'openTransport',
            input: ({ context }) => ({
              name: context.name,
              generation: context.generation,
              limitMs: context.policy.launchTimeoutMs,
              replaces: null,
            }),
            onDone: {
              target: '#connection.starting.handshaking',
              actions: [
                { type: 'emitOpened', params: outputOf },
                { type: 'recordOpened', params: outputOf },
              ],
            },
            onError: attemptFailed,
          },
        },
      },
    },
    handshaking: {
      description: 'The MCP handshake, and the first list of tools.',
      initial: 'initializing',
      states: {
        initializing: {
          description:
            'Sends `initialize` and `notifications/initialized`, or `server/discover` in the new era.',
          invoke: {
            id: 'handshake',
            src: 'handshake',
            input: boundedBy((policy) => policy.handshakeTimeoutMs),
            onDone: {
              target: 'listing',
              actions: [
                { type: 'emitInitialized', params: outputOf },
                { type: 'recordEra', params: outputOf },
              ],
            },
            onError: attemptFailed,
          },
        },
        listing: {
          description: 'Reads all pages of the first list of tools.',
          invoke: {
            id: 'readTools',
            src: 'readTools',
            input: boundedBy((policy) => policy.listTimeoutMs),
            onDone: { target: 'adopting', actions: { type: 'emitListed', params: outputOf } },
            onError: attemptFailed,
          },
        },
        adopting: {
          description: 'The list becomes the catalog and is reviewed.',
          invoke: {
            id: 'adoptTools',
            src: 'adoptTools',
            input: sessionKey,
            onDone: {
              target: '#connection.ready',
              actions: [...adopted(inUse), 'emitReady'],
            },
            onError: attemptFailed,
          },
        },
      },
    },
  },
});

/** `configuring`: what to run, and whether it may run. Nothing of a session is alive, or it is being released. */
import { connection } from './connection.setup.js';
import {
  alreadySo,
  cannotTry,
  crashOf,
  notReleased,
  outputOf,
  released,
  releaseAndTryAnew,
  releasing,
  sessionKey,
  settledAt,
  shutdownCommands,
  tryAnew,
} from './connection.transitions.js';

export const configuring = connection.createStateConfig({
  description: 'Finds out what to run and whether it may run.',
  initial: 'beginning',
  on: shutdownCommands,
  states: {
    beginning: {
      description: 'A replacement for an actor that died of an error goes on to `failed`.',
      always: [
        {
          guard: 'hasCrashed',
          target: '#connection.failed.permanent',
          actions: { type: 'recordFailure', params: crashOf },
        },
        { target: 'resolving' },
      ],
    },
    resolving: {
      description:
        'Asks for trust, then expands the entry afresh, so that rotated credentials are picked up.',
      invoke: {
        id: 'resolveConfig',
        src: 'resolveConfig',
        input: ({ context }) => ({
          name: context.name,
          generation: context.issued + 1,
          wanted: context.wanted,
        }),
        onDone: [
          {
            guard: { type: 'isUntrusted', params: outputOf },
            target: 'awaitingTrust',
            actions: { type: 'noteTime', params: settledAt },
          },
          {
            guard: { type: 'isDormant', params: outputOf },
            target: 'dormant',
            actions: { type: 'noteTime', params: settledAt },
          },
          {
            target: '#connection.starting',
            actions: [
              { type: 'beginAttempt', params: outputOf },
              {
                type: 'emitAttempting',
                params: ({ event }) => ({ output: event.output, ahead: 1 }),
              },
            ],
          },
        ],
        onError: cannotTry,
      },
      on: {
        'connection.start': [
          { guard: 'isWanted' },
          { target: 'resolving', reenter: true, actions: 'beginRound' },
        ],
        'call.waiting': [
          { guard: 'isWanted' },
          { target: 'resolving', reenter: true, actions: 'beginRound' },
        ],
      },
    },
    awaitingTrust: {
      description: 'A person must trust the entry; nothing of it has been expanded or started.',
      tags: ['settled', 'attempted', 'waitingForPerson', 'awaitingTrust'],
      entry: ['emitTrustRequired', 'reportSettled'],
      on: {
        'trust.granted': 'resolving',
        'trust.denied': { target: '#connection.failed.permanent', actions: 'recordDenial' },
        'connection.retry': 'resolving',
        'connection.start': [{ guard: 'isWanted' }, { actions: 'beginRound' }],
      },
    },
    authorizing: {
      description:
        'The server requires a sign-in. No attempt is counted, and no timer runs while a person is asked.',
      initial: 'releasing',
      tags: ['waitingForPerson', 'authorizing', 'attempted'],
      entry: 'reportSettled',
      on: { 'connection.start': alreadySo },
      states: {
        releasing: {
          description: 'Releases the session that was refused.',
          invoke: {
            id: 'releaseRefused',
            src: 'releaseSession',
            input: releasing,
            onDone: { target: 'signingIn', actions: [...released, 'discountAttempt'] },
            onError: notReleased,
          },
          on: { 'connection.retry': releaseAndTryAnew },
        },
        signingIn: {
          description: 'Waits for a sign-in, here or in another process.',
          tags: 'settled',
          invoke: {
            id: 'authorize',
            src: 'authorize',
            input: sessionKey,
            onDone: {
              target: '#connection.configuring.resolving',
              actions: { type: 'recordSignIn', params: settledAt },
            },
            onError: cannotTry,
          },
          on: { 'connection.retry': tryAnew },
        },
      },
    },
    dormant: {
      description: 'Lazy: the catalog is known, and nothing is started until it is needed.',
      tags: ['settled', 'attempted', 'dormant'],
      entry: 'reportSettled',
      on: {
        'connection.start': { target: 'resolving', actions: 'beginRound' },
        'call.waiting': { target: 'resolving', actions: 'beginRound' },
      },
    },
  },
});

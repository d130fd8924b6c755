/** The region `signIn` of the sign-in chart: connections wait, and a person is asked if nothing else helps. */
import type { SignInContext, SignInKey } from './sign-in.events.js';
import { failureOf, outputOf, rejection, signIn } from './sign-in.setup.js';

const answerOf = ({ event }: { event: { answer: number } }) => ({ answer: event.answer });

const joining = { target: 'looking', actions: 'beginSignIn' } as const;

const members = {
  'signIn.joined': { actions: 'join' },
  'signIn.left': [{ guard: 'isLast', target: 'givenUp' }, { actions: 'leave' }],
} as const;

const signInKey = ({ context }: { context: SignInContext }): SignInKey => ({ attempt: context.attempt });

export const person = signIn.createStateConfig({
  initial: 'idle',
  on: { 'account.closing': '.closed' },
  states: {
    idle: { description: 'No connection has waited for a sign-in yet.', on: { 'signIn.joined': joining } },
    looking: {
      description: 'Checks whether another process has signed in already.',
      exit: 'forgetRenewable',
      invoke: {
        id: 'lookForOther',
        src: 'lookForOther',
        input: ({ context }) => ({ refused: context.refused }),
        onDone: [
          { guard: { type: 'hasFoundOther', params: outputOf }, target: 'signedIn' },
          { guard: 'mayRenew', target: 'renewing' },
          { target: 'underWay' },
        ],
        onError: { target: 'refused', actions: { type: 'recordRefusal', params: rejection } },
      },
      on: members,
    },
    renewing: {
      description: 'Tries a renewal first: that may be enough, and always is if no person is needed.',
      entry: 'wantRenewal',
      on: {
        ...members,
        'renewal.done': [
          {
            guard: {
              type: 'isEnough',
              params: ({ event }) => ({ renewed: event.renewed }),
            },
            target: 'signedIn',
          },
          { target: 'underWay' },
        ],
        'renewal.failed': {
          target: 'refused',
          actions: { type: 'recordRefusal', params: failureOf },
        },
      },
    },
    underWay: {
      description: 'A person is needed.',
      initial: 'opening',
      entry: 'chooseScopes',
      invoke: [
        {
          id: 'watchForOthers',
          src: 'watchForOthers',
          input: ({ context }) => ({ refused: context.refused }),
        },
        {
          id: 'openRedirect',
          src: 'openRedirect',
          input: ({ context }) => ({ attempt: context.attempt, interactive: context.interactive }),
        },
      ],
      on: {
        ...members,
        'other.signedIn': { target: 'signedIn', actions: 'noteScopesAnswered' },
      },
      states: {
        opening: {
          description: 'Opens the redirect address that the browser returns to.',
          always: { guard: 'isNotInteractive', target: 'watching' },
          on: {
            'redirect.opened': 'discovering',
            'redirect.failed': {
              target: '#signIn.signIn.refused',
              actions: { type: 'recordRefusal', params: failureOf },
            },
          },
        },
        watching: {
          description: 'Not interactive: only a sign-in in another process ends the wait.',
          tags: 'waitingForPerson',
          entry: 'emitAsked',
        },
        discovering: {
          description:
            'Discovers the authorization server, registers the client, and builds the authorization URL.',
          invoke: {
            id: 'beginSignIn',
            src: 'beginSignIn',
            input: ({ context }) => ({ attempt: context.attempt, scopes: context.asking }),
            onDone: [
              {
                guard: { type: 'isGranted', params: outputOf },
                target: '#signIn.signIn.signedIn',
                actions: 'noteScopesAnswered',
              },
              { target: 'asked' },
            ],
            onError: {
              target: '#signIn.signIn.refused',
              actions: { type: 'recordRefusal', params: rejection },
            },
          },
        },
        asked: {
          initial: 'waitingForPerson',
          tags: ['waitingForPerson', 'asked'],
          entry: 'emitAsked',
          invoke: {
            id: 'askPerson',
            src: 'askPerson',
            input: signInKey,
            onError: {
              target: '#signIn.signIn.refused',
              actions: { type: 'recordRefusal', params: rejection },
            },
          },
          on: {
            'answer.given': {
              guard: { type: 'isNewAnswer', params: answerOf },
              actions: { type: 'queueAnswer', params: answerOf },
            },
            'answer.refused': {
              target: '#signIn.signIn.refused',
              actions: { type: 'recordRefusal', params: failureOf },
            },
          },
          states: {
            waitingForPerson: {
              description: 'The authorization URL is known. No timer runs.',
              on: {
                'answer.given': {
                  target: 'exchanging',
                  actions: { type: 'queueAnswer', params: answerOf },
                },
              },
            },
            exchanging: {
              description: 'Exchanges an authorization code for tokens.',
              invoke: {
                id: 'exchangeCode',
                src: 'exchangeCode',
                input: ({ context }) => ({ attempt: context.attempt, answer: context.answers[0] ?? 0 }),
                onDone: [
                  {
                    guard: { type: 'isClientRefused', params: outputOf },
                    target: 'droppingClient',
                    actions: { type: 'recordClientRefusal', params: outputOf },
                  },
                  { target: '#signIn.signIn.signedIn', actions: 'noteScopesAnswered' },
                ],
                onError: [
                  {
                    guard: 'hasMoreAnswers',
                    target: 'exchanging',
                    reenter: true,
                    actions: [{ type: 'emitAnswerFailed', params: rejection }, 'dropAnswer'],
                  },
                  {
                    target: 'waitingForPerson',
                    actions: [{ type: 'emitAnswerFailed', params: rejection }, 'dropAnswer'],
                  },
                ],
              },
            },
            droppingClient: {
              description: 'Forgets the registration, so that the next sign-in registers again.',
              invoke: {
                id: 'dropClient',
                src: 'dropClient',
                input: signInKey,
                onDone: '#signIn.signIn.refused',
                onError: '#signIn.signIn.refused',
              },
              on: { 'answer.refused': {} },
            },
          },
        },
      },
    },
    signedIn: {
      description: 'Signed in, here or in another process.',
      entry: ['forgetWaiting', 'outdateTokens', 'emitSignedIn'],
      on: { 'signIn.joined': joining },
    },
    refused: {
      description: 'The sign-in failed. The next connection that waits begins another.',
      entry: ['forgetWaiting', 'emitRefused'],
      on: { 'signIn.joined': joining },
    },
    givenUp: {
      description: 'The last connection that waited has left.',
      entry: ['forgetWaiting', 'emitGivenUp'],
      on: { 'signIn.joined': joining },
    },
    closed: { type: 'final', entry: ['forgetWaiting', 'emitGivenUp'] },
  },
});

/** The region `token` of the sign-in chart: reads, renews and gives up the token in use. */
import { toFailure } from '../policy/failure.js';
import type { RenewalCause, SignInContext, TokenOutcome } from './sign-in.events.js';
import { outputOf, rejection, scopesOf, signIn } from './sign-in.setup.js';

const unchanged: TokenOutcome = { renewed: false, failure: null };

const failedWith = ({ event }: { event: { error: unknown } }) => ({
  renewed: false,
  failure: toFailure(event.error),
});

export const tokenOf = ({ event }: { event: { token: number } }) => ({ token: event.token });

const scopesIn = ({ event }: { event: { scopes: readonly string[] } }) => ({ scopes: event.scopes });

const atOf = ({ event }: { event: { at: number } }) => ({ at: event.at });

const renewalDone = (renewed: boolean) =>
  [
    { type: 'emitTokenSettled', params: { renewed, failure: null } },
    { type: 'raiseRenewalDone', params: { renewed } },
  ] as const;

const begin = (cause: RenewalCause['cause']) =>
  ({
    type: 'beginRenewal',
    params: ({ event }: { event: { scopes: readonly string[] } }) => ({ cause, scopes: event.scopes }),
  }) as const;

const beginWhenDue = { type: 'beginRenewal', params: { cause: 'due', scopes: [] } } as const;

/** A client that acts without a person gets a token with the scopes; otherwise a person must agree to them. */
const demandForPerson = {
  guard: { type: 'isDemandForPerson', params: scopesIn },
  actions: [
    { type: 'noteDemand', params: scopesIn },
    { type: 'noteRefused', params: tokenOf },
  ],
} as const;

/** How a server may refuse a token while no renewal is running. */
const refusals = {
  'token.refused': {
    guard: { type: 'isHeld', params: tokenOf },
    target: 'renewing',
    actions: [
      { type: 'noteChallenge', params: scopesIn },
      { type: 'noteRefused', params: tokenOf },
      begin('refused'),
    ],
  },
  'scope.demanded': [
    demandForPerson,
    {
      guard: { type: 'isNewDemand', params: scopesIn },
      target: 'renewing',
      actions: [
        { type: 'noteDemand', params: scopesIn },
        {
          type: 'beginRenewal',
          params: ({ context }: { context: SignInContext }) => ({
            cause: 'demanded' as const,
            scopes: scopesOf(context),
          }),
        },
      ],
    },
  ],
  'renewal.wanted': {
    target: 'renewing',
    actions: {
      type: 'beginRenewal',
      params: ({ event }: { event: RenewalCause }): RenewalCause => ({
        cause: event.cause,
        scopes: event.scopes,
      }),
    },
  },
} as const;

export const token = signIn.createStateConfig({
  initial: 'unread',
  on: {
    'account.closing': { target: '.finishing', actions: { type: 'emitTokenSettled', params: unchanged } },
  },
  states: {
    unread: {
      description: 'The stored tokens must be read before the next request.',
      on: { ...refusals, 'tokens.outdated': {}, 'token.wanted': 'reading' },
    },
    reading: {
      description: 'Reads the stored tokens.',
      invoke: {
        id: 'readTokens',
        src: 'readTokens',
        onDone: [
          {
            guard: { type: 'isFoundDue', params: outputOf },
            target: 'renewing',
            actions: [{ type: 'holdRead', params: outputOf }, beginWhenDue],
          },
          {
            target: 'kept',
            actions: [
              { type: 'holdRead', params: outputOf },
              { type: 'emitTokenSettled', params: unchanged },
            ],
          },
        ],
        onError: { target: 'unread', actions: { type: 'emitTokenSettled', params: failedWith } },
      },
      on: { ...refusals, 'tokens.outdated': { target: 'reading', reenter: true }, 'token.wanted': {} },
    },
    kept: {
      initial: 'signedIn',
      on: {
        ...refusals,
        'tokens.outdated': 'unread',
        'token.wanted': {
          guard: { type: 'isDue', params: atOf },
          target: 'renewing',
          actions: beginWhenDue,
        },
      },
      states: {
        signedIn: {
          description: 'A token is in use.',
          always: { guard: 'hasNoToken', target: 'signedOut' },
        },
        signedOut: { description: 'There is no token: requests go without one.' },
      },
    },
    renewing: {
      description:
        'Gets another token without asking a person, taking turns with all processes that share the account.',
      invoke: {
        id: 'renewToken',
        src: 'renewToken',
        input: ({ context }) => ({ ...context.renewal, token: context.held?.token ?? 0 }),
        onDone: [
          {
            guard: { type: 'isRenewed', params: outputOf },
            target: 'kept',
            actions: [{ type: 'holdRenewed', params: outputOf }, 'noteDemandAnswered', ...renewalDone(true)],
          },
          {
            target: 'kept',
            actions: ['noteNotRenewable', 'noteDemandAnswered', ...renewalDone(false)],
          },
        ],
        onError: [
          {
            guard: { type: 'canWait', params: rejection },
            target: 'kept',
            actions: [{ type: 'putOff', params: rejection }, ...renewalDone(false)],
          },
          {
            target: 'kept',
            actions: [
              { type: 'emitTokenSettled', params: failedWith },
              { type: 'raiseRenewalFailed', params: rejection },
            ],
          },
        ],
      },
      on: {
        'tokens.outdated': {},
        'token.wanted': { guard: { type: 'isDue', params: atOf } },
        'token.refused': {
          guard: { type: 'isHeld', params: tokenOf },
          actions: [
            { type: 'noteChallenge', params: scopesIn },
            { type: 'noteRefused', params: tokenOf },
            'shareRenewal',
          ],
        },
        'scope.demanded': [
          demandForPerson,
          {
            guard: { type: 'isNewDemand', params: scopesIn },
            actions: [{ type: 'noteDemand', params: scopesIn }, 'shareRenewal'],
          },
        ],
        'renewal.wanted': { actions: 'shareRenewal' },
      },
    },
    finishing: {
      description: 'A renewal, and the last page in the browser, may finish.',
      invoke: { id: 'finishWork', src: 'finishWork', onDone: 'closed', onError: 'closed' },
      on: { 'account.closing': {}, 'account.hurried': 'cutting' },
    },
    cutting: {
      description: 'Every request ends at once.',
      invoke: { id: 'cutWork', src: 'cutWork', onDone: 'closed', onError: 'closed' },
      on: { 'account.closing': {} },
    },
    closed: { type: 'final' },
  },
});

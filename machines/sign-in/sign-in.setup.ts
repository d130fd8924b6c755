/** The effects, guards and actions of the sign-in chart, and what they read from events. */
import { assign, emit, fromCallback, fromPromise, raise, setup } from 'xstate';
import { toFailure, type Failure } from '../policy/failure.js';
import { answered, demand, isNewDemand, scopesToAsk } from '../policy/scopes.js';
import { hasEnded, holdToken, isDue, neverDue, renewLater, type TokenFacts } from '../policy/token-life.js';
import type {
  BeginSignInInput,
  BeginSignInOutput,
  ExchangeCodeInput,
  ExchangeCodeOutput,
  LookForOtherInput,
  LookForOtherOutput,
  OpenRedirectInput,
  ReadTokensOutput,
  RenewalCause,
  RenewTokenInput,
  RenewTokenOutput,
  SignInContext,
  SignInEmitted,
  SignInEvent,
  SignInInput,
  SignInKey,
  SignInTag,
  TokenOutcome,
} from './sign-in.events.js';
import { notProvided } from '../not-provided.js';

export function scopesOf({ ledger, held, challenged }: SignInContext): readonly string[] {
  return scopesToAsk(ledger, held?.scopes ?? [], challenged);
}

function isDueAt({ held, attended }: SignInContext, at: number): boolean {
  return held === null ? !attended : isDue(held, at);
}

/** The token that was read. If it is the one in use, that one stays as it is. */
function holdFound(context: SignInContext, found: TokenFacts | null, adopted: boolean, at: number) {
  if (found === null) return null;
  return adopted && found.token === context.held?.token ? context.held : holdToken(found, adopted, at);
}

export const signIn = setup({
  types: {
    context: {} as SignInContext,
    events: {} as SignInEvent,
    input: {} as SignInInput,
    emitted: {} as SignInEmitted,
    tags: {} as SignInTag,
  },
  actors: {
    readTokens: fromPromise<ReadTokensOutput>(notProvided),
    renewToken: fromPromise<RenewTokenOutput, RenewTokenInput>(notProvided),
    lookForOther: fromPromise<LookForOtherOutput, LookForOtherInput>(notProvided),
    watchForOthers: fromCallback<SignInEvent, LookForOtherInput>(() => {}),
    openRedirect: fromCallback<SignInEvent, OpenRedirectInput>(() => {}),
    beginSignIn: fromPromise<BeginSignInOutput, BeginSignInInput>(notProvided),
    askPerson: fromPromise<Record<never, never>, SignInKey>(notProvided),
    exchangeCode: fromPromise<ExchangeCodeOutput, ExchangeCodeInput>(notProvided),
    dropClient: fromPromise<Record<never, never>, SignInKey>(notProvided),
    finishWork: fromPromise<Record<never, never>>(notProvided),
    cutWork: fromPromise<Record<never, never>>(notProvided),
  },
  guards: {
    isDue: ({ context }, params: { at: number }) => isDueAt(context, params.at),
    isFoundDue: ({ context }, { output }: { output: ReadTokensOutput }) => {
      const held = holdFound(context, output.found, true, output.at);
      return isDueAt({ ...context, held }, output.at);
    },
    isHeld: ({ context }, params: { token: number }) => params.token === (context.held?.token ?? 0),
    hasNoToken: ({ context }) => context.held === null,
    isRenewed: (_, { output }: { output: RenewTokenOutput }) => output.found !== null,
    canWait: ({ context }, { failure }: { failure: Failure }) =>
      context.renewal.cause === 'due' && context.held !== null && !hasEnded(context.held, failure.at),
    isNewDemand: ({ context }, { scopes }: { scopes: readonly string[] }) =>
      isNewDemand(context.ledger, scopes, context.held?.scopes ?? []),
    isDemandForPerson: ({ context }, { scopes }: { scopes: readonly string[] }) =>
      context.attended && isNewDemand(context.ledger, scopes, context.held?.scopes ?? []),
    hasFoundOther: (_, { output }: { output: LookForOtherOutput }) => output.found,
    mayRenew: ({ context }) => !context.attended || context.renewable,
    isEnough: ({ context }, { renewed }: { renewed: boolean }) => renewed || !context.attended,
    isLast: ({ context }) => context.waiting === 1,
    isNotInteractive: ({ context }) => !context.interactive,
    isGranted: (_, { output }: { output: BeginSignInOutput }) => output.kind === 'granted',
    isClientRefused: (_, { output }: { output: ExchangeCodeOutput }) => output.kind === 'clientRefused',
    isNewAnswer: ({ context }, { answer }: { answer: number }) => !context.answers.includes(answer),
    hasMoreAnswers: ({ context }) => context.answers.length > 1,
  },
  actions: {
    holdRead: assign(({ context }, { output }: { output: ReadTokensOutput }) => ({
      held: holdFound(context, output.found, true, output.at),
    })),
    holdRenewed: assign(({ context }, { output }: { output: RenewTokenOutput }) => ({
      held: holdFound(context, output.found, output.adopted, output.at),
    })),
    beginRenewal: assign((_, params: RenewalCause) => ({ renewal: params })),
    /** A request that joins an early renewal because its token was refused must not get that token back. */
    shareRenewal: assign(({ context }) => ({
      renewal: context.renewal.cause === 'due' ? { ...context.renewal, cause: 'refused' } : context.renewal,
    })),
    noteRefused: assign((_, { token }: { token: number }) => ({ refused: token })),
    noteChallenge: assign((_, { scopes }: { scopes: readonly string[] }) => ({ challenged: scopes })),
    noteRenewable: assign(({ context }) => ({ renewable: context.held?.adopted === true })),
    forgetRenewable: assign({ renewable: false }),
    noteDemand: assign(({ context }, { scopes }: { scopes: readonly string[] }) => ({
      challenged: scopes,
      ledger: demand(context.ledger, scopes),
    })),
    noteDemandAnswered: assign(({ context }) =>
      context.renewal.cause === 'demanded'
        ? { ledger: answered(context.ledger, context.renewal.scopes) }
        : {},
    ),
    noteNotRenewable: assign(({ context }) =>
      context.renewal.cause === 'due' && context.held !== null ? { held: neverDue(context.held) } : {},
    ),
    putOff: assign(({ context }, { failure }: { failure: Failure }) => ({
      held: context.held === null ? null : renewLater(context.held, failure.at),
    })),
    emitTokenSettled: emit((_, params: TokenOutcome) => ({ type: 'tokenSettled' as const, ...params })),
    raiseRenewalDone: raise((_, params: { renewed: boolean }) => ({
      type: 'renewal.done' as const,
      ...params,
    })),
    raiseRenewalFailed: raise((_, params: { failure: Failure }) => ({
      type: 'renewal.failed' as const,
      ...params,
    })),
    beginSignIn: assign(({ context }) => ({ attempt: context.attempt + 1, waiting: 1, failure: null })),
    join: assign(({ context }) => ({ waiting: context.waiting + 1 })),
    leave: assign(({ context }) => ({ waiting: context.waiting - 1 })),
    forgetWaiting: assign({ waiting: 0, answers: [] }),
    wantRenewal: raise(({ context }) =>
      context.attended
        ? { type: 'renewal.wanted' as const, cause: 'refused' as const, scopes: [] }
        : { type: 'renewal.wanted' as const, cause: 'demanded' as const, scopes: scopesOf(context) },
    ),
    chooseScopes: assign(({ context }) => ({ asking: scopesOf(context) })),
    noteScopesAnswered: assign(({ context }) => ({ ledger: answered(context.ledger, context.asking) })),
    queueAnswer: assign(({ context }, { answer }: { answer: number }) => ({
      answers: [...context.answers, answer],
    })),
    dropAnswer: assign(({ context }) => ({ answers: context.answers.slice(1) })),
    recordRefusal: assign((_, { failure }: { failure: Failure }) => ({ failure })),
    recordClientRefusal: assign((_, { output }: { output: ExchangeCodeOutput }) =>
      output.kind === 'clientRefused' ? { failure: output.failure } : {},
    ),
    outdateTokens: raise({ type: 'tokens.outdated' }),
    emitAsked: emit({ type: 'asked' }),
    emitAnswerFailed: emit(({ context }, { failure }: { failure: Failure }) => ({
      type: 'answerFailed' as const,
      answer: context.answers[0] ?? 0,
      failure,
    })),
    emitSignedIn: emit({ type: 'signedIn' }),
    emitRefused: emit(({ context }) => ({ type: 'refused' as const, failure: toFailure(context.failure) })),
    emitGivenUp: emit({ type: 'givenUp' }),
  },
});

export const outputOf = <T>({ event }: { event: { output: T } }) => ({ output: event.output });

export const rejection = ({ event }: { event: { error: unknown } }) => ({ failure: toFailure(event.error) });

export const failureOf = ({ event }: { event: { failure: Failure } }) => ({ failure: event.failure });

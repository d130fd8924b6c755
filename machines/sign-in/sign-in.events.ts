/**
 * What enters and leaves the sign-in machine: input, context, events, effect inputs and outputs, emitted events. It is
 * plain JSON without secrets: tokens, codes, verifiers and addresses stay in the runtime, which names them by number.
 */
import type { Failure } from '../policy/failure.js';
import type { ScopeLedger } from '../policy/scopes.js';
import type { HeldToken, TokenFacts } from '../policy/token-life.js';

/** Input of the sign-in chart. */
export interface SignInInput {
  /** Name of the first server that uses the account. */
  readonly server: string;
  /** True if a person must agree to get tokens; false if the client gets them by itself. */
  readonly attended: boolean;
  /** False if no person can be asked here: the chart then waits for a sign-in in another process. */
  readonly interactive: boolean;
  /** Why the previous actor died, if this one replaces it. */
  readonly crash?: string;
}

/**
 * Why a token is renewed. `due`: it expires soon. `refused`: the server refused it. `demanded`: the server demands more
 * scopes, or a client that acts without a person signs in.
 */
export interface RenewalCause {
  /** The reason, as above. */
  readonly cause: 'due' | 'refused' | 'demanded';
  /** Scopes to request; empty for the default ones. */
  readonly scopes: readonly string[];
}

/** Context of the sign-in chart. Plain JSON; tokens appear as numbers. */
export interface SignInContext extends SignInInput {
  /** The token in use. */
  readonly held: HeldToken | null;
  /** Number of the token that the server refused last; 0 = a request without a token. */
  readonly refused: number;
  /** The server refused a token from another process. The refresh token that came with it can still be used. */
  readonly renewable: boolean;
  /** Scopes requested so far, and scopes still to request. */
  readonly ledger: ScopeLedger;
  /** Scopes that the server named in its last challenge. */
  readonly challenged: readonly string[];
  /** Cause of the renewal that is running, or of the last one. */
  readonly renewal: RenewalCause;
  /** Number of the sign-in under way, or of the last one; 0 before the first. */
  readonly attempt: number;
  /** Connections that wait for the sign-in. */
  readonly waiting: number;
  /** Scopes that the sign-in asks for. */
  readonly asking: readonly string[];
  /** Numbers of the codes received; the first one is being exchanged. */
  readonly answers: readonly number[];
  /** Why the last sign-in was refused. */
  readonly failure: Failure | null;
}

/** Every event that the sign-in chart accepts. */
export type SignInEvent =
  /** The stored tokens may have changed: a new session begins, or a person has signed in elsewhere. */
  | { readonly type: 'tokens.outdated' }
  /** A request is about to be sent. */
  | {
      readonly type: 'token.wanted';
      /** When it happened, milliseconds since the epoch. */
      readonly at: number;
    }
  /** The server answered 401 to a request with that token. */
  | {
      readonly type: 'token.refused';
      /** Number of the token that the request had. */
      readonly token: number;
      /** Scopes that the server asks for; empty if it names none. */
      readonly scopes: readonly string[];
    }
  /** The server answered 401 again, after a renewal. */
  | {
      readonly type: 'token.refusedAgain';
      /** Number of the token that the request had. */
      readonly token: number;
    }
  /** The server answered 403 to a request with that token: it lacks scopes. */
  | {
      readonly type: 'scope.demanded';
      /** Number of the token that the request had. */
      readonly token: number;
      /** Scopes that the server asks for; empty if it names none. */
      readonly scopes: readonly string[];
    }
  /** A connection starts to wait for the sign-in. */
  | { readonly type: 'signIn.joined' }
  /** A connection no longer waits. */
  | { readonly type: 'signIn.left' }
  /** The store holds another token than the refused one. */
  | { readonly type: 'other.signedIn' }
  /** The redirect address is open. */
  | { readonly type: 'redirect.opened' }
  /** The redirect address cannot be opened. */
  | {
      readonly type: 'redirect.failed';
      /** Why it cannot. */
      readonly failure: Failure;
    }
  /** An authorization code was received. */
  | {
      readonly type: 'answer.given';
      /** Number of the code, from 1. */
      readonly answer: number;
    }
  /** The authorization server or the person refused. */
  | {
      readonly type: 'answer.refused';
      /** The failure that the authorization server reported. */
      readonly failure: Failure;
    }
  /** The troupe closes. A renewal may finish: its refresh token is used up already. */
  | { readonly type: 'account.closing' }
  /** Finishing took too long. */
  | { readonly type: 'account.hurried' }
  /** Raised by the sign-in for the token. */
  | ({ readonly type: 'renewal.wanted' } & RenewalCause)
  /** Raised by the token for the sign-in. */
  | {
      readonly type: 'renewal.done';
      /** True if there is a new token. */
      readonly renewed: boolean;
    }
  /** Raised by the token for the sign-in: there is no new token. */
  | {
      readonly type: 'renewal.failed';
      /** Why there is none. */
      readonly failure: Failure;
    };

/** Outcome of a reading or a renewal. If neither renewed nor failed, the token has not changed. */
export interface TokenOutcome {
  /** True if there is a new token. */
  readonly renewed: boolean;
  /** Why there is none; null if nothing failed. */
  readonly failure: Failure | null;
}

/** What the chart emits to its observers. */
export type SignInEmitted =
  /** Reading or renewing the token has ended. */
  | ({ readonly type: 'tokenSettled' } & TokenOutcome)
  /** A person can sign in. The authorization URL is known, unless the chart is not interactive. */
  | { readonly type: 'asked' }
  /** A code could not be exchanged; the wait goes on. */
  | {
      readonly type: 'answerFailed';
      /** Number of the code, from 1. */
      readonly answer: number;
      /** Why it could not. */
      readonly failure: Failure;
    }
  /** The sign-in is complete: there is a new token. */
  | { readonly type: 'signedIn' }
  /** The sign-in has failed; connections that waited for it fail too. */
  | {
      readonly type: 'refused';
      /** Why it failed. */
      readonly failure: Failure;
    }
  /** The last connection that waited has left. */
  | { readonly type: 'givenUp' };

/** Part of a result: when the effect settled. */
export interface SettledAt {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface ReadTokensOutput extends SettledAt {
  /** The stored token; null if there is none. */
  readonly found: TokenFacts | null;
}

export interface RenewTokenInput extends RenewalCause {
  /** The token to replace; 0 = none. */
  readonly token: number;
}

export interface RenewTokenOutput extends SettledAt {
  /** Null: a person is needed. */
  readonly found: TokenFacts | null;
  /** Another process has renewed it. */
  readonly adopted: boolean;
}

/** Input of the effect that looks for a sign-in from another process. */
export interface LookForOtherInput {
  /** Number of the token that the server refused; 0 = a request without a token. */
  readonly refused: number;
}

/** Result of the effect that looks for a sign-in from another process. */
export interface LookForOtherOutput {
  /** True if the store holds another token than the refused one. */
  readonly found: boolean;
}

/** Identifies the sign-in that an effect belongs to. */
export interface SignInKey {
  /** Number of the sign-in, from 1. */
  readonly attempt: number;
}

export interface OpenRedirectInput extends SignInKey {
  /** False: no person is asked, so no redirect address is needed. */
  readonly interactive: boolean;
}

export interface BeginSignInInput extends SignInKey {
  /** Scopes to request; empty for the default ones. */
  readonly scopes: readonly string[];
}

/** Result of the effect that begins a sign-in. */
export interface BeginSignInOutput {
  /** `granted`: the authorization server issued tokens without asking a person. */
  readonly kind: 'asked' | 'granted';
}

export interface ExchangeCodeInput extends SignInKey {
  /** Number of the code to exchange, from 1. */
  readonly answer: number;
}

/** Result of the effect that exchanges an authorization code for tokens. */
export type ExchangeCodeOutput =
  /** There are tokens, and they are stored. */
  | { readonly kind: 'exchanged' }
  /** The client itself was refused, so no code can help. */
  | {
      readonly kind: 'clientRefused';
      /** The failure that the authorization server reported. */
      readonly failure: Failure;
    };

/** Tags of the sign-in chart: whether it waits for a person, and whether it has asked one. */
export type SignInTag = 'waitingForPerson' | 'asked';

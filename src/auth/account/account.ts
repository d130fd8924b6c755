/**
 * The account at one server, for every connection that uses it: gives the HTTP transports their token, and lets a person
 * sign in. `signInMachine` decides; the account sends it facts and passes the outcome to the callers that wait for it.
 */
import type { DiagnosticKind } from '../../diagnostic-kind.js';
import type { OAuthClientProvider } from '../../mcp/oauth.js';
import type { SignInEvent } from '../../../machines/sign-in/sign-in.events.js';
import type { KnownSecrets } from '../../secrets/known-secrets.js';
import type { Clock } from '../../ports.js';
import type { Mask } from '../../secrets/secrets.js';
import type { OpenExchange } from '../../transports/http/http-session.js';
import type { HttpAuth, StepUp } from '../../transports/http/session-requests.js';
import { TransportError } from '../../failures/transport-error.js';
import { AccountChart, type AccountRoots } from './account-chart.js';
import { AccountEffects } from './account-effects.js';
import type { AuthServer } from '../auth-options.js';
import { parseChallenge } from '../challenge.js';
import type { LoopbackPlace, NamedEndpoints } from '../entry-oauth.js';
import type { StoredOAuthProvider } from '../oauth-provider.js';
import type { Failure } from '../../../machines/policy/failure.js';

export interface AuthSessionParts {
  readonly clock: Clock;
  /** How the requests of the account are sent. Default: directly. */
  readonly network?: () => Promise<OpenExchange>;
  readonly server: AuthServer;
  readonly provider: OAuthClientProvider;
  /** The same provider, if it is Troupe's own and the browser returns to a listener of Troupe's. */
  readonly redirected: StoredOAuthProvider | undefined;
  readonly redirectPort: number;
  /** The address on this machine to which the browser is redirected. Default: `/callback` on 127.0.0.1. */
  readonly loopback: LoopbackPlace | undefined;
  /** The endpoints of the authorization server. Default: the ones that the server names. */
  readonly endpoints: NamedEndpoints | undefined;
  /** Scopes to request, whatever the server names. */
  readonly pinnedScope: string | undefined;
  /** False: nobody is asked; the account only waits for a sign-in elsewhere. */
  readonly isInteractive: boolean;
  /** The only authorization server with which the client may be used. */
  readonly clientIssuer: string | undefined;
  /** The secrets of the provider and of the client. */
  readonly secrets: KnownSecrets;
  readonly exclusively: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  /** Calls `onChange` when someone may have signed in, until the returned function is called. */
  readonly watch: (onChange: () => void) => () => void;
  /** Shows the address to a person; may return the answer. */
  readonly ask: (url: string) => unknown;
  readonly diagnose: (kind: DiagnosticKind, message: string) => void;
  readonly roots: AccountRoots;
  /** Id of the actor. */
  readonly id: string;
}

export class AuthSession implements HttpAuth {
  readonly #parts: AuthSessionParts;
  readonly #effects: AccountEffects;
  readonly #chart: AccountChart;
  readonly #isAttended: boolean;

  constructor(parts: AuthSessionParts) {
    const { roots, id, server, provider, isInteractive } = parts;
    this.#parts = parts;
    this.#isAttended = provider.redirectUrl !== undefined;
    this.#effects = new AccountEffects(parts, {
      isAsked: () => this.#isAsked,
      answered: (answer) => this.#answered(answer),
    });
    this.#chart = new AccountChart(roots, id, this.#effects.machine, {
      server: server.name,
      attended: this.#isAttended,
      interactive: isInteractive,
    });
  }

  /** Where a person can sign in now. */
  get url(): string | undefined {
    return this.#isAsked ? this.#effects.url : undefined;
  }

  /** Masks present and earlier tokens, and the secrets of the client. */
  readonly mask: Mask = (text) => this.#parts.secrets.mask(text);

  /** Reads the store again for a new session: another process may have signed in or out. */
  reopen(): void {
    this.#chart.send({ type: 'tokens.outdated' });
  }

  async token(): Promise<string | undefined> {
    await this.#renewed({ type: 'token.wanted', at: this.#parts.clock.now() });
    return this.#effects.tokens.tokenOf(this.#held);
  }

  async refresh(
    { wwwAuthenticate }: { readonly wwwAuthenticate: string | undefined },
    refused: string | undefined,
  ): Promise<boolean> {
    const scopes = this.#effects.challenged(parseChallenge(wwwAuthenticate));
    const token = this.#effects.tokens.numberOf(refused);
    return token !== this.#held || this.#renewed({ type: 'token.refused', token, scopes });
  }

  refused(token: string | undefined): void {
    this.#chart.send({ type: 'token.refusedAgain', token: this.#effects.tokens.numberOf(token) });
  }

  async stepUp(wwwAuthenticate: string | undefined, refused: string | undefined): Promise<StepUp> {
    const challenge = parseChallenge(wwwAuthenticate);
    if (challenge.error !== 'insufficient_scope') return 'hopeless';
    const token = this.#effects.tokens.numberOf(refused);
    if (token !== this.#held) return 'renewed';
    const scopes = this.#effects.challenged(challenge);
    const demanded: SignInEvent = { type: 'scope.demanded', token, scopes };
    if (this.#chart.verdict(demanded) !== 'accepted') return 'hopeless';
    if (!this.#isAttended) return (await this.#renewed(demanded)) ? 'renewed' : 'hopeless';
    this.#chart.send(demanded);
    return 'sign-in';
  }

  /**
   * Resolves when someone has signed in, here or elsewhere. Calls `asked` when a person can: with the address, or
   * without one if the sign-in has to happen elsewhere. Rejects with a `TransportError` if nobody can sign in, and with
   * the signal's reason.
   */
  async signIn(asked: (url: string | undefined) => void, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const chart = this.#chart;
    if (chart.verdict({ type: 'signIn.joined' }) === 'stopped') throw closed();
    return new Promise((resolve, reject) => {
      const over = (settle: () => void): void => {
        stop();
        signal.removeEventListener('abort', leave);
        settle();
      };
      const stop = chart.listen({
        next: (emitted) => {
          if (emitted.type === 'asked') asked(this.url);
          if (emitted.type === 'signedIn') over(resolve);
          if (emitted.type === 'refused') over(() => reject(thrownFailure(emitted.failure)));
          if (emitted.type === 'givenUp') over(() => reject(closed()));
        },
        fail: (error) => over(() => reject(error)),
      });
      // An actor is exiting a state: the event is sent afterwards, unless the sign-in is over by then.
      const leave = (): void => {
        reject(signal.reason as Error);
        queueMicrotask(() => {
          if (stop()) chart.send({ type: 'signIn.left' });
        });
      };
      signal.addEventListener('abort', leave, { once: true });
      chart.send({ type: 'signIn.joined' });
      if (chart.snapshot.hasTag('waitingForPerson')) asked(this.url);
    });
  }

  /** Takes the answer to `url`. Rejects with a `TransportError` if it is wrong. */
  finish(answer: string): Promise<void> {
    return this.#effects.finish(answer);
  }

  /** A renewal under way may finish until the signal aborts: its refresh token is already used up. */
  close(hurry: AbortSignal): Promise<void> {
    return this.#chart.close(hurry);
  }

  get #isAsked(): boolean {
    return this.#chart.snapshot.hasTag('asked');
  }

  /** Number of the token in use; 0 = none. */
  get #held(): number {
    return this.#chart.snapshot.context.held?.token ?? 0;
  }

  /** Sends the event if the chart accepts it. Resolves when the renewal is over: true if the token was renewed. */
  async #renewed(event: SignInEvent): Promise<boolean> {
    // A session may ask while its own actor is processing.
    await Promise.resolve();
    const verdict = this.#chart.verdict(event);
    if (verdict !== 'accepted' && verdict !== 'ignored') return false;
    const settled = this.#chart.until<boolean>((emitted) => {
      if (emitted.type !== 'tokenSettled') return undefined;
      return emitted.failure === null ? emitted.renewed : thrownFailure(emitted.failure);
    });
    this.#chart.send(event);
    return settled;
  }

  async #answered(answer: number): Promise<void> {
    const given: SignInEvent = { type: 'answer.given', answer };
    if (this.#chart.verdict(given) !== 'accepted') throw closed();
    const settled = this.#chart.until<true>((emitted) => {
      if (emitted.type === 'answerFailed' && emitted.answer === answer) return thrownFailure(emitted.failure);
      if (emitted.type === 'refused') return thrownFailure(emitted.failure);
      if (emitted.type === 'givenUp') return closed();
      return emitted.type === 'signedIn' ? true : undefined;
    });
    this.#chart.send(given);
    await settled;
  }
}

function closed(): TransportError {
  return new TransportError({ code: 'auth-required', message: 'This sign-in is no longer pending.' });
}

/** Turns a failure from a chart into an error to throw. Phase and time are added again when it is caught. */
function thrownFailure(failure: Failure): TransportError {
  const { phase: _, at: __, ...raw } = failure;
  return new TransportError(raw);
}

/**
 * The sign-ins of a troupe: which account a server uses. What it takes to sign in loads with the first server that has
 * an account.
 *
 * I1. Servers of one address and one client share an account; with a provider of the host's, each has its own.
 * I2. An entry whose own headers say who it is (`Authorization`) has none: what it says is meant.
 */
import type { SignInPort } from '../actors/effect-ports.js';
import { NotReadyError } from '../errors.js';
import { failureError } from '../failure-error.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { ServerConfig } from '../options.js';
import type { Clock } from '../ports.js';
import { doneWithin } from '../release.js';
import { NO_MASK, type Mask } from '../secrets.js';
import { messageOf } from '../thrown.js';
import type { HttpAuth } from '../transports/http/session-requests.js';
import { TransportError } from '../transports/session-transport.js';
import type { Account } from './account.js';
import {
  clientProblems,
  type AuthOption,
  type AuthOptions,
  type AuthServer,
  type OAuthClient,
} from './auth-options.js';
import { isPromise, requireProvider } from './hosted-provider.js';
import { serverAddress } from './token-store.js';

/** How long a renewal may still take when the troupe is closed. */
const LAST_RENEWAL_MS = 5_000;
const CUT_MS = 1_000;

export interface SignInsParts {
  readonly auth: AuthOption;
  readonly clock: Clock;
  readonly diagnose: (server: string, kind: string, message: string) => void;
}

export class SignIns implements SignInPort {
  readonly #parts: SignInsParts;
  readonly #accounts = new Map<string, Promise<Account | undefined>>();
  readonly #ofServer = new Map<string, Account>();
  /** Every account that a server has had: its secrets stay hidden. */
  readonly #everOf = new Map<string, Set<Account>>();

  constructor(parts: SignInsParts) {
    this.#parts = parts;
  }

  /** The address where a person can sign in to that server now. */
  url(name: string): string | undefined {
    return this.#ofServer.get(name)?.url;
  }

  mask(name: string): Mask {
    const [first, ...others] = this.#everOf.get(name) ?? [];
    if (first === undefined) return NO_MASK;
    return others.length === 0
      ? first.mask
      : (text) => others.reduce((masked, { mask }) => mask(masked), first.mask(text));
  }

  async credentials(name: string, config: ServerConfig): Promise<HttpAuth | undefined> {
    const account = await this.#accountOf(name, config);
    if (account === undefined) this.#ofServer.delete(name);
    else this.#use(name, account);
    account?.reopen();
    return account;
  }

  #use(name: string, account: Account): void {
    this.#ofServer.set(name, account);
    this.#everOf.set(name, (this.#everOf.get(name) ?? new Set()).add(account));
  }

  async signIn(name: string, tell: (url: string) => void, signal: AbortSignal): Promise<void> {
    const account = this.#ofServer.get(name);
    if (account !== undefined) return account.signIn(tell, signal);
    return new Promise<never>(() => {});
  }

  async finish(name: string, answer: string): Promise<void> {
    const account = this.#ofServer.get(name);
    if (account === undefined) throw new NotReadyError(`Nobody signs in to '${name}'.`, { server: name });
    if (account.url === undefined) throw notAsked(name);
    try {
      await account.finish(answer);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      throw failureError({ ...error.failure, phase: 'handshake', at: this.#parts.clock.now() }, name);
    }
  }

  /** Bounded; never rejects. Nothing is left of any sign-in. */
  async close(): Promise<void> {
    const { clock } = this.#parts;
    const hurry = new AbortController();
    const closing = Promise.allSettled(
      [...this.#accounts.values()].map(async (account) => (await account)?.close(hurry.signal)),
    );
    if (await doneWithin(clock, LAST_RENEWAL_MS, closing)) return;
    hurry.abort();
    await doneWithin(clock, CUT_MS, closing);
  }

  async #accountOf(name: string, config: ServerConfig): Promise<Account | undefined> {
    if (!('url' in config)) return undefined;
    const { auth } = this.#parts;
    const server = { name, url: serverAddress(config.url) };
    if (typeof auth === 'function') {
      return this.#account(`${name}\n${server.url}`, () => this.#hosted(server, auth));
    }
    if (Object.keys(config.headers ?? {}).some((header) => header.toLowerCase() === 'authorization')) {
      return undefined;
    }
    const client = clientFor(server, auth);
    return this.#account(`${server.url}\n${client?.clientId ?? ''}`, async () => {
      const { ownAccount } = await import('./make-account.js');
      return ownAccount(server, auth, client, this.#surroundings(server));
    });
  }

  /** One that could not be made is made anew by the next attempt. */
  #account(key: string, make: () => Promise<Account | undefined>): Promise<Account | undefined> {
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#accounts.set(key, made);
    const forget = (): void => void this.#accounts.delete(key);
    made.then((account) => account ?? forget(), forget);
    return made;
  }

  async #hosted(server: AuthServer, provide: ProvideAuth): Promise<Account | undefined> {
    const provider = fromHost(server, () => provide(server));
    if (provider === undefined) return undefined;
    requireProvider(provider, server);
    const { hostedAccount } = await import('./make-account.js');
    return hostedAccount(server, provider, this.#surroundings(server));
  }

  #surroundings({ name }: AuthServer) {
    const { clock, diagnose } = this.#parts;
    return { clock, diagnose: (kind: string, message: string) => diagnose(name, kind, message) };
  }
}

/** The sign-ins that the `auth` option asks for. */
export function toSignIns(
  auth: AuthOption | undefined,
  clock: Clock,
  publish: (event: LifecycleEventBody) => void,
): SignIns | undefined {
  if (auth === undefined) return undefined;
  return new SignIns({
    auth,
    clock,
    diagnose: (connection, kind, message) => publish({ type: 'diagnostic', connection, kind, message }),
  });
}

type ProvideAuth = Extract<AuthOption, (server: AuthServer) => unknown>;

/** The client the options name for a server. */
function clientFor(server: AuthServer, { client }: AuthOptions): OAuthClient | undefined {
  if (typeof client !== 'function') return client;
  const given = fromHost(server, () => client(server));
  const [problem] = given === undefined ? [] : clientProblems({ ...given });
  if (problem === undefined) return given;
  const message = `The client that 'auth' gives for '${server.name}' cannot be used: ${problem.field}: ${problem.message}.`;
  throw new TransportError({ code: 'config-invalid', message });
}

/** Its sign-in has no address yet, or is over. */
function notAsked(server: string): NotReadyError {
  const message = `Nobody is asked to sign in to '${server}' at the moment: wait for 'connection.authRequired' with a 'url'.`;
  return new NotReadyError(message, { server });
}

/** What the host's own code gives; null counts as nothing. */
function fromHost<T>(server: AuthServer, ask: () => T | null): T | undefined {
  try {
    const given = ask();
    // It is refused further on, and nobody else would hear of its rejection.
    if (isPromise(given)) given.catch(() => {});
    return given ?? undefined;
  } catch (cause) {
    const why = messageOf(cause);
    const message = `The 'auth' option threw for '${server.name}': ${why}`;
    throw new TransportError({ code: 'config-invalid', message }, { cause });
  }
}

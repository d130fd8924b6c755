/**
 * The sign-ins of a troupe: which account each server uses. The code for signing in loads with the first server that
 * has an account.
 *
 * I1. Servers with the same address, client and name of the account share an account; with a provider of the host, each server has its own.
 * I2. An entry with an `Authorization` header, or with a `headersHelper` and no `oauth`, has no account: its headers are
 *     used as they are. The client that an entry names takes precedence over the options.
 */
import type { DiagnosticKind } from '../diagnostic-kind.js';
import type { SignInPort } from '../actors/effect-ports.js';
import { NotReadyError } from '../errors.js';
import { failureError } from '../failures/failure-error.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { EntryOAuth, HttpServerConfig, ServerConfig } from '../config/entry/server-config.js';
import type { Clock } from '../ports.js';
import { settlesWithin } from '../async/timers.js';
import { NO_MASK, type Mask } from '../secrets/secrets.js';
import { messageOf } from '../text/error-message.js';
import type { HttpAuth } from '../transports/http/session-requests.js';
import { TransportError } from '../failures/transport-error.js';
import type { AuthSession } from './account/account.js';
import type { AccountRoots } from './account/account-chart.js';
import {
  clientProblems,
  type AuthOption,
  type AuthOptions,
  type AuthServer,
  type OAuthClient,
} from './auth-options.js';
import { withEntry } from './entry-oauth.js';
import { serverAddress } from './stores/token-store.js';
import { hashOf } from '../json/json-hash.js';
import { isLocalSocket } from '../config/entry/local-socket.js';
import type { NetworkSource } from '../transports/http/network-options.js';
import type { OAuthClientProvider } from '../mcp/oauth.js';

/** How long a renewal may still take when the troupe is closed. */
const LAST_RENEWAL_MS = 5_000;
const CUT_MS = 1_000;

export interface SignInsParts {
  readonly auth: AuthOption;
  /** Folder in which the host works. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly diagnose: (server: string, kind: DiagnosticKind, message: string) => void;
  /** How the requests for an account are sent. Default: directly. */
  readonly network?: NetworkSource;
  /** Where the charts of the accounts run; called for the first account. */
  readonly roots: () => AccountRoots;
}

export class SignIns implements SignInPort {
  readonly #parts: SignInsParts;
  readonly #accounts = new Map<string, Promise<AuthSession | undefined>>();
  readonly #ofServer = new Map<string, AuthSession>();
  /** Every account that a server has had: their secrets stay masked. */
  readonly #everOf = new Map<string, Set<AuthSession>>();
  #lastId = 0;

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

  #use(name: string, account: AuthSession): void {
    this.#ofServer.set(name, account);
    this.#everOf.set(name, (this.#everOf.get(name) ?? new Set()).add(account));
  }

  async signIn(name: string, asked: (url: string | undefined) => void, signal: AbortSignal): Promise<void> {
    const account = this.#ofServer.get(name);
    if (account !== undefined) return account.signIn(asked, signal);
    asked(undefined);
    return new Promise<never>(() => {});
  }

  async finish(name: string, answer: string): Promise<void> {
    const account = this.#ofServer.get(name);
    if (account === undefined) throw new NotReadyError(`'${name}' has no sign-in.`, { server: name });
    if (account.url === undefined) throw notAsked(name);
    try {
      await account.finish(answer);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      throw failureError({ ...error.failure, phase: 'handshake', at: this.#parts.clock.now() }, name);
    }
  }

  /** Ends every sign-in. Bounded; never rejects. */
  async close(): Promise<void> {
    const { clock } = this.#parts;
    const hurry = new AbortController();
    const closing = Promise.allSettled(
      [...this.#accounts.values()].map(async (account) => (await account)?.close(hurry.signal)),
    );
    if (await settlesWithin(clock, LAST_RENEWAL_MS, closing)) return;
    hurry.abort();
    await settlesWithin(clock, CUT_MS, closing);
  }

  async #accountOf(name: string, config: ServerConfig): Promise<AuthSession | undefined> {
    // A sign-in needs an address that a browser can reach.
    if (!('url' in config) || isLocalSocket(config.url)) return undefined;
    const { auth } = this.#parts;
    const { oauth } = config;
    const connectionHash = hashOf([config.proxy, config.ca, config.cert, config.key]);
    if (oauth === false) return undefined;
    const account = oauth?.account;
    const server = { name, url: serverAddress(config.url), ...(account !== undefined && { account }) };
    if (typeof auth === 'function') {
      return this.#account(`${name}\n${server.url}\n${connectionHash}`, () =>
        this.#hosted(server, auth, config),
      );
    }
    if (hasCredentials(config)) return undefined;
    const client = oauth?.clientId === undefined ? clientFor(server, auth) : clientOf(oauth, oauth.clientId);
    const oauthKey = oauth === undefined ? '' : JSON.stringify(oauth);
    return this.#account(
      `${server.url}\n${client?.clientId ?? ''}\n${oauthKey}\n${connectionHash}`,
      async () => {
        const { ownAccount } = await import('./account/make-account.js');
        const options = withEntry(auth, oauth, client);
        return ownAccount(server, options, client, this.#environment(server, config));
      },
    );
  }

  /** If an account could not be made, the next attempt tries again. */
  #account(key: string, make: () => Promise<AuthSession | undefined>): Promise<AuthSession | undefined> {
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#accounts.set(key, made);
    const forget = (): void => void this.#accounts.delete(key);
    made.then((account) => account ?? forget(), forget);
    return made;
  }

  async #hosted(
    server: AuthServer,
    provide: ProvideAuth,
    config: HttpServerConfig,
  ): Promise<AuthSession | undefined> {
    const provider = fromHost(server, () => provide(server));
    if (provider === undefined) return undefined;
    requireProvider(provider, server);
    const { hostedAccount } = await import('./account/make-account.js');
    return hostedAccount(server, provider, this.#environment(server, config));
  }

  #environment({ name }: AuthServer, config: HttpServerConfig) {
    const { cwd, clock, diagnose, roots, network } = this.#parts;
    this.#lastId += 1;
    return {
      cwd,
      clock,
      ...(network !== undefined && { network: () => network(name, config) }),
      diagnose: (kind: DiagnosticKind, message: string) => diagnose(name, kind, message),
      roots: roots(),
      id: `signIn:${this.#lastId}`,
    };
  }
}

/** The sign-ins that the `auth` option asks for. */
export function toSignIns(
  auth: AuthOption | undefined,
  {
    publish,
    ...parts
  }: Pick<SignInsParts, 'cwd' | 'clock' | 'roots' | 'network'> & {
    readonly publish: (event: LifecycleEventBody) => void;
  },
): SignIns | undefined {
  if (auth === undefined) return undefined;
  return new SignIns({
    ...parts,
    auth,
    diagnose: (server, kind, message) => publish({ type: 'diagnostic', server, kind, message }),
  });
}

/** Whether the entry has credentials of its own: an `Authorization` header, or a `headersHelper` without `oauth`. */
function hasCredentials({ headers = {}, headersHelper, oauth }: HttpServerConfig): boolean {
  const isSet = Object.keys(headers).some((header) => header.toLowerCase() === 'authorization');
  return isSet || (headersHelper !== undefined && oauth === undefined);
}

/** The client that the entry names. Its secret is for the authorization server of the same entry. */
function clientOf({ clientSecret }: EntryOAuth, clientId: string): OAuthClient {
  return { clientId, ...(clientSecret ? { clientSecret } : {}) };
}

type ProvideAuth = Extract<AuthOption, (server: AuthServer) => unknown>;

/** The client that the options name for a server. */
function clientFor(server: AuthServer, { client }: AuthOptions): OAuthClient | undefined {
  if (typeof client !== 'function') return client;
  const given = fromHost(server, () => client(server));
  const [problem] = given === undefined ? [] : clientProblems({ ...given });
  if (problem === undefined) return given;
  const message = `The client that 'auth' returned for '${server.name}' cannot be used: ${problem.field}: ${problem.message}.`;
  throw new TransportError({ code: 'config-invalid', message });
}

/** The error if a sign-in has no address yet, or is over. */
function notAsked(server: string): NotReadyError {
  const message = `No sign-in to '${server}' is pending: wait for 'connection.authRequired' with a 'url'.`;
  return new NotReadyError(message, { server });
}

/** The result of the host's own code; null counts as undefined. */
function fromHost<T>(server: AuthServer, ask: () => T | null): T | undefined {
  try {
    const given = ask();
    // A promise is refused later on; this avoids an unhandled rejection.
    if (isPromise(given)) given.catch(() => {});
    return given ?? undefined;
  } catch (cause) {
    const why = messageOf(cause);
    const message = `The 'auth' option threw for '${server.name}': ${why}`;
    throw new TransportError({ code: 'config-invalid', message }, { cause });
  }
}

// Checks a provider of the host: a host without types may pass anything.

/** The members that every grant needs. */
const NEEDED = ['tokens', 'saveTokens', 'clientInformation'] as const;

/** Throws a `TransportError` if it is not a provider. */
function requireProvider(given: OAuthClientProvider, { name }: AuthServer): void {
  if (isPromise(given)) {
    throw wrong(`The 'auth' option returned a promise for '${name}': it must return the provider itself.`);
  }
  const missing = NEEDED.find((member) => typeof given[member] !== 'function');
  if (missing !== undefined)
    throw wrong(`The provider that 'auth' returned for '${name}' has no '${missing}'.`);
}

function isPromise(given: unknown): given is Promise<unknown> {
  return given instanceof Promise;
}

function wrong(message: string): TransportError {
  const hint = "Return an object that implements the SDK's OAuthClientProvider, or undefined for none.";
  return new TransportError({ code: 'config-invalid', message, hint });
}

/**
 * `src/auth` signs in to servers over OAuth 2.1: discovery, registration, the sign-in by a person, renewal, and the
 * stores of tokens. This file is the option `auth` and its validation.
 *
 * The option has two forms: a function that gives the SDK's `OAuthClientProvider` for a server, so that the host
 * controls store, redirect and state; or the options of Troupe's own provider.
 */
import type { OAuthClientProvider } from '../mcp/oauth.js';
import { isObject } from '../config/entry/read-shape.js';
import type { TokenStore } from './stores/token-store.js';
import { parseUrl } from '../text/parse-url.js';

/** The server that someone signs in to. */
export interface AuthServer {
  /** Its configured name. */
  readonly name: string;
  /** Its address, expanded. */
  readonly url: string;
  /** The name that its entry gives to the account (`oauth.account`). Absent if it gives none. */
  readonly account?: string;
}

/** A person can sign in at `url`. */
export interface AuthorizationRequest {
  /** The server that wants the sign-in. */
  readonly server: AuthServer;
  /** Address to open in the person's browser. */
  readonly url: string;
}

/** An authorization server needs an assertion to issue a token. */
export interface AssertionRequest {
  /** The server that needs the token. */
  readonly server: AuthServer;
  /** The authorization server: the audience of the assertion. */
  readonly issuer: string;
  /** The resource of the token (RFC 8707), if the server names it. */
  readonly resource?: string;
  /** The requested scopes, separated by spaces. */
  readonly scope?: string;
}

/** A client that is already registered with an authorization server. */
export interface OAuthClient {
  /** The id that the authorization server gave to the client. */
  readonly clientId: string;
  /**
   * The registered redirect. Troupe listens there if it is `http:` on this machine, such as `http://localhost:8080/callback`;
   * without a port, at any free one. Default: `redirectUrl` or `redirectPort` of the options.
   */
  readonly redirectUrl?: string;
  /** Needs `issuer`. */
  readonly clientSecret?: string;
  /** In PEM, unencrypted: the client proves itself by a signed assertion (RFC 7523). Needs `issuer`. */
  readonly privateKey?: string;
  /** Signature algorithm of the assertion, such as `ES256`. Default `RS256`. */
  readonly algorithm?: string;
  /**
   * Address of the authorization server for the secret, the key or the assertion. They are never sent to another one,
   * whatever a server says. Default, only for a client without secret, key and assertion: the one that the server
   * names.
   */
  readonly issuer?: string;
  /**
   * `client-credentials` (RFC 6749 section 4.4) and `jwt-bearer` (RFC 7523 section 2.1) need no person.
   * Default `authorization-code`.
   */
  readonly grant?: (typeof GRANTS)[number];
  /**
   * Gives the JWT of `jwt-bearer` each time a token is needed: a statement of an identity provider about a
   * signed-in employee (cross-app access, SEP-990) or about a workload. Needs `issuer`.
   */
  readonly assertion?: (request: AssertionRequest) => Promise<string> | string;
}

const GRANTS = ['authorization-code', 'client-credentials', 'jwt-bearer'] as const;

/** The options of Troupe's own provider. */
export interface AuthOptions {
  /**
   * Where tokens are kept. Default: one file per server in the user's data folder, readable by the user alone (0600),
   * shared by every process of the user.
   */
  readonly store?: TokenStore;
  /**
   * Called with the address at which a person can sign in. It may return, or resolve with, the address to
   * which the browser was finally redirected, or the code in it; then `finishAuth` is not needed. Default:
   * only `connection.authRequired` is published.
   */
  readonly onAuthorizationUrl?: (request: AuthorizationRequest) => unknown;
  /** Opens the address in the person's browser. Failure is harmless. Default false. */
  readonly openBrowser?: boolean;
  /** Name under which Troupe registers. Default: the name of this package. */
  readonly clientName?: string;
  /** Port of 127.0.0.1 to which the browser is redirected. Default 0: any free port. */
  readonly redirectPort?: number;
  /**
   * Address to which the browser is redirected instead. Troupe then does not listen for it; pass the code to
   * `connection.finishAuth`.
   */
  readonly redirectUrl?: string;
  /**
   * The `https:` address of the client metadata document, for authorization servers that support such
   * documents.
   */
  readonly clientMetadataUrl?: string;
  /** A registered client, or the one for a server. Default: Troupe registers itself (RFC 7591). */
  readonly client?: OAuthClient | ((server: AuthServer) => OAuthClient | undefined);
  /** Scopes to request if the server names none, separated by spaces. */
  readonly scope?: string;
  /** `false` uses and renews stored tokens, and never starts a sign-in. Default true. */
  readonly interactive?: boolean;
}

/** A function may give `undefined` for a server that needs none. */
export type AuthOption = AuthOptions | ((server: AuthServer) => OAuthClientProvider | undefined);

export interface AuthProblem {
  readonly field: string;
  readonly message: string;
}

type Check<Of> = readonly [field: keyof Of, expected: string, fits: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isFunction = (value: unknown): boolean => typeof value === 'function';

const CHECKS: readonly Check<AuthOptions>[] = [
  ['store', 'an object with read, write and forget', isStore],
  ['onAuthorizationUrl', 'a function', isFunction],
  ['openBrowser', 'true or false', isFlag],
  ['clientName', 'a string', isText],
  ['redirectPort', 'a port between 0 and 65535', isPort],
  ['redirectUrl', 'an address', isAddress],
  ['clientMetadataUrl', 'an https address with a path', isDocumentAddress],
  ['client', 'a client with a clientId, or a function', (value) => isFunction(value) || isObject(value)],
  ['scope', 'a string', isText],
  ['interactive', 'true or false', isFlag],
];

const CLIENT_CHECKS: readonly Check<OAuthClient>[] = [
  // RFC 6749 appendix A.2.
  ['clientSecret', 'a string of printable ASCII characters', (value) => matches(value, /^[\x20-\x7e]+$/)],
  ['redirectUrl', 'an address', isAddress],
  ['privateKey', 'a key in PEM', isText],
  [
    'algorithm',
    'RS256, ES256 or a similar algorithm',
    (value) => matches(value, /^(?:RS|PS|ES|HS)(?:256|384|512)$/),
  ],
];

/** The problems of the `auth` option; empty if it is left out. Pure. */
export function authProblems(auth: unknown): readonly AuthProblem[] {
  if (auth === undefined || typeof auth === 'function') return [];
  if (!isObject(auth)) return [{ field: 'auth', message: 'expected an object or a function' }];
  const wrong = CHECKS.filter(([field, , fits]) => auth[field] !== undefined && !fits(auth[field]));
  const unknown = Object.keys(auth).filter((field) => !CHECKS.some(([known]) => known === field));
  return [
    ...wrong.map(([field, expected]) => ({ field: `auth.${field}`, message: `expected ${expected}` })),
    ...unknown.map((field) => ({ field: `auth.${field}`, message: 'is not an option' })),
    ...(isObject(auth['client']) ? clientProblems(auth['client']) : []),
  ];
}

/** The problems of a client, from the options or from a function of the host. */
export function clientProblems(client: Readonly<Record<string, unknown>>): readonly AuthProblem[] {
  const problem = (field: string, message: string): readonly AuthProblem[] => [
    { field: `auth.client.${field}`, message },
  ];
  if (!isText(client['clientId'])) return problem('clientId', 'expected a string');
  const { grant = 'authorization-code', assertion } = client;
  if (!GRANTS.some((known) => known === grant)) return problem('grant', `expected ${GRANTS.join(', ')}`);
  const unfit = CLIENT_CHECKS.find(([field, , fits]) => client[field] !== undefined && !fits(client[field]));
  if (unfit !== undefined) return problem(unfit[0], `expected ${unfit[1]}`);
  const hasSecret = client['clientSecret'] !== undefined || client['privateKey'] !== undefined;
  if ((hasSecret || assertion !== undefined) && !isAddress(client['issuer'])) {
    return problem('issuer', 'expected the address of the authorization server that the secret is meant for');
  }
  if (grant === 'client-credentials' && !hasSecret) {
    return problem('grant', "'client-credentials' needs a clientSecret or a privateKey");
  }
  if ((grant === 'jwt-bearer') !== isFunction(assertion)) {
    return problem('assertion', "expected a function, with the grant 'jwt-bearer' and no other");
  }
  return [];
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function isStore(value: unknown): boolean {
  return isObject(value) && ['read', 'write', 'forget'].every((name) => isFunction(value[name]));
}

function isPort(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535;
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && parseUrl(value) !== undefined;
}

function isDocumentAddress(value: unknown): boolean {
  const url = typeof value === 'string' ? parseUrl(value) : undefined;
  return url?.protocol === 'https:' && url.pathname !== '/';
}

/** The options of the gateway's HTTP service. */
import type { Path } from '../../config/entry/problem.js';
import { isObject, kindOf, readShape, type Report } from '../../config/entry/read-shape.js';
import type { Schema } from '../../config/entry/schema.js';
import { ConfigError } from '../../errors.js';
import { isLoopback } from '../../text/host-reach.js';
import type { Clock, Logger } from '../../ports.js';
import { checkPort, refuseProblems } from '../../config/refuse-options.js';
import type { EventLogLimits } from './http-event-log.js';
import type { ProtectedResource } from './http-oauth.js';
import { parseUrl } from '../../text/parse-url.js';

/** Options of `serveHttp`. */
export interface ServeHttpOptions {
  /** Port to listen on. Default 0: any free port. */
  readonly port?: number;
  /**
   * Address to listen on. If other computers can reach it, `token` or `oauth` is required. Default
   * `127.0.0.1`.
   */
  readonly host?: string;
  /**
   * Token that every request must send as `Authorization: Bearer TOKEN`. Letters, digits and `-._~+/` only.
   * Default: requests need no token.
   */
  readonly token?: string;
  /** Accepts access tokens of these authorization servers. Default: none. */
  readonly oauth?: ProtectedResource;
  /**
   * The origin under which clients know the service, if it differs from the address. Default
   * `http://HOST:PORT`.
   */
  readonly publicUrl?: string;
  /** Further values of the `Host` header, with the port if it is not the usual one. Default: none. */
  readonly allowedHosts?: readonly string[];
  /**
   * Origins of pages that may send requests, such as `http://localhost:6274`. Default: only the origin of the
   * service.
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Maximum number of sessions. A further one takes the place of the session that has been unused for longest, of the subject
   * with the most sessions; if all are in use, it is refused with status 503. With `oauth`, one subject has at most half of
   * them. Default 1,000.
   */
  readonly maxHttpSessions?: number;
  /**
   * Servers without which `/readyz` answers 503, by name. Default: one server that works is enough; with `failClosed` of the
   * gateway, all servers are required.
   */
  readonly requiredServers?: readonly string[];
  /** Maximum size of a request body, in bytes. Default 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Limits for the messages that are kept of each session, so that a broken stream can be resumed. */
  readonly events?: EventLogLimits;
  /** Maximum time for calls in flight when the service is closed, in milliseconds. Default 10,000. */
  readonly gracePeriodMs?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Receives errors, and the start and end of sessions. Default: silent. */
  readonly logger?: Logger;
}

const TEXT: Schema = { type: 'string', title: 'a string' };
const TEXTS: Schema = { type: 'array', items: TEXT, title: 'a list of strings' };
const COUNT: Schema = { type: 'integer', minimum: 1 };
const AMOUNT: Schema = { type: 'number', minimum: 0 };
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    port: { type: 'integer', minimum: 0, maximum: 65_535, title: 'a whole number from 0 to 65535' },
    host: TEXT,
    token: TEXT,
    oauth: {
      type: 'object',
      properties: { issuers: TEXTS, requiredScopes: TEXTS, verifyToken: {} },
      required: ['issuers', 'verifyToken'] satisfies readonly (keyof ProtectedResource)[],
    },
    publicUrl: TEXT,
    allowedHosts: TEXTS,
    allowedOrigins: TEXTS,
    maxHttpSessions: COUNT,
    requiredServers: TEXTS,
    maxBodyBytes: COUNT,
    events: { type: 'object', properties: { maxBytes: AMOUNT, maxAgeMs: AMOUNT } },
    gracePeriodMs: AMOUNT,
    clock: {},
    logger: {},
  } satisfies { readonly [K in keyof ServeHttpOptions]-?: Schema },
  additionalProperties: false,
};

/** Objects of the host, and the functions that each must have. */
const PORTS = {
  clock: ['now', 'setTimeout', 'clearTimeout'] satisfies readonly (keyof Clock)[],
  logger: ['debug', 'info', 'warn', 'error'] satisfies readonly (keyof Logger)[],
} satisfies { readonly [K in keyof ServeHttpOptions]?: readonly string[] };

const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** In the form of a URL. */
export function hostName(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Throws a `ConfigError` that says what to do. */
export function checkHttpOptions(options: ServeHttpOptions): void {
  checkShape(options);
  const { host = '127.0.0.1', token, oauth, publicUrl, allowedHosts = [] } = options;
  if (!isLoopback(host) && token === undefined && oauth === undefined) {
    throw new ConfigError(
      `On ${host}, other computers can reach the gateway: give a token or an OAuth issuer, or listen on 127.0.0.1.`,
    );
  }
  if (parseUrl(`http://${hostName(host)}`) === undefined)
    throw new ConfigError(`'${host}' is not an address to listen on: give one such as 127.0.0.1 or 0.0.0.0.`);
  if (token !== undefined && !TOKEN.test(token))
    throw new ConfigError('The token may only contain letters, digits and - . _ ~ + / (RFC 6750).');
  if (publicUrl !== undefined && (!/^https?:/.test(publicUrl) || parseUrl(publicUrl) === undefined))
    throw new ConfigError(
      `'${publicUrl}' is not an address that clients can use: give one such as https://mcp.example.com.`,
    );
  if (oauth?.issuers.length === 0)
    throw new ConfigError(
      'An OAuth resource server needs at least one issuer: the address of its authorization server.',
    );
  const address = allowedHosts.find((name) => name.includes('/'));
  if (address !== undefined)
    throw new ConfigError(`'${address}' is not a host name: give one such as mcp.example.com.`);
}

/** A host in JavaScript may pass anything. */
function checkShape(options: ServeHttpOptions): void {
  refuseProblems('serveHttp', (report) => void readShape(options, SCHEMA, [], report));
  refuseProblems('serveHttp', (report) => {
    checkNulls(options, [], report);
    checkNulls(options.oauth, ['oauth'], report);
    checkNulls(options.events, ['events'], report);
    checkFunctions(options, report);
  });
}

/** Null does not mean the default: a token that is null must not count as one. */
function checkNulls(fields: unknown, path: Path, report: Report): void {
  for (const [name, value] of isObject(fields) ? Object.entries(fields) : [])
    if (value === null)
      report([...path, name], 'wrong-type', 'expected a value, found null: leave it out for its default');
}

function checkFunctions(options: ServeHttpOptions, report: Report): void {
  const verify: unknown = options.oauth?.verifyToken;
  if (verify !== undefined && typeof verify !== 'function')
    report(['oauth', 'verifyToken'], 'wrong-type', `expected a function, found ${kindOf(verify)}`);
  for (const [field, functions] of Object.entries(PORTS))
    checkPort(options[field as keyof typeof PORTS] ?? undefined, field, functions, report);
}

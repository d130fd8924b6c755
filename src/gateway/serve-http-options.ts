/** What a host may say of the HTTP service of a gateway. */
import type { Path } from '../config/problem.js';
import { isObject, kindOf, readShape, type Report } from '../config/read-shape.js';
import type { Schema } from '../config/schema.js';
import { ConfigError } from '../errors.js';
import { isLoopback } from '../loopback.js';
import type { Clock, Logger } from '../ports.js';
import { checkPort, refuseProblems } from '../refuse-options.js';
import type { EventLogLimits } from './http-event-log.js';
import type { ProtectedResource } from './http-oauth.js';

export interface ServeHttpOptions {
  /** 0 is any that is free. Default 0. */
  readonly port?: number;
  /**
   * Address to listen on. One that other computers reach needs `token` or `oauth`. Default `127.0.0.1`.
   */
  readonly host?: string;
  /**
   * What every request must bring: `Authorization: Bearer TOKEN`. Letters, digits and `-._~+/` only. Default: everybody
   * who reaches the port may ask.
   */
  readonly token?: string;
  /** The gateway takes tokens of these authorization servers. Default: of none. */
  readonly oauth?: ProtectedResource;
  /** The origin that clients know the service by, where that is another than its own. Default `http://HOST:PORT`. */
  readonly publicUrl?: string;
  /** Further names that `Host` may have, with the port where it is no usual one. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** Origins of pages that may ask, such as `http://localhost:6274`. Default: none but the service's own. */
  readonly allowedOrigins?: readonly string[];
  /** Sessions at the same time; a further one is refused with 503. Default 1,000. */
  readonly maxSessions?: number;
  /** Longest body that is read, bytes. Default 16 MiB. */
  readonly maxBodyBytes?: number;
  /** What is kept so that a stream that broke can be resumed, of each session. */
  readonly events?: EventLogLimits;
  /** Most milliseconds that calls in flight may go on when it is closed. Default 10,000. */
  readonly drainMs?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Hears of what went wrong, and of sessions that begin and end. Default: silent. */
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
    maxSessions: COUNT,
    maxBodyBytes: COUNT,
    events: { type: 'object', properties: { maxBytes: AMOUNT, maxAgeMs: AMOUNT } },
    drainMs: AMOUNT,
    clock: {},
    logger: {},
  } satisfies { readonly [K in keyof ServeHttpOptions]-?: Schema },
  additionalProperties: false,
};

/** Objects of the host, and the functions that each must have. */
const PORTS = {
  clock: ['now', 'setTimeout', 'clearTimeout'] satisfies readonly (keyof Clock)[],
  logger: ['debug', 'warn', 'error'] satisfies readonly (keyof Logger)[],
} satisfies { readonly [K in keyof ServeHttpOptions]?: readonly string[] };

const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** As it stands in an address. */
export function hostName(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Throws a `ConfigError` that says what to do. */
export function checkHttpOptions(options: ServeHttpOptions): void {
  checkShape(options);
  const { host = '127.0.0.1', token, oauth, publicUrl, allowedHosts = [] } = options;
  if (!isLoopback(host) && token === undefined && oauth === undefined) {
    throw new ConfigError(
      `On ${host}, other computers reach the gateway: give a token or an OAuth issuer, or listen on 127.0.0.1.`,
    );
  }
  if (!URL.canParse(`http://${hostName(host)}`))
    throw new ConfigError(`'${host}' is no address to listen on: give one such as 127.0.0.1 or 0.0.0.0.`);
  if (token !== undefined && !TOKEN.test(token))
    throw new ConfigError('The token may have letters, digits and - . _ ~ + / only (RFC 6750).');
  if (publicUrl !== undefined && !(URL.canParse(publicUrl) && /^https?:/.test(publicUrl)))
    throw new ConfigError(
      `'${publicUrl}' is no address that clients could use: give one such as https://mcp.example.com.`,
    );
  if (oauth?.issuers.length === 0)
    throw new ConfigError(
      'An OAuth resource server needs at least one issuer: the address of its authorization server.',
    );
  const address = allowedHosts.find((name) => name.includes('/'));
  if (address !== undefined)
    throw new ConfigError(`'${address}' is no name of a host: give one such as mcp.example.com.`);
}

/** What is given from JavaScript may be anything. */
function checkShape(options: ServeHttpOptions): void {
  refuseProblems('serveHttp', (report) => void readShape(options, SCHEMA, [], report));
  refuseProblems('serveHttp', (report) => {
    checkNulls(options, [], report);
    checkNulls(options.oauth, ['oauth'], report);
    checkNulls(options.events, ['events'], report);
    checkFunctions(options, report);
  });
}

/** Null is no default: a token that is null must not be taken for one. */
function checkNulls(fields: unknown, path: Path, report: Report): void {
  for (const [name, value] of isObject(fields) ? Object.entries(fields) : [])
    if (value === null) report([...path, name], 'expected a value, found null: leave it out for its default');
}

function checkFunctions(options: ServeHttpOptions, report: Report): void {
  const verify: unknown = options.oauth?.verifyToken;
  if (verify !== undefined && typeof verify !== 'function')
    report(['oauth', 'verifyToken'], `expected a function, found ${kindOf(verify)}`);
  for (const [field, functions] of Object.entries(PORTS))
    checkPort(options[field as keyof typeof PORTS] ?? undefined, field, functions, report);
}

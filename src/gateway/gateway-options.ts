/** The options of a gateway, and the options of its troupes that follow from them. */
import type { Implementation } from '../mcp/session.js';
import { checkOptions } from '../runtime/check-options.js';
import { withFleet } from '../runtime/with-fleet.js';
import { createMemoryTrustStore } from '../trust/trust-store.js';
import { readShape } from '../config/entry/read-shape.js';
import type { Schema } from '../config/entry/schema.js';
import type { TroupeOptions } from '../options.js';
import { offerSchema, type Offer } from '../search/offer.js';
import { PACKAGE } from '../package.js';
import { guardedLogger, withDetails } from '../ports.js';
import { refuseProblems } from '../config/refuse-options.js';
import type { Answers } from './upstream/client-capabilities.js';
import { askingOnce, decidingOnce, notifyingStore } from './upstream/shared-decisions.js';

/** Maximum number of clients with their own connections. */
export const DEFAULT_MAX_ISOLATED_CLIENTS = 64;
/** Milliseconds after which an idle session ends. */
export const DEFAULT_SESSION_IDLE_MS = 30 * 60 * 1_000;
/** Milliseconds after which a client's idle own connection is stopped. */
export const DEFAULT_IDLE_STOP_MS = 5 * 60 * 1_000;
/** Maximum number of entries in one page of a list. */
export const DEFAULT_PAGE_SIZE = 1_000;
/** Milliseconds for a client to answer a server's request. */
export const DEFAULT_QUESTION_TIMEOUT_MS = 10 * 60 * 1_000;
/** Milliseconds for requests in flight when the gateway is closed. */
export const DEFAULT_REQUEST_DRAIN_MS = 1_000;
/** The client capabilities that shared servers see. */
const DEFAULT_SHARED: Answers = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } };

/** The options of a troupe and of the gateway. The clients answer the requests of servers. */
export interface GatewayOptions extends Omit<TroupeOptions, 'handlers' | 'capabilities'> {
  /** The gateway has exactly one server and renames nothing. Default false. */
  readonly bare?: boolean;
  /**
   * All servers or none: while a server does not work, clients get an error that names it instead of a list.
   * Lists and calls wait for the first attempt of every server. Default false: working servers are offered,
   * and `_meta` of the lists names the others.
   */
  readonly failClosed?: boolean;
  /** Adds tools that show the status of the servers, and that retry or restart one. Default false. */
  readonly adminTools?: boolean;
  /**
   * Which tools clients are offered at once, so that hundreds of tools do not fill the context of a model: with
   * `search`, or with `auto` and many tools, the pinned tools and `search_tools`, `describe_tool` and `call_tool`. Calls
   * by the tools' own names work as well. Default `all`.
   */
  readonly offer?: Offer;
  /**
   * There is only one client, as over stdio. The servers start once it has declared its capabilities, receive
   * those and ask that client; `start()` resolves after that. Default false: the servers start with the
   * gateway.
   */
  readonly singleClient?: boolean;
  /**
   * Maximum number of clients that have connections of their own. Another client is refused with an error,
   * unless the session of a client without traffic for five minutes can be ended. Default 64.
   */
  readonly maxIsolatedClients?: number;
  /**
   * Milliseconds without a message after which a session with `endsWhenIdle` ends. 0 = never. Default
   * 1,800,000.
   */
  readonly sessionIdleMs?: number;
  /**
   * Idle milliseconds after which a client's own connection is stopped until its next use, unless the entry
   * of the server sets it. 0 = never. Default 300,000.
   */
  readonly idleStopMs?: number;
  /**
   * Milliseconds that a client may take to answer a request of a server. After that the server gets an
   * answer: `cancel` for a form, an error for anything else. The same happens after 30 seconds in which
   * nothing could be sent to the client, for instance because all its HTTP streams are gone. 0 = no limit.
   * Default 600,000.
   */
  readonly questionTimeoutMs?: number;
  /**
   * Maximum number of items in one page of a list; a cursor leads to the rest. Many clients read only the
   * first page. Default 1,000.
   */
  readonly pageSize?: number;
  /**
   * Client capabilities that servers with `isolation: 'shared'` see. Default: roots, sampling and
   * elicitation.
   */
  readonly sharedCapabilities?: Answers;
  /** Name and version that clients see. Default: those of this package. */
  readonly serverInfo?: Implementation;
}

const FLAG: Schema = { type: 'boolean' };
const DURATION: Schema = { type: 'number', minimum: 0, title: 'a number of milliseconds' };
const OWN = {
  bare: FLAG,
  failClosed: FLAG,
  adminTools: FLAG,
  offer: offerSchema(),
  singleClient: FLAG,
  maxIsolatedClients: { type: 'integer', minimum: 1 },
  sessionIdleMs: DURATION,
  idleStopMs: DURATION,
  questionTimeoutMs: DURATION,
  pageSize: { type: 'integer', minimum: 1 },
  sharedCapabilities: { type: 'object', title: 'an object' },
  serverInfo: { type: 'object', title: '{ name, version }' },
} satisfies { readonly [K in keyof GatewayOptions]?: Schema };
const SCHEMA: Schema = { type: 'object', title: 'an object', properties: OWN };

/** Throws a `ConfigError` that names every wrong option. */
export function checkGatewayOptions(options: GatewayOptions): void {
  refuseProblems('createGateway', (report) => void readShape(options, SCHEMA, [], report));
  checkOptions(Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(OWN, name))));
}

export const toServerInfo = ({ serverInfo }: GatewayOptions): Implementation => serverInfo ?? PACKAGE;

export const toShared = ({ sharedCapabilities }: GatewayOptions): Answers =>
  sharedCapabilities ?? DEFAULT_SHARED;

/**
 * The options of every troupe of the gateway. A person is asked once for all of them, and arguments are validated by
 * the servers.
 */
export function toTroupeOptions(given: GatewayOptions): TroupeOptions {
  const options = withFleet(given);
  const { askInput, trust } = options;
  return {
    ...options,
    trustStore: notifyingStore(options.trustStore ?? createMemoryTrustStore()),
    ...(typeof trust === 'function' ? { trust: decidingOnce(trust) } : {}),
    validateArguments: options.validateArguments ?? false,
    ...(askInput === undefined ? {} : { askInput: askingOnce(askInput) }),
  };
}

/**
 * The same for the troupe of one session: it reads no sources, records nothing, shows nothing, and is not announced to the fleet. Its
 * entries in the log have the id of the session.
 */
export function ofSession(options: TroupeOptions, session: string): TroupeOptions {
  const {
    servers: _s,
    config: _c,
    discover: _d,
    watch: _w,
    record: _r,
    inspector: _i,
    fleet: _f,
    ...others
  } = options;
  const { logger } = others;
  return logger === undefined
    ? others
    : { ...others, logger: withDetails(guardedLogger(logger), { session }) };
}

/** What a host may say of a gateway, and what of that its troupes are told. */
import type { Implementation } from '@modelcontextprotocol/sdk/types.js';
import { checkOptions } from '../check-options.js';
import { createMemoryApprovalStore } from '../config/approval-store.js';
import { readShape } from '../config/read-shape.js';
import type { Schema } from '../config/schema.js';
import type { TroupeOptions } from '../options.js';
import { PACKAGE } from '../package.js';
import { refuseProblems } from '../refuse-options.js';
import type { Answers } from './answers.js';
import { askingOnce, decidingOnce, toldToAll } from './shared-decisions.js';

/** Clients with connections of their own at the same time. */
export const DEFAULT_MAX_SESSIONS = 64;
/** Milliseconds after which a session that nobody uses ends. */
export const DEFAULT_SESSION_IDLE_MS = 30 * 60 * 1_000;
/** Milliseconds after which a client's own connection that nobody uses is stopped. */
export const DEFAULT_IDLE_STOP_MS = 5 * 60 * 1_000;
/** Entries of a list that are told at once. */
export const DEFAULT_PAGE_SIZE = 1_000;
/** Milliseconds that a client may take to answer what a server asks. */
export const DEFAULT_QUESTION_TIMEOUT_MS = 10 * 60 * 1_000;
/** Milliseconds that requests in work may still take when the gateway is closed. */
export const DEFAULT_DRAIN_MS = 1_000;
/** What servers are told that clients answer together. */
const DEFAULT_SHARED: Answers = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } };

/** The options of a troupe, and those of the gateway. What servers ask, the clients answer. */
export interface GatewayOptions extends Omit<TroupeOptions, 'handlers' | 'capabilities'> {
  /** There is exactly one server, and nothing of it is renamed. Default false. */
  readonly bare?: boolean;
  /**
   * All servers or none: while one of them does not work, clients are refused with an error that says which, and no list
   * is given; both wait for the first attempt of every server. Default false: what works is offered, and `_meta` of the lists tells of the others.
   */
  readonly failClosed?: boolean;
  /** Whether there are tools to see the status of the servers, and to retry or restart one. Default false. */
  readonly adminTools?: boolean;
  /**
   * There is one client ever, as over stdio: the servers start when it has said what it answers, are told that, and ask it;
   * `start()` resolves after that. Default false: the servers start with the gateway.
   */
  readonly singleClient?: boolean;
  /**
   * Clients with connections of their own at the same time; a further one is refused with an error, unless there is one
   * that nothing has reached for five minutes, which ends. Default 64.
   */
  readonly maxSessions?: number;
  /** Milliseconds without a message after which a session ends, where it may (`endsWhenIdle`). 0 = never. Default 1,800,000. */
  readonly sessionIdleMs?: number;
  /**
   * Idle milliseconds after which a client's own connection to a server is stopped until its next use, where the entry of
   * the server does not say it. 0 = never. Default 300,000.
   */
  readonly idleStopMs?: number;
  /**
   * Milliseconds that a client may take to answer what a server asks. After that the server is told that nobody answers:
   * of a form that it was cancelled, of anything else an error. The same after 30 seconds in which nothing could be sent
   * to the client, as over HTTP when every stream of it is gone. 0 = no limit. Default 600,000.
   */
  readonly questionTimeoutMs?: number;
  /** Entries of a list in one answer; for more there is a cursor. Many clients ask for the first page alone. Default 1,000. */
  readonly pageSize?: number;
  /** What servers with `isolation: 'shared'` are told that clients answer. Default: roots, sampling and elicitation. */
  readonly sharedCapabilities?: Answers;
  /** Told to clients as the name of the server. Default: this package's name and version. */
  readonly serverInfo?: Implementation;
}

const FLAG: Schema = { type: 'boolean' };
const DURATION: Schema = { type: 'number', minimum: 0, title: 'a number of milliseconds' };
const OWN = {
  bare: FLAG,
  failClosed: FLAG,
  adminTools: FLAG,
  singleClient: FLAG,
  maxSessions: { type: 'integer', minimum: 1 },
  sessionIdleMs: DURATION,
  idleStopMs: DURATION,
  questionTimeoutMs: DURATION,
  pageSize: { type: 'integer', minimum: 1 },
  sharedCapabilities: { type: 'object', title: 'an object' },
  serverInfo: { type: 'object', title: '{ name, version }' },
} satisfies { readonly [K in keyof GatewayOptions]?: Schema };
const SCHEMA: Schema = { type: 'object', title: 'an object', properties: OWN };

/** Throws a `ConfigError` that names every option that is wrong. */
export function checkGatewayOptions(options: GatewayOptions): void {
  refuseProblems('createGateway', (report) => void readShape(options, SCHEMA, [], report));
  checkOptions(Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(OWN, name))));
}

export const toServerInfo = ({ serverInfo }: GatewayOptions): Implementation => serverInfo ?? PACKAGE;

export const toShared = ({ sharedCapabilities }: GatewayOptions): Answers =>
  sharedCapabilities ?? DEFAULT_SHARED;

/**
 * What every troupe of the gateway is told. A person is asked once for all of them, and the servers judge arguments
 * themselves.
 */
export function toTroupeOptions(options: GatewayOptions): TroupeOptions {
  const { askInput, trust } = options;
  return {
    ...options,
    approvals: toldToAll(options.approvals ?? createMemoryApprovalStore()),
    ...(typeof trust === 'function' ? { trust: decidingOnce(trust) } : {}),
    validateArguments: options.validateArguments ?? false,
    ...(askInput === undefined ? {} : { askInput: askingOnce(askInput) }),
  };
}

/** The same for a troupe beside the first: it reads no sources, and records and shows nothing. */
export function besideTheFirst(options: TroupeOptions): TroupeOptions {
  const { servers: _s, config: _c, discover: _d, watch: _w, record: _r, inspector: _i, ...others } = options;
  return others;
}

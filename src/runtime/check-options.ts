/** Refuses options that make no sense, before anything is created. Each option is one row. */
import { authProblems } from '../auth/auth-options.js';
import { isObject, kindOf, readShape, type Report } from '../config/entry/read-shape.js';
import {
  COUNT,
  DURATION,
  FLAG,
  LIMITS,
  POLICY,
  RETRY_CALLS,
  SOME_TEXT,
  subset,
  TEXT,
  TEXTS,
  type Schema,
} from '../config/entry/schema.js';
import type { NamingTemplate } from '../config/entry/server-config.js';
import { checkPort, refuseProblems } from '../config/refuse-options.js';
import { recordProblem } from '../event-log/record/record-options.js';
import type { MachineOverrides, TroupeOptions } from '../options.js';
import { networkProblems } from '../transports/http/network-options.js';
import type { Clock, Logger } from '../ports.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { reviewProblem } from '../review/review-option.js';
import { handlersProblems } from '../server-requests/handlers.js';
import type { TrustStore } from '../trust/trust-store.js';
import { hooksProblem } from '../calls/hooks.js';
import type { ViewOptions } from './view.js';
import { createFileCatalogStore, fileCatalogStore, type CatalogStore } from '../catalog/cache-store.js';
import { storeInVariable } from '../config/files/user-store.js';

/** Throws a `ConfigError` that names every option that is wrong, and what was expected. */
export function checkOptions(options: TroupeOptions): void {
  refuseProblems('createTroupe', (report) => {
    readShape(options, SHAPE, [], report);
    if (!isObject(options)) return;
    for (const [name, check] of Object.entries<Schema | Check>(OPTIONS))
      if (typeof check === 'function') check(options[name], name, report, options);
  });
}

/** Throws a `ConfigError` that names what is wrong: a view with a misspelt option would show more than intended. */
export function checkViewOptions(options: ViewOptions): void {
  refuseProblems('view', (report) => void readShape(options, VIEW, [], report));
}

/** A check beyond a schema: of an object or a function of the host, or of an option that depends on another. */
type Check = (value: unknown, name: string, report: Report, options: TroupeOptions) => void;

/** `problemOf` is called only if the option is given. */
const problem =
  (problemOf: (value: unknown) => string | undefined): Check =>
  (value, name, report) => {
    const message = value === undefined ? undefined : problemOf(value);
    if (message !== undefined) report([name], 'invalid-option', message);
  };

/** An object with these functions. */
const port =
  <Port>(...functions: readonly (keyof Port & string)[]): Check =>
  (value, name, report) =>
    checkPort(value, name, functions, report);

const FUNCTION = problem((value) =>
  typeof value === 'function' ? undefined : `expected a function, found ${kindOf(value)}`,
);

const CONFIG_FILE: Schema = {
  type: 'object',
  title: '{ path, scope, trust, optional }',
  properties: {
    path: SOME_TEXT,
    scope: { type: 'string', enum: ['given', 'project'] },
    trust: { type: 'string', enum: ['all'] },
    optional: FLAG,
  },
  required: ['path'],
  additionalProperties: false,
};

const DISCOVER: Schema = {
  anyOf: [
    FLAG,
    subset({ cwd: SOME_TEXT, project: FLAG, user: FLAG, extensions: { type: 'object' }, filter: {} }),
  ],
};

const OPTIONS = {
  servers: { type: 'object', title: 'an object with one entry per server' },
  config: {
    anyOf: [
      SOME_TEXT,
      CONFIG_FILE,
      { type: 'array', items: { anyOf: [SOME_TEXT, CONFIG_FILE] }, title: 'a list of files' },
    ],
  },
  discover: (value, name, report, options) => {
    if (value !== undefined && value !== null) readShape(value, DISCOVER, [name], report);
    if (isObject(value)) FUNCTION(value['filter'], `${name}.filter`, report, options);
  },
  expansion: subset({
    headers: { type: 'string', enum: ['own-env', 'host'] },
    missing: { type: 'string', enum: ['error', 'empty'] },
  }),
  askInput: FUNCTION,
  watch: FLAG,
  clientInfo: {
    type: 'object',
    title: '{ name, version }',
    properties: { name: SOME_TEXT, version: TEXT },
    required: ['name', 'version'],
  },
  capabilities: { type: 'object' },
  policy: POLICY,
  trust: problem((value) =>
    ['all', 'remote-only', 'programs-only', 'contents'].includes(value as string) ||
    typeof value === 'function'
      ? undefined
      : "expected 'all', 'remote-only', 'programs-only', 'contents' or a function",
  ),
  trustStore: port<TrustStore>('has', 'list', 'trust', 'revoke'),
  retryCalls: RETRY_CALLS,
  auth: (value, _name, report) => {
    for (const { field, message } of authProblems(value)) report([field], 'invalid-option', message);
  },
  network: (value, _name, report) => {
    for (const { field, message } of networkProblems(value)) report([field], 'invalid-option', message);
  },
  limits: subset(LIMITS),
  handlers: (value, _name, report, { capabilities }) => {
    for (const { field, message } of handlersProblems(value, capabilities))
      report([field], 'invalid-option', message);
  },
  hooks: problem(hooksProblem),
  validateArguments: FLAG,
  coerceArguments: FLAG,
  naming: {
    type: 'string',
    enum: [
      'mcp__{server}__{tool}',
      'mcp_{server}_{tool}',
      'mcp__{server}_{tool}',
      '{tool}',
    ] satisfies readonly NamingTemplate[],
  },
  review: problem(reviewProblem),
  requiresConfirmation: FUNCTION,
  maxConcurrentStarts: COUNT,
  retryBudget: subset({ burst: COUNT, everyMs: DURATION }),
  cache: problem(cacheProblem),
  startGateMs: DURATION,
  // Its variables are read only when they are needed.
  env: problem((value) =>
    isObject(value) ? undefined : `expected an object of strings, found ${kindOf(value)}`,
  ),
  clock: port<Clock>('now', 'setTimeout', 'clearTimeout'),
  machines: (value, name, report, options) => {
    readShape(
      value ?? {},
      subset({ connection: {} } satisfies { readonly [K in keyof MachineOverrides]-?: Schema }),
      [name],
      report,
    );
    if (isObject(value)) FUNCTION(value['connection'], `${name}.connection`, report, options);
  },
  seed: { type: 'number' },
  record: problem(recordProblem),
  redact: FUNCTION,
  fleet: problem((value) =>
    isObject(value) &&
    ['tokens', 'trust', 'reviews', 'catalogs', 'hosts'].every((name) => isObject(value[name]))
      ? undefined
      : 'expected what createFleet returns',
  ),
  inspector: problem((value) =>
    typeof value === 'function' || (isObject(value) && typeof value['next'] === 'function')
      ? undefined
      : "expected a function, or an object with the function 'next'",
  ),
  logger: port<Logger>('debug', 'info', 'warn', 'error'),
  telemetry: port<Telemetry>('sent', 'received', 'sessionEnded', 'follow'),
} satisfies { readonly [K in keyof TroupeOptions]-?: Schema | Check };

const SHAPE: Schema = {
  ...subset(
    Object.fromEntries(
      Object.entries<Schema | Check>(OPTIONS).map(([name, check]) => [
        name,
        typeof check === 'function' ? {} : check,
      ]),
    ),
  ),
  title: 'an object',
};

const VIEW: Schema = {
  ...subset({ servers: TEXTS, tools: TEXTS } satisfies { readonly [K in keyof ViewOptions]-?: Schema }),
  title: 'an object',
};

// The store for the tool lists of a troupe: the one of its options, of the environment, or the user's cache folder.

/** A folder, or `off`. */
const CACHE_VARIABLE = 'TROUPE_CACHE';

const METHODS = ['get', 'put', 'delete'] satisfies readonly (keyof CatalogStore)[];

/** Undefined: nothing is cached. */
export function toCatalogStore(
  option: TroupeOptions['cache'],
  env: Readonly<Record<string, string | undefined>> = process.env,
  cwd = '.',
): CatalogStore | undefined {
  if (option !== undefined) return option === false ? undefined : option;
  const place = env[CACHE_VARIABLE] ?? '';
  if (place === 'off') return undefined;
  return place === ''
    ? createFileCatalogStore({ cwd })
    : fileCatalogStore(storeInVariable(CACHE_VARIABLE, place, cwd));
}

/** What is wrong with the option; undefined if nothing is. */
export function cacheProblem(option: unknown): string | undefined {
  if (option === undefined || option === false) return undefined;
  const store = (typeof option === 'object' && option !== null ? option : {}) as Record<string, unknown>;
  const isStore = METHODS.every((name) => typeof store[name] === 'function');
  return isStore ? undefined : "expected false, or an object with the functions 'get', 'put' and 'delete'";
}

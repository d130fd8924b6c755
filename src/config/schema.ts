/**
 * The shape of one server's entry, as data: a subset of JSON Schema (2020-12).
 *
 * Owns which fields there are, how else they may be spelled and what each may hold. Does not own rules between
 * fields (`validate-entry.ts`) nor the wording of a mismatch (`read-shape.ts`).
 */
import type { RetryCalls } from '../../machines/policy/call-safety.js';
import type { BackoffOptions, ConnectionPolicy } from '../../machines/policy/policy.js';
import type { Isolation, NamingTemplate, ServerSettings, TroupeOptions } from '../options.js';
import type { ViewOptions } from '../view.js';

/** The part of JSON Schema that `readShape` obeys. `title` is what a person is told was expected. */
export interface Schema {
  readonly title?: string;
  readonly type?: 'string' | 'boolean' | 'number' | 'integer' | 'array' | 'object';
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | false;
  readonly anyOf?: readonly Schema[];
}

/** Spellings of `type`, and what each means. */
export const TRANSPORT_TYPES = {
  stdio: 'stdio',
  local: 'stdio',
  http: 'http',
  'streamable-http': 'http',
  streamable_http: 'http',
  streamableHttp: 'http',
  remote: 'http',
  sse: 'sse',
} as const;

/** Other names of fields, as the various hosts write them. */
export const ALIASES = {
  environment: 'env',
  httpUrl: 'url',
  serverUrl: 'url',
  transport: 'type',
  transportType: 'type',
} as const;

/** The longest time a timer of the runtime can hold: beyond it, Node fires at once. */
const LONGEST_MS = 2_147_483_647;

const FLAG: Schema = { type: 'boolean' };
const TEXT: Schema = { type: 'string', pattern: '^[^\\u0000]*$', title: 'a string' };
const SOME_TEXT: Schema = { ...TEXT, minLength: 1 };
const TEXTS: Schema = { type: 'array', items: TEXT, title: 'a list of strings' };
const DURATION: Schema = {
  type: 'number',
  minimum: 0,
  maximum: LONGEST_MS,
  title: `a number of milliseconds between 0 and ${LONGEST_MS}`,
};
const TYPE: Schema = {
  type: 'string',
  enum: Object.keys(TRANSPORT_TYPES),
  title: "'stdio', 'http' or 'sse'",
};
const RETRY_CALLS: Schema = {
  type: 'string',
  enum: ['safe', 'never'] satisfies readonly RetryCalls[],
  title: "'safe' or 'never'",
};
const ISOLATION: Schema = {
  type: 'string',
  enum: ['per-session', 'shared'] satisfies readonly Isolation[],
  title: "'per-session' or 'shared'",
};
const COMMAND: Schema = {
  anyOf: [SOME_TEXT, { type: 'array', items: TEXT, minItems: 1, title: 'a list of strings' }],
};
const ENVIRONMENT: Schema = {
  type: 'object',
  title: 'an object of strings',
  propertyNames: { pattern: '^[^=\\u0000]+$', title: "a variable's name" },
  additionalProperties: TEXT,
};
const HEADERS: Schema = {
  type: 'object',
  title: 'an object of strings',
  // RFC 9110 section 5.1: a field name is a token (section 5.6.2).
  propertyNames: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", title: "a header's name (RFC 9110)" },
  additionalProperties: TEXT,
};

const BACKOFF_KINDS = {
  exponential: {
    type: 'object',
    title: "{ kind: 'exponential', firstMs, factor, maxMs }",
    properties: {
      kind: { type: 'string', enum: ['exponential'] },
      firstMs: DURATION,
      factor: { type: 'number', minimum: 1 },
      maxMs: DURATION,
    },
    required: ['kind', 'firstMs', 'factor', 'maxMs'],
    additionalProperties: false,
  },
  fixed: {
    type: 'object',
    title: "{ kind: 'fixed', delaysMs }",
    properties: {
      kind: { type: 'string', enum: ['fixed'] },
      delaysMs: { type: 'array', items: DURATION, minItems: 1 },
    },
    required: ['kind', 'delaysMs'],
    additionalProperties: false,
  },
} satisfies Record<BackoffOptions['kind'], Schema>;

const POLICY: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    launchTimeoutMs: DURATION,
    handshakeTimeoutMs: DURATION,
    listTimeoutMs: DURATION,
    releaseTimeoutMs: DURATION,
    maxAttempts: { type: 'integer', minimum: 1 },
    backoff: {
      anyOf: [
        { type: 'array', items: DURATION, minItems: 1, title: 'a list of delays' },
        BACKOFF_KINDS.exponential,
        BACKOFF_KINDS.fixed,
      ],
    },
    intensity: subset({ restarts: { type: 'integer', minimum: 0 }, periodMs: DURATION }),
    exhausted: subset({ callAfterMs: DURATION, remoteEveryMs: DURATION }),
    stableMs: DURATION,
    immediateRetryWindowMs: DURATION,
    ping: subset({ idleMs: DURATION, timeoutMs: DURATION }),
    listChanged: subset({ debounceMs: DURATION, maxWaitMs: DURATION }),
    stop: subset({ drainMs: DURATION, deleteMs: DURATION, stdinEndMs: DURATION, termMs: DURATION }),
    idleStopMs: DURATION,
  } satisfies Record<keyof ConnectionPolicy, Schema>,
};

/** Troupe's own fields, allowed in every entry. */
const SETTINGS = {
  enabled: FLAG,
  tools: { anyOf: [TEXTS, { ...subset({ allow: TEXTS, deny: TEXTS }), title: '{ allow, deny }' }] },
  start: { type: 'string', enum: ['eager', 'lazy'] },
  idleStopMs: DURATION,
  timeout: DURATION,
  callTimeout: DURATION,
  maxConcurrentCalls: { type: 'integer', minimum: 0 },
  retryCalls: RETRY_CALLS,
  isolation: ISOLATION,
  policy: POLICY,
} satisfies Record<keyof ServerSettings, Schema>;

/** One entry. Fields it does not name are other hosts' business and are tolerated. */
export const ENTRY_SCHEMA = {
  type: 'object',
  title: "an object with 'command' or 'url'",
  properties: {
    type: TYPE,
    transport: TYPE,
    transportType: TYPE,
    command: COMMAND,
    args: TEXTS,
    env: ENVIRONMENT,
    environment: ENVIRONMENT,
    cwd: SOME_TEXT,
    inheritEnv: { anyOf: [FLAG, TEXTS] },
    url: SOME_TEXT,
    httpUrl: SOME_TEXT,
    serverUrl: SOME_TEXT,
    headers: HEADERS,
    disabled: FLAG,
    ...SETTINGS,
  },
} satisfies Schema;

/** An entry of a server that lives in this process: only the settings can be described. */
export const SETTINGS_SCHEMA: Schema = { type: 'object', properties: { disabled: FLAG, ...SETTINGS } };

const NAMING_TEMPLATES = [
  'mcp__{server}__{tool}',
  'mcp_{server}_{tool}',
  'mcp__{server}_{tool}',
  '{tool}',
] as const satisfies readonly NamingTemplate[];

const ANY_OBJECT: Schema = { type: 'object' };
const CONFIG_FILE: Schema = {
  type: 'object',
  title: '{ path, scope }',
  properties: { path: SOME_TEXT, scope: { type: 'string', enum: ['given', 'project'] } },
  required: ['path'],
  additionalProperties: false,
};

/** What only the code that uses it can judge; nothing in it is looked at. */
const OF_THE_HOST: Schema = {};

/** The options of `createTroupe`; what objects and functions of the host must have is no matter of a schema. */
export const OPTIONS_SCHEMA: Schema = {
  type: 'object',
  title: 'an object',
  properties: {
    servers: { type: 'object', title: 'an object with one entry per server' },
    watch: FLAG,
    config: {
      anyOf: [
        SOME_TEXT,
        CONFIG_FILE,
        { type: 'array', items: { anyOf: [SOME_TEXT, CONFIG_FILE] }, title: 'a list of files' },
      ],
    },
    discover: {
      anyOf: [
        FLAG,
        subset({ cwd: SOME_TEXT, project: FLAG, user: FLAG, extensions: ANY_OBJECT, filter: OF_THE_HOST }),
      ],
    },
    expansion: subset({
      headers: { type: 'string', enum: ['own-env', 'host'] },
      missing: { type: 'string', enum: ['error', 'empty'] },
    }),
    askInput: OF_THE_HOST,
    clientInfo: {
      type: 'object',
      title: '{ name, version }',
      properties: { name: SOME_TEXT, version: TEXT },
      required: ['name', 'version'],
    },
    capabilities: ANY_OBJECT,
    policy: POLICY,
    trust: OF_THE_HOST,
    approvals: OF_THE_HOST,
    retryCalls: RETRY_CALLS,
    auth: OF_THE_HOST,
    handlers: OF_THE_HOST,
    validateArguments: FLAG,
    naming: { type: 'string', enum: NAMING_TEMPLATES },
    review: OF_THE_HOST,
    requiresApproval: OF_THE_HOST,
    startSlots: { type: 'integer', minimum: 1 },
    retryBudget: subset({ burst: { type: 'integer', minimum: 1 }, everyMs: DURATION }),
    cache: OF_THE_HOST,
    startGateMs: DURATION,
    env: OF_THE_HOST,
    clock: OF_THE_HOST,
    seed: { type: 'number' },
    record: OF_THE_HOST,
    inspector: OF_THE_HOST,
    logger: OF_THE_HOST,
  } satisfies { readonly [K in keyof TroupeOptions]-?: Schema },
  additionalProperties: false,
};

/** The options of `Troupe.view`. */
export const VIEW_SCHEMA: Schema = {
  type: 'object',
  title: 'an object',
  properties: { servers: TEXTS, tools: TEXTS } satisfies { readonly [K in keyof ViewOptions]-?: Schema },
  additionalProperties: false,
};

function subset(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties, additionalProperties: false };
}

/**
 * The fields of an entry, one row each. Validation, normal form, comparison of two readings, effective settings,
 * published schema and reference are all derived from these rows. The types in `server-config.ts` document what each
 * field means to a host. Longer than 300 lines because every field has its row here.
 */
import {
  DURATION,
  FLAG,
  LIMITS,
  OAUTH,
  POLICY,
  RETRY_CALLS,
  SOME_TEXT,
  subset,
  TEXT,
  TEXTS,
  type Schema,
} from './schema.js';
import {
  DEFAULT_CALL_TIMEOUT_MS,
  type HttpServerConfig,
  type Isolation,
  type ProtocolChoice,
  type ServerSettings,
  type StdioServerConfig,
} from './server-config.js';
import { NO_FILTER } from './tool-filter.js';

export type EntryTransport = 'stdio' | 'http' | 'in-process';

export interface EntryField<Value = unknown> {
  /** The allowed values. */
  readonly schema: Schema;
  /** Other names for it, as hosts write them. */
  readonly aliases?: readonly string[];
  /** The servers that it applies to. */
  readonly transports: readonly EntryTransport[];
  /** What a change requires: a new session, or nothing. */
  readonly onReload: 'restart' | 'live';
  /** The value that an absent field stands for. Defaults that the host can change, such as the policy, are not here. */
  readonly default?: Value;
  /** One sentence for editors, without the default. */
  readonly meaning: string;
}

/** Spellings of `type`, and their meaning. */
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

/** The fields that the schema accepts, once aliases are resolved. */
export interface EntryFields
  extends
    Omit<StdioServerConfig, 'type' | 'command' | 'tools'>,
    Partial<Omit<HttpServerConfig, 'type' | 'tools' | 'proxy'>> {
  readonly type?: keyof typeof TRANSPORT_TYPES;
  readonly command?: string | readonly string[];
  readonly tools?: readonly string[] | NonNullable<ServerSettings['tools']>;
  readonly disabled?: boolean;
  readonly proxy?: string | boolean;
}

const STRINGS = { type: 'object', title: 'an object of strings', additionalProperties: TEXT } as const;

/** RFC 9110 section 5.1: a field name is a token (section 5.6.2). */
const HEADER_NAME = {
  pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
  title: "a header's name (RFC 9110)",
} as const;

/** Allowed in every entry; a running session adopts a change. */
const SETTING = { transports: ['stdio', 'http', 'in-process'], onReload: 'live' } as const;

export const ENTRY_FIELDS = {
  type: {
    schema: { type: 'string', enum: Object.keys(TRANSPORT_TYPES), title: "'stdio', 'http' or 'sse'" },
    aliases: ['transport', 'transportType'],
    transports: ['stdio', 'http'],
    onReload: 'restart',
    meaning: 'How the server is reached. Default: stdio with a command, streamable HTTP (or SSE) with a url.',
  },
  url: {
    schema: SOME_TEXT,
    aliases: ['httpUrl', 'serverUrl'],
    transports: ['http'],
    onReload: 'restart',
    meaning: 'Address of the server. ${VAR} is replaced.',
  },
  command: {
    schema: {
      anyOf: [SOME_TEXT, { type: 'array', items: TEXT, minItems: 1, title: 'a list of strings' }],
    },
    transports: ['stdio'],
    onReload: 'restart',
    meaning: 'Program to start; a list is the program and its first arguments. ${VAR} is replaced.',
  },
  args: {
    schema: TEXTS,
    transports: ['stdio'],
    onReload: 'restart',
    meaning:
      'Arguments, passed without a shell. ${VAR} is replaced with a variable from env or the host, except in code for a shell.',
  },
  env: {
    schema: { ...STRINGS, propertyNames: { pattern: '^[^=\\u0000]+$', title: "a variable's name" } },
    aliases: ['environment'],
    transports: ['stdio', 'http'],
    onReload: 'restart',
    meaning:
      'Variables for the program, on top of a short list of the host’s. With a url: values for its references.',
  },
  envFile: {
    schema: SOME_TEXT,
    aliases: ['env_file'],
    transports: ['stdio'],
    onReload: 'restart',
    meaning: 'File of NAME=value lines, relative to this file: further variables for the program.',
  },
  cwd: {
    schema: SOME_TEXT,
    transports: ['stdio'],
    onReload: 'restart',
    meaning: 'Working directory. Default: the folder of the project.',
  },
  inheritEnv: {
    schema: { anyOf: [FLAG, TEXTS] },
    transports: ['stdio', 'http'],
    onReload: 'restart',
    default: false,
    meaning: 'Variables of the host that the program also gets: true for all, or a list of names.',
  },
  keepDaemons: {
    schema: FLAG,
    transports: ['stdio'],
    onReload: 'restart',
    default: false,
    meaning: 'true leaves daemons running that the program started, when it ends or the host is killed.',
  },
  only: {
    schema: { type: 'string', enum: ['fleet'], title: "'fleet'" },
    transports: ['stdio'],
    onReload: 'restart',
    meaning: 'fleet runs the program at one host of the fleet at a time; the others use it there.',
  },
  headers: {
    schema: {
      ...STRINGS,
      propertyNames: HEADER_NAME,
    },
    transports: ['http'],
    onReload: 'restart',
    meaning: 'Sent with every request. ${VAR} is replaced.',
  },
  forwardHeaders: {
    schema: { type: 'array', items: { type: 'string', ...HEADER_NAME }, title: 'a list of names of headers' },
    transports: ['http'],
    onReload: 'restart',
    meaning:
      'Names of headers that a gateway passes on from the HTTP request of its client, with the same call.',
  },
  listen: {
    schema: FLAG,
    transports: ['http'],
    onReload: 'restart',
    default: true,
    meaning:
      'false opens no stream for messages that the server sends on its own; for servers that handle one request at a time.',
  },
  proxy: {
    schema: { anyOf: [FLAG, SOME_TEXT] },
    transports: ['http'],
    onReload: 'restart',
    meaning:
      'Address of the proxy for this server; false uses none. Default: HTTP_PROXY and similar variables.',
  },
  ca: {
    schema: { anyOf: [SOME_TEXT, TEXTS] },
    transports: ['http'],
    onReload: 'restart',
    meaning: 'PEM files with certificates of additional authorities. ${VAR} is replaced.',
  },
  cert: {
    schema: SOME_TEXT,
    transports: ['http'],
    onReload: 'restart',
    meaning: 'PEM file with the client certificate. ${VAR} is replaced.',
  },
  key: {
    schema: SOME_TEXT,
    transports: ['http'],
    onReload: 'restart',
    meaning: "PEM file with the private key for 'cert'. ${VAR} is replaced. Default: the file of 'cert'.",
  },
  headersHelper: {
    schema: SOME_TEXT,
    transports: ['http'],
    onReload: 'restart',
    meaning: 'Shell command that prints additional headers as a JSON object. Runs before each connection.',
  },
  oauth: {
    schema: { anyOf: [FLAG, OAUTH] },
    aliases: ['auth'],
    transports: ['http'],
    onReload: 'restart',
    meaning: 'Registered client, scopes and addresses for the sign-in; false for no sign-in.',
  },
  enabled: { ...SETTING, schema: FLAG, default: true, meaning: 'false leaves the server out.' },
  disabled: { ...SETTING, schema: FLAG, meaning: "true is the same as 'enabled': false." },
  tools: {
    ...SETTING,
    schema: {
      anyOf: [
        TEXTS,
        {
          ...subset({ allow: TEXTS, deny: TEXTS, pinned: TEXTS, group: SOME_TEXT }),
          title: '{ allow, deny, pinned, group }',
        },
      ],
    },
    default: NO_FILTER,
    meaning:
      'Tools to show: a list of patterns to allow, or lists to allow and to deny; pinned ones are always offered. * is a wildcard.',
  },
  start: {
    ...SETTING,
    schema: { type: 'string', enum: ['eager', 'lazy'] },
    default: 'eager',
    meaning: 'lazy starts the server with its first use, once its tools are known.',
  },
  idleStopMs: {
    ...SETTING,
    schema: DURATION,
    meaning: 'Idle milliseconds after which the server is stopped until it is used again. Default 0: never.',
  },
  startTimeoutMs: {
    ...SETTING,
    schema: DURATION,
    aliases: ['timeout'],
    meaning:
      "Milliseconds for each of launch, handshake and list; 0 means no limit. Default 30000. 'timeout' limits calls as well.",
  },
  callTimeoutMs: {
    ...SETTING,
    schema: DURATION,
    default: DEFAULT_CALL_TIMEOUT_MS,
    meaning: 'Milliseconds that a call may take without progress; 0 is no limit.',
  },
  maxConcurrentCalls: {
    ...SETTING,
    schema: { type: 'integer', minimum: 0 },
    default: 0,
    meaning: 'Number of tool calls at the same time; further ones wait in order. 0 is no limit.',
  },
  retryCalls: {
    ...SETTING,
    schema: RETRY_CALLS,
    meaning: 'Which calls may be repeated after a lost connection.',
  },
  limits: {
    ...SETTING,
    onReload: 'restart',
    schema: subset(LIMITS),
    meaning:
      'How much the server may send: stdioMessageBytes, remoteMessageBytes, structuralCharacters, listEntries, eventsPerSecond.',
  },
  protocol: {
    ...SETTING,
    onReload: 'restart',
    schema: {
      type: 'string',
      enum: ['auto', 'old', 'new'] satisfies readonly ProtocolChoice[],
      title: "'auto', 'old' or 'new'",
    },
    default: 'auto',
    meaning:
      'Versions of MCP to speak: old is up to 2025-11-25, new is 2026-07-28, auto finds out what the server speaks.',
  },
  isolation: {
    ...SETTING,
    schema: {
      type: 'string',
      enum: ['per-session', 'shared'] satisfies readonly Isolation[],
      title: "'per-session' or 'shared'",
    },
    meaning:
      'For a gateway: per-session gives each client its own connection, shared gives all clients one. Default: depends on which requests of servers a client can answer.',
  },
  policy: { ...SETTING, schema: POLICY, meaning: 'Overrides of single numbers of the connection policy.' },
} satisfies { readonly [K in keyof EntryFields]-?: EntryField<EntryFields[K]> };

/** In the order in which Troupe writes them. */
export const FIELD_ROWS: readonly (readonly [name: string, field: EntryField])[] =
  Object.entries<EntryField>(ENTRY_FIELDS);

/** Other names of fields. */
export const ALIASES: ReadonlyMap<string, string> = new Map(
  FIELD_ROWS.flatMap(([name, { aliases = [] }]) => aliases.map((alias) => [alias, name] as const)),
);

/** One entry. Other fields may belong to other hosts and are tolerated. */
export const ENTRY_SCHEMA = {
  type: 'object',
  title: "an object with 'command' or 'url'",
  properties: Object.fromEntries(
    FIELD_ROWS.flatMap(([name, { schema, aliases = [] }]) =>
      [name, ...aliases].map((spelling) => [spelling, schema]),
    ),
  ),
} satisfies Schema;

/** An entry for a server in this process, without the object: only code writes one, so every field must be known. */
export const SETTINGS_SCHEMA: Schema = {
  type: 'object',
  properties: Object.fromEntries(
    FIELD_ROWS.filter(([, { transports }]) => transports.includes('in-process')).map(([name, { schema }]) => [
      name,
      schema,
    ]),
  ),
  additionalProperties: false,
};

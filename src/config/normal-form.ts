/**
 * The one way in which Troupe writes an entry: without nulls, empty collections, explicit defaults, aliases and
 * other hosts' fields, so that entries of one meaning look alike (`entry-hash.ts` relies on it).
 */
import type { HttpServerConfig, ServerSettings, StdioServerConfig } from '../options.js';
import { isEmptyCollection } from './choose-transport.js';
import type { EntryFields } from './entry-fields.js';
import { TRANSPORT_TYPES } from './schema.js';

/** `command` may be a list: its first item is the program, the rest come before `args`. */
export function toStdioConfig(fields: EntryFields): StdioServerConfig {
  const [command = '', ...first] =
    typeof fields.command === 'string' ? [fields.command] : (fields.command ?? []);
  return {
    type: 'stdio',
    command,
    ...withoutIdle({
      args: [...first, ...(fields.args ?? [])],
      env: fields.env,
      cwd: fields.cwd,
      inheritEnv: fields.inheritEnv === false ? undefined : fields.inheritEnv,
    }),
    ...toSettings(fields),
  };
}

export function toHttpConfig(fields: EntryFields): HttpServerConfig {
  const type = fields.type === undefined ? undefined : TRANSPORT_TYPES[fields.type];
  return {
    ...withoutIdle({ type: type === 'stdio' ? undefined : type }),
    url: fields.url ?? '',
    ...withoutIdle({ env: fields.env, headers: fields.headers }),
    ...toSettings(fields),
  };
}

export function toSettings(fields: EntryFields): ServerSettings {
  const isOff = fields.enabled === false || fields.disabled === true;
  return withoutIdle({
    enabled: isOff ? false : undefined,
    tools: toFilter(fields.tools),
    start: fields.start === 'lazy' ? fields.start : undefined,
    idleStopMs: fields.idleStopMs,
    timeout: fields.timeout,
    callTimeout: fields.callTimeout,
    maxConcurrentCalls: fields.maxConcurrentCalls,
    retryCalls: fields.retryCalls,
    isolation: fields.isolation,
    policy: fields.policy,
  });
}

/** A plain list is an allow-list. */
function toFilter(tools: EntryFields['tools']): ServerSettings['tools'] {
  return isList(tools) ? { allow: tools } : tools;
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that say something. */
function withoutIdle<T extends object>(fields: T): Present<T> {
  const present: Present<T> = {};
  for (const [name, value] of Object.entries(fields) as [keyof T, Present<T>[keyof T]][]) {
    if (value !== undefined && !isEmptyCollection(value)) present[name] = value;
  }
  return present;
}

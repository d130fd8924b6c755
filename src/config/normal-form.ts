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
    ...unlessIdle({ args: [...first, ...(fields.args ?? [])] }),
    ...unlessIdle({ env: fields.env }),
    ...unlessIdle({ cwd: fields.cwd }),
    ...unlessIdle({ inheritEnv: fields.inheritEnv === false ? undefined : fields.inheritEnv }),
    ...toSettings(fields),
  };
}

export function toHttpConfig(fields: EntryFields): HttpServerConfig {
  const type = fields.type === undefined ? undefined : TRANSPORT_TYPES[fields.type];
  return {
    ...unlessIdle({ type: type === 'stdio' ? undefined : type }),
    url: fields.url ?? '',
    ...unlessIdle({ env: fields.env }),
    ...unlessIdle({ headers: fields.headers }),
    ...toSettings(fields),
  };
}

export function toSettings(fields: EntryFields): ServerSettings {
  const isOff = fields.enabled === false || fields.disabled === true;
  return {
    ...unlessIdle({ enabled: isOff ? false : undefined }),
    ...unlessIdle({ tools: toFilter(fields.tools) }),
    ...unlessIdle({ start: fields.start === 'lazy' ? fields.start : undefined }),
    ...unlessIdle({ idleStopMs: fields.idleStopMs }),
    ...unlessIdle({ timeout: fields.timeout }),
    ...unlessIdle({ callTimeout: fields.callTimeout }),
    ...unlessIdle({ maxConcurrentCalls: fields.maxConcurrentCalls }),
    ...unlessIdle({ retryCalls: fields.retryCalls }),
    ...unlessIdle({ isolation: fields.isolation }),
    ...unlessIdle({ policy: fields.policy }),
  };
}

/** A plain list is an allow-list. */
function toFilter(tools: EntryFields['tools']): ServerSettings['tools'] {
  return isList(tools) ? { allow: tools } : tools;
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The one field of `field`, or nothing where it says nothing. */
function unlessIdle<T extends object>(field: T): Present<T> {
  const isIdle = Object.values(field).every((value) => value === undefined || isEmptyCollection(value));
  return isIdle ? {} : field;
}

/**
 * The canonical form of an entry, and its hash: without nulls, empty collections, explicit defaults, aliases and other hosts'
 * fields, so that entries with the same meaning look alike.
 *
 * H1. Formatting, order of keys, comments, other hosts' fields and explicit defaults do not change the hash.
 * H2. It is taken from the unexpanded entry: it depends on no value of a variable.
 * H3. A server object of this process has no content to hash: two such entries with equal settings have the same hash.
 */
import { hashOf } from '../../json/canonical-json.js';
import type { ServerConfig } from './server-config.js';
import { FIELD_ROWS, TRANSPORT_TYPES, type EntryFields, type EntryTransport } from './entry-fields.js';
import { isEmptyCollection } from './read-shape.js';

/** The fields that apply to the transport and have an effect. */
export function toNormalForm(
  { disabled, ...fields }: EntryFields,
  transport: EntryTransport,
): Readonly<Record<string, unknown>> {
  const { type, command, args = [], enabled, tools } = fields;
  const [program, ...first] = isList(command) ? command : [command];
  const normal: Readonly<Record<string, unknown>> = {
    ...fields,
    type: transport === 'stdio' ? transport : type && TRANSPORT_TYPES[type],
    command: program,
    args: [...first, ...args],
    enabled: disabled === true ? false : enabled,
    tools: isList(tools) ? { allow: tools } : tools,
  };
  return Object.fromEntries(
    FIELD_ROWS.filter(([name, field]) => {
      const value = normal[name];
      const isIdle = value === undefined || value === field.default || isEmptyCollection(value);
      return field.transports.includes(transport) && !isIdle;
    }).map(([name]) => [name, normal[name]]),
  );
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

/** SHA-256 of a validated entry, in hex. */
export function entryHash(config: ServerConfig): string {
  if (!('server' in config)) return hashOf(config);
  const { server: _, ...described } = config;
  return hashOf(described);
}

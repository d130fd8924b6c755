/**
 * What people write, and what it means: names and values that are not spelled as the schema has them, and the form in which
 * entries with the same meaning look alike.
 */
import { nearestName } from '../../text/option-names.js';
import {
  ALIASES,
  ENTRY_SCHEMA,
  FIELD_ROWS,
  TRANSPORT_TYPES,
  type EntryFields,
  type EntryTransport,
} from './entry-fields.js';
import { listed, printable, type Path } from './problem.js';
import { type Report, isObject, isOfType, isEmptyCollection } from './read-shape.js';
import type { Schema } from './schema.js';
import { hashOf } from '../../json/json-hash.js';
import type { ServerConfig } from './server-config.js';

// The names of fields as people write them: aliases, synonyms, typing mistakes.

export type RawEntry = Readonly<Record<string, unknown>>;

/** Words that people write and that are no typing mistakes. */
const SYNONYMS: Readonly<Record<string, string>> = {
  cmd: 'command',
  exec: 'command',
  executable: 'command',
  arguments: 'args',
  argv: 'args',
  envVars: 'env',
  uri: 'url',
  endpoint: 'url',
  workdir: 'cwd',
  workingDirectory: 'cwd',
};

/** The name under which an entry holds a field: its own or an alias. Undefined if the field is absent. */
export function writtenAs(entry: RawEntry, field: string): string | undefined {
  return spellings(field).find((spelling) => isPresent(entry[spelling]));
}

export function resolveAliases(fields: RawEntry): RawEntry {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [meaningOf(name), value]));
}

export function reportDoubles(entry: RawEntry, report: Report): void {
  for (const names of SEVERAL_NAMES) {
    const [first, second] = names.filter((spelling) => isPresent(entry[spelling]));
    if (second !== undefined)
      report([second], 'conflicting-fields', `means the same as '${first}'; keep one of them`);
  }
}

/**
 * Fields of other hosts that make no difference to a connection: names and icons for people, and lists of the calls
 * that need no confirmation there.
 */
const WITHOUT_EFFECT =
  /^(?:[_$/#].*|alwaysAllow|alwaysLoad|autoApprove|autoapprove|description|dev|display_?[nN]ame|gallery|icons?|id|metadata|name|note|roots|tags|title|trust|version|comment)$/;

const CONSEQUENCES: ReadonlyMap<string, string> = new Map([
  ['sandbox', 'the program is started without a sandbox'],
  ['sandboxEnabled', 'the program is started without a sandbox'],
  ['watchPaths', 'a change of these files restarts nothing'],
]);

/** Unknown fields may belong to other hosts and are tolerated. One warning names them all, with suggestions. */
export function reportUnknown(entry: RawEntry, report: Report): void {
  const unknown = Object.keys(entry).filter((field) => {
    const isKnown = Object.hasOwn(ENTRY_SCHEMA.properties, field) || isNothing(entry[field]);
    return !isKnown && (!WITHOUT_EFFECT.test(field) || meantField(field) !== undefined);
  });
  const [first, ...others] = unknown;
  if (first === undefined) return;
  const meant = meantField(first);
  if (others.length === 0 && meant !== undefined) {
    report([first], 'unknown-field', `is not a known field; did you mean '${meant}'?`, 'warning');
    return;
  }
  const consequences = new Set(unknown.flatMap((field) => CONSEQUENCES.get(field) ?? []));
  const consequence = [...consequences].join('; ');
  if (others.length === 0) {
    const message = `is not a known field: ${consequence || 'the server is used without it'}`;
    report([first], 'unknown-field', message, 'warning');
    return;
  }
  report(
    [],
    'unknown-field',
    `${withSuggestions(unknown)} are not known fields: ${consequence || 'the server is used without them'}`,
    'warning',
  );
}

/** The quoted names of unknown fields, each with the field that was probably meant; `others` as in `meantField`. */
export function withSuggestions(fields: readonly string[], others: readonly string[] = []): string {
  return listed(fields, (field) => {
    const meant = meantField(field, others);
    return `'${printable(field)}'${meant === undefined ? '' : ` (did you mean '${meant}'?)`}`;
  });
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The field that an unknown name was probably meant to be; `others` are names that another host knows. */
export function meantField(field: string, others: readonly string[] = []): string | undefined {
  const known = [...others, ...Object.keys(ENTRY_SCHEMA.properties)];
  const meant = Object.hasOwn(SYNONYMS, field) ? SYNONYMS[field] : nearestName(field, known);
  return meant === undefined ? undefined : meaningOf(meant);
}

/** The names of each field, its own first. */
const NAMES: ReadonlyMap<string, readonly string[]> = new Map(
  FIELD_ROWS.map(([name, { aliases = [] }]) => [name, [name, ...aliases]]),
);
const SEVERAL_NAMES = [...NAMES.values()].filter(({ length }) => length > 1);

function spellings(field: string): readonly string[] {
  return NAMES.get(field) ?? [field];
}

function meaningOf(name: string): string {
  return ALIASES.get(name) ?? name;
}

function isPresent(value: unknown): boolean {
  return !isNothing(value);
}

// Converts and reports values of the wrong type whose meaning is clear: a number or a boolean in a field whose text is
// passed on, and text in a field that takes a number or a boolean. Pure.
//
// A report never contains the value.

/** Fields whose text is passed on to a program or a server. In other fields, a number in place of text is a mistake. */
const PASSED_ON: ReadonlySet<unknown> = new Set(['args', 'env', 'environment', 'headers', 'oauth', 'auth']);

/** The value with all clear parts converted; the validation handles the rest. */
export function loosened(value: unknown, schema: Schema, path: Path, report: Report): unknown {
  const reported = (converted: unknown, message: string): unknown => {
    report(path, 'converted-value', message, 'warning');
    return converted;
  };
  if (schema.anyOf !== undefined) {
    const fitting = schema.anyOf.find((option) => isOfType(value, option));
    if (fitting !== undefined) return loosened(value, fitting, path, report);
    const isScalar = typeof value !== 'object';
    const first = schema.anyOf.find(({ type }) => type !== 'object' && type !== 'array');
    return isScalar && first !== undefined ? loosened(value, first, path, report) : value;
  }
  switch (schema.type) {
    case 'string':
      if (!PASSED_ON.has(path[0]) || (typeof value !== 'number' && typeof value !== 'boolean')) return value;
      return reported(String(value), `is a ${typeof value}, and is used as text`);
    case 'boolean':
      if (typeof value !== 'string' || !/^\s*(?:true|false)\s*$/i.test(value)) return value;
      return reported(value.trim().toLowerCase() === 'true', 'is text, and is used as true or false');
    case 'number':
    case 'integer':
      if (typeof value !== 'string' || !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return value;
      return reported(Number(value), 'is text, and is used as a number');
    case 'array': {
      const { items } = schema;
      if (!Array.isArray(value) || items === undefined) return value;
      return value.map((item: unknown, index) => loosened(item, items, [...path, index], report));
    }
    case 'object':
      return isObject(value) ? loosenedFields(value, schema, path, report) : value;
    default:
      return value;
  }
}

function loosenedFields(
  value: Readonly<Record<string, unknown>>,
  { properties = {}, additionalProperties }: Schema,
  path: Path,
  report: Report,
): Readonly<Record<string, unknown>> {
  const fields = Object.entries(value).flatMap(([name, field]): (readonly [string, unknown])[] => {
    const at = [...path, name];
    const isNamed = Object.hasOwn(properties, name);
    const known = isNamed ? properties[name] : additionalProperties;
    if (known === undefined || known === false) return [[name, field]];
    if (field === null && !isNamed) {
      report(at, 'converted-value', 'is null, and is left out', 'warning');
      return [];
    }
    return [[name, loosened(field, known, at, report)]];
  });
  return Object.fromEntries(fields);
}

// The canonical form of an entry, and its hash: without nulls, empty collections, explicit defaults, aliases and other hosts'
// fields, so that entries with the same meaning look alike.
//
// H1. Formatting, order of keys, comments, other hosts' fields and explicit defaults do not change the hash.
// H2. It is taken from the unexpanded entry: it depends on no value of a variable.
// H3. A server object of this process has no content to hash: two such entries with equal settings have the same hash.

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

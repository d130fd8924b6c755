/** The names of fields as people write them: aliases, synonyms, typing mistakes. */
import { nearestName } from '../../text/near-miss.js';
import { ALIASES, ENTRY_SCHEMA, FIELD_ROWS } from './entry-fields.js';
import { listed, printable } from './problem.js';
import type { Report } from './read-shape.js';

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
  for (const [field] of FIELD_ROWS) {
    const [first, second] = spellings(field).filter((spelling) => isPresent(entry[spelling]));
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

function spellings(field: string): readonly string[] {
  return [field, ...(FIELD_ROWS.find(([name]) => name === field)?.[1].aliases ?? [])];
}

function meaningOf(name: string): string {
  return ALIASES.get(name) ?? name;
}

function isPresent(value: unknown): boolean {
  return !isNothing(value);
}

/** The names of fields as people write them: aliases, synonyms, typing mistakes. */
import { nearestName } from '../../text/near-miss.js';
import { ALIASES, ENTRY_SCHEMA, FIELD_ROWS } from './entry-fields.js';
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
    if (second !== undefined) report([second], `means the same as '${first}'; keep one of them`);
  }
}

/** Unknown fields may belong to other hosts and are tolerated, but a misspelt field would be a lost setting. */
export function reportNearMisses(entry: RawEntry, report: Report): void {
  for (const field of Object.keys(entry)) {
    if (Object.hasOwn(ENTRY_SCHEMA.properties, field)) continue;
    const meant = meantField(field);
    if (meant === undefined) continue;
    report([field], `is not a known field; did you mean '${meant}'?`, 'warning');
  }
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
  return value !== undefined && value !== null;
}

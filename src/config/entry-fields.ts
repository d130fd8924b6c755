/**
 * The fields of an entry as people write them: aliases, synonyms, typing mistakes.
 */
import type { ServerSettings } from '../options.js';
import { nearestName } from './near-miss.js';
import type { Report } from './read-shape.js';
import { ALIASES, ENTRY_SCHEMA, type TRANSPORT_TYPES } from './schema.js';

export type RawEntry = Readonly<Record<string, unknown>>;

/** What the schema lets through, once aliases are resolved. */
export interface EntryFields extends Omit<ServerSettings, 'tools'> {
  readonly type?: keyof typeof TRANSPORT_TYPES;
  readonly command?: string | readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly inheritEnv?: boolean | readonly string[];
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly disabled?: boolean;
  readonly tools?: readonly string[] | NonNullable<ServerSettings['tools']>;
}

/** Words that no typing mistake leads to, but that people write. */
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

const MEANINGS: Readonly<Record<string, string>> = ALIASES;

/** Of the fields that have aliases: their own name, and those. */
const SPELLINGS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.values(MEANINGS).map((field) => [
    field,
    [field, ...Object.keys(MEANINGS).filter((alias) => MEANINGS[alias] === field)],
  ]),
);

/** The name under which an entry holds a field, if it holds it: its own or an alias. */
export function writtenAs(entry: RawEntry, field: string): string | undefined {
  return spellings(field).find((spelling) => isPresent(entry[spelling]));
}

export function resolveAliases(fields: RawEntry): RawEntry {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [meaningOf(name), value]));
}

export function reportDoubles(entry: RawEntry, report: Report): void {
  for (const field of SPELLINGS.keys()) {
    const [first, second] = spellings(field).filter((spelling) => isPresent(entry[spelling]));
    if (second !== undefined) report([second], `means the same as '${first}'; keep one of them`);
  }
}

/** Other hosts' fields are nobody's business here, but a known field misspelt is a setting lost. */
export function reportNearMisses(entry: RawEntry, report: Report): void {
  for (const field of Object.keys(entry)) {
    if (Object.hasOwn(ENTRY_SCHEMA.properties, field)) continue;
    const meant = meantField(field);
    if (meant === undefined) continue;
    report([field], `is not a known field; did you mean '${meant}'?`, 'warning');
  }
}

/** What somebody probably meant by the name of a field that there is not; `others` are names that another host knows. */
export function meantField(field: string, others: readonly string[] = []): string | undefined {
  const known = [...others, ...Object.keys(ENTRY_SCHEMA.properties)];
  const meant = Object.hasOwn(SYNONYMS, field) ? SYNONYMS[field] : nearestName(field, known);
  return meant === undefined ? undefined : meaningOf(meant);
}

function spellings(field: string): readonly string[] {
  return SPELLINGS.get(field) ?? [field];
}

function meaningOf(name: string): string {
  return Object.hasOwn(MEANINGS, name) ? (MEANINGS[name] ?? name) : name;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

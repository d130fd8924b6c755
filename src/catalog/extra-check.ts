/**
 * Checks the resources, resource templates and prompts that a server lists.
 *
 * Follows the same rules as `tool-check.ts`: a bad entry never affects another, identities are unique, unknown fields
 * pass unchanged, and problems are returned to the caller.
 */
import type { Prompt, ResourceTemplate } from '../mcp/server-offers.js';
import type { Resource } from '../mcp/content.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { isDeeperThan, MAX_DEPTH } from '../json/parse-json.js';
import { quoted } from '../text/server-text.js';
import { asText } from '../text/as-text.js';

/** The entries of the lists other than tools, as a server gives them. */
export interface ExtraEntries {
  readonly resources: Resource;
  readonly resourceTemplates: ResourceTemplate;
  readonly prompts: Prompt;
}

/** A list other than tools. */
export type ExtraKind = keyof ExtraEntries;

export const EXTRA_KINDS = [
  'resources',
  'resourceTemplates',
  'prompts',
] as const satisfies readonly ExtraKind[];

export interface ExtraCheck<K extends ExtraKind> {
  readonly entries: ExtraEntries[K][];
  /** One sentence for every entry left out and for every field removed. */
  readonly problems: string[];
}

/** Says what is wrong with a value; undefined if nothing is. */
type Flaw = (value: unknown) => string | undefined;

const text: Flaw = (value) => (typeof value === 'string' ? undefined : 'is not a string');
const object: Flaw = (value) => (isJsonObject(value) ? undefined : 'is not an object');
const size: Flaw = (value) =>
  typeof value === 'number' && value >= 0 && Number.isFinite(value) ? undefined : 'is not a size';
const promptArguments: Flaw = (value) =>
  Array.isArray(value) && value.every(isPromptArgument) ? undefined : 'is not a list of named arguments';

function isPromptArgument(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { name, description, required } = value;
  return (
    typeof name === 'string' &&
    name !== '' &&
    (description === undefined || typeof description === 'string') &&
    (required === undefined || typeof required === 'boolean')
  );
}

interface Rules {
  /** The word for an entry in messages. */
  readonly noun: string;
  /** The field that identifies an entry. */
  readonly identity: string;
  /** Optional fields, each with its check. */
  readonly optional: Readonly<Record<string, Flaw>>;
}

/** MCP specification, schema: Resource, ResourceTemplate, Prompt. Every entry has a `name` besides its identity. */
const RULES: Readonly<Record<ExtraKind, Rules>> = {
  resources: {
    noun: 'Resource',
    identity: 'uri',
    optional: { title: text, description: text, mimeType: text, size, annotations: object },
  },
  resourceTemplates: {
    noun: 'Resource template',
    identity: 'uriTemplate',
    optional: { title: text, description: text, mimeType: text, annotations: object },
  },
  prompts: {
    noun: 'Prompt',
    identity: 'name',
    optional: { title: text, description: text, arguments: promptArguments },
  },
};

/** The identity of an entry within its list. */
export function identityOf<K extends ExtraKind>(kind: K, entry: ExtraEntries[K]): string {
  return asText((entry as unknown as JsonObject)[RULES[kind].identity]);
}

/**
 * Checks the entries of one complete list (all pages, in the order they came). Leaves out an entry that is not an
 * object, has no `name` or identity, repeats an identity, or nests too deeply. Keeps an entry with an optional field of
 * the wrong type, without that field.
 */
export function checkExtras<K extends ExtraKind>(kind: K, raw: readonly unknown[]): ExtraCheck<K> {
  const rules = RULES[kind];
  const entries = new Map<string, ExtraEntries[K]>();
  const problems: string[] = [];
  for (const [index, entry] of raw.entries()) {
    const flaw = flawOfEntry(entry, rules, entries);
    if (flaw !== undefined) {
      problems.push(`${describe(entry, rules, index)} was left out: ${flaw}.`);
      continue;
    }
    const good = entry as ExtraEntries[K] & JsonObject;
    const flaws = flawedFields(good, rules);
    for (const [field, what] of flaws) {
      problems.push(`${describe(entry, rules, index)} is kept without its ${field}: it ${what}.`);
    }
    entries.set(identityOf(kind, good), flaws.size === 0 ? good : withoutFields(good, flaws));
  }
  return { entries: [...entries.values()], problems };
}

/** Why an entry cannot be used at all; undefined if it can. */
function flawOfEntry(
  entry: unknown,
  { identity }: Rules,
  taken: ReadonlyMap<string, unknown>,
): string | undefined {
  if (!isJsonObject(entry)) return 'it is not an object';
  for (const field of new Set([identity, 'name'])) {
    if (typeof entry[field] !== 'string' || entry[field] === '') return `it has no ${field}`;
  }
  if (taken.has(entry[identity] as string)) return `an earlier one has the same ${identity}`;
  return isDeeperThan(MAX_DEPTH, entry) ? `it nests deeper than ${MAX_DEPTH} levels` : undefined;
}

function flawedFields(entry: JsonObject, { optional }: Rules): ReadonlyMap<string, string> {
  const flaws = new Map<string, string>();
  for (const [field, flawOf] of Object.entries(optional)) {
    const flaw = entry[field] === undefined ? undefined : flawOf(entry[field]);
    if (flaw !== undefined) flaws.set(field, flaw);
  }
  return flaws;
}

function withoutFields<T extends object>(entry: T, fields: ReadonlyMap<string, string>): T {
  return Object.fromEntries(Object.entries(entry).filter(([field]) => !fields.has(field))) as T;
}

function describe(entry: unknown, { noun, identity }: Rules, index: number): string {
  const id = isJsonObject(entry) ? (entry[identity] ?? entry['name']) : undefined;
  return typeof id === 'string' && id !== '' ? `${noun} ${quoted(id)}` : `${noun} number ${index + 1}`;
}

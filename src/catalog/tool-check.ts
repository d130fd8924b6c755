/**
 * Checks the tools that a server lists.
 *
 * Owns the judgment on each entry of `tools/list`. Pure: the problems are returned to the caller.
 *
 * C1. A bad tool never affects another: it is left out, or loses the bad field, and the rest stay as they are.
 * C2. Names of the remaining tools are unique and not empty; the first usable tool keeps a name.
 * C3. Unknown fields pass unchanged, and the raw list is never changed.
 * C4. The remaining tools nest at most `MAX_DEPTH` levels, so that recursion over them is safe.
 * C5. Text of the server appears in a problem only quoted, cut and free of control characters.
 */
import type { Tool } from '../mcp/server-offers.js';
import { findDanglingRef, findInvalidKeyword } from '../schemas/invalid-schema.js';
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { entryTexts, type EntryTexts } from './list-diff.js';
import { isDeeperThan, MAX_DEPTH } from '../json/parse-json.js';
import { TOOL, withoutNulls } from '../protocol/absent-nulls.js';
import type { WholeList } from './list-all.js';
import { quoted } from '../text/server-text.js';
import { digitGroups } from '../text/digit-groups.js';

export interface ToolCheck {
  readonly tools: Tool[];
  /** One sentence for every tool left out and for every field removed. */
  readonly problems: string[];
  /** The entries that are left out. */
  readonly leftOut: readonly LeftOut[];
}

/** An entry of a list of tools that cannot be used. */
export interface LeftOut {
  /** The server's own name for it; null if it has none, or for all entries of the pages that were not read. */
  readonly tool: string | null;
  /** Why, as the end of a sentence: "its inputSchema is not an object". */
  readonly why: string;
}

/** What is wrong with the schema of a tool; undefined if nothing is. */
function flawOfSchema(schema: unknown): string | undefined {
  if (!isJsonObject(schema)) return 'is not an object';
  if (schema['type'] !== 'object') return 'is not of type "object"';
  const invalid = findInvalidKeyword(schema);
  if (invalid !== undefined) return invalid;
  const ref = findDanglingRef(schema);
  return ref === undefined ? undefined : `refers to ${quoted(ref)}, which does not exist`;
}

/** Adds a missing `type`; zod-to-json-schema with a newer zod omits it. A schema of another type stays as it is. */
function typedSchema(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const { type } = schema;
  const isUntyped = type === undefined || type === null || (Array.isArray(type) && type.includes('object'));
  return isUntyped ? { ...schema, type: 'object' } : schema;
}

/** The entry without `null` in optional fields, and with types for schemas that lack them. */
function repaired(given: JsonObject): JsonObject {
  const entry = withoutNulls(given, TOOL);
  const { outputSchema } = entry;
  const inputSchema = typedSchema(entry['inputSchema'] ?? {});
  const typedOutput = typedSchema(outputSchema);
  if (inputSchema === entry['inputSchema'] && typedOutput === outputSchema) return entry;
  return { ...entry, inputSchema, ...(outputSchema === undefined ? {} : { outputSchema: typedOutput }) };
}

/** Why an entry cannot be used at all; undefined if it is a tool. */
function flawOfEntry(entry: unknown, taken: ReadonlyMap<string, Tool>): string | undefined {
  if (!isJsonObject(entry)) return 'it is not an object';
  const { name, inputSchema } = entry;
  if (typeof name !== 'string' || name === '') return 'it has no name';
  if (taken.has(name)) return 'an earlier tool has the same name';
  if (isDeeperThan(MAX_DEPTH, entry)) return `it nests deeper than ${MAX_DEPTH} levels`;
  const flaw = flawOfSchema(inputSchema);
  return flaw === undefined ? undefined : `its inputSchema ${flaw}`;
}

function flawOfText(value: unknown): string | undefined {
  return typeof value === 'string' ? undefined : 'is not a string';
}

/** The optional fields of a tool. */
const OPTIONAL_FIELDS: readonly (readonly [field: string, flawOf: (value: unknown) => string | undefined])[] =
  [
    ['title', flawOfText],
    ['description', flawOfText],
    ['annotations', (value) => (isJsonObject(value) ? undefined : 'is not an object')],
    ['outputSchema', flawOfSchema],
  ];

/** The optional fields that cannot be used, each with what is wrong. */
function flawedFields(tool: Tool): ReadonlyMap<string, string> {
  const flaws = new Map<string, string>();
  for (const [field, flawOf] of OPTIONAL_FIELDS) {
    const value = (tool as JsonObject)[field];
    const flaw = value === undefined ? undefined : flawOf(value);
    if (flaw !== undefined) flaws.set(field, flaw);
  }
  return flaws;
}

function withoutFields(tool: Tool, fields: ReadonlyMap<string, string>): Tool {
  return Object.fromEntries(Object.entries(tool).filter(([field]) => !fields.has(field))) as Tool;
}

function describe(entry: unknown, index: number): string {
  const name = nameIn(entry);
  return name === null ? `Tool number ${index + 1}` : `Tool ${quoted(name)}`;
}

function nameIn(entry: unknown): string | null {
  const name = isJsonObject(entry) ? entry['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : null;
}

const MAX_NAMED = 3;

function untypedProblem(names: readonly string[]): string {
  const named = names
    .slice(0, MAX_NAMED)
    .map((name) => quoted(name))
    .join(', ');
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `The inputSchema of ${named}${more} does not say that it is of type "object"; it is read as if it did.`;
}

/**
 * Checks the entries of one complete `tools/list` (all pages, in the order they came).
 *
 * Leaves out an entry that is not an object, has no name, repeats a name, nests too deeply, or has an unusable
 * `inputSchema`: of another type than object (MCP specification, Tool), invalid, or with a reference to nothing. A
 * schema without a type counts as type object. Keeps a tool without its `title`, `description` or `annotations` if
 * these have the wrong type, and without an `outputSchema` that would be unusable as an `inputSchema`; its results are
 * then not validated.
 */
export function checkTools(raw: readonly unknown[]): ToolCheck {
  const tools = new Map<string, Tool>();
  const problems: string[] = [];

  const leftOut: LeftOut[] = [];
  const untyped: string[] = [];

  for (const [index, given] of raw.entries()) {
    const entry = isJsonObject(given) ? repaired(given) : given;
    const flaw = flawOfEntry(entry, tools);
    if (flaw !== undefined) {
      problems.push(`${describe(entry, index)} was left out: ${flaw}.`);
      leftOut.push({ tool: nameIn(entry), why: flaw });
      continue;
    }
    const tool = entry as Tool;
    if (isJsonObject(given) && tool.inputSchema !== given['inputSchema']) untyped.push(tool.name);
    const flaws = flawedFields(tool);
    for (const [field, what] of flaws) {
      problems.push(`${describe(entry, index)} is kept without its ${field}: it ${what}.`);
    }
    tools.set(tool.name, flaws.size === 0 ? tool : withoutFields(tool, flaws));
  }
  if (untyped.length > 0) problems.push(untypedProblem(untyped));
  return { tools: [...tools.values()], problems, leftOut };
}

/** What a list lacks because of a limit: each entry beyond the limit, and one for the pages that were not read. */
export function unlisted({ items, beyond = [], isCut = false, problem = '' }: WholeList): readonly LeftOut[] {
  const first = digitGroups(items.length);
  const why = `it comes after the first ${first} entries of the list, the limit of the option 'limits.listEntries'`;
  const rest = isCut
    ? [{ tool: null, why: `the rest of the list was not read: ${problem.replace(/\.$/, '')}` }]
    : [];
  return [...beyond.map((entry) => ({ tool: nameIn(entry), why })), ...rest];
}

/** The tools of a checked list as text, by name. */
export function toTexts(tools: readonly Tool[]): EntryTexts {
  return entryTexts(tools, ({ name }) => name);
}

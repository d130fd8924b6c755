/**
 * What a server said its tools are, made safe to use.
 *
 * Owns the judgment on each entry of `tools/list`; it asks nobody and tells nobody, the problems go to the caller.
 *
 * C1. One bad tool never costs another: it is left out, or loses the bad field, and the rest stay as they are.
 * C2. Names among the tools that stay are unique and not empty; the first usable one keeps the name.
 * C3. Fields this file does not know pass through untouched, and the raw list is never changed.
 * C4. What stays nests at most `MAX_DEPTH` levels, so that recursion over it is safe.
 * C5. Text of the server appears in a problem only quoted, cut and free of control characters.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { findDanglingRef } from './dangling-ref.js';
import { findInvalidKeyword } from './invalid-keyword.js';
import { isJsonObject, type JsonObject } from './json-object.js';
import { entryTexts, type EntryTexts } from './list-diff.js';
import { isDeeperThan, MAX_DEPTH } from './nesting.js';
import { quoted } from './quoted.js';

export interface ToolCheck {
  readonly tools: Tool[];
  /** One sentence for every tool left out and for every field removed. */
  readonly problems: string[];
}

/** What is wrong with the schema of a tool; undefined where nothing is. */
function flawOfSchema(schema: unknown): string | undefined {
  if (!isJsonObject(schema)) return 'is not an object';
  if (schema['type'] !== 'object') return 'is not of type "object"';
  const invalid = findInvalidKeyword(schema);
  if (invalid !== undefined) return invalid;
  const ref = findDanglingRef(schema);
  return ref === undefined ? undefined : `refers to ${quoted(ref)}, which does not exist`;
}

/** Why an entry cannot be used at all; undefined where it is a tool. */
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

/** The fields a tool can do without. */
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
  const name = isJsonObject(entry) ? entry['name'] : undefined;
  return typeof name === 'string' && name !== '' ? `Tool ${quoted(name)}` : `Tool number ${index + 1}`;
}

/**
 * Judges the entries of one complete `tools/list` (all pages, in the order they came).
 *
 * Left out: what is not an object, has no name, has a name already taken, nests too deeply, or has an `inputSchema`
 * that is not of type object (MCP specification, Tool), is no valid schema or refers to nothing. Kept without the field: a tool whose
 * `title`, `description` or `annotations` have the wrong type, or whose `outputSchema` would be refused as an
 * `inputSchema`; its results are then not validated.
 */
export function checkTools(raw: readonly unknown[]): ToolCheck {
  const tools = new Map<string, Tool>();
  const problems: string[] = [];

  for (const [index, entry] of raw.entries()) {
    const flaw = flawOfEntry(entry, tools);
    if (flaw !== undefined) {
      problems.push(`${describe(entry, index)} was left out: ${flaw}.`);
      continue;
    }
    const tool = entry as Tool;
    const flaws = flawedFields(tool);
    for (const [field, what] of flaws) {
      problems.push(`${describe(entry, index)} is kept without its ${field}: it ${what}.`);
    }
    tools.set(tool.name, flaws.size === 0 ? tool : withoutFields(tool, flaws));
  }
  return { tools: [...tools.values()], problems };
}

/** Each tool of a checked list by its name, as text. */
export function toTexts(tools: readonly Tool[]): EntryTexts {
  return entryTexts(tools, ({ name }) => name);
}

/**
 * What a server said its tools are, made safe to use, and how two such lists differ.
 *
 * Owns the judgment on each entry of `tools/list`; it asks nobody and tells nobody, the problems go to the caller.
 *
 * C1. One bad tool never costs another: it is left out, or loses the bad field, and the rest stay as they are.
 * C2. Names among the tools that stay are unique and not empty; the first usable one keeps the name.
 * C3. Fields this file does not know pass through untouched, and the raw list is never changed.
 * C4. What stays nests at most `MAX_DEPTH` levels, so that recursion over it is safe.
 * C5. Text of the server appears in a problem only quoted, cut and free of control characters.
 */
import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { findDanglingRef } from './dangling-ref.js';
import { isJsonObject } from './json-object.js';

export interface ToolCheck {
  readonly tools: Tool[];
  /** One sentence for every tool left out and for every field removed. */
  readonly problems: string[];
}

export interface CatalogDiff {
  /** Raw names, sorted. */
  readonly added: string[];
  readonly removed: string[];
  readonly changed: string[];
}

const MAX_DEPTH = 200;
const WIDE = 100;
const MAX_QUOTED = 100;

function childrenOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

/** Level by level and in a wide level each object once, so that neither depth nor a cycle can exhaust anything. */
function isDeeperThan(limit: number, value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    const below: unknown[] = [];
    for (const each of level) {
      for (const child of childrenOf(each)) if (typeof child === 'object') below.push(child);
    }
    level = below.length > WIDE ? [...new Set(below)] : below;
  }
  return false;
}

function quote(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return JSON.stringify(cut).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

/** What is wrong with the schema of a tool; undefined where nothing is. */
function flawOfSchema(schema: unknown): string | undefined {
  if (!isJsonObject(schema)) return 'is not an object';
  if (schema['type'] !== 'object') return 'is not of type "object"';
  const { properties, required } = schema;
  if (properties !== undefined && !isJsonObject(properties)) return 'has "properties" that are not an object';
  if (required !== undefined && !Array.isArray(required)) return 'has a "required" that is not a list';
  const ref = findDanglingRef(schema);
  return ref === undefined ? undefined : `refers to ${quote(ref)}, which does not exist`;
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
const OPTIONAL_FIELDS: ReadonlyMap<string, (value: unknown) => string | undefined> = new Map([
  ['title', flawOfText],
  ['description', flawOfText],
  ['annotations', (value: unknown) => (isJsonObject(value) ? undefined : 'is not an object')],
  ['outputSchema', flawOfSchema],
]);

/** The optional fields that cannot be used, each with what is wrong. */
function flawedFields(tool: Tool): ReadonlyMap<string, string> {
  const flaws = new Map<string, string>();
  for (const [field, value] of Object.entries(tool)) {
    const flaw = value === undefined ? undefined : OPTIONAL_FIELDS.get(field)?.(value);
    if (flaw !== undefined) flaws.set(field, flaw);
  }
  return flaws;
}

function withoutFields(tool: Tool, fields: ReadonlyMap<string, string>): Tool {
  return Object.fromEntries(Object.entries(tool).filter(([field]) => !fields.has(field))) as Tool;
}

function describe(entry: unknown, index: number): string {
  const name = isJsonObject(entry) ? entry['name'] : undefined;
  return typeof name === 'string' && name !== '' ? `Tool ${quote(name)}` : `Tool number ${index + 1}`;
}

/**
 * Judges the entries of one complete `tools/list` (all pages, in the order they came).
 *
 * Left out: what is not an object, has no name, has a name already taken, nests too deeply, or has an `inputSchema`
 * that is not of type object (MCP specification, Tool) or refers to nothing. Kept without the field: a tool whose
 * `title`, `description` or `annotations` have the wrong type, or whose `outputSchema` would be refused as an
 * `inputSchema`; its results are then not validated.
 */
export function checkTools(raw: readonly unknown[]): ToolCheck {
  const tools = new Map<string, Tool>();
  const problems: string[] = [];

  for (const [index, entry] of raw.entries()) {
    const subject = describe(entry, index);
    const flaw = flawOfEntry(entry, tools);
    if (flaw !== undefined) {
      problems.push(`${subject} was left out: ${flaw}.`);
      continue;
    }
    const tool = entry as Tool;
    const flaws = flawedFields(tool);
    for (const [field, what] of flaws) problems.push(`${subject} is kept without its ${field}: it ${what}.`);
    tools.set(tool.name, flaws.size === 0 ? tool : withoutFields(tool, flaws));
  }
  return { tools: [...tools.values()], problems };
}

/** JSON text that does not depend on the order of keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    isJsonObject(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** Each tool of a checked list by its name, as text; the order of tools and of keys is no difference. */
export type ToolTexts = ReadonlyMap<string, string>;

export function toTexts(tools: readonly Tool[]): ToolTexts {
  return new Map(tools.map((tool) => [tool.name, canonicalJson(tool)]));
}

/** What changed between two lists, tool by tool and in depth. */
export function diffTools(old: ToolTexts, now: ToolTexts): CatalogDiff {
  const names = [...now.keys()].toSorted();
  return {
    added: names.filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !now.has(name)).toSorted(),
    changed: names.filter((name) => old.has(name) && old.get(name) !== now.get(name)),
  };
}

/** SHA-256 (hex) of a list. Equal for two lists exactly where `diffTools` finds nothing. */
export function catalogHash(texts: ToolTexts): string {
  const lines = [...texts.values()].toSorted();
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

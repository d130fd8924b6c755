/**
 * What of a request is repeated in HTTP headers in the new era, so that gateways can route it without reading the body (MCP
 * 2026-07-28, "Transports", "Request Metadata"). Pure.
 */
import { isJsonObject, type JsonObject } from '../json/json-object.js';
import { asText } from '../text/as-text.js';

/** Where in the arguments the value of a header is. */
export interface MirroredArgument {
  readonly path: readonly string[];
  /** In lower case. */
  readonly header: string;
}

/** The param that `Mcp-Name` repeats, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

export function requestHeaders(
  version: string,
  method: string,
  params: JsonObject,
  mirrored: readonly MirroredArgument[] = [],
): Record<string, string> {
  const headers: Record<string, string> = { 'mcp-protocol-version': version, 'mcp-method': method };
  const named = Object.hasOwn(NAMED_BY, method) ? params[NAMED_BY[method] as string] : undefined;
  if (typeof named === 'string') headers['mcp-name'] = headerValue(named);
  for (const { path, header } of mirrored) {
    const value = path.reduce<unknown>(
      (at, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      params['arguments'],
    );
    if (MIRRORED_VALUES.has(typeof value)) headers[header] = headerValue(asText(value));
  }
  return headers;
}

const MIRRORED_VALUES: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);

/** Visible ASCII, with blanks inside. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
const MARKED = /^=\?base64\?.*\?=$/i;

/** The value, in base64 with a mark if it is not plain text or looks as if it had the mark. */
export function headerValue(text: string): string {
  if (PLAIN.test(text) && !MARKED.test(text)) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

const HEADER_KEY = 'x-mcp-header';
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MIRRORED_TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** Their values are data and not schemas. */
const DATA: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples']);
const MAX_DEPTH = 64;

/**
 * Which arguments of a tool are repeated in headers. Undefined if its schema breaks the rules for that: then a client over
 * HTTP must not use the tool.
 */
export function mirroredArguments(inputSchema: unknown): readonly MirroredArgument[] | undefined {
  const found: MirroredArgument[] = [];
  return gather(inputSchema, [], true, found) && areUnique(found) ? found : undefined;
}

/** Returns false if a mark is wrong. `isReachable`: only `properties` lead to the schema. */
function gather(
  schema: unknown,
  path: readonly string[],
  isReachable: boolean,
  found: MirroredArgument[],
  depth = 0,
): boolean {
  if (depth > MAX_DEPTH) return true;
  if (Array.isArray(schema)) return schema.every((each) => gather(each, path, false, found, depth + 1));
  if (!isJsonObject(schema)) return true;
  const name = schema[HEADER_KEY];
  if (name !== undefined) {
    const isRight = isReachable && path.length > 0 && MIRRORED_TYPES.has(schema['type']);
    if (!isRight || typeof name !== 'string' || !TOKEN.test(name)) return false;
    found.push({ path, header: `mcp-param-${name.toLowerCase()}` });
  }
  return Object.entries(schema).every(([key, inner]) => {
    if (key === 'properties' && isJsonObject(inner)) {
      return Object.entries(inner).every(([property, each]) =>
        gather(each, [...path, property], isReachable, found, depth + 1),
      );
    }
    return DATA.has(key) || gather(inner, path, false, found, depth + 1);
  });
}

function areUnique(found: readonly MirroredArgument[]): boolean {
  return new Set(found.map(({ header }) => header)).size === found.length;
}

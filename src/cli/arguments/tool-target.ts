/**
 * Finds the servers and the tool that a person names: a tool by its name for the model, or as `server/tool` or `server.tool`.
 *
 * A name for the model is never taken apart (see `catalog/naming.ts`). Before anything starts, it only narrows down the
 * servers that can have the tool; the started catalog decides which tool it is.
 */
import type { CatalogTool } from '../../catalog/registry.js';
import { nearestName } from '../../text/option-names.js';
import { UsageError } from '../exit.js';

/** A truncated name ends in a hash of nine characters; the part before it follows the template. */
const SURE_LENGTH = 64 - 9;

/** What can be neither JSON, `-`, nor `key=value`. */
const TOOL_WORD = /^(?!-$)[^\s{["=]+$/;

/** The servers that can have this tool. */
export function candidateServers(tool: string, servers: readonly string[]): readonly string[] {
  return servers.filter((server) =>
    [`${server}/`, `${server}.`, exposedStart(server)].some((start) => tool.startsWith(start)),
  );
}

/** How the exposed names of a server's tools begin, as far as that is certain. */
function exposedStart(server: string): string {
  return `mcp__${server}__`.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, SURE_LENGTH);
}

/** The server and the tool may be two words, unless the second one can only be an argument. */
export function joinTarget(
  tool: string,
  words: readonly string[],
  servers: readonly string[],
): { readonly tool: string; readonly words: readonly string[] } {
  const [first, ...rest] = words;
  if (first === undefined || !servers.includes(tool) || !TOOL_WORD.test(first)) return { tool, words };
  return { tool: `${tool}/${first}`, words: rest };
}

export function findTool(wanted: string, tools: readonly CatalogTool[]): CatalogTool | undefined {
  return (
    tools.find(({ name }) => name === wanted) ??
    tools.find((tool) => rawName(tool) === wanted) ??
    tools.find((tool) => rawName(tool, '.') === wanted)
  );
}

/** The message if no server can have this tool. */
export function noServerFor(tool: string, servers: readonly string[]): string {
  const server = /^mcp__(.+?)__/.exec(tool)?.[1] ?? /^([^/.]+)[/.]/.exec(tool)?.[1];
  if (server !== undefined) return noSuchServer(server, servers);
  return `'${tool}' names no server: write mcp__SERVER__TOOL, SERVER/TOOL, SERVER.TOOL or SERVER TOOL`;
}

export function noSuchServer(server: string, servers: readonly string[]): string {
  return `no server is called '${server}'${suggestion(server, servers)}`;
}

/** The message if none of the servers has the tool. */
export function noSuchTool(
  wanted: string,
  servers: readonly string[],
  tools: readonly CatalogTool[],
): string {
  const isDotted = servers.some((server) => wanted.startsWith(`${server}.`));
  const known = wanted.startsWith('mcp__')
    ? tools.map(({ name }) => name)
    : tools.map((tool) => rawName(tool, isDotted ? '.' : '/'));
  return `no tool of ${servers.join(' or ')} is called '${wanted}'${suggestion(wanted, known)}`;
}

function suggestion(word: string, known: readonly string[]): string {
  const nearest = nearestName(word, known);
  return nearest === undefined ? '' : `; did you mean '${nearest}'?`;
}

function rawName({ server, tool }: CatalogTool, separator: '/' | '.' = '/'): string {
  return `${server}${separator}${tool}`;
}

/** Throws a `UsageError` for a name that is not configured. */
export function serversNamed(names: readonly string[], configured: readonly string[]): readonly string[] {
  const unknown = names.find((name) => !configured.includes(name));
  if (unknown !== undefined) throw new UsageError(noSuchServer(unknown, configured));
  return names.length === 0 ? configured : configured.filter((name) => names.includes(name));
}

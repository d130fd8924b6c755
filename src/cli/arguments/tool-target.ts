/**
 * Finds the tool that a person means: by its name for the model, or as `server/tool`.
 *
 * A name for the model is never taken apart (see `catalog/naming.ts`). Before anything starts, it only narrows down the
 * servers that can have the tool; the started catalog decides which tool it is.
 */
import type { CatalogTool } from '../../catalog/registry.js';
import { nearestName } from '../../text/near-miss.js';

/** A truncated name ends in a hash of nine characters; the part before it follows the template. */
const SURE_LENGTH = 64 - 9;

/** The servers that can have this tool. */
export function candidateServers(tool: string, servers: readonly string[]): readonly string[] {
  return servers.filter((server) => tool.startsWith(`${server}/`) || tool.startsWith(exposedStart(server)));
}

/** How the exposed names of a server's tools begin, as far as that is certain. */
function exposedStart(server: string): string {
  return `mcp__${server}__`.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, SURE_LENGTH);
}

export function findTool(wanted: string, tools: readonly CatalogTool[]): CatalogTool | undefined {
  return tools.find(({ name }) => name === wanted) ?? tools.find((tool) => rawName(tool) === wanted);
}

/** The message if no server can have this tool. */
export function noServerFor(tool: string, servers: readonly string[]): string {
  const server = /^mcp__(.+?)__/.exec(tool)?.[1] ?? /^([^/]+)\//.exec(tool)?.[1];
  if (server !== undefined) return noSuchServer(server, servers);
  return `'${tool}' names no server: write mcp__SERVER__TOOL or SERVER/TOOL`;
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
  const known = wanted.startsWith('mcp__') ? tools.map(({ name }) => name) : tools.map(rawName);
  return `no tool of ${servers.join(' or ')} is called '${wanted}'${suggestion(wanted, known)}`;
}

function suggestion(word: string, known: readonly string[]): string {
  const nearest = nearestName(word, known);
  return nearest === undefined ? '' : `; did you mean '${nearest}'?`;
}

function rawName({ server, tool }: CatalogTool): string {
  return `${server}/${tool}`;
}

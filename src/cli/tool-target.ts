/**
 * Which tool somebody means: by its name for the model, or as `server/tool`.
 *
 * A name for the model is never taken apart (see `catalog/naming.ts`). Before anything is started, it only tells which
 * servers it can belong to; which of their tools it is, the started catalog tells.
 */
import type { CatalogTool } from '../catalog/registry.js';
import { nearestName } from '../config/near-miss.js';

/** A name that was cut ends in a hash of nine characters; what comes before is as the template gives it. */
const SURE_LENGTH = 64 - 9;

/** The servers that can have this tool. */
export function candidateServers(tool: string, servers: readonly string[]): readonly string[] {
  return servers.filter((server) => tool.startsWith(`${server}/`) || tool.startsWith(exposedStart(server)));
}

/** How the names of a server's tools begin, as far as that is sure. */
function exposedStart(server: string): string {
  return `mcp__${server}__`.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, SURE_LENGTH);
}

export function findTool(wanted: string, tools: readonly CatalogTool[]): CatalogTool | undefined {
  return tools.find(({ name }) => name === wanted) ?? tools.find((tool) => rawName(tool) === wanted);
}

/** Why no server can have this tool. */
export function noServerFor(tool: string, servers: readonly string[]): string {
  const server = /^mcp__(.+?)__/.exec(tool)?.[1] ?? /^([^/]+)\//.exec(tool)?.[1];
  if (server !== undefined) return noSuchServer(server, servers);
  return `'${tool}' names no server: write mcp__SERVER__TOOL or SERVER/TOOL`;
}

export function noSuchServer(server: string, servers: readonly string[]): string {
  return `no server is called '${server}'${suggestion(server, servers)}`;
}

/** Why none of the servers' tools is meant. */
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

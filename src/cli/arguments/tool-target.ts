/**
 * Finds the servers and the tool that a person names: a tool by its name for the model, or as `server/tool` or `server.tool`.
 *
 * A name for the model is never taken apart (see `catalog/naming.ts`). Before anything starts, it only narrows down the
 * servers that can have the tool; the started catalog decides which tool it is.
 */
import { serverCommand } from '../../lifecycle/server-command.js';
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

/** A tool, or a prompt, which is named as a tool is. */
export interface Offered {
  /** Name for the model. */
  readonly name: string;
  readonly server: string;
  /** The server's own name for it. */
  readonly tool: string;
}

export function findTool<T extends Offered>(wanted: string, tools: readonly T[]): T | undefined {
  return (
    tools.find(({ name }) => name === wanted) ??
    tools.find((tool) => rawName(tool) === wanted) ??
    tools.find((tool) => rawName(tool, '.') === wanted)
  );
}

export type Kind = 'tool' | 'prompt';

/** The message if no server can have this tool. `earlier`: what it was in earlier runs, as `server/tool`. */
export function noServerFor(
  tool: string,
  servers: readonly string[],
  kind: Kind = 'tool',
  earlier: readonly string[] = [],
): string {
  const server = /^mcp__(.+?)__/.exec(tool)?.[1] ?? /^([^/.]+)[/.]/.exec(tool)?.[1];
  if (server !== undefined) return noSuchServer(server, servers);
  if (servers.includes(tool))
    return `'${tool}' is a server: name its ${kind} as well; to see them: ${serverCommand(`${kind}s`, tool)}`;
  if (earlier.length > 0) return `'${tool}' names no server; did you mean '${earlier.join("' or '")}'?`;
  if (nearestName(tool, servers) !== undefined) return noSuchServer(tool, servers);
  const word = kind.toUpperCase();
  return `'${tool}' names no server: write mcp__SERVER__${word}, SERVER/${word}, SERVER.${word} or SERVER ${word}`;
}

export function noSuchServer(server: string, servers: readonly string[]): string {
  return `no server is called '${server}'${suggestion(server, servers)}`;
}

/** The message if none of the servers has the tool. */
export function noSuchTool(
  wanted: string,
  servers: readonly string[],
  tools: readonly Offered[],
  kind: Kind = 'tool',
): string {
  const isDotted = servers.some((server) => wanted.startsWith(`${server}.`));
  const known = wanted.startsWith('mcp__')
    ? tools.map(({ name }) => name)
    : tools.map((tool) => rawName(tool, isDotted ? '.' : '/'));
  return `no ${kind} of ${servers.join(' or ')} is called '${wanted}'${suggestion(wanted, known)}`;
}

function suggestion(word: string, known: readonly string[]): string {
  const nearest = nearestName(word, known);
  return nearest === undefined ? '' : `; did you mean '${nearest}'?`;
}

function rawName({ server, tool }: Offered, separator: '/' | '.' = '/'): string {
  return `${server}${separator}${tool}`;
}

/** Throws a `UsageError` for a name that is not configured. */
export function serversNamed(names: readonly string[], configured: readonly string[]): readonly string[] {
  const unknown = names.find((name) => !configured.includes(name));
  if (unknown !== undefined) throw new UsageError(noSuchServer(unknown, configured));
  return names.length === 0 ? configured : configured.filter((name) => names.includes(name));
}

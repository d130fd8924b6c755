/**
 * Three tools that stand for all others: a model searches for a tool, reads its definition, and calls it by its name. The
 * adapters and the gateway offer the same three.
 *
 * A call through `call_tool` becomes a call of the tool itself before anything else looks at it, so that approval, review,
 * filters, hooks, events and errors name the tool and not `call_tool`.
 */
import { asText } from '../text/as-text.js';
import { argumentsIn } from '../json/json-arguments.js';
import type { JsonObject } from '../json/json-object.js';
import type { ToolAnnotations } from '../mcp/server-offers.js';
import type { SearchedTool } from './tool-index.js';

export type SearchToolName = 'search_tools' | 'describe_tool' | 'call_tool';

export const SEARCH_TOOL_NAMES: readonly SearchToolName[] = ['search_tools', 'describe_tool', 'call_tool'];

/** Where the model searches. */
export interface SearchedCatalogue<T extends SearchedTool> {
  readonly tools: readonly T[];
  readonly groupOf: (tool: T) => string;
  /** The best matches, best first. With `group`, only tools of that group. */
  readonly find: (query: string, limit: number, group: string | undefined) => Promise<readonly T[]>;
}

/** The definition of one of the three tools. */
export interface SearchToolDefinition extends SearchedTool {
  readonly title: string;
  readonly description: string;
  readonly annotations?: ToolAnnotations;
}

/** A call of a tool, as the model wrote it. */
export interface WrittenCall {
  readonly name: string;
  readonly args: JsonObject;
}

/** The arguments of one of the three tools do not fit. The message says what is wrong. */
export class SearchArgumentsError extends Error {}

const DEFAULT_RESULTS = 5;
const MAX_RESULTS = 20;
/** With more groups, their names would take more room than they save. */
const MAX_GROUPS = 50;
const MAX_SHOWN_NAME = 200;
const READS_ONLY = { readOnlyHint: true, openWorldHint: false };

/** `nameOf` gives the name under which a tool is offered: another one, if a server has a tool of the same name. */
export function searchToolDefinitions(
  groups: readonly string[],
  nameOf: (name: SearchToolName) => string,
): readonly SearchToolDefinition[] {
  const isGrouped = groups.length > 1 && groups.length <= MAX_GROUPS;
  return [
    {
      name: nameOf('search_tools'),
      title: 'Search for tools',
      description:
        `Finds tools by what they do. Gives the name, description and arguments of each; call one with '${nameOf('call_tool')}'.` +
        (isGrouped ? ` There are tools of: ${groups.join(', ')}.` : ''),
      inputSchema: {
        type: 'object',
        properties: {
          query: {
            type: 'string',
            description: 'Words that describe what the tool does, such as "create an issue".',
          },
          ...(isGrouped && {
            group: { type: 'string', enum: [...groups], description: 'Searches only there. Default: all.' },
          }),
          limit: {
            type: 'integer',
            minimum: 1,
            maximum: MAX_RESULTS,
            description: `Maximum number of tools. Default ${DEFAULT_RESULTS}.`,
          },
        },
        required: ['query'],
      },
      annotations: READS_ONLY,
    },
    {
      name: nameOf('describe_tool'),
      title: 'Describe a tool',
      description: 'Gives the whole definition of one tool.',
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: `Name of a tool, from '${nameOf('search_tools')}'.` },
        },
        required: ['name'],
      },
      annotations: READS_ONLY,
    },
    {
      name: nameOf('call_tool'),
      title: 'Call a tool',
      description: `Calls a tool that '${nameOf('search_tools')}' has found, and gives its result.`,
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: `Name of the tool, from '${nameOf('search_tools')}'.` },
          arguments: { type: 'object', description: 'Arguments of the tool.' },
        },
        required: ['name'],
      },
    },
  ];
}

/** The groups of tools, in the order of their names. */
export function groupsOf<T extends SearchedTool>({
  tools,
  groupOf,
}: Pick<SearchedCatalogue<T>, 'tools' | 'groupOf'>): readonly string[] {
  return [...new Set(tools.map(groupOf))].toSorted();
}

/** The answer of `search_tools`, as text. Throws a `SearchArgumentsError`. */
export async function searchFor<T extends SearchedTool>(
  catalogue: SearchedCatalogue<T>,
  { query, limit = DEFAULT_RESULTS, group }: JsonObject,
): Promise<string> {
  if (typeof query !== 'string' || query.trim() === '')
    throw new SearchArgumentsError("'query' is not a string");
  if (!Number.isInteger(limit)) throw new SearchArgumentsError("'limit' is not a whole number");
  if (group !== undefined && (typeof group !== 'string' || !groupsOf(catalogue).includes(group)))
    throw new SearchArgumentsError(`'group' is none of ${groupsOf(catalogue).join(', ')}`);
  const most = Math.min(Math.max(Number(limit), 1), MAX_RESULTS);
  const found = await catalogue.find(query, most, group);
  return JSON.stringify({ tools: found.map(toEntry), total: catalogue.tools.length });
}

/** The tool that `describe_tool` is asked for. Throws a `SearchArgumentsError`. */
export function toolToDescribe<T extends SearchedTool>(tools: readonly T[], { name }: JsonObject): T {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const shown = asText(name).slice(0, MAX_SHOWN_NAME);
  throw new SearchArgumentsError(`there is no tool called '${shown}': search for one first`);
}

/** The call that `call_tool` stands for. Throws a `SearchArgumentsError`. */
export function callWithin({ name, arguments: given }: JsonObject): WrittenCall {
  if (typeof name !== 'string') throw new SearchArgumentsError("'name' is not a string");
  const args = argumentsIn(given);
  if (args === undefined) throw new SearchArgumentsError("'arguments' is not an object");
  return { name, args };
}

function toEntry({ name, title, description, inputSchema }: SearchedTool): JsonObject {
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
  };
}

/** The wanted name, or one with underscores behind it that is not taken. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted;
  while (isTaken(name)) name = `${name}_`;
  return name;
}

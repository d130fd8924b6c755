/**
 * Tools that stand for all tools of the servers, so that hundreds of them do not fill the context of a model: it searches
 * for a tool, reads its definition, and calls it by name.
 */
import type { Tool } from '../../mcp/server-offers.js';
import { argumentsIn } from '../../calls/call-problem.js';
import type { JsonObject } from '../../json/json-object.js';
import { ToolIndex } from '../../search/tool-index.js';
import { invalidParams } from './error-answer.js';
import type { GatewayTool } from './gateway-tools.js';
import { asText } from '../../text/as-text.js';

const DEFAULT_RESULTS = 5;
const MAX_RESULTS = 20;
const READS_ONLY = { readOnlyHint: true, openWorldHint: false };

/** Keyed by the list that was indexed: a list of a client stays the same object until it changes. */
const indexes = new WeakMap<readonly Tool[], ToolIndex<Tool>>();

export const SEARCH_TOOLS: readonly GatewayTool[] = [
  {
    definition: {
      name: 'search_tools',
      title: 'Search for tools',
      description:
        "Finds tools by what they do. Gives the name, description and arguments of each; call one with 'call_tool'.",
      inputSchema: {
        type: 'object',
        properties: {
          query: {
            type: 'string',
            description: 'Words that describe what the tool does, such as "create an issue".',
          },
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
    run: async ({ tools }, { query, limit = DEFAULT_RESULTS }) => {
      if (typeof query !== 'string' || query.trim() === '') throw invalidParams("'query' is not a string");
      if (!Number.isInteger(limit)) throw invalidParams("'limit' is not a whole number");
      const most = Math.min(Math.max(Number(limit), 1), MAX_RESULTS);
      const found = await indexOf(tools).search(tools, query, { limit: most });
      return inOneText({ tools: found.map(({ tool }) => toEntry(tool)), total: tools.length });
    },
  },
  {
    definition: {
      name: 'describe_tool',
      title: 'Describe a tool',
      description: 'Gives the whole definition of one tool.',
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string', description: "Name of a tool, from 'search_tools'." } },
        required: ['name'],
      },
      annotations: READS_ONLY,
    },
    run: async ({ tools }, { name }) => inOneText(toolNamed(tools, name)),
  },
  {
    definition: {
      name: 'call_tool',
      title: 'Call a tool',
      description: "Calls a tool that 'search_tools' has found, and gives its result.",
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: "Name of the tool, from 'search_tools'." },
          arguments: { type: 'object', description: 'Arguments of the tool.' },
        },
        required: ['name'],
      },
    },
    run: async ({ callTool }, { name, arguments: given }) => {
      if (typeof name !== 'string') throw invalidParams("'name' is not a string");
      const args = argumentsIn(given);
      if (args === undefined) throw invalidParams("'arguments' is not an object");
      return callTool(name, args);
    },
  },
];

function indexOf(tools: readonly Tool[]): ToolIndex<Tool> {
  const known = indexes.get(tools) ?? new ToolIndex();
  indexes.set(tools, known);
  return known;
}

function toolNamed(tools: readonly Tool[], name: unknown): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  throw invalidParams(`there is no tool called '${asText(name).slice(0, 200)}': find one with search_tools`);
}

function toEntry({ name, title, description, inputSchema }: Tool): JsonObject {
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
  };
}

function inOneText(value: unknown): JsonObject {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}

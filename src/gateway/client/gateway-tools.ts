/** Tools that the gateway itself offers, in addition to the tools of the servers. */
import type { Tool } from '../../mcp/server-offers.js';
import type { JsonObject } from '../../json/json-object.js';
import type { ServerView } from '../upstream/server-view.js';
import type { Connection } from '../../servers/connection.js';
import { InvalidTransitionError } from '../../errors.js';
import { invalidParams, toToolAnswer } from './error-answer.js';
import { outcomesOf } from './server-outcomes.js';
import { argumentsIn } from '../../calls/call-problem.js';
import { ToolIndex } from '../../search/tool-index.js';
import { asText } from '../../text/as-text.js';

/** What a tool of the gateway gets when it runs. */
export interface GatewayToolContext {
  readonly view: ServerView;
  /** The tools of the servers, as the client sees them. */
  readonly tools: readonly Tool[];
  readonly signal: AbortSignal;
  /** Calls a tool of a server for the client. */
  readonly callTool: (name: string, args: JsonObject) => Promise<JsonObject>;
}

export interface GatewayTool {
  readonly definition: Tool;
  run(context: GatewayToolContext, args: JsonObject): Promise<JsonObject>;
}

/** The tools under names that are not taken: if a server has a tool of the same name, the gateway's tool gets another name. */
export class GatewayTools {
  readonly #tools: readonly GatewayTool[];
  readonly #isTaken: (name: string) => boolean;

  constructor(tools: readonly GatewayTool[], isTaken: (name: string) => boolean) {
    this.#tools = tools;
    this.#isTaken = isTaken;
  }

  get definitions(): readonly Tool[] {
    return this.#tools.map(({ definition }) => ({ ...definition, name: this.#freeName(definition.name) }));
  }

  find(name: string): GatewayTool | undefined {
    return this.#tools.find(({ definition }) => this.#freeName(definition.name) === name);
  }

  #freeName(wanted: string): string {
    let name = wanted;
    while (this.#isTaken(name)) name = `${name}_`;
    return name;
  }
}

// Tools that show the status of the servers, and that retry or restart one.

const ONE_SERVER: Tool['inputSchema'] = {
  type: 'object',
  properties: { server: { type: 'string', description: 'Name of the server.' } },
  required: ['server'],
};

export const ADMIN_TOOLS: readonly GatewayTool[] = [
  {
    definition: {
      name: 'troupe_status',
      title: 'Status of the servers',
      description: 'The state of each server behind this gateway, and the cause of each failure.',
      inputSchema: { type: 'object', properties: { server: ONE_SERVER.properties?.['server'] ?? {} } },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    run: async ({ view }, { server }) => {
      if (server !== undefined) connectionOf(view, server);
      const rows = view.statuses.filter((row) => server === undefined || row.server === server);
      return { content: [{ type: 'text', text: JSON.stringify(rows) }] };
    },
  },
  command('troupe_retry', 'Retry a server', 'Tries to connect a failed server again.', (connection, signal) =>
    connection.retry({ signal }),
  ),
  command(
    'troupe_restart',
    'Restart a server',
    'Ends the session with a server and starts a new one.',
    (connection, signal) => connection.restart({ signal }),
  ),
];

function command(
  name: string,
  title: string,
  description: string,
  obey: (connection: Connection, signal: AbortSignal) => Promise<void>,
): GatewayTool {
  return {
    definition: {
      name,
      title,
      description,
      inputSchema: ONE_SERVER,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    run: async ({ view, signal }, { server }) => {
      const connection = connectionOf(view, server);
      try {
        await obey(connection, signal);
      } catch (error) {
        if (!(error instanceof InvalidTransitionError)) return toToolAnswer(error);
        return { content: [{ type: 'text', text: error.message }], isError: true };
      }
      return { content: [{ type: 'text', text: JSON.stringify(outcomesOf([connection.status])) }] };
    },
  };
}

function connectionOf(view: ServerView, server: unknown): Connection {
  const connection = typeof server === 'string' ? view.connection(server) : undefined;
  if (connection !== undefined) return connection;
  const { servers } = view;
  throw invalidParams(
    servers.length === 0 ? 'there is no server' : `'server' must be one of ${servers.join(', ')}`,
  );
}

// Tools that stand for all tools of the servers, so that hundreds of them do not fill the context of a model: it searches
// for a tool, reads its definition, and calls it by name.

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

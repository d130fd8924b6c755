/** Tools that the gateway itself offers, in addition to the tools of the servers. */
import type { Tool } from '../../mcp/server-offers.js';
import { freeName } from '../../search/search-tools.js';
import type { JsonObject } from '../../json/json-object.js';
import type { ServerView } from '../upstream/server-view.js';
import type { Connection } from '../../servers/connection.js';
import { InvalidTransitionError } from '../../errors.js';
import { invalidParams, toToolAnswer } from './error-answer.js';
import { outcomesOf } from './server-outcomes.js';

/** What a tool of the gateway gets when it runs. */
export interface GatewayToolContext {
  readonly view: ServerView;
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
    return this.#tools.map(({ definition }) => ({
      ...definition,
      name: freeName(definition.name, this.#isTaken),
    }));
  }

  find(name: string): GatewayTool | undefined {
    return this.#tools.find(({ definition }) => freeName(definition.name, this.#isTaken) === name);
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

/**
 * Tools of the gateway itself: to see how the servers are, and to retry or restart one. A tool of a server keeps its name;
 * the gateway's own gives way.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Connection } from '../connection.js';
import { InvalidTransitionError } from '../errors.js';
import type { JsonObject } from '../protocol/protocol-client.js';
import { invalidParams, toToolAnswer } from './error-answer.js';
import { outcomesOf } from './server-outcomes.js';
import type { ServerView } from './server-view.js';

interface AdminTool {
  readonly definition: Tool;
  run(view: ServerView, args: JsonObject, signal: AbortSignal): Promise<JsonObject>;
}

const ONE_SERVER: Tool['inputSchema'] = {
  type: 'object',
  properties: { server: { type: 'string', description: 'Name of the server.' } },
  required: ['server'],
};

const TOOLS: readonly AdminTool[] = [
  {
    definition: {
      name: 'troupe_status',
      title: 'Status of the servers',
      description: 'How each server behind this gateway is, and why it does not work where it does not.',
      inputSchema: { type: 'object', properties: { server: ONE_SERVER.properties?.['server'] ?? {} } },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    run: async (view, { server }) => {
      if (server !== undefined) connectionOf(view, server);
      const rows = view.statuses.filter(({ name }) => server === undefined || name === server);
      return { content: [{ type: 'text', text: JSON.stringify(rows) }] };
    },
  },
  command(
    'troupe_retry',
    'Retry a server',
    'Tries again to connect a server that has failed.',
    (connection, signal) => connection.retry({ signal }),
  ),
  command(
    'troupe_restart',
    'Restart a server',
    'Ends the session with a server and begins a new one.',
    (connection, signal) => connection.restart({ signal }),
  ),
];

/** The definitions, by the names that `isTaken` leaves free. */
export function adminDefinitions(isTaken: (name: string) => boolean): readonly Tool[] {
  return TOOLS.map(({ definition }) => ({ ...definition, name: freeName(definition.name, isTaken) }));
}

/** Runs the tool of that name; undefined where it is none of these. */
export function runAdminTool(
  name: string,
  isTaken: (name: string) => boolean,
  view: ServerView,
  args: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> | undefined {
  return TOOLS.find(({ definition }) => freeName(definition.name, isTaken) === name)?.run(view, args, signal);
}

function command(
  name: string,
  title: string,
  description: string,
  obey: (connection: Connection, signal: AbortSignal) => Promise<void>,
): AdminTool {
  return {
    definition: {
      name,
      title,
      description,
      inputSchema: ONE_SERVER,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    run: async (view, { server }, signal) => {
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

function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted;
  while (isTaken(name)) name = `${name}_`;
  return name;
}

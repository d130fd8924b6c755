/**
 * The shape of a configuration file as JSON Schema (2020-12), for editors to complete and check by. It is made of what
 * entries are validated by, so that the two cannot disagree; rules between fields are only partly in it.
 */
import { ENTRY_SCHEMA, type Schema } from './schema.js';

const DESCRIPTIONS: Readonly<Record<keyof typeof ENTRY_SCHEMA.properties, string>> = {
  type: 'How the server is reached. Default: stdio with a command, streamable HTTP (or SSE) with a url.',
  transport: "Same as 'type'.",
  transportType: "Same as 'type'.",
  command: 'Program to start; a list is the program and its first arguments. ${VAR} is replaced.',
  args: 'Arguments, handed over without a shell. ${VAR} is replaced.',
  env: 'Variables for the program, on top of a short list of the host’s. With a url: values for its references.',
  environment: "Same as 'env'.",
  cwd: 'Working directory. Default: the folder of the project.',
  inheritEnv: 'Variables of the host that the program gets too: true for all, or a list of names.',
  url: 'Address of the server. ${VAR} is replaced.',
  httpUrl: "Same as 'url'.",
  serverUrl: "Same as 'url'.",
  headers: 'Sent with every request. ${VAR} is replaced.',
  disabled: "true is the same as 'enabled': false.",
  enabled: 'false leaves the server out. Default true.',
  tools: 'Tools that are shown: a list of patterns to allow, or lists to allow and to deny. * is a wildcard.',
  start: 'lazy starts the server with its first use, once its tools are known. Default eager.',
  idleStopMs: 'Idle milliseconds after which the server is stopped until it is used again. Default 0: never.',
  timeout: 'Milliseconds for launch, handshake and list, each; 0 is no limit. Default 30000.',
  callTimeout: 'Milliseconds a call may go without progress; 0 is no limit. Default 60000.',
  maxConcurrentCalls:
    'Tool calls the server gets at the same time; further ones wait in order. Default 0: no limit.',
  retryCalls: 'Which calls may be repeated after a lost connection.',
  isolation:
    'Of a gateway: per-session gives each client a connection of its own, shared one to all. Default: by what a client answers.',
  policy: 'Single numbers of the connection policy.',
};

type Described = Schema & { readonly description: string };

const ENTRY = {
  ...ENTRY_SCHEMA,
  properties: Object.fromEntries(
    Object.entries<Schema>(ENTRY_SCHEMA.properties).map(([name, schema]): [string, Described] => [
      name,
      { ...schema, description: DESCRIPTIONS[name as keyof typeof DESCRIPTIONS] },
    ]),
  ),
  anyOf: ['command', 'url', 'httpUrl', 'serverUrl'].map((field) => ({ required: [field] })),
};

/** JSON Schema of `.mcp.json` and of Troupe's own file. Plain JSON. */
export const CONFIG_SCHEMA: Readonly<Record<string, unknown>> = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'MCP servers',
  type: 'object',
  properties: {
    $schema: { type: 'string', description: 'Where an editor finds this schema. Nobody else reads it.' },
    mcpServers: {
      type: 'object',
      description: 'The servers by name.',
      additionalProperties: ENTRY,
    },
    inputs: {
      type: 'array',
      description: 'What a person is asked for where an entry says ${input:ID}.',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          type: { type: 'string', enum: ['promptString', 'pickString', 'command'] },
          description: { type: 'string' },
          default: { type: 'string' },
          options: { type: 'array' },
          password: { type: 'boolean' },
        },
        required: ['id'],
      },
    },
  },
  required: ['mcpServers'],
};

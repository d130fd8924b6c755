/**
 * A server that sends requests and notifications and waits as a test wants. Each connection gets a new one, as with a
 * program.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  ResultSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  type ClientCapabilities,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { ServerConfig, ServerSettings } from '../../src/config/entry/server-config.js';
import { createGate, type Gate } from './gate.js';
import { text, tool } from './scripted-server.js';

export const FORM = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
} as const;

export interface UpstreamOptions {
  readonly tools?: readonly Tool[];
  readonly instructions?: string;
  /** Whether its messages name the request they belong to, as a transport with several streams does. Default true. */
  readonly isRelating?: boolean;
}

type Params = Record<string, unknown>;

/** One connection to the server and what arrived over it. */
export interface UpstreamConnection {
  readonly number: number;
  readonly server: Server;
  readonly declared: ClientCapabilities | undefined;
  readonly received: { method: string; params: Params }[];
}

const TOOLS = ['echo', 'ask', 'log', 'steps', 'wait', 'raw', 'refuse'].map((name) => tool(name));

export class AskingUpstream {
  readonly connections: UpstreamConnection[] = [];
  /** What the tool `wait` waits for, by its argument `for`. */
  readonly gates = new Map<string, Gate>();
  /** Calls that were cancelled, by their argument `for`. */
  readonly cancelled: string[] = [];
  tools: readonly Tool[];
  /** If set, it refuses connections with this error. */
  refusal: Error | undefined;
  readonly #options: UpstreamOptions;
  readonly #waiting = new Set<() => void>();

  constructor(options: UpstreamOptions = {}) {
    this.#options = options;
    this.tools = options.tools ?? TOOLS;
  }

  entry(settings: ServerSettings = {}): ServerConfig {
    return { type: 'in-process', server: this, ...settings };
  }

  gate(name: string): Gate {
    const gate = this.gates.get(name) ?? createGate();
    this.gates.set(name, gate);
    return gate;
  }

  /** Resolves when the condition holds. It is checked whenever something arrives. */
  async when(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** Messages of a method that arrived over any connection. */
  of(method: string): Params[] {
    return this.connections.flatMap(({ received }) =>
      received.filter((message) => message.method === method).map(({ params }) => params),
    );
  }

  async connect(transport: Transport): Promise<void> {
    if (this.refusal !== undefined) throw this.refusal;
    const { instructions } = this.#options;
    const server = new Server(
      { name: 'asking', version: '1' },
      {
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          prompts: { listChanged: true },
          completions: {},
          logging: {},
        },
        ...(instructions === undefined ? {} : { instructions }),
      },
    );
    const received: UpstreamConnection['received'] = [];
    const note = (method: string, params: unknown): void => {
      received.push({ method, params: (params ?? {}) as Params });
      this.#wake();
    };
    const connection: UpstreamConnection = {
      number: this.connections.length + 1,
      server,
      get declared() {
        return server.getClientCapabilities();
      },
      received,
    };
    this.connections.push(connection);
    server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [...this.tools] }));
    server.setRequestHandler(ListResourcesRequestSchema, async () => ({
      resources: [{ uri: 'note://one', name: 'one', _meta: { mark: 'r' } }],
    }));
    server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => ({
      resourceTemplates: [{ uriTemplate: 'note://{id}/part', name: 'part' }],
    }));
    server.setRequestHandler(ListPromptsRequestSchema, async () => ({ prompts: [{ name: 'greet' }] }));
    server.setRequestHandler(ReadResourceRequestSchema, async ({ params }, { sendNotification }) => {
      note('resources/read', params);
      const { progressToken } = params._meta ?? {};
      if (progressToken !== undefined) {
        const progress = { progressToken, progress: 1, message: `reading ${params.uri}` };
        await sendNotification({ method: 'notifications/progress', params: progress });
      }
      return { contents: [{ uri: params.uri, text: `from ${connection.number}` }], _meta: { raw: true } };
    });
    server.setRequestHandler(GetPromptRequestSchema, async ({ params }) => {
      note('prompts/get', params);
      return { messages: [{ role: 'user', content: { type: 'text', text: params.name } }], extra: 1 };
    });
    server.setRequestHandler(CompleteRequestSchema, async ({ params }) => {
      note('completion/complete', params);
      return { completion: { values: [params.argument.value, 'more'] }, extra: 2 };
    });
    for (const schema of [SubscribeRequestSchema, UnsubscribeRequestSchema, SetLevelRequestSchema]) {
      server.setRequestHandler(schema, async ({ method, params }) => {
        note(method, params);
        return {};
      });
    }
    server.fallbackNotificationHandler = async ({ method, params }) => note(method, params);
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
      note('tools/call', params);
      const args = params.arguments ?? {};
      const who = String(args['for']);
      const isRelating = args['relates'] ?? this.#options.isRelating ?? true;
      extra.signal.addEventListener('abort', () => {
        this.cancelled.push(who);
        this.#wake();
      });
      const notify = (method: string, body: Params): Promise<void> => {
        const message = { method, params: body } as never;
        return isRelating === true ? extra.sendNotification(message) : server.notification(message);
      };
      switch (params.name) {
        case 'ask': {
          const asked = { method: args['method'] ?? 'elicitation/create', params: questionOf(args) } as never;
          const signal = args['keeps'] === true ? new AbortController().signal : extra.signal;
          const options = { signal, timeout: 2 ** 31 - 1 };
          const answering =
            isRelating === true
              ? extra.sendRequest(asked, ResultSchema, options)
              : server.request(asked, ResultSchema, options);
          const answer = await answering.catch((error: unknown) => {
            const { code, message } = error as { code?: number; message: string };
            return { error: { code, message } };
          });
          return text(JSON.stringify({ for: who, connection: connection.number, answer }));
        }
        case 'log':
          await notify('notifications/message', { level: args['level'] ?? 'info', data: `for ${who}` });
          return text(`logged for ${who}`);
        case 'steps': {
          const { progressToken } = params._meta ?? {};
          await notify('notifications/progress', {
            progressToken,
            progress: 1,
            total: 2,
            message: `for ${who}`,
          });
          return text(`steps for ${who}`);
        }
        case 'wait':
          await this.gate(who).promise;
          return text(`waited for ${who}`);
        case 'raw':
          return {
            ...text('raw'),
            structuredContent: { a: 1 },
            _meta: { mark: who },
            unknown: { kept: true },
          };
        case 'link':
          return {
            content: [
              { type: 'resource_link', uri: 'note://one', name: 'one' },
              { type: 'resource_link', uri: 'other://two', name: 'two' },
              { type: 'resource', resource: { uri: 'note://one', text: 'text' } },
            ],
          };
        case 'refuse':
          throw Object.assign(new Error('not today'), { code: -31_999, data: { why: who } });
        default:
          return text(
            `${params.name} ${JSON.stringify({ args, meta: params._meta, connection: connection.number })}`,
          );
      }
    });
    server.onclose = () => this.#wake();
    await server.connect(transport);
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

function questionOf(args: Params): Params {
  if (args['params'] !== undefined) return args['params'] as Params;
  const who = String(args['for']);
  switch (args['method'] ?? 'elicitation/create') {
    case 'sampling/createMessage':
      return { messages: [{ role: 'user', content: { type: 'text', text: `for ${who}` } }], maxTokens: 5 };
    case 'roots/list':
      return {};
    default:
      return { message: `for ${who}`, requestedSchema: FORM };
  }
}

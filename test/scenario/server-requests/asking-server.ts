/** A troupe with one server that sends requests to its host, also during a call. */
import type { TroupeOptions } from '../../../src/options.js';
import type { ServerSettings } from '../../../src/config/entry/server-config.js';
import type { ServerRequestHandlers } from '../../../src/server-requests/handlers.js';
import { ScriptedServer, text, type Script } from '../../support/scripted-server.js';
import { inProcess, type TestTroupe } from '../../support/test-troupe.js';

export const NAME = 'mcp__a__echo';

export const FORM = {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2 },
      age: { type: 'integer', default: 7 },
      mail: { type: 'string', format: 'email' },
    },
    required: ['name'],
  },
} as const;

export const PROMPT = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Say something.' } }],
  maxTokens: 10,
} as const;

/** The fields of an answer that tests compare. */
export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Asking extends TestTroupe {
  readonly server: ScriptedServer;
  /** Sends a request of the server, and resolves with its answer. */
  ask(method: string, params?: object): Promise<Answer>;
}

export async function startAsking(
  make: (options: TroupeOptions) => TestTroupe,
  handlers?: ServerRequestHandlers,
  settings: ServerSettings = {},
  script: Script = {},
): Promise<Asking> {
  const server = new ScriptedServer(script);
  const servers = { a: inProcess(server, settings) };
  const test = make({ servers, ...(handlers === undefined ? {} : { handlers }) });
  await test.troupe.start();
  let lastId = 0;
  const ask = async (method: string, params: object = {}): Promise<Answer> => {
    lastId += 1;
    const id = lastId;
    server.send({ jsonrpc: '2.0', id, method, params });
    const answers = (): Answer[] => server.answers as unknown as Answer[];
    await server.when(() => answers().some((answer) => answer.id === id));
    return answers().find((answer) => answer.id === id) as Answer;
  };
  return { ...test, server, ask };
}

/** A call during which the server sends a request to the host; its result has the answer. */
export function askDuringCall(server: () => Asking, method: string, params: object): Script {
  return {
    on: {
      'tools/call': async () => {
        const { result, error } = await server().ask(method, params);
        return text(JSON.stringify(result ?? error));
      },
    },
  };
}

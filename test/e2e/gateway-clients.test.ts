/** Third-party clients, and another gateway, as clients of a gateway. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway/gateway.js';
import { serveHttp, type HttpService } from '../../src/gateway/http/serve-http.js';
import { useLeakCheck } from '../support/leak-check.js';

// The connection pool of a client closes idle sockets after some seconds.
useLeakCheck({ settleMs: 10_000 });

const MAIN = 'dist/bundle/src/cli/main.js';
const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
/** It finds its own package.json only if the parent of the working directory has one. */
const INSPECTOR = { file: '../node_modules/@modelcontextprotocol/inspector-cli/build/cli.js', cwd: 'test' };
const TOKEN = 'token-of-the-clients';
const LIMIT_MS = 60_000;
const ECHO = 'mcp__everything__echo';
const WAIT = { timeout: 30_000, interval: 200 };
/** A server that starts quickly, because the tests over stdio are about the client and the gateway. */
const ADD_QUICK = ['--add', `quick=${process.execPath} ${resolve('test/support/quick-server.mjs')}`];
const QUICK_ECHO = 'mcp__quick__echo';

let gateway: Gateway;
let service: HttpService;
const bearer = { Authorization: `Bearer ${TOKEN}` };

beforeAll(async () => {
  gateway = createGateway({ servers: { everything: { command: process.execPath, args: [EVERYTHING] } } });
  service = await serveHttp(gateway, { token: TOKEN });
  await gateway.start();
}, LIMIT_MS);

afterAll(async () => {
  await service.close({ gracePeriodMs: 0 });
  await gateway.close();
});

/** Runs the command of the inspector; it prints the result. */
async function inspect(words: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const child = spawn(process.execPath, [INSPECTOR.file, '--cli', ...words], {
    cwd: INSPECTOR.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  let [printed, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`The inspector ended with ${String(code)}: ${printed}${errors}`);
  return JSON.parse(printed) as Readonly<Record<string, unknown>>;
}

describe('the MCP Inspector', () => {
  it(
    'calls a tool over HTTP.',
    async () => {
      const there = [
        service.url,
        '--transport',
        'http',
        '--header',
        `Authorization: ${bearer.Authorization}`,
      ];
      const call = ['--method', 'tools/call', '--tool-name', ECHO, '--tool-arg', 'message=hello'];
      expect(await inspect([...there, ...call])).toMatchObject({
        content: [{ type: 'text', text: 'Echo: hello' }],
      });
    },
    LIMIT_MS,
  );

  it(
    'lists the tools over stdio.',
    async () => {
      const { cwd } = INSPECTOR;
      const serve = [process.execPath, relative(cwd, MAIN), 'serve', ...ADD_QUICK];
      const { tools } = await inspect([...serve, '--method', 'tools/list']);
      expect(tools).toContainEqual(expect.objectContaining({ name: QUICK_ECHO }));
    },
    LIMIT_MS,
  );
});

describe('the AI SDK', () => {
  it.each(['http', 'stdio'] as const)(
    'lists the tools of the gateway and calls one over %s.',
    async (kind) => {
      const client = await createMCPClient({
        transport:
          kind === 'http'
            ? { type: 'http', url: service.url, headers: bearer }
            : new Experimental_StdioMCPTransport({
                command: process.execPath,
                args: [MAIN, 'serve', ...ADD_QUICK],
                stderr: 'ignore',
              }),
      });
      try {
        const { [kind === 'http' ? ECHO : QUICK_ECHO]: echo } = await client.tools();
        const given = { toolCallId: '1', messages: [], context: {} };
        expect(await echo?.execute({ message: 'hello' }, given)).toMatchObject({
          content: [{ type: 'text', text: 'Echo: hello' }],
        });
      } finally {
        await client.close();
      }
    },
    LIMIT_MS,
  );
});

describe('the LangChain adapter', () => {
  it(
    'lists and calls tools over HTTP, of the whole gateway and of a single server.',
    async () => {
      const one = new URL('/servers/everything/mcp', service.url).href;
      const client = new MultiServerMCPClient({
        all: { transport: 'http', url: service.url, headers: bearer },
        one: { transport: 'http', url: one, headers: bearer },
      });
      try {
        for (const [server, name] of [
          ['all', ECHO],
          ['one', 'echo'],
        ] as const) {
          const tool = (await client.getTools(server)).find((each) => each.name === name);
          expect(await tool?.invoke({ message: 'hello' })).toContain('Echo: hello');
        }
      } finally {
        await client.close();
      }
    },
    LIMIT_MS,
  );
});

describe('a gateway whose server is a gateway', () => {
  it(
    'forwards calls, progress, and the requests of a server.',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'troupe-gateway-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const config = join(folder, 'mcp.json');
      const inner = { type: 'http', url: service.url, headers: bearer };
      writeFileSync(config, JSON.stringify({ mcpServers: { inner } }));
      const client = new Client(
        { name: 'outermost', version: '1' },
        { capabilities: { sampling: {}, elicitation: { form: {} } } },
      );
      client.setRequestHandler(ElicitRequestSchema, async () => ({
        action: 'accept',
        content: { name: 'Ada of the outermost' },
      }));
      client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => ({
        model: 'a-model',
        role: 'assistant',
        content: { type: 'text', text: `a sample of ${params.maxTokens}` },
      }));
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [MAIN, 'serve', '--config', config],
        stderr: 'ignore',
      });
      await client.connect(transport);
      onTestFinished(() => client.close());
      const requestingTools = ['trigger-elicitation-request', 'trigger-sampling-request'].map(nested);
      const names = async (): Promise<readonly string[]> =>
        (await client.listTools()).tools.map(({ name }) => name);
      await expect.poll(names, WAIT).toEqual(expect.arrayContaining(requestingTools));
      const steps: number[] = [];
      const call = async (tool: string, args: Readonly<Record<string, unknown>>): Promise<string> => {
        const given = { name: nested(tool), arguments: args };
        const onprogress = ({ progress }: { readonly progress: number }): void => void steps.push(progress);
        return JSON.stringify(await client.callTool(given, undefined, { onprogress }));
      };
      expect(await call('echo', { message: 'through two' })).toContain('Echo: through two');
      expect(await call('trigger-elicitation-request', {})).toContain('Ada of the outermost');
      const sampled = await call('trigger-sampling-request', { prompt: 'x', maxTokens: 7 });
      expect(sampled).toContain('a sample of 7');
      steps.length = 0;
      await call('trigger-long-running-operation', { duration: 0.2, steps: 4 });
      // The SDK client drops notifications that arrive together with the answer.
      expect(steps.length).toBeGreaterThan(0);
      expect(steps).toEqual([1, 2, 3, 4].slice(0, steps.length));
    },
    LIMIT_MS,
  );
});

function nested(tool: string): string {
  return `mcp__inner__mcp__everything__${tool}`;
}

/** The client of the SDK with the HTTP transports, against a real server. */
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { systemClock } from '../../../src/ports.js';
import { createHttpTransport } from '../../../src/transports/http/http-fallback.js';
import type { HttpTransportOptions } from '../../../src/transports/http/http-session.js';
import type { SessionTransport } from '../../../src/transports/session-transport.js';
import { createSseTransport } from '../../../src/transports/http/sse.js';
import { createStreamableHttpTransport } from '../../../src/transports/http/streamable-http.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { startProgram, type LocalProgram } from '../../support/local-program.js';

useLeakCheck();

const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');

const CASES: readonly {
  mode: string;
  path: string;
  kind: string;
  name: string;
  create: (options: HttpTransportOptions) => SessionTransport;
}[] = [
  {
    mode: 'streamableHttp',
    path: '/mcp',
    kind: 'http',
    name: 'streamable HTTP',
    create: createStreamableHttpTransport,
  },
  { mode: 'sse', path: '/sse', kind: 'sse', name: 'SSE', create: createSseTransport },
  { mode: 'streamableHttp', path: '/mcp', kind: 'http', name: 'no type', create: createHttpTransport },
  { mode: 'sse', path: '/sse', kind: 'sse', name: 'no type, falling back', create: createHttpTransport },
];

describe.each(CASES)('server-everything over $name', ({ mode, path, kind, create }) => {
  let program: LocalProgram;
  let url: string;

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}${path}`;
    program = await startProgram({
      file: EVERYTHING,
      args: [mode],
      env: { PORT: String(port) },
      ready: /port \d+/,
    });
  });
  afterAll(() => program.stop());

  async function connected(): Promise<{ client: Client; transport: SessionTransport }> {
    const transport = create({ url, clock: systemClock, stop: { deleteMs: 2_000 } });
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { roots: { listChanged: true } } },
    );
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {});
    await client.connect(transport);
    return { client, transport };
  }

  it('lists its tools and answers single and concurrent calls', async () => {
    const { client, transport } = await connected();
    expect(transport.kind).toBe(kind);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    const one = await client.callTool({ name: 'echo', arguments: { message: 'hello 灯笼' } });
    expect(JSON.stringify(one.content)).toContain('hello 灯笼');
    const many = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        client.callTool({ name: 'echo', arguments: { message: `no. ${n}.` } }),
      ),
    );
    expect(many.map(({ content }) => JSON.stringify(content).match(/no\. (\d+)\./)?.[1])).toEqual(
      Array.from({ length: 64 }, (_, n) => String(n)),
    );
    await client.close();
    expect(transport.ended).toBeUndefined();
  });

  it('reports progress', async () => {
    const { client } = await connected();
    const progress: number[] = [];
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } },
      undefined,
      { onprogress: (step) => void progress.push(step.progress) },
    );
    expect(progress).toEqual([1, 2, 3, 4]);
    await client.close();
  });

  it('can be reconnected repeatedly without leaving anything behind', async () => {
    for (let n = 0; n < 10; n += 1) {
      const { client } = await connected();
      await client.ping();
      await client.close();
    }
    expect(program.line).toMatch(/port/);
  });

  it('lets a caller cancel a call', async () => {
    const { client } = await connected();
    const controller = new AbortController();
    const call = client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 30, steps: 1 } },
      undefined,
      { signal: controller.signal },
    );
    controller.abort('enough');
    await expect(call).rejects.toThrow(/enough/);
    await client.ping();
    await client.close();
  });
});

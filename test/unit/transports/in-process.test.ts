/** A server in this process, connected in memory. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolRequestSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createInProcessTransport } from '../../../src/transports/in-process.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { failureOf, notification, record, request } from '../../support/session-record.js';

useLeakCheck();

/** A server whose end of the connection the test controls. */
function bare(): { connect(transport: Transport): Promise<void>; end: Transport; got: JSONRPCMessage[] } {
  const server = {
    got: [] as JSONRPCMessage[],
    end: undefined as unknown as Transport,
    connect: async (transport: Transport) => {
      server.end = transport;
      transport.onmessage = (message) => server.got.push(message);
      await transport.start();
    },
  };
  return server;
}

function echoServer(): McpServer {
  const server = new McpServer({ name: 'in-process', version: '1' });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
}

describe('The in-process transport', () => {
  it('carries a whole session of the SDK client, and another one after it', async () => {
    const server = echoServer();
    for (const text of ['first', 'second']) {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(createInProcessTransport(server));
      const called = await client.callTool({ name: 'echo', arguments: { text } });
      expect(called.content).toEqual([{ type: 'text', text }]);
      await client.close();
    }
  });

  it('accepts a low-level server, too', async () => {
    const server = new Server({ name: 'low', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(CallToolRequestSchema, () => ({ content: [] }));
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(createInProcessTransport(server));
    expect((await client.callTool({ name: 'any' })).content).toEqual([]);
    await client.close();
  });

  it('delivers in the order of sending, and never within send()', async () => {
    const server = bare();
    const transport = createInProcessTransport(server);
    const recorded = record(transport);
    await transport.start();
    for (let id = 1; id <= 100; id += 1) void transport.send(request(id, 'x'));
    expect(server.got).toEqual([]);
    for (let id = 1; id <= 100; id += 1) void server.end.send(notification(`n-${id}`));
    expect(recorded.messages).toEqual([]);
    await recorded.until(() => recorded.messages.length === 100);
    expect(server.got.map((message) => 'id' in message && message.id)).toEqual(
      Array.from({ length: 100 }, (_, i) => i + 1),
    );
    expect(recorded.messages.map((message) => 'method' in message && message.method)).toEqual(
      Array.from({ length: 100 }, (_, i) => `n-${i + 1}`),
    );
    expect(recorded.activity).toBe(100);
    await transport.close();
  });

  it('keeps messages that were sent before the server listens', async () => {
    let begin = (): void => {};
    const got: JSONRPCMessage[] = [];
    const transport = createInProcessTransport({
      connect: async (end: Transport) => {
        end.onmessage = (message) => got.push(message);
        await new Promise<void>((resolve) => (begin = resolve));
        await end.start();
      },
    });
    const starting = transport.start();
    await transport.send(request(1, 'early'));
    begin();
    await starting;
    await transport.send(request(2, 'late'));
    await Promise.resolve();
    expect(got).toEqual([request(1, 'early'), request(2, 'late')]);
    await transport.close();
  });

  it('ends once if the server closes, after its last message, with the cause', async () => {
    const server = bare();
    const transport = createInProcessTransport(server);
    const recorded = record(transport);
    let sawLast = false;
    void recorded.closed.then(() => (sawLast = recorded.messages.length === 1));
    await transport.start();
    void server.end.send(notification('last words'));
    await server.end.close();
    await recorded.closed;
    expect(sawLast).toBe(true);
    expect(transport.ended).toMatchObject({ code: 'connection-lost' });
    await transport.close();
    await server.end.close();
    expect(recorded.closes).toBe(1);
    expect(await failureOf(transport.send(request(1, 'x')))).toMatchObject({ written: false });
  });

  it('ends both sides once if the client closes', async () => {
    const server = bare();
    const transport = createInProcessTransport(server);
    const recorded = record(transport);
    await transport.start();
    let serverCloses = 0;
    server.end.onclose = () => (serverCloses += 1);
    await Promise.all([transport.close(), transport.kill()]);
    await server.end.close();
    expect(recorded.closes).toBe(1);
    expect(serverCloses).toBe(1);
    expect(transport.ended).toBeUndefined();
    await expect(server.end.send(notification('x'))).rejects.toThrow();
  });

  it.each<[string, () => Promise<void>]>([
    ['throws', () => Promise.reject(new Error('already connected'))],
    [
      'throws at once',
      () => {
        throw new Error('already connected');
      },
    ],
  ])('does not start if connect %s', async (_, connect) => {
    const transport = createInProcessTransport({ connect });
    const recorded = record(transport);
    const error = await failureOf(transport.start());
    expect(error.failure.code).toBe('spawn-failed');
    expect(error.message).toContain('already connected');
    await transport.close();
    expect(recorded.closes).toBe(0);
  });

  it('ends at close() although connect never settles', async () => {
    const transport = createInProcessTransport({ connect: () => new Promise(() => {}) });
    const recorded = record(transport);
    const starting = failureOf(transport.start());
    await transport.close();
    expect((await starting).failure.code).toBe('connection-lost');
    expect(recorded.closes).toBe(1);
  });

  it('does not start if the server closes in the meantime', async () => {
    const transport = createInProcessTransport({
      connect: async (end: Transport) => {
        await end.close();
        await new Promise(() => {});
      },
    });
    expect((await failureOf(transport.start())).failure.code).toBe('connection-lost');
  });

  it('can be closed without having been started, but not started after that', async () => {
    const transport = createInProcessTransport(bare());
    const recorded = record(transport);
    await transport.close();
    expect(recorded.closes).toBe(1);
    await failureOf(transport.start());
  });

  it('isolates each side from errors of the other', async () => {
    const server = bare();
    const transport = createInProcessTransport(server);
    await transport.start();
    const errors: string[] = [];
    server.end.onmessage = () => {
      throw new Error('server bug');
    };
    server.end.onerror = (error) => errors.push(error.message);
    server.end.onclose = () => {
      throw new Error('another bug');
    };
    await transport.send(request(1, 'x'));
    await transport.close();
    expect(errors).toEqual(['server bug', 'another bug']);
  });
});

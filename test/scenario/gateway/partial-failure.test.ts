/** A server that does not work is reported, and does not affect the others. */
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ResultSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { tool } from '../../support/scripted-server.js';
import { passTime } from '../../support/test-troupe.js';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { ANSWERS_ALL, textOf, useGateways, type TestClient } from '../../support/gateway-rig.js';

const LIST = { method: 'tools/list', params: {} };

async function outcomes({ client }: TestClient): Promise<unknown> {
  const { _meta: meta } = await client.request(LIST, ResultSchema);
  return meta?.['mcp-troupe/servers'];
}

describe('if a server does not work', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  function broken(message = 'cannot connect'): AskingUpstream {
    const upstream = new AskingUpstream();
    upstream.refusal = new Error(message);
    return upstream;
  }

  it('the tools of the others are listed, and the list has the state of each server', async () => {
    const bad = broken();
    const { gateway, client, clock } = make({
      servers: { bad: bad.entry({ policy: { maxAttempts: 1 } }), good: new AskingUpstream().entry() },
    });
    await passTime(clock, gateway.start());
    const ada = await client('Ada');
    const { tools } = await ada.client.listTools();
    expect(tools.every(({ name }) => name.startsWith('mcp__good__'))).toBe(true);
    expect(await outcomes(ada)).toEqual({
      bad: {
        state: 'failed',
        code: 'spawn-failed',
        message: expect.stringContaining('cannot connect') as string,
      },
      good: { state: 'ready' },
    });
  });

  it('a call of an unknown tool names the servers that do not work, and a call of a held tool says that it is held', async () => {
    const bad = broken();
    const good = new AskingUpstream();
    const { gateway, client, clock } = make({
      servers: { bad: bad.entry({ policy: { maxAttempts: 1 } }), good: good.entry() },
      review: 'hold-changes',
    });
    await passTime(clock, gateway.start());
    const ada = await client('Ada');
    await expect(ada.call('mcp__good__thing')).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('bad') as string,
      data: { tool: 'mcp__good__thing', servers: { bad: { state: 'failed', code: 'spawn-failed' } } },
    });
    await expect(ada.client.readResource({ uri: 'nobody://has' })).rejects.toMatchObject({
      code: -32_002,
      data: { uri: 'nobody://has', servers: { bad: { state: 'failed', code: 'spawn-failed' } } },
    });
    good.tools = [tool('echo', { description: 'does harm' })];
    await good.connections[0]?.server.sendToolListChanged();
    await passTime(clock, ada.whenNotified('notifications/tools/list_changed'));
    expect((await ada.client.listTools()).tools).toEqual([]);
    const held = (await ada.client.callTool({ name: 'mcp__good__echo' })) as CallToolResult;
    expect(held.isError).toBe(true);
    expect(held._meta?.['mcp-troupe/error']).toEqual({ code: 'TOOL_HELD', server: 'good' });
    expect(good.of('tools/call')).toEqual([]);
  });

  it('a call of one of its tools returns the cause in an error result', async () => {
    const bad = broken();
    const servers = { bad: bad.entry({ policy: { maxAttempts: 1 } }), good: new AskingUpstream().entry() };
    const { gateway, client, clock } = make({ servers });
    await passTime(clock, gateway.start());
    const ada = await client('Ada');
    const bob = await client('Bob', { server: 'bad' });
    for (const [one, name] of [
      [ada, 'mcp__bad__thing'],
      [bob, 'thing'],
    ] as const) {
      const result = (await one.client.callTool({ name })) as CallToolResult;
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain('cannot connect');
      expect(result._meta?.['mcp-troupe/error']).toMatchObject({
        server: 'bad',
        failure: { code: 'spawn-failed', message: expect.stringContaining('cannot connect') as string },
      });
    }
    bad.refusal = undefined;
    await gateway.troupe.connection('bad')?.retry();
    await expect(ada.call('mcp__bad__thing')).rejects.toMatchObject({ code: -32_602 });
    expect(await ada.call('mcp__bad__echo')).toContain('echo');
  });

  it('a call of one of its tools waits for it as long as a list does', async () => {
    const bad = broken();
    const policy = { maxAttempts: 10, backoff: [30_000] };
    const { gateway, client, clock } = make({ servers: { bad: bad.entry({ policy }) }, startGateMs: 2_000 });
    await passTime(clock, gateway.start());
    const ada = await passTime(clock, client('Ada'));
    const from = clock.now();
    const calling = ada.client.callTool({ name: 'mcp__bad__echo' });
    const failed = (await passTime(clock, calling)) as CallToolResult;
    expect(clock.now() - from).toBeLessThan(10_000);
    expect(textOf(failed)).toContain('cannot connect');
    bad.refusal = undefined;
    const again = ada.client.callTool({ name: 'mcp__bad__echo' });
    await gateway.troupe.connection('bad')?.retry();
    expect(textOf((await passTime(clock, again)) as CallToolResult)).toContain('echo');
  });

  it('its known tools stay listed, and a call returns the cause in an error result', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client, clock } = make({
      servers: { a: upstream.entry({ policy: { maxAttempts: 2 } }) },
    });
    await gateway.start();
    const ada = await client('Ada');
    upstream.refusal = new Error('gone for good');
    await upstream.connections[0]?.server.close();
    const called = ada.client.callTool({ name: 'mcp__a__echo' });
    const result = (await passTime(clock, called, 120_000)) as CallToolResult;
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('gone for good');
    expect(result._meta?.['mcp-troupe/error']).toMatchObject({
      server: 'a',
      failure: { code: 'spawn-failed', message: expect.stringContaining('gone for good') as string },
    });
    const read = ada.client.readResource({ uri: 'note://one' });
    read.catch(() => {});
    await expect(passTime(clock, read, 120_000)).rejects.toMatchObject({
      code: -32_000,
      data: { server: 'a', failure: { code: 'spawn-failed' } },
    });
  });

  it('a list is sent when the start gate opens, and announced again when a slow server is ready', async () => {
    const slow = new AskingUpstream({ tools: [tool('late')] });
    const open = createGate();
    const server = {
      connect: async (transport: never) => {
        await open.promise;
        return slow.connect(transport);
      },
    };
    const { gateway, client, clock } = make({
      servers: { slow: { type: 'in-process', server }, good: new AskingUpstream().entry() },
      startGateMs: 2_000,
    });
    const starting = gateway.start();
    const connecting = client('Ada');
    const ada = await passTime(clock, connecting);
    const listing = ada.client.listTools();
    const { tools } = await passTime(clock, listing);
    expect(tools.every(({ name }) => name.startsWith('mcp__good__'))).toBe(true);
    expect(await outcomes(ada)).toMatchObject({ good: { state: 'ready' }, slow: { state: 'launching' } });
    open.open();
    await passTime(clock, ada.whenNotified('notifications/tools/list_changed'));
    const names = (await ada.client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('mcp__slow__late');
    await starting;
  });

  it('clients are refused with failClosed until it works, and lists fail when it breaks again', async () => {
    const bad = broken();
    const { gateway, client, clock } = make({
      servers: { bad: bad.entry({ policy: { maxAttempts: 1 } }), good: new AskingUpstream().entry() },
      failClosed: true,
    });
    await passTime(clock, gateway.start());
    await expect(client('Ada')).rejects.toMatchObject({
      code: -32_000,
      data: { servers: { bad: { state: 'failed', code: 'spawn-failed' } } },
    });
    bad.refusal = undefined;
    await gateway.troupe.connection('bad')?.retry();
    const ada = await client('Ada');
    expect(await outcomes(ada)).toEqual({ bad: { state: 'ready' }, good: { state: 'ready' } });
    bad.refusal = new Error('gone again');
    await bad.connections[0]?.server.close();
    await passTime(
      clock,
      gateway.troupe
        .connection('bad')
        ?.ready()
        .catch(() => {}) ?? Promise.resolve(),
    );
    await expect(ada.client.listTools()).rejects.toMatchObject({ code: -32_000 });
  });

  it('a refused client may initialize again on its only connection, and is then asked questions as usual', async () => {
    const bad = broken();
    const { gateway, clock } = make({
      servers: { bad: bad.entry({ policy: { maxAttempts: 1 } }) },
      failClosed: true,
      singleClient: true,
    });
    const [near, far] = InMemoryTransport.createLinkedPair();
    let onAnswer: (answer: string) => void = () => {};
    near.onmessage = (message) => {
      if (!('method' in message)) onAnswer(JSON.stringify(message));
      else if (message.method === 'elicitation/create' && 'id' in message)
        void near.send({
          jsonrpc: '2.0',
          id: message.id,
          result: { action: 'accept', content: { name: 'Ada' } },
        });
    };
    await near.start();
    await gateway.connect(far);
    const ask = (id: number, method: string, params: Record<string, unknown>): Promise<string> => {
      const answered = new Promise<string>((resolve) => (onAnswer = resolve));
      void near.send({ jsonrpc: '2.0', id, method, params });
      return passTime(clock, answered);
    };
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: ANSWERS_ALL,
      clientInfo: { name: 'Ada', version: '1' },
    };
    expect(JSON.parse(await ask(1, 'initialize', params))).toMatchObject({
      error: { code: -32_000, data: { servers: { bad: { state: 'failed' } } } },
    });
    bad.refusal = undefined;
    await passTime(clock, gateway.troupe.connection('bad')?.retry() ?? Promise.resolve());
    expect(await ask(2, 'initialize', params)).toContain('serverInfo');
    expect(await ask(3, 'tools/call', { name: 'mcp__bad__ask', arguments: { for: 'Ada' } })).toContain(
      'accept',
    );
  });

  it('clients wait with failClosed for the first attempt of every server, and learn which one failed', async () => {
    for (const isBroken of [false, true]) {
      const open = createGate();
      const late = new AskingUpstream();
      const server = {
        connect: async (transport: never) => {
          await open.promise;
          return late.connect(transport);
        },
      };
      const bad = broken();
      const { gateway, client, clock } = make({
        servers: {
          late: { type: 'in-process', server },
          ...(isBroken ? { bad: bad.entry({ policy: { maxAttempts: 5 } }) } : {}),
        },
        startGateMs: 2_000,
        failClosed: true,
      });
      expect((await passTime(clock, gateway.start())).pending).toContainEqual({
        server: 'late',
        failure: null,
      });
      let isSettled = false;
      const connecting = client('Ada');
      void connecting.then(
        () => (isSettled = true),
        () => (isSettled = true),
      );
      await clock.advance(5_000);
      expect(isSettled).toBe(false);
      open.open();
      if (isBroken) {
        await expect(passTime(clock, connecting)).rejects.toMatchObject({
          code: -32_000,
          data: { servers: { bad: expect.anything() as unknown } },
        });
      } else {
        const ada = await passTime(clock, connecting);
        expect((await ada.client.listTools()).tools).not.toEqual([]);
        // A list also waits for a server that is being restarted.
        const restarting = gateway.troupe.connection('late')?.restart() ?? Promise.resolve();
        const listing = ada.client.listTools();
        await passTime(clock, restarting);
        expect((await listing).tools).not.toEqual([]);
      }
    }
  });

  it('the status is a resource that has the state of each server and announces its changes', async () => {
    const bad = broken();
    const { gateway, client, clock } = make({
      servers: { bad: bad.entry({ policy: { maxAttempts: 1 } }), good: new AskingUpstream().entry() },
    });
    await passTime(clock, gateway.start());
    const ada = await client('Ada');
    const bob = await client('Bob', { server: 'good' });
    const read = async (one: TestClient): Promise<{ servers: { server: string; state: string }[] }> => {
      const { contents } = await one.client.readResource({ uri: 'troupe://status' });
      const [first] = contents as { text: string; mimeType: string }[];
      expect(first?.mimeType).toBe('application/json');
      return JSON.parse(first?.text ?? '') as Awaited<ReturnType<typeof read>>;
    };
    expect((await read(ada)).servers.map(({ server, state }) => [server, state])).toEqual([
      ['bad', 'failed'],
      ['good', 'ready'],
    ]);
    expect((await read(bob)).servers.map(({ server }) => server)).toEqual(['good']);
    await ada.client.subscribeResource({ uri: 'troupe://status' });
    bad.refusal = undefined;
    await gateway.troupe.connection('bad')?.retry();
    const updates = await passTime(clock, ada.whenNotified('notifications/resources/updated'));
    expect(updates[0]).toEqual({ uri: 'troupe://status' });
    expect((await read(ada)).servers.map(({ state }) => state)).toEqual(['ready', 'ready']);
    await ada.client.unsubscribeResource({ uri: 'troupe://status' });
    await gateway.troupe.connection('bad')?.restart();
    await clock.advance(10_000);
    await ada.client.ping();
    const after = ada.of('notifications/resources/updated').length;
    await gateway.troupe.connection('bad')?.restart();
    await clock.advance(10_000);
    await ada.client.ping();
    expect(ada.of('notifications/resources/updated')).toHaveLength(after);
    expect(bob.notifications.map(({ method }) => method)).not.toContain('notifications/resources/updated');
  });

  it('adminTools offers tools to inspect, retry and restart servers, and they take no name from a server', async () => {
    const bad = broken();
    const { gateway, client, clock } = make({
      servers: { bad: bad.entry({ policy: { maxAttempts: 1 } }) },
      adminTools: true,
    });
    await passTime(clock, gateway.start());
    const ada = await client('Ada');
    expect((await ada.client.listTools()).tools.map(({ name }) => name)).toEqual([
      'troupe_status',
      'troupe_retry',
      'troupe_restart',
    ]);
    expect(JSON.parse(await ada.call('troupe_status'))).toMatchObject([{ server: 'bad', state: 'failed' }]);
    await expect(ada.call('troupe_retry', { server: 'nobody' })).rejects.toMatchObject({ code: -32_602 });
    const failed = (await ada.client.callTool({
      name: 'troupe_retry',
      arguments: { server: 'bad' },
    })) as CallToolResult;
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toContain('cannot connect');
    bad.refusal = undefined;
    bad.tools = [tool('troupe_restart')];
    expect(JSON.parse(await ada.call('troupe_retry', { server: 'bad' }))).toEqual({
      bad: { state: 'ready' },
    });
    const bob = await client('Bob', { server: 'bad' });
    const names = (await bob.client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(['troupe_restart', 'troupe_status', 'troupe_retry', 'troupe_restart_']);
    expect(await bob.call('troupe_restart')).toContain('connection');
    const before = bad.connections.length;
    await bob.call('troupe_restart_', { server: 'bad' });
    expect(bad.connections).toHaveLength(before + 1);
    const plain = make({ servers: { a: new AskingUpstream().entry() } });
    await plain.gateway.start();
    const eve = await plain.client('Eve');
    await expect(eve.call('troupe_status')).rejects.toMatchObject({ code: -32_602 });
    const empty = make({ servers: {}, adminTools: true });
    await empty.gateway.start();
    const zoe = await empty.client('Zoe');
    await expect(zoe.call('troupe_restart')).rejects.toMatchObject({ code: -32_602 });
  });
});

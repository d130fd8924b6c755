import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import {
  InitializeResultSchema,
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { ProtocolFailure, RequestLostError, RpcError } from '../../../src/protocol/protocol-client.js';
import { TransportError } from '../../../src/failures/transport-error.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import type { FakeTransportOptions } from '../../support/fake-transport.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { refuse, silent, type Script } from '../../support/scripted-server.js';
import { openClient, startClient } from '../../support/open-client.js';

describe('opening a session', () => {
  useLeakCheck();
  useCrashWatch();

  it('returns the identity of the server', async () => {
    const { identity, server, client } = await openClient();
    expect(identity).toEqual({
      info: { name: 'scripted', version: '1.2.3' },
      capabilities: { tools: { listChanged: true } },
      protocolVersion: '2025-11-25',
      instructions: 'Be kind.',
    });
    expect(server.received.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized']);
    expect(server.of('initialize')[0]?.params).toMatchObject({
      capabilities: {},
      clientInfo: { name: 'test', version: '0' },
    });
    client.abandon({ code: 'connection-lost', message: 'over' });
  });

  it.each(SUPPORTED_PROTOCOL_VERSIONS)('accepts the version %s, as the SDK does', async (version) => {
    const { identity, client } = await openClient({ protocolVersion: version });
    expect(identity.protocolVersion).toBe(version);
    client.abandon({ code: 'connection-lost', message: 'over' });
  });

  it('offers the version that the SDK considers the latest', async () => {
    const { server, client } = await openClient();
    expect(server.of('initialize')[0]?.params).toMatchObject({ protocolVersion: LATEST_PROTOCOL_VERSION });
    client.abandon({ code: 'connection-lost', message: 'over' });
  });

  it('keeps the same fields of the identity of the server as the SDK', async () => {
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: {
        tools: { listChanged: true, odd: 1 },
        resources: { subscribe: false },
        prompts: {},
        logging: {},
        completions: [],
        experimental: { 'a/b': { c: [1] } },
        tasks: { list: {}, requests: { tools: { call: {} } } },
        extensions: { 'x/y': {} },
        odd: { a: 1 },
      },
      serverInfo: {
        name: 'a',
        version: '1',
        title: 'A',
        description: 'An A.',
        websiteUrl: 'https://a.example',
        icons: [{ src: 'data:,', mimeType: 'image/png', sizes: ['any'], theme: 'dark', odd: 1 }],
        odd: 1,
      },
      instructions: 'Be kind.',
      odd: 1,
    };
    const { identity, client } = await openClient({ on: { initialize: () => result } });
    const { capabilities, serverInfo } = InitializeResultSchema.parse(result);
    expect(identity).toMatchObject({ capabilities, info: serverInfo });
    expect([identity.capabilities, identity.info]).toEqual([capabilities, serverInfo]);
    client.abandon({ code: 'connection-lost', message: 'over' });
  });

  it('names both versions if the version of the server is unknown', async () => {
    const failure = await failureOf({ protocolVersion: '2031-01-01' });
    expect(failure.code).toBe('protocol-version');
    expect(failure.message).toContain('2031-01-01');
    expect(failure.message).toContain('2025-11-25');
  });

  it.each([
    ['with its versions', { supported: ['2026-07-28'], requested: '2025-11-25' }, '2026-07-28'],
    ['without data', undefined, 'no thanks'],
  ])('fails for good if the server refuses the version with -32022 %s', async (_, data, said) => {
    const { opening } = startClient({ on: { initialize: refuse(-32022, 'no thanks', data) } });
    const error = await opening.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ failure: { code: 'protocol-version' } });
    expect((error as Error).message).toContain(said);
    expect((error as Error).message).toContain('2025-11-25');
  });

  it('does not repeat a version that is too long', async () => {
    const failure = await failureOf({ protocolVersion: 'x'.repeat(10_000) });
    expect(failure.message.length).toBeLessThan(500);
  });

  it.each([
    ['none of its required fields', {}],
    ['a server without a name', { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} }],
    [
      'a capability that is not an object',
      {
        protocolVersion: '2025-11-25',
        capabilities: { tools: true },
        serverInfo: { name: 'a', version: '1' },
      },
    ],
    [
      'an icon without an address',
      {
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name: 'a', version: '1', icons: [{ mimeType: 'image/png' }] },
      },
    ],
    [
      'capabilities that are not an object',
      { protocolVersion: '2025-11-25', capabilities: 7, serverInfo: { name: 'a', version: '1' } },
    ],
  ])('refuses an answer with %s', async (_, result) => {
    const failure = await failureOf({ on: { initialize: () => result } });
    expect(failure).toMatchObject({ code: 'protocol-error' });
  });

  it('fails with the error of a server that refuses', async () => {
    const { opening } = startClient({ on: { initialize: refuse(-32602, 'not you') } });
    await expect(opening).rejects.toMatchObject({ rpcCode: -32602, message: 'not you' });
    await expect(opening).rejects.toBeInstanceOf(RpcError);
  });

  it('ends with its signal, and does not cancel, since initialize must not be cancelled', async () => {
    const controller = new AbortController();
    const { opening, server, client } = startClient({ on: { initialize: silent } }, controller.signal);
    await server.whenReceived('initialize');
    controller.abort(new Error('too slow'));
    await expect(opening).rejects.toThrow('too slow');
    expect(client.pending).toBe(0);
    expect(server.of('notifications/cancelled')).toEqual([]);
    client.abandon({ code: 'connection-lost', message: 'over' });
  });

  it('is lost with the transport, with the cause that the transport reports', async () => {
    const { opening, server, transport } = startClient({ on: { initialize: silent } });
    await server.whenReceived('initialize');
    transport.simulateEnd({ code: 'process-exited', message: 'It exited with code 3.' });
    await expect(opening).rejects.toMatchObject({ failure: { code: 'process-exited' }, written: true });
  });
});

async function failureOf(script: Script): Promise<ProtocolFailure['failure']> {
  const { opening, client } = startClient(script);
  const error = await opening.catch((reason: unknown) => reason);
  client.abandon({ code: 'connection-lost', message: 'over' });
  expect(error).toBeInstanceOf(ProtocolFailure);
  return (error as ProtocolFailure).failure;
}

describe('a request', () => {
  useLeakCheck();
  useCrashWatch();

  const end = { code: 'connection-lost', message: 'over' } as const;

  it('gives the whole result, unknown fields included', async () => {
    const result = {
      content: [{ type: 'text', text: 'a' }],
      isError: true,
      extra: { deep: [1] },
      _meta: { a: 1 },
    };
    const { client } = await openClient({ on: { 'tools/call': () => result } });
    await expect(client.request('tools/call', { name: 'echo' })).resolves.toEqual(result);
    expect(client.pending).toBe(0);
    client.abandon(end);
  });

  it('keeps code, message and data of an error', async () => {
    const { client } = await openClient({ on: { 'tools/call': refuse(-32042, 'sign in', { url: 'u' }) } });
    const error: unknown = await client.request('tools/call', {}).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({ rpcCode: -32042, message: 'sign in', data: { url: 'u' } });
    expect(client.pending).toBe(0);
    client.abandon(end);
  });

  it('does not confuse an error of the server with its own timeout or loss', async () => {
    const { client } = await openClient({ on: { 'tools/call': refuse(-32001, 'MCP error -32001: slow') } });
    await expect(client.request('tools/call', {})).rejects.toMatchObject({
      rpcCode: -32001,
      message: 'MCP error -32001: slow',
    });
    client.abandon(end);
  });

  it('reports an invalid answer', async () => {
    const { client } = await openClient({ on: { 'tools/call': () => ({ _meta: 7 }) } });
    const error: unknown = await client.request('tools/call', {}).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      failure: { code: 'protocol-error' },
      written: true,
    });
    client.abandon(end);
  });

  it('leaves no listener on the signal of its caller', async () => {
    const { client } = await openClient();
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 100 }, () => client.request('ping', {}, { signal })));
    await client.request('nothing/here', {}, { signal }).catch(() => {});
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    client.abandon(end);
  });

  it('is not sent for a signal that is aborted already', async () => {
    const { client, server } = await openClient();
    await expect(
      client.request('ping', {}, { signal: AbortSignal.abort(new Error('before')) }),
    ).rejects.toThrow('before');
    expect(server.of('ping')).toEqual([]);
    expect(client.pending).toBe(0);
    client.abandon(end);
  });

  it('is cancelled at the server exactly once, and an answer that comes later is dropped', async () => {
    const gate = createGate();
    const { client, server, oddities } = await openClient({
      on: { 'tools/call': () => gate.promise.then(() => ({})) },
    });
    const controller = new AbortController();
    const asking = client.request('tools/call', {}, { signal: controller.signal });
    const { id } = await server.whenReceived('tools/call');
    controller.abort(new Error('enough'));
    controller.abort(new Error('again'));
    await expect(asking).rejects.toThrow('enough');
    expect(await server.whenReceived('notifications/cancelled')).toMatchObject({ params: { requestId: id } });
    gate.open();
    await expect(client.request('ping', {})).resolves.toEqual({});
    expect(server.of('notifications/cancelled')).toHaveLength(1);
    expect(oddities).toEqual([]);
    client.abandon(end);
  });

  it.each([
    ['is reported while the session continues', 1],
    ['is not reported after the session has ended', 0],
  ])('whose cancellation cannot be sent %s', async (_title, count) => {
    const gate = createGate();
    let isHeld = false;
    const send = async (): Promise<void> => {
      if (!isHeld) return;
      await gate.promise;
      throw new Error('no way');
    };
    const { client, transport, oddities } = await openClient({}, { send });
    isHeld = true;
    const controller = new AbortController();
    const asking = client.request('tools/call', {}, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
    expect(transport.sent.at(-1)).toMatchObject({ method: 'notifications/cancelled' });
    if (count === 0) client.abandon(end);
    gate.open();
    await setImmediate();
    expect(oddities).toHaveLength(count);
    client.abandon(end);
  });

  it('is not cancelled if its signal aborts after the answer', async () => {
    const { client, server } = await openClient();
    const controller = new AbortController();
    await client.request('ping', {}, { signal: controller.signal });
    controller.abort();
    await client.request('ping', {});
    expect(server.of('notifications/cancelled')).toEqual([]);
    client.abandon(end);
  });

  it('rejects with an Error if the reason of the signal is not an Error', async () => {
    const { client } = await openClient({ on: { 'tools/call': silent } });
    const controller = new AbortController();
    const asking = client.request('tools/call', {}, { signal: controller.signal });
    controller.abort('a word');
    await expect(asking).rejects.toBeInstanceOf(Error);
    await expect(asking).rejects.toThrow('a word');
    client.abandon(end);
  });

  it('before the session was opened is not sent', async () => {
    const { client } = startClient({ on: { initialize: silent } });
    client.abandon(end);
    await expect(client.request('ping', {})).rejects.toMatchObject({ written: false });
  });
});

describe('a send that fails', () => {
  useLeakCheck();
  useCrashWatch();

  it.each([
    ['was not written', false],
    ['may have been written', true],
  ])('settles its request as %s', async (_, written) => {
    const failure = { code: 'connection-lost', message: 'The pipe is closed.' } as const;
    const { client } = await openClient({}, failingSends(new TransportError(failure, { written })));
    const error: unknown = await client.request('ping', {}).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RequestLostError);
    expect(error).toMatchObject({ failure, written });
    expect(client.pending).toBe(0);
    client.abandon(failure);
  });

  it('without a record counts as possibly written', async () => {
    const { client } = await openClient({}, failingSends(new Error('odd')));
    await expect(client.request('ping', {})).rejects.toMatchObject({ written: true });
    expect(client.pending).toBe(0);
    client.abandon({ code: 'connection-lost', message: 'over' });
  });
});

/** Sends after the session was opened are rejected. */
function failingSends(error: Error): FakeTransportOptions {
  let sends = 0;
  return {
    send: async () => {
      sends += 1;
      if (sends > 2) throw error;
    },
  };
}

describe('the end of a session', () => {
  useLeakCheck();
  useCrashWatch();

  it('keeps an answer that came with the last message', async () => {
    const { client, server, transport } = await openClient({ on: { 'tools/call': silent } });
    const answered = client.request('tools/call', {});
    const refused = client.request('tools/call', {});
    const lost = client.request('tools/call', {});
    await server.whenReceived('tools/call', 3);
    const [first, second] = server.of('tools/call');
    transport.simulateMessage({ jsonrpc: '2.0', id: first?.id, result: { content: [] } });
    transport.simulateMessage({ jsonrpc: '2.0', id: second?.id, error: { code: -1, message: 'no' } });
    transport.simulateEnd();
    await Promise.all([
      expect(answered).resolves.toEqual({ content: [] }),
      expect(refused).rejects.toMatchObject({ rpcCode: -1, message: 'no' }),
      expect(lost).rejects.toBeInstanceOf(RequestLostError),
    ]);
    expect(client.pending).toBe(0);
  });

  it('settles every request when it is abandoned, and leaves no timer even if the transport never closes', async () => {
    const { client } = await openClient({ on: { 'tools/call': silent } });
    const asking = client.request('tools/call', {});
    client.abandon({ code: 'connection-lost', message: 'closing' });
    await expect(asking).rejects.toMatchObject({ failure: { message: 'closing' }, written: true });
    expect(client.pending).toBe(0);
    await expect(client.request('ping', {})).rejects.toMatchObject({ written: false });
  });

  it('loses one request if the transport reports so, and continues with the others', async () => {
    const { client, server, transport } = await openClient({ on: { 'tools/call': silent } });
    const asking = client.request('tools/call', {});
    const { id } = await server.whenReceived('tools/call');
    transport.simulateLost(id ?? '', { code: 'connection-lost', message: 'The stream was cut.' });
    await expect(asking).rejects.toMatchObject({
      failure: { message: 'The stream was cut.' },
      written: true,
    });
    await expect(client.request('ping', {})).resolves.toEqual({});
    client.abandon({ code: 'connection-lost', message: 'over' });
  });
});

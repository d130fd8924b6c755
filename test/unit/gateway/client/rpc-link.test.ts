/** How the gateway answers a client that violates the protocol. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { passTime } from '../../../support/test-troupe.js';
import { AskingUpstream } from '../../../support/asking-upstream.js';
import { useGateways, type TestGateway } from '../../../support/gateway-rig.js';

interface Received {
  readonly id?: number | string | null;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

/** The client's end of a transport that does not validate messages. */
class RawClient implements Transport {
  onclose?: () => void;
  onmessage?: Transport['onmessage'];
  readonly received: Received[] = [];
  failing: Error | undefined;
  readonly #waiting = new Set<() => void>();

  async start(): Promise<void> {
    if (this.failing !== undefined) throw this.failing;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.failing !== undefined) throw this.failing;
    this.received.push(message as unknown as Received);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  sendRaw(message: unknown): void {
    this.onmessage?.(message as JSONRPCMessage);
  }

  /** Resolves with the next message that was not read yet. */
  async next(): Promise<Received> {
    while (this.received.length === 0) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this.received.shift() as Received;
  }

  async ask(method: string, params?: unknown, id: unknown = 1): Promise<Received> {
    this.sendRaw({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
    return this.next();
  }
}

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

describe('a client that writes its own messages', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  async function open(
    capabilities: object = {},
    upstream = new AskingUpstream(),
  ): Promise<TestGateway & { raw: RawClient; upstream: AskingUpstream }> {
    const test = make({ servers: { a: upstream.entry() } });
    await test.gateway.start();
    const raw = new RawClient();
    await test.gateway.connect(raw);
    expect(await raw.ask('initialize', { ...HELLO, capabilities }, 0)).toMatchObject({
      id: 0,
      result: { protocolVersion: '2025-06-18', serverInfo: { name: 'mcp-troupe' } },
    });
    raw.sendRaw({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return { ...test, raw, upstream };
  }

  it('is answered with the requested version, or with the latest one if that is unsupported', async () => {
    const { gateway } = make({ servers: {} });
    await gateway.start();
    for (const [asked, given] of [
      ['2024-11-05', '2024-11-05'],
      ['1999-01-01', '2025-11-25'],
    ]) {
      const raw = new RawClient();
      await gateway.connect(raw);
      const { result } = await raw.ask('initialize', { ...HELLO, protocolVersion: asked });
      expect(result?.['protocolVersion']).toBe(given);
    }
  });

  it('gets an error for everything that is not a valid message, method or request', async () => {
    const { raw } = await open();
    raw.sendRaw('no object');
    expect(await raw.next()).toMatchObject({ id: null, error: { code: -32_600 } });
    raw.sendRaw({ jsonrpc: '1.0', id: 5, method: 'ping' });
    expect(await raw.next()).toMatchObject({ id: 5, error: { code: -32_600 } });
    expect(await raw.ask('no/such', {}, 'text')).toEqual({
      jsonrpc: '2.0',
      id: 'text',
      error: { code: -32_601, message: 'Method not found', data: { method: 'no/such' } },
    });
    expect(await raw.ask('ping', [1])).toMatchObject({ id: 1, error: { code: -32_602 } });
    for (const [method, params] of [
      ['tools/call', { name: 5 }],
      ['tools/call', { name: 'mcp__a__echo', arguments: [] }],
      ['tools/call', { name: 'mcp__a__nothing' }],
      ['tools/list', { cursor: 'more' }],
      ['resources/read', {}],
      ['prompts/get', { name: 'none' }],
      ['completion/complete', { ref: { type: 'ref/prompt' } }],
      ['completion/complete', {}],
      ['logging/setLevel', { level: 'loud' }],
    ] as const) {
      const { error } = await raw.ask(method, params);
      expect(error, method).toMatchObject({ code: -32_602, data: expect.anything() as unknown });
      expect(JSON.stringify(error), method).not.toContain('.ts');
    }
    expect(await raw.ask('initialize', HELLO)).toMatchObject({ error: { code: -32_600 } });
    expect(await raw.ask('ping')).toMatchObject({ id: 1, result: {} });
  });

  it('has to initialize first, and may try again', async () => {
    const { gateway } = make({ servers: { a: new AskingUpstream().entry() } });
    const raw = new RawClient();
    await gateway.connect(raw);
    expect(await raw.ask('ping')).toMatchObject({ result: {} });
    expect(await raw.ask('tools/list')).toMatchObject({ error: { code: -32_600 } });
    expect(await raw.ask('initialize', {})).toMatchObject({ error: { code: -32_602 } });
    expect(await raw.ask('initialize', HELLO)).toMatchObject({ id: 1, result: {} });
  });

  it('cannot cancel initialize', async () => {
    const { gateway } = make({ servers: {} });
    await gateway.start();
    const raw = new RawClient();
    await gateway.connect(raw);
    raw.sendRaw({ jsonrpc: '2.0', id: 0, method: 'initialize', params: HELLO });
    raw.sendRaw({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } });
    expect(await raw.next()).toMatchObject({ id: 0, result: { protocolVersion: '2025-06-18' } });
  });

  it('gets one answer per id, and none for a cancelled request', async () => {
    const { raw, upstream } = await open();
    const call = { name: 'mcp__a__wait', arguments: { for: 'x' } };
    raw.sendRaw({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: call });
    expect(await raw.ask('ping', {}, 7)).toMatchObject({
      id: null,
      error: { code: -32_600, data: { id: 7 } },
    });
    raw.sendRaw({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } });
    raw.sendRaw({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    await upstream.when(() => upstream.cancelled.length === 1);
    upstream.gate('x').open();
    expect(await raw.ask('ping', {}, 7)).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    expect(raw.received).toEqual([]);
  });

  it('that sends an invalid or unexpected answer affects only the request it belongs to', async () => {
    const { raw } = await open({ elicitation: {} });
    raw.sendRaw({ jsonrpc: '2.0', id: 4_711, result: {} });
    const call = { name: 'mcp__a__ask', arguments: { for: 'x' } };
    raw.sendRaw({ jsonrpc: '2.0', id: 8, method: 'tools/call', params: call });
    const question = await raw.next();
    expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'for x' } });
    raw.sendRaw({ jsonrpc: '2.0', id: question.id, nonsense: true });
    const { id, result } = await raw.next();
    expect(id).toBe(8);
    expect(JSON.stringify(result)).toContain('error');
  });

  it('that refuses a question has its own error passed to the server', async () => {
    const { raw } = await open({ sampling: {} });
    const call = { name: 'mcp__a__ask', arguments: { for: 'x', method: 'sampling/createMessage' } };
    raw.sendRaw({ jsonrpc: '2.0', id: 8, method: 'tools/call', params: call });
    const { id } = await raw.next();
    raw.sendRaw({ jsonrpc: '2.0', id, error: { code: -1, message: 'User rejected sampling request' } });
    expect(JSON.stringify((await raw.next()).result)).toContain('User rejected sampling request');
  });

  it('that cannot be reached any more, or cannot be started, ends by itself', async () => {
    const { raw, gateway, clock } = await open();
    raw.failing = new Error('no way');
    raw.sendRaw({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const dead = new RawClient();
    dead.failing = new Error('never started');
    await expect(gateway.connect(dead)).rejects.toThrow('never started');
    await passTime(clock, gateway.close());
  });
});

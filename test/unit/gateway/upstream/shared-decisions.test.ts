/** A user decides once for all connections of the gateway. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TrustRequest } from '../../../../src/trust/trust-request.js';
import { createMemoryTrustStore } from '../../../../src/trust/trust-store.js';
import { decidingOnce, notifyingStore } from '../../../../src/gateway/upstream/shared-decisions.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { FakeServer } from '../../../support/fake-server.js';
import { createGate } from '../../../support/gate.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { text } from '../../../support/scripted-server.js';
import { passTime } from '../../../support/test-troupe.js';
import { ANSWERS_ALL, useGateways, type TestClient, type TestGateway } from '../../../support/gateway-rig.js';

// Mocked because a gateway creates its troupes itself, and their transports cannot be replaced from outside.
vi.mock(
  '../../../../src/transports/create-transport.js',
  async () => (await import('../../../support/fake-server.js')).fakeTransports,
);

describe("a project's entry", () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-gateway-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function open(options: { trust?: (request: TrustRequest) => boolean | Promise<boolean> }): {
    readonly test: TestGateway;
    readonly server: FakeServer;
  } {
    const server = new FakeServer(undefined, {
      on: { 'tools/call': (_, { session }) => text(`session ${session}`) },
    });
    const path = join(folder, 'mcp.json');
    writeFileSync(path, JSON.stringify({ mcpServers: { a: { command: server.command } } }));
    return { test: make({ config: { path, scope: 'project' }, ...options }), server };
  }

  const twoClients = (test: TestGateway): Promise<TestClient[]> =>
    Promise.all(
      ['Ada', 'Bob'].map((name) => passTime(test.clock, test.client(name, { capabilities: ANSWERS_ALL }))),
    );

  it('that the user trusts is asked about once, for all clients', async () => {
    const asked: string[] = [];
    const { test, server } = open({ trust: ({ server: name }) => asked.push(name) > 0 });
    await test.gateway.start();
    for (const one of await twoClients(test)) {
      expect(await passTime(test.clock, one.call('mcp__a__echo'))).toContain('session');
    }
    expect(server.transports).toHaveLength(3);
    expect(asked).toEqual(['a']);
  });

  it('that the user refuses is asked about once, and never started', async () => {
    const asked: string[] = [];
    const { test, server } = open({ trust: ({ server: name }) => asked.push(name) < 0 });
    await test.gateway.start();
    for (const one of await twoClients(test)) {
      const called = one.client.callTool({ name: 'mcp__a__echo' });
      const result = await passTime(test.clock, called);
      expect(result).toMatchObject({ isError: true });
    }
    test.gateway.troupe.connection('a')?.dispatch({ type: 'connection.retry' });
    await test.clock.advance(600_000);
    expect(server.transports).toEqual([]);
    expect(asked).toEqual(['a']);
  });

  it('that the host trusts also starts for clients with their own connections', async () => {
    const { test, server } = open({});
    await test.gateway.start();
    const clients = await twoClients(test);
    expect(server.transports).toEqual([]);
    await passTime(test.clock, test.gateway.troupe.connection('a')?.trust() ?? Promise.resolve());
    for (const one of clients) {
      await vi.waitFor(async () => {
        await test.clock.advance(1_000);
        expect(await one.call('mcp__a__echo')).toContain('session');
      });
    }
    expect(server.transports).toHaveLength(3);
  });
});

describe('a decision', () => {
  const request = { hash: 'h' } as TrustRequest;

  it('is shared by all, and requested again if a request failed', async () => {
    const answer = createGate<boolean>();
    let asked = 0;
    const decide = decidingOnce(() => {
      asked += 1;
      if (asked === 1) throw new Error('no user');
      return answer.promise;
    });
    await expect(decide(request)).rejects.toThrow('no user');
    const both = [decide(request), decide(request)];
    answer.open(false);
    expect(await Promise.all(both)).toEqual([false, false]);
    expect(asked).toBe(2);
    void decide({ ...request, hash: 'other' });
    expect(asked).toBe(3);
  });

  it('is reported to the listeners until they unsubscribe', async () => {
    const calls: string[] = [];
    const store = notifyingStore({ ...createMemoryTrustStore(), watch: () => () => calls.push('stopped') });
    const stop = store.watch?.(() => calls.push('first'));
    store.watch?.(() => calls.push('second'));
    await store.trust(request);
    expect(calls).toEqual(['first', 'second']);
    stop?.();
    await store.trust(request);
    expect(calls).toEqual(['first', 'second', 'stopped', 'second']);
    expect(await store.has('h')).toBe(true);
    expect(await store.list()).toHaveLength(1);
    await store.revoke('h');
    expect(await store.has('h')).toBe(false);
  });
});

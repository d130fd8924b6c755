/** A person decides once for every connection of the gateway. */
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

// Replaced because a gateway makes its troupes itself: no seam of theirs is reached from outside.
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

  it('that a person says yes to is asked about once, for all clients', async () => {
    const asked: string[] = [];
    const { test, server } = open({ trust: ({ server: name }) => asked.push(name) > 0 });
    await test.gateway.start();
    for (const one of await twoClients(test)) {
      expect(await passTime(test.clock, one.call('mcp__a__echo'))).toContain('session');
    }
    expect(server.transports).toHaveLength(3);
    expect(asked).toEqual(['a']);
  });

  it('that a person says no to is asked about once, and nothing of it is ever started', async () => {
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

  it('that the host trusts starts for the clients that have it to themselves, too', async () => {
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

  it('is waited for by everybody, and made anew where nobody could be asked', async () => {
    const answer = createGate<boolean>();
    let asked = 0;
    const decide = decidingOnce(() => {
      asked += 1;
      if (asked === 1) throw new Error('nobody is there');
      return answer.promise;
    });
    await expect(decide(request)).rejects.toThrow('nobody is there');
    const both = [decide(request), decide(request)];
    answer.open(false);
    expect(await Promise.all(both)).toEqual([false, false]);
    expect(asked).toBe(2);
    void decide({ ...request, hash: 'other' });
    expect(asked).toBe(3);
  });

  it('is told to whoever listens, until it does not', async () => {
    const told: string[] = [];
    const store = notifyingStore({ ...createMemoryTrustStore(), watch: () => () => told.push('stopped') });
    const stop = store.watch?.(() => told.push('first'));
    store.watch?.(() => told.push('second'));
    await store.trust(request);
    expect(told).toEqual(['first', 'second']);
    stop?.();
    await store.trust(request);
    expect(told).toEqual(['first', 'second', 'stopped', 'second']);
    expect(await store.has('h')).toBe(true);
    expect(await store.list()).toHaveLength(1);
    await store.revoke('h');
    expect(await store.has('h')).toBe(false);
  });
});

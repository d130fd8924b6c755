/** A client's own connections do not start before their first use if the gateway knows what they would offer. */
import { describe, expect, it, vi } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { fakeProgram, FakeServer } from '../../support/fake-server.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { text, tool } from '../../support/scripted-server.js';
import { passTime } from '../../support/test-troupe.js';
import { ANSWERS_ALL, useGateways, type TestClient } from '../../support/gateway-rig.js';

// Mocked because a gateway creates its troupes itself, so a test cannot reach their internal options.
vi.mock(
  '../../../src/transports/create-transport.js',
  async () => (await import('../../support/fake-server.js')).fakeTransports,
);

/** Lists are stored when no other has come for this long. */
const CALM_MS = 100;

describe("a client's own connections", () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  function program(): FakeServer {
    return new FakeServer(undefined, {
      capabilities: { tools: {}, prompts: {}, resources: {} },
      on: {
        'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
        'resources/list': () => ({ resources: [{ uri: 'note://one', name: 'one' }] }),
        'resources/templates/list': () => ({ resourceTemplates: [] }),
        'tools/call': (_, { session }) => text(`session ${session}`),
      },
    });
  }

  async function offered({ client }: TestClient): Promise<string[]> {
    const [tools, prompts, resources] = await Promise.all([
      client.listTools(),
      client.listPrompts(),
      client.listResources(),
    ]);
    return [
      ...tools.tools.map(({ name }) => name),
      ...prompts.prompts.map(({ name }) => name),
      ...resources.resources.map(({ uri }) => uri),
    ];
  }

  it('start with the first call if a client of the same kind was there before', async () => {
    const server = program();
    const { gateway, client, clock } = make({ servers: { a: fakeProgram(server) } });
    await passTime(clock, gateway.start());
    const ada = await passTime(clock, client('Ada', { capabilities: ANSWERS_ALL }));
    const known = await passTime(clock, offered(ada));
    expect(known).toEqual(['mcp__a__echo', 'mcp__a__greet', 'troupe://status', 'note://one']);
    const before = server.transports.length;
    expect(before).toBe(2);
    await clock.advance(CALM_MS);
    const bob = await passTime(clock, client('Bob', { capabilities: ANSWERS_ALL }));
    expect(await passTime(clock, offered(bob))).toEqual(known);
    expect(server.transports).toHaveLength(before);
    expect(await passTime(clock, bob.call('mcp__a__echo'))).toBe('session 3');
    expect(await passTime(clock, offered(bob))).toEqual(known);
    const eve = await passTime(clock, client('Eve', { capabilities: { roots: {} } }));
    expect(await passTime(clock, offered(eve))).toEqual(known);
    expect(server.transports).toHaveLength(before + 2);
  });

  it('are listed anew for another subject: a list may be private', async () => {
    const lists = {
      'tools/list': (_: object, { session }: { session: number }) => ({ tools: [tool(`of-${session}`)] }),
    };
    const server = new FakeServer(undefined, { era: 'new', on: lists });
    const { gateway, client, clock } = make({
      servers: { a: fakeProgram(server, { protocol: 'new', isolation: 'per-session' }) },
    });
    await passTime(clock, gateway.start());
    const listOf = async (subject: string, name: string): Promise<string[]> => {
      const one = await passTime(clock, client(name, { subject }));
      const { tools } = await passTime(clock, one.client.listTools());
      await clock.advance(CALM_MS);
      return tools.map((each) => each.name);
    };
    const [ada, again, bob] = [
      await listOf('ada', 'first'),
      await listOf('ada', 'second'),
      await listOf('bob', 'third'),
    ];
    expect([ada, again, bob]).toEqual([['mcp__a__of-2'], ['mcp__a__of-2'], ['mcp__a__of-3']]);
  });

  it('ask the user once for the inputs of their entries', async () => {
    const server = program();
    const askedIds: string[] = [];
    const { gateway, client, clock } = make({
      servers: { a: { ...fakeProgram(server), args: ['${input:key}'] } as never },
      askInput: ({ id }) => {
        askedIds.push(id);
        return 'secret';
      },
    });
    await passTime(clock, gateway.start());
    for (const name of ['Ada', 'Bob']) {
      const one = await passTime(clock, client(name, { capabilities: ANSWERS_ALL }));
      expect(await passTime(clock, one.call('mcp__a__echo'))).toContain('session');
    }
    expect(server.transports).toHaveLength(3);
    expect(askedIds).toEqual(['key']);
  });

  it('leave the shared connection dormant if no client may share it', async () => {
    const server = program();
    const { gateway, client, clock } = make({
      servers: { a: fakeProgram(server, { isolation: 'per-session' }) },
      idleStopMs: 30_000,
    });
    await passTime(clock, gateway.start());
    await clock.advance(40_000);
    await clock.advance(40_000);
    expect(gateway.troupe.connection('a')?.status.substate).toBe('dormant');
    const [ada, bob] = [await passTime(clock, client('Ada')), await passTime(clock, client('Bob'))];
    const sessions = await passTime(clock, Promise.all([ada, bob].map((one) => one.call('mcp__a__echo'))));
    expect(new Set(sessions).size).toBe(2);
    expect(gateway.troupe.connection('a')?.status.substate).toBe('dormant');
  });

  it('replace the shared one when a server becomes per-session, and clients that have none lose the server', async () => {
    const [a, b] = [program(), program()];
    const { gateway, client, clock } = make({ servers: { a: fakeProgram(a) } });
    await passTime(clock, gateway.start());
    const [ada, bob] = [await passTime(clock, client('Ada')), await passTime(clock, client('Bob'))];
    const eve = await passTime(clock, client('Eve', { capabilities: ANSWERS_ALL }));
    const notified = [ada, bob, eve].map((one) => one.whenNotified('notifications/tools/list_changed'));
    const own = { isolation: 'per-session' } as const;
    await passTime(clock, gateway.troupe.reload({ a: fakeProgram(a, own), b: fakeProgram(b, own) }));
    await passTime(clock, Promise.all(notified));
    for (const one of [ada, bob]) {
      expect((await one.client.listTools()).tools).toEqual([]);
      await expect(passTime(clock, one.call('mcp__b__echo'))).rejects.toMatchObject({ code: -32_602 });
    }
    const [cyn, dan] = [await passTime(clock, client('Cyn')), await passTime(clock, client('Dan'))];
    const calls = [eve, cyn, dan].map((one) => one.call('mcp__b__echo'));
    expect(new Set(await passTime(clock, Promise.all(calls))).size).toBe(3);
  });

  it('can be switched on and off by a reload, and clients on the shared connection are notified', async () => {
    const a = program();
    const { gateway, client, clock } = make({ servers: { a: fakeProgram(a) } });
    await passTime(clock, gateway.start());
    const ada = await passTime(clock, client('Ada'));
    const names = async (): Promise<string[]> => (await ada.client.listTools()).tools.map(({ name }) => name);
    expect(await names()).toEqual(['mcp__a__echo']);
    for (const [isolation, seen] of [
      ['per-session', []],
      ['shared', ['mcp__a__echo']],
    ] as const) {
      const before = ada.of('notifications/tools/list_changed').length;
      const notified = ada.whenNotified('notifications/tools/list_changed', before + 1);
      await passTime(clock, gateway.troupe.reload({ a: fakeProgram(a, { isolation }) }));
      await passTime(clock, notified);
      expect(await names()).toEqual(seen);
    }
    expect(await passTime(clock, ada.call('mcp__a__echo'))).toContain('session');
  });

  it('follow the configuration: an added server appears and a removed one disappears', async () => {
    const [a, b] = [program(), program()];
    const { gateway, client, clock } = make({ servers: { a: fakeProgram(a) } });
    await passTime(clock, gateway.start());
    const ada = await passTime(clock, client('Ada', { capabilities: ANSWERS_ALL }));
    const eve = await passTime(clock, client('Eve'));
    await passTime(clock, gateway.troupe.reload({ b: fakeProgram(b) }));
    const notified = [ada, eve].map((one) => one.whenNotified('notifications/tools/list_changed'));
    await passTime(clock, Promise.all(notified));
    for (const one of [ada, eve]) {
      await vi.waitFor(async () => {
        const names = (await one.client.listTools()).tools.map(({ name }) => name);
        expect(names).toEqual(['mcp__b__echo']);
      });
      expect(await passTime(clock, one.call('mcp__b__echo'))).toContain('session');
    }
    await passTime(clock, gateway.troupe.remove('b'));
    await passTime(clock, gateway.troupe.add('c', fakeProgram(program())));
    for (const one of [ada, eve]) {
      await vi.waitFor(async () => {
        await clock.advance(1_000);
        const names = (await one.client.listTools()).tools.map(({ name }) => name);
        expect(names).toEqual(['mcp__c__echo']);
      });
    }
  });
});

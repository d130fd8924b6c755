/** How sessions of clients begin and end, and that nothing of them is left. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { describe, expect, it, vi } from 'vitest';
import type { LifecycleEvent } from '../../../src/lifecycle/event.js';
import { createGateway } from '../../../src/gateway/gateway.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { passTime } from '../../support/test-troupe.js';
import { AskingUpstream } from '../../support/asking-upstream.js';
import { ANSWERS_ALL, useGateways } from '../../support/gateway-rig.js';

describe('the session of a client', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  it('is refused if the maximum number of clients have connections of their own, until one of them is gone', async () => {
    const { gateway, client, clock } = make({
      servers: { a: new AskingUpstream().entry() },
      maxIsolatedClients: 1,
    });
    await gateway.start();
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    await expect(client('Bob', { capabilities: ANSWERS_ALL })).rejects.toMatchObject({
      code: -32_000,
      data: { reason: 'too-many-isolated-clients', maxIsolatedClients: 1 },
    });
    const eve = await client('Eve');
    expect(await eve.call('mcp__a__echo')).toContain('echo');
    await ada.client.close();
    await passTime(clock, ada.session.closed);
    const bob = await client('Bob', { capabilities: ANSWERS_ALL });
    expect(await bob.call('mcp__a__echo')).toContain('echo');
  });

  it('gives way to a new client at the limit after five minutes without any contact', async () => {
    const { gateway, client, clock } = make({
      servers: { a: new AskingUpstream().entry() },
      maxIsolatedClients: 2,
    });
    await gateway.start();
    const [ada, bob] = [
      await client('Ada', { capabilities: ANSWERS_ALL }),
      await client('Bob', { capabilities: ANSWERS_ALL }),
    ];
    ada.goAway(clock.now() + 1_000);
    bob.goAway(clock.now());
    await clock.advance(200_000);
    await bob.client.ping();
    await clock.advance(99_000);
    const eve = passTime(clock, client('Eve', { capabilities: ANSWERS_ALL }));
    await expect(eve).rejects.toMatchObject({ code: -32_000, data: { reason: 'too-many-isolated-clients' } });
    await clock.advance(3_000);
    const fay = await passTime(clock, client('Fay', { capabilities: ANSWERS_ALL }));
    expect(await fay.call('mcp__a__echo')).toContain('echo');
    await passTime(clock, ada.session.closed);
    await bob.client.ping();
  });

  it('ends with its own connections, and its pending calls fail', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client, clock } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    const held = createGate();
    ada.holdAnswers(held.promise);
    const waiting = ada.call('mcp__a__wait', { for: 'Ada' });
    const asking = ada.call('mcp__a__ask', { for: 'Ada' });
    for (const call of [waiting, asking]) call.catch(() => {});
    await upstream.when(() => upstream.of('tools/call').length === 2);
    const own = upstream.connections.at(-1);
    const isClosed = new Promise<void>((resolve) => {
      if (own !== undefined) own.server.onclose = () => resolve();
    });
    await ada.client.close();
    await passTime(clock, Promise.all([isClosed, ada.session.closed]));
    await expect(waiting).rejects.toThrow();
    await expect(asking).rejects.toThrow();
    held.open();
    expect(gateway.troupe.status[0]?.state).toBe('ready');
  });

  it('on a shared connection ends only its own subscriptions and log level', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client, clock } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const [ada, bob] = [await client('Ada'), await client('Bob')];
    await ada.client.subscribeResource({ uri: 'note://one' });
    await ada.client.subscribeResource({ uri: 'note://two/part' });
    await bob.client.subscribeResource({ uri: 'note://one' });
    await bob.client.setLoggingLevel('error');
    await ada.client.setLoggingLevel('debug');
    expect(upstream.of('logging/setLevel')).toEqual([{ level: 'error' }, { level: 'debug' }]);
    await ada.client.close();
    await passTime(clock, ada.session.closed);
    await upstream.when(() => upstream.of('logging/setLevel').length === 3);
    expect(upstream.of('logging/setLevel').at(-1)).toEqual({ level: 'error' });
    expect(upstream.of('resources/unsubscribe')).toEqual([{ uri: 'note://two/part' }]);
  });

  it('with endsWhenIdle ends when its client is idle, but not while a request is in progress', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client, clock } = make({
      servers: { a: upstream.entry({ callTimeoutMs: 0, policy: { ping: { idleMs: 0 } } }) },
      sessionIdleMs: 60_000,
    });
    await gateway.start();
    const ada = await client('Ada', { endsWhenIdle: true });
    const bob = await client('Bob');
    const waiting = ada.call('mcp__a__wait', { for: 'Ada' });
    await upstream.when(() => upstream.of('tools/call').length === 1);
    await clock.advance(50_000);
    await clock.advance(50_000);
    upstream.gate('Ada').open();
    expect(await waiting).toBe('waited for Ada');
    await ada.client.ping();
    await clock.advance(59_000);
    await ada.client.ping();
    await clock.advance(59_000);
    await ada.client.ping();
    await passTime(clock, ada.session.closed, 70_000);
    await expect(ada.client.ping()).rejects.toThrow();
    await clock.advance(3_600_000);
    await bob.client.ping();
  });

  it('stops its own connections when they are idle, and starts them with the next call', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client, clock } = make({ servers: { a: upstream.entry() }, idleStopMs: 30_000 });
    await gateway.start();
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    const states: string[] = [];
    gateway.events$.subscribe((event) => {
      if (event.type === 'connection.state' && event.session === ada.session.id) states.push(event.substate);
    });
    await ada.call('mcp__a__echo');
    await clock.advance(40_000);
    await clock.advance(40_000);
    expect(states.at(-1)).toBe('dormant');
    expect((await ada.client.listPrompts()).prompts).toHaveLength(1);
    expect(await ada.call('mcp__a__echo')).toContain('"connection":3');
    expect(gateway.troupe.status[0]?.state).toBe('ready');
  });

  it('is one of many that call at the same time, over shared and own connections', async () => {
    const upstreams = ['a', 'b', 'c', 'd'].map((name) => [name, new AskingUpstream()] as const);
    const servers = Object.fromEntries(upstreams.map(([name, upstream]) => [name, upstream.entry()]));
    const { gateway, client } = make({ servers });
    await gateway.start();
    const clients = await Promise.all(
      Array.from({ length: 30 }, async (_, n) =>
        client(`c${n}`, n % 10 === 0 ? { capabilities: ANSWERS_ALL } : {}),
      ),
    );
    const areOwnEchoes = await Promise.all(
      clients.flatMap((one) =>
        upstreams.map(async ([name]) => {
          const text = await one.call(`mcp__${name}__echo`, { for: one.name });
          return text.includes(`"for":"${one.name}"`);
        }),
      ),
    );
    expect(areOwnEchoes).toHaveLength(120);
    expect(areOwnEchoes).not.toContain(false);
    // The shared one, and one for each client that answers questions.
    for (const [, { connections }] of upstreams) expect(connections).toHaveLength(4);
  });

  it('finishes its calls within a limit when the gateway is closed, and refuses new ones', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client, clock } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const ada = await client('Ada');
    const [quick, slow] = [
      ada.call('mcp__a__wait', { for: 'quick' }),
      ada.call('mcp__a__wait', { for: 'slow' }),
    ];
    slow.catch(() => {});
    await upstream.when(() => upstream.of('tools/call').length === 2);
    const closing = gateway.close({ requestDrainMs: 5_000 });
    await expect(ada.call('mcp__a__echo')).rejects.toMatchObject({
      code: -32_000,
      data: { reason: 'closing' },
    });
    upstream.gate('quick').open();
    expect(await quick).toBe('waited for quick');
    await passTime(clock, closing);
    await expect(slow).rejects.toMatchObject({ code: -32_000, data: { reason: 'closing' } });
    await ada.session.closed;
    const [, far] = InMemoryTransport.createLinkedPair();
    await expect(gateway.connect(far)).rejects.toMatchObject({ code: 'NOT_READY' });
    await expect(gateway.start()).rejects.toMatchObject({ code: 'NOT_READY' });
    upstream.gate('slow').open();
  });

  it('that ends before it is initialized leaves nothing behind, and closing the gateway ends its pending start', async () => {
    const upstream = new AskingUpstream();
    const { gateway, clock } = make({ servers: { a: upstream.entry() }, singleClient: true });
    const starting = gateway.start();
    const [near, far] = InMemoryTransport.createLinkedPair();
    const session = await gateway.connect(far);
    await near.close();
    await session.closed;
    await passTime(clock, gateway.close());
    await expect(starting).rejects.toMatchObject({ code: 'NOT_READY' });
    expect(upstream.connections).toEqual([]);
  });

  it('ends while it is still being opened', async () => {
    const upstream = new AskingUpstream();
    const { gateway, clock } = make({ servers: { a: upstream.entry() } });
    const [near, far] = InMemoryTransport.createLinkedPair();
    const session = await gateway.connect(far);
    const client = new Client({ name: 'c', version: '1' }, { capabilities: ANSWERS_ALL });
    const connecting = client.connect(near);
    connecting.catch(() => {});
    await near.close();
    await passTime(clock, session.closed);
    await expect(connecting).rejects.toThrow();
    await passTime(clock, gateway.close());
  });

  it('publishes its events among those of the gateway, with its id', async () => {
    const { gateway, client } = make({ servers: { a: new AskingUpstream().entry() } });
    const seen = new Set<string | undefined>();
    const failures: string[] = [];
    gateway.troupe.diagnostics$.subscribe(({ kind }) => failures.push(kind));
    gateway.events$.subscribe((event: LifecycleEvent & { session?: string }) => {
      if (event.type === 'connection.ready') seen.add(event.session);
    });
    gateway.events$.subscribe((event) => {
      (event as { session?: string }).session = 'mine';
    });
    await gateway.start();
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    await ada.call('mcp__a__echo');
    expect([...seen]).toEqual([undefined, ada.session.id]);
    expect(failures).toEqual(['observer-failed']);
  });

  it('publishes its last event before the events of the gateway complete', async () => {
    const { gateway, client, clock } = make({ servers: { a: new AskingUpstream().entry() } });
    const log: string[] = [];
    gateway.events$.subscribe({
      next: ({ type, session }) => void log.push(`${type} ${session ?? ''}`),
      complete: () => void log.push('complete'),
    });
    await gateway.start();
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    await passTime(clock, gateway.close());
    expect(log).toContain(`connection.stopped ${ada.session.id}`);
    expect(log.filter((each) => each === 'complete')).toEqual(['complete']);
    expect(log.at(-1)).toBe('complete');
    const late = vi.fn();
    gateway.events$.subscribe({ complete: late });
    expect(late).toHaveBeenCalledOnce();
  });

  it('needs a gateway with valid options', () => {
    expect(() => createGateway({ maxIsolatedClients: 0 })).toThrow('maxIsolatedClients');
    expect(() => createGateway({ bare: 'yes' as never, idleStopMs: -1 })).toThrow(/bare.*idleStopMs/s);
    expect(() => createGateway({ naming: 'x' as never })).toThrow('naming');
  });
});

/** How sessions of clients begin and end, and what is left of them: nothing. */
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

  it('is refused where as many as may be have connections of their own, until one of those is gone', async () => {
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

  it('gives way to another where as many as may be are there, when nothing has reached it for five minutes', async () => {
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

  it('ends with everything that it had to itself, and what it asked is given up', async () => {
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

  it('of a shared connection ends its subscriptions and its wish for logs, and no others', async () => {
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

  it('ends when nothing came from the client for a time, where it may, but not beside a request in work', async () => {
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

  it('lets its own connections rest when they are idle, and wakes them with the next call', async () => {
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

  it('is one of many that all call at once, over the common connections and their own', async () => {
    const upstreams = ['a', 'b', 'c', 'd'].map((name) => [name, new AskingUpstream()] as const);
    const servers = Object.fromEntries(upstreams.map(([name, upstream]) => [name, upstream.entry()]));
    const { gateway, client } = make({ servers });
    await gateway.start();
    const clients = await Promise.all(
      Array.from({ length: 30 }, async (_, n) =>
        client(`c${n}`, n % 10 === 0 ? { capabilities: ANSWERS_ALL } : {}),
      ),
    );
    const said = await Promise.all(
      clients.flatMap((one) =>
        upstreams.map(async ([name]) => {
          const text = await one.call(`mcp__${name}__echo`, { for: one.name });
          return text.includes(`"for":"${one.name}"`);
        }),
      ),
    );
    expect(said).toHaveLength(120);
    expect(said).not.toContain(false);
    // The common one, and one for each of those that answer.
    for (const [, { connections }] of upstreams) expect(connections).toHaveLength(4);
  });

  it('finishes its calls when the gateway is closed, within a limit, and refuses new ones', async () => {
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
    await expect(gateway.connect(far)).rejects.toThrow('closed');
    await expect(gateway.start()).rejects.toThrow('closed');
    upstream.gate('slow').open();
  });

  it('that never said what it answers leaves nothing, nor does one whose gateway never started', async () => {
    const upstream = new AskingUpstream();
    const { gateway, clock } = make({ servers: { a: upstream.entry() }, singleClient: true });
    const starting = gateway.start();
    const [near, far] = InMemoryTransport.createLinkedPair();
    const session = await gateway.connect(far);
    await near.close();
    await session.closed;
    await passTime(clock, gateway.close());
    await expect(starting).rejects.toThrow('closed');
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

  it('has its events among those of the gateway, under its id', async () => {
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

  it('has its last event before those of the gateway end, which is when it is closed', async () => {
    const { gateway, client, clock } = make({ servers: { a: new AskingUpstream().entry() } });
    const told: string[] = [];
    gateway.events$.subscribe({
      next: ({ type, session }) => void told.push(`${type} ${session ?? ''}`),
      complete: () => void told.push('complete'),
    });
    await gateway.start();
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    await passTime(clock, gateway.close());
    expect(told).toContain(`connection.stopped ${ada.session.id}`);
    expect(told.filter((each) => each === 'complete')).toEqual(['complete']);
    expect(told.at(-1)).toBe('complete');
    const late = vi.fn();
    gateway.events$.subscribe({ complete: late });
    expect(late).toHaveBeenCalledOnce();
  });

  it('is of a gateway whose options make sense', () => {
    expect(() => createGateway({ maxIsolatedClients: 0 })).toThrow('maxIsolatedClients');
    expect(() => createGateway({ bare: 'yes' as never, idleStopMs: -1 })).toThrow(/bare.*idleStopMs/s);
    expect(() => createGateway({ naming: 'x' as never })).toThrow('naming');
  });
});

/** Clients that share a connection to a server with questions: they take turns, and every turn ends. */
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import type { ServerSettings } from '../../../../src/config/entry/server-config.js';
import type { GatewayOptions } from '../../../../src/gateway/gateway-options.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { createGate } from '../../../support/gate.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { passTime } from '../../../support/test-troupe.js';
import { AskingUpstream } from '../../../support/asking-upstream.js';
import { ANSWERS_ALL, useGateways, type TestClient, type TestGateway } from '../../../support/gateway-rig.js';

const NEVER = new Promise<void>(() => {});

interface Opened extends TestGateway {
  readonly upstream: AskingUpstream;
  readonly ada: TestClient;
  readonly bob: TestClient;
}

describe('clients that share a server with questions', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  /** The server does not say which request a question belongs to, as over a pipe. */
  async function open(settings: ServerSettings = {}, options: GatewayOptions = {}): Promise<Opened> {
    const upstream = new AskingUpstream({ isRelating: false });
    const servers = { a: upstream.entry({ isolation: 'shared', ...settings }) };
    const test = make({ servers, ...options });
    await test.gateway.start();
    const ada = await test.client('Ada', { capabilities: ANSWERS_ALL });
    const bob = await test.client('Bob', { capabilities: ANSWERS_ALL });
    return { ...test, upstream, ada, bob };
  }

  const answerOf = (content: string): unknown => (JSON.parse(content) as { answer: unknown }).answer;

  /** Resolves when the client has been asked so often; a ping is answered after everything sent before it. */
  async function whenAsked(one: TestClient, count = 1): Promise<void> {
    while (one.questions.length < count) await one.client.ping();
  }

  it('are asked only about their own calls, even about later ones', async () => {
    const { ada, bob, upstream } = await open();
    const held = createGate();
    ada.holdAnswers(held.promise);
    const first = ada.call('mcp__a__ask', { for: 'Ada 1' });
    const other = bob.call('mcp__a__ask', { for: 'Bob' });
    await whenAsked(ada);
    const second = ada.call('mcp__a__ask', { for: 'Ada 2' });
    await whenAsked(ada, 2);
    expect(upstream.of('tools/call')).toHaveLength(2);
    held.open();
    const contents = await Promise.all([first, second, other]);
    expect(contents.map(answerOf)).toMatchObject([
      { content: { name: 'Ada' } },
      { content: { name: 'Ada' } },
      { content: { name: 'Bob' } },
    ]);
    expect(ada.questions).toEqual(['for Ada 1', 'for Ada 2']);
    expect(bob.questions).toEqual(['for Bob']);
  });

  it('wait until all requests that another client sent during its question are answered', async () => {
    const { ada, bob, upstream } = await open();
    const held = createGate();
    ada.holdAnswers(held.promise);
    const asking = ada.call('mcp__a__ask', { for: 'Ada' });
    await whenAsked(ada);
    const waiting = ada.call('mcp__a__wait', { for: 'Ada' });
    await upstream.when(() => upstream.of('tools/call').length === 2);
    const other = bob.call('mcp__a__ask', { for: 'Bob' });
    held.open();
    expect(answerOf(await asking)).toMatchObject({ content: { name: 'Ada' } });
    await bob.client.ping();
    expect(upstream.of('tools/call')).toHaveLength(2);
    upstream.gate('Ada').open();
    await waiting;
    expect(answerOf(await other)).toMatchObject({ content: { name: 'Bob' } });
  });

  it('take turns in the order of their calls even without questions', async () => {
    const { ada, bob, upstream } = await open();
    const first = ada.call('mcp__a__wait', { for: 'Ada' });
    await upstream.when(() => upstream.of('tools/call').length === 1);
    const others = [bob.call('mcp__a__echo', { for: 'Bob' })];
    await bob.client.ping();
    others.push(ada.call('mcp__a__echo', { for: 'Ada' }));
    await ada.client.ping();
    expect(upstream.of('tools/call')).toHaveLength(1);
    upstream.gate('Ada').open();
    await Promise.all([first, ...others]);
    const order = upstream.of('tools/call').map(({ arguments: args }) => (args as { for: string }).for);
    expect(order).toEqual(['Ada', 'Bob', 'Ada']);
  });

  it('send nothing more in a turn that has lasted as long as an answer may take', async () => {
    const { ada, bob, upstream, clock } = await open({}, { questionTimeoutMs: 60_000 });
    const held = createGate();
    ada.holdAnswers(held.promise);
    const calls = [ada.call('mcp__a__ask', { for: 'Ada 1' })];
    await whenAsked(ada);
    await clock.advance(50_000);
    calls.push(ada.call('mcp__a__ask', { for: 'Ada 2' }));
    await whenAsked(ada, 2);
    await clock.advance(20_000);
    expect(answerOf(await (calls[0] ?? ''))).toEqual({ action: 'cancel' });
    const other = bob.call('mcp__a__ask', { for: 'Bob' });
    calls.push(ada.call('mcp__a__ask', { for: 'Ada 3' }));
    await ada.client.ping();
    expect(upstream.of('tools/call')).toHaveLength(2);
    held.open();
    expect(answerOf(await other)).toMatchObject({ content: { name: 'Bob' } });
    await Promise.all(calls);
    expect(upstream.of('tools/call').map(({ arguments: args }) => (args as { for: string }).for)).toEqual([
      'Ada 1',
      'Ada 2',
      'Bob',
      'Ada 3',
    ]);
  });

  it('are still asked about their own calls after they have cancelled one', async () => {
    const { ada, upstream } = await open();
    const gone = new AbortController();
    const waiting = ada.call('mcp__a__wait', { for: 'Ada' }, gone.signal);
    await upstream.when(() => upstream.of('tools/call').length === 1);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    expect(answerOf(await ada.call('mcp__a__ask', { for: 'Ada' }))).toMatchObject({
      content: { name: 'Ada' },
    });
    expect(upstream.connections).toHaveLength(1);
  });

  it('get a new session of a server that cannot identify the client it asks, after another client cancelled a call', async () => {
    const { ada, bob, upstream, clock } = await open();
    await bob.client.subscribeResource({ uri: 'note://one' });
    const gone = new AbortController();
    const waiting = ada.call('mcp__a__wait', { for: 'Ada' }, gone.signal);
    await upstream.when(() => upstream.of('tools/call').length === 1);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    expect(await bob.call('mcp__a__echo')).toContain('echo');
    expect(upstream.connections).toHaveLength(1);
    expect(await bob.call('mcp__a__ask', { for: 'Bob' })).toContain('uncertain');
    expect([...ada.questions, ...bob.questions]).toEqual([]);
    const again = await passTime(clock, bob.call('mcp__a__ask', { for: 'Bob' }));
    expect(answerOf(again)).toMatchObject({ content: { name: 'Bob' } });
    expect(upstream.connections).toHaveLength(2);
    expect(answerOf(await ada.call('mcp__a__ask', { for: 'Ada' }))).toMatchObject({
      content: { name: 'Ada' },
    });
    expect(upstream.connections).toHaveLength(2);
    expect(upstream.of('resources/subscribe')).toHaveLength(2);
  });

  it('get the reason if that server has no new session', async () => {
    const { gateway, ada, bob, upstream, clock } = await open({ policy: { maxAttempts: 1 } });
    const gone = new AbortController();
    const waiting = ada.call('mcp__a__wait', { for: 'Ada' }, gone.signal);
    await upstream.when(() => upstream.of('tools/call').length === 1);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    expect(await bob.call('mcp__a__ask', { for: 'Bob' })).toContain('uncertain');
    upstream.refusal = new Error('gone for good');
    const failed = passTime(clock, bob.call('mcp__a__echo'));
    expect(await failed).toContain('gone for good');
    upstream.refusal = undefined;
    await passTime(clock, gateway.troupe.connection('a')?.retry() ?? Promise.resolve());
    expect(await passTime(clock, ada.call('mcp__a__echo'))).toContain('echo');
  });

  it.each([
    ['elicitation/create', { action: 'cancel' }],
    ['sampling/createMessage', { error: { code: -32_000 } }],
    ['roots/list', { error: { code: -32_000 } }],
  ])('do not wait forever for a client that never answers %s', async (method, answer) => {
    const { ada, bob, clock } = await open();
    ada.holdAnswers(NEVER);
    const asking = ada.call('mcp__a__ask', { for: 'Ada', method });
    await whenAsked(ada);
    const other = bob.call('mcp__a__ask', { for: 'Bob', method });
    await bob.client.ping();
    if (method === 'roots/list') {
      // This question needs no person, so its limit is shorter.
      await clock.advance(25_000);
    } else {
      await clock.advance(9 * 60_000);
    }
    await bob.client.ping();
    expect(bob.questions).toEqual([]);
    const contents = await passTime(clock, Promise.all([asking, other]), 120_000);
    expect(answerOf(contents[0])).toMatchObject(answer);
    expect(contents[1]).toContain('Bob');
    expect(bob.questions).toHaveLength(1);
  });

  it('do not wait for a client that has disconnected: its question is cancelled after 30 seconds', async () => {
    const { ada, bob, clock } = await open();
    ada.holdAnswers(NEVER);
    const asking = ada.call('mcp__a__ask', { for: 'Ada' });
    await whenAsked(ada);
    const other = bob.call('mcp__a__ask', { for: 'Bob' });
    await clock.advance(100_000);
    ada.goAway(clock.now());
    await clock.advance(20_000);
    await bob.client.ping();
    expect(bob.questions).toEqual([]);
    // A client that sends something is connected again.
    await ada.client.ping();
    await clock.advance(20_000);
    await bob.client.ping();
    expect(bob.questions).toEqual([]);
    await clock.advance(15_000);
    expect(answerOf(await asking)).toEqual({ action: 'cancel' });
    expect(answerOf(await other)).toMatchObject({ content: { name: 'Bob' } });
  });

  it('do not wait for a client that cancelled its call, or has closed', async () => {
    const { ada, bob, upstream, client, clock } = await open();
    const eve = await client('Eve', { capabilities: ANSWERS_ALL });
    for (const one of [ada, eve]) {
      one.holdAnswers(NEVER);
      const gone = new AbortController();
      const asking = one.call('mcp__a__ask', { for: one.name, keeps: true }, gone.signal);
      asking.catch(() => {});
      await whenAsked(one);
      const other = bob.call('mcp__a__ask', { for: 'Bob' });
      if (one === ada) gone.abort();
      else await one.client.close();
      expect(await passTime(clock, other)).toContain('Bob');
    }
    expect(upstream.cancelled).toContain('Ada');
  });
});

describe('a client that is asked a question', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  it('over its own connection has ten minutes to answer, or another configured time', async () => {
    for (const questionTimeoutMs of [undefined, 60_000]) {
      const { gateway, client, clock } = make({
        servers: { a: new AskingUpstream().entry() },
        ...(questionTimeoutMs === undefined ? {} : { questionTimeoutMs }),
      });
      await gateway.start();
      const ada = await client('Ada', { capabilities: ANSWERS_ALL });
      ada.holdAnswers(NEVER);
      const asking = ada.call('mcp__a__ask', { for: 'Ada' });
      while (ada.questions.length === 0) await ada.client.ping();
      let isSettled = false;
      void asking.then(() => (isSettled = true));
      await clock.advance((questionTimeoutMs ?? 600_000) - 1_000);
      await ada.client.ping();
      expect(isSettled).toBe(false);
      await clock.advance(1_000);
      expect(await asking).toContain('"action":"cancel"');
    }
  });

  it.each(['per-session', 'shared'] as const)(
    'has its question cancelled if it cancels the call (%s)',
    async (isolation) => {
      const upstream = new AskingUpstream();
      const { gateway, client } = make({ servers: { a: upstream.entry({ isolation }) } });
      await gateway.start();
      const ada = await client('Ada', { capabilities: ANSWERS_ALL });
      const asked = createGate<AbortSignal>();
      ada.client.setRequestHandler(ElicitRequestSchema, (_, { signal }) => {
        asked.open(signal);
        return new Promise<never>(() => {});
      });
      const gone = new AbortController();
      const asking = ada.call('mcp__a__ask', { for: 'Ada', keeps: true }, gone.signal);
      const signal = await asked.promise;
      gone.abort();
      await expect(asking).rejects.toThrow();
      await ada.client.ping();
      expect(signal.aborted).toBe(true);
    },
  );

  it('ends after its idle time even if the clock is set back in the meantime', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client, clock } = make({
      servers: { a: upstream.entry({ policy: { ping: { idleMs: 0 } } }) },
      sessionIdleMs: 60_000,
    });
    await gateway.start();
    const ada = await client('Ada', { endsWhenIdle: true });
    const { now } = clock;
    Object.assign(clock, { now: () => now() - 4 * 3_600_000 });
    await expect(passTime(clock, ada.session.closed, 130_000)).resolves.toBeUndefined();
  });

  it('ends after its idle time although a call is in progress, if it has disconnected', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client, clock } = make({
      servers: { a: upstream.entry({ callTimeoutMs: 0, policy: { ping: { idleMs: 0 } } }) },
      sessionIdleMs: 60_000,
    });
    await gateway.start();
    const ada = await client('Ada', { endsWhenIdle: true });
    const waiting = ada.call('mcp__a__wait', { for: 'Ada' });
    waiting.catch(() => {});
    await upstream.when(() => upstream.of('tools/call').length === 1);
    ada.goAway(clock.now());
    await passTime(clock, ada.session.closed, 130_000);
    await expect(waiting).rejects.toThrow();
    upstream.gate('Ada').open();
  });
});

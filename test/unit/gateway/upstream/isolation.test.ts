/** Two people at one gateway: what a server asks or tells reaches the one it is for, or nobody. */
import { describe, expect, it } from 'vitest';
import type { Isolation } from '../../../../src/config/entry/server-config.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { createGate } from '../../../support/gate.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { passTime } from '../../../support/test-troupe.js';
import { AskingUpstream, type UpstreamOptions } from '../../../support/asking-upstream.js';
import { ANSWERS_ALL, useGateways, type TestClient } from '../../../support/gateway-rig.js';

const ASKED = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const;

/** What the client of that name answers. */
function answerOf(name: string, method: (typeof ASKED)[number]): object {
  switch (method) {
    case 'elicitation/create':
      return { action: 'accept', content: { name }, _meta: { by: name } };
    case 'sampling/createMessage':
      return { role: 'assistant', model: name, content: { type: 'text', text: name } };
    case 'roots/list':
      return { roots: [{ uri: `file:///home/${name}` }] };
  }
}

describe('two clients at once', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useGateways();

  async function open(
    isolation: Isolation | undefined,
    options: UpstreamOptions = {},
  ): Promise<{ upstream: AskingUpstream; ada: TestClient; bob: TestClient }> {
    const upstream = new AskingUpstream(options);
    const { gateway, client } = make({
      servers: { a: upstream.entry(isolation === undefined ? {} : { isolation }) },
    });
    await gateway.start();
    const ada = await client('Ada', { capabilities: ANSWERS_ALL });
    const bob = await client('Bob', { capabilities: ANSWERS_ALL });
    return { upstream, ada, bob };
  }

  for (const isolation of [undefined, 'per-session', 'shared'] as const) {
    for (const isRelating of [true, false]) {
      const how = isRelating ? 'a server that says whose request it is' : 'a server that does not say it';
      it.each(ASKED)(`are each asked their own %s (${isolation ?? 'unset'}, by ${how})`, async (method) => {
        const { ada, bob } = await open(isolation, { isRelating });
        const [first, second] = await Promise.all(
          [ada, bob].map(async (one) => one.call('mcp__a__ask', { for: one.name, method })),
        );
        const said = [first, second].map((said) => JSON.parse(said ?? '') as { for: string; answer: object });
        expect(said.map((each) => each.for)).toEqual(['Ada', 'Bob']);
        expect(said.map(({ answer }) => answer)).toEqual([answerOf('Ada', method), answerOf('Bob', method)]);
        for (const one of [ada, bob]) {
          expect(one.questions).toHaveLength(1);
          if (method !== 'roots/list') expect(one.questions[0]).toContain(`for ${one.name}`);
        }
      });
    }
  }

  it('have a connection each where they answer questions, which declares what they answer and nothing else', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const ada = await client('Ada', { capabilities: { elicitation: { form: {}, url: {} } } });
    const bob = await client('Bob', { capabilities: { sampling: { tools: {} }, roots: {} } });
    const eve = await client('Eve');
    const fay = await client('Fay');
    const seen: number[] = [];
    for (const one of [ada, bob, eve, fay]) {
      const said = await one.call('mcp__a__echo');
      seen.push((JSON.parse(said.slice('echo '.length)) as { connection: number }).connection);
    }
    expect(new Set(seen).size).toBe(3);
    expect(seen[2]).toBe(seen[3]);
    const declared = seen.map((number) => upstream.connections[number - 1]?.declared);
    expect(declared).toEqual([
      { elicitation: { form: {}, url: {} } },
      { sampling: { tools: {} }, roots: {} },
      {},
      {},
    ]);
  });

  it('share one connection where the entry says so, and wait for each other', async () => {
    const { upstream, ada, bob } = await open('shared');
    const held = createGate();
    ada.holdAnswers(held.promise);
    const first = ada.call('mcp__a__ask', { for: 'Ada' });
    await upstream.when(() => upstream.of('tools/call').length === 1);
    const second = bob.call('mcp__a__ask', { for: 'Bob' });
    const read = bob.client.readResource({ uri: 'note://one' });
    await bob.client.ping();
    expect(upstream.of('tools/call')).toHaveLength(1);
    expect(upstream.of('resources/read')).toHaveLength(0);
    expect(bob.questions).toEqual([]);
    held.open();
    expect(JSON.parse(await first)).toMatchObject({ answer: { content: { name: 'Ada' } } });
    expect(JSON.parse(await second)).toMatchObject({ answer: { content: { name: 'Bob' } } });
    await read;
    expect(upstream.connections).toHaveLength(1);
  });

  it('share a connection on which nobody is asked what cannot be said to be for one of them', async () => {
    const { upstream, ada, bob } = await open('shared');
    const [connection] = upstream.connections;
    await expect(
      connection?.server.elicitInput({
        message: 'whose?',
        requestedSchema: { type: 'object', properties: {} },
      }),
    ).rejects.toThrow('uncertain which of them');
    // The server may be at what was given up still.
    const gone = new AbortController();
    const waiting = ada.call('mcp__a__wait', { for: 'Ada' }, gone.signal);
    await upstream.when(() => upstream.of('tools/call').length === 1);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    await upstream.when(() => upstream.cancelled.includes('Ada'));
    const said = await bob.call('mcp__a__ask', { for: 'Bob', relates: false });
    expect(said).toContain('uncertain which of them');
    expect([...ada.questions, ...bob.questions]).toEqual([]);
  });

  it('are refused what one of them has not declared, on a connection that was told of it', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry({ isolation: 'shared' }) } });
    await gateway.start();
    const ada = await client('Ada');
    const said = await ada.call('mcp__a__ask', { for: 'Ada' });
    expect(said).toContain("has not declared 'elicitation'");
    expect(upstream.connections[0]?.declared).toEqual({
      roots: {},
      sampling: {},
      elicitation: { form: {}, url: {} },
    });
  });

  it('can call the server that asks them before they answer, though others wait', async () => {
    const { ada } = await open('shared');
    const held = createGate();
    ada.holdAnswers(held.promise);
    const asked = ada.call('mcp__a__ask', { for: 'Ada' });
    while (ada.questions.length === 0) await ada.client.ping();
    expect(await ada.call('mcp__a__echo')).toContain('echo');
    held.open();
    expect(JSON.parse(await asked)).toMatchObject({ answer: { content: { name: 'Ada' } } });
  });

  it('hear the logs and the progress of their own calls alone, on a connection that they share', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const ada = await client('Ada');
    const bob = await client('Bob');
    const heard: string[] = [];
    await Promise.all(
      [ada, bob].map(async (one) => {
        await one.client.callTool({ name: 'mcp__a__steps', arguments: { for: one.name } }, undefined, {
          onprogress: ({ message }) => void heard.push(`${one.name} hears ${message}`),
        });
        await one.call('mcp__a__log', { for: one.name });
        // Nobody can say for whom that is.
        await one.call('mcp__a__log', { for: one.name, relates: false });
        await one.client.ping();
      }),
    );
    expect(heard.toSorted()).toEqual(['Ada hears for Ada', 'Bob hears for Bob']);
    for (const one of [ada, bob]) {
      expect(one.of('notifications/message')).toEqual([{ level: 'info', data: `for ${one.name}` }]);
    }
  });

  it('hear everything that is logged over a connection of their own, from the level on that they set', async () => {
    const { upstream, ada, bob } = await open(undefined);
    for (const one of [ada, bob]) await one.call('mcp__a__echo');
    await ada.client.setLoggingLevel('warning');
    for (const { server, declared } of upstream.connections) {
      if (declared?.elicitation === undefined) continue;
      await server.sendLoggingMessage({ level: 'info', data: 'low' });
      await server.sendLoggingMessage({ level: 'error', data: 'high' });
    }
    await Promise.all([ada.client.ping(), bob.client.ping()]);
    expect(ada.of('notifications/message').map(({ data }) => data)).toEqual(['high']);
    expect(bob.of('notifications/message').map(({ data }) => data)).toEqual(['low', 'high']);
  });

  it('are told of a change of a list over their own connection alone, and both of it over the common one', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client, clock } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const [ada, bob] = [
      await client('Ada', { capabilities: ANSWERS_ALL }),
      await client('Bob', { capabilities: ANSWERS_ALL }),
    ];
    const [eve, fay] = [await client('Eve'), await client('Fay')];
    const all = [ada, bob, eve, fay];
    for (const one of all) await one.call('mcp__a__echo');
    expect(all.flatMap(({ notifications }) => notifications)).toEqual([]);
    upstream.tools = upstream.tools.slice(1);
    const [common, , last] = upstream.connections;
    await last?.server.sendToolListChanged();
    await passTime(clock, bob.whenNotified('notifications/tools/list_changed'));
    expect((await bob.client.listTools()).tools).toHaveLength(upstream.tools.length);
    expect([ada, eve, fay].flatMap(({ notifications }) => notifications)).toEqual([]);
    await common?.server.sendToolListChanged();
    const both = [eve, fay].map((one) => one.whenNotified('notifications/tools/list_changed'));
    await passTime(clock, Promise.all(both));
    expect(ada.notifications).toEqual([]);
  });

  it('are told that what they were sent to an address for is done, each of their own', async () => {
    for (const isolation of ['shared', 'per-session'] as const) {
      const upstream = new AskingUpstream();
      const { gateway, client } = make({ servers: { a: upstream.entry({ isolation }) } });
      await gateway.start();
      const capabilities = { elicitation: { url: {} } };
      const [ada, bob] = [await client('Ada', { capabilities }), await client('Bob', { capabilities })];
      const address = {
        mode: 'url',
        url: 'https://example.org/',
        elicitationId: 'e-Ada',
        message: 'Go there.',
      };
      await ada.call('mcp__a__ask', { for: 'Ada', params: address });
      await bob.call('mcp__a__echo');
      expect(ada.questions).toEqual(['Go there.']);
      for (const { server, declared } of upstream.connections) {
        if (declared?.elicitation === undefined) continue;
        await server.notification({
          method: 'notifications/elicitation/complete',
          params: { elicitationId: 'e-Ada' },
        });
      }
      await Promise.all([ada.client.ping(), bob.client.ping()]);
      expect(ada.of('notifications/elicitation/complete')).toEqual([{ elicitationId: 'e-Ada' }]);
      expect(bob.notifications).toEqual([]);
    }
  });

  it('are sent to no address, and given no tools, where they have not declared that they can be', async () => {
    const { ada } = await open('shared');
    const address = { mode: 'url', url: 'https://example.org/', elicitationId: 'e', message: 'Go there.' };
    expect(await ada.call('mcp__a__ask', { for: 'Ada', params: address })).toContain(
      "has not declared 'elicitation.url'",
    );
    const tools = { messages: [], maxTokens: 1, tools: [] };
    const asked = { for: 'Ada', method: 'sampling/createMessage', params: tools };
    expect(await ada.call('mcp__a__ask', asked)).toContain("has not declared 'sampling.tools'");
    expect(ada.questions).toEqual([]);
  });

  it('hear of the resources that they are subscribed to, and of no others', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const [ada, bob, eve] = [await client('Ada'), await client('Bob'), await client('Eve')];
    await ada.client.subscribeResource({ uri: 'note://one' });
    await bob.client.subscribeResource({ uri: 'note://one' });
    await eve.client.subscribeResource({ uri: 'note://two' });
    const [connection] = upstream.connections;
    await connection?.server.sendResourceUpdated({ uri: 'note://one' });
    await Promise.all([ada, bob].map((one) => one.whenNotified('notifications/resources/updated')));
    await ada.client.unsubscribeResource({ uri: 'note://one' });
    expect(upstream.of('resources/unsubscribe')).toEqual([]);
    await connection?.server.sendResourceUpdated({ uri: 'note://one' });
    await bob.whenNotified('notifications/resources/updated', 2);
    await connection?.server.sendResourceUpdated({ uri: 'note://one/part' });
    await bob.whenNotified('notifications/resources/updated', 3);
    await bob.client.unsubscribeResource({ uri: 'note://one' });
    expect(upstream.of('resources/unsubscribe')).toMatchObject([{ uri: 'note://one' }]);
    await eve.client.ping();
    expect(ada.of('notifications/resources/updated')).toEqual([{ uri: 'note://one' }]);
    expect(eve.notifications).toEqual([]);
  });
});

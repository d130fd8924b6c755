/** Two clients of one gateway: questions and notifications of a server reach the client they are for, or none. */
import { describe, expect, it } from 'vitest';
import type { Isolation } from '../../../../src/config/entry/server-config.js';
import { useCrashWatch } from '../../../support/crash-watch.js';
import { createGate } from '../../../support/gate.js';
import { useLeakCheck } from '../../../support/leak-check.js';
import { passTime } from '../../../support/test-troupe.js';
import { AskingUpstream, type UpstreamOptions } from '../../../support/asking-upstream.js';
import { ANSWERS_ALL, useGateways, type TestClient } from '../../../support/gateway-rig.js';

const ASKED = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const;

/** The answer of the client with that name. */
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
      const how = isRelating ? 'a server that relates its questions to requests' : 'a server that does not';
      it.each(ASKED)(`are each asked their own %s (${isolation ?? 'unset'}, by ${how})`, async (method) => {
        const { ada, bob } = await open(isolation, { isRelating });
        const [first, second] = await Promise.all(
          [ada, bob].map(async (one) => one.call('mcp__a__ask', { for: one.name, method })),
        );
        const answers = [first, second].map(
          (content) => JSON.parse(content ?? '') as { for: string; answer: object },
        );
        expect(answers.map((each) => each.for)).toEqual(['Ada', 'Bob']);
        expect(answers.map(({ answer }) => answer)).toEqual([
          answerOf('Ada', method),
          answerOf('Bob', method),
        ]);
        for (const one of [ada, bob]) {
          expect(one.questions).toHaveLength(1);
          if (method !== 'roots/list') expect(one.questions[0]).toContain(`for ${one.name}`);
        }
      });
    }
  }

  it('have separate connections if they answer questions, and each connection declares only their capabilities', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const ada = await client('Ada', { capabilities: { elicitation: { form: {}, url: {} } } });
    const bob = await client('Bob', { capabilities: { sampling: { tools: {} }, roots: {} } });
    const eve = await client('Eve');
    const fay = await client('Fay');
    const seen: number[] = [];
    for (const one of [ada, bob, eve, fay]) {
      const content = await one.call('mcp__a__echo');
      seen.push((JSON.parse(content.slice('echo '.length)) as { connection: number }).connection);
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

  it('share one connection if the entry says so, and wait for each other', async () => {
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

  it('get no question on a shared connection if it is uncertain which client it is for', async () => {
    const { upstream, ada, bob } = await open('shared');
    const [connection] = upstream.connections;
    await expect(
      connection?.server.elicitInput({
        message: 'whose?',
        requestedSchema: { type: 'object', properties: {} },
      }),
    ).rejects.toThrow('uncertain');
    // The server may still be working on a cancelled call.
    const gone = new AbortController();
    const waiting = ada.call('mcp__a__wait', { for: 'Ada' }, gone.signal);
    await upstream.when(() => upstream.of('tools/call').length === 1);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    await upstream.when(() => upstream.cancelled.includes('Ada'));
    const content = await bob.call('mcp__a__ask', { for: 'Bob', relates: false });
    expect(content).toContain('uncertain');
    expect([...ada.questions, ...bob.questions]).toEqual([]);
  });

  it('have questions refused that they have not declared, on a connection that declares all', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry({ isolation: 'shared' }) } });
    await gateway.start();
    const ada = await client('Ada');
    const content = await ada.call('mcp__a__ask', { for: 'Ada' });
    expect(content).toContain("'elicitation'");
    expect(upstream.connections[0]?.declared).toEqual({
      roots: {},
      sampling: {},
      elicitation: { form: {}, url: {} },
    });
  });

  it('can call a server that is asking them a question, although others wait', async () => {
    const { ada } = await open('shared');
    const held = createGate();
    ada.holdAnswers(held.promise);
    const asked = ada.call('mcp__a__ask', { for: 'Ada' });
    while (ada.questions.length === 0) await ada.client.ping();
    expect(await ada.call('mcp__a__echo')).toContain('echo');
    held.open();
    expect(JSON.parse(await asked)).toMatchObject({ answer: { content: { name: 'Ada' } } });
  });

  it('get only the logs and the progress of their own calls on a shared connection', async () => {
    const upstream = new AskingUpstream();
    const { gateway, client } = make({ servers: { a: upstream.entry() } });
    await gateway.start();
    const ada = await client('Ada');
    const bob = await client('Bob');
    const progress: string[] = [];
    await Promise.all(
      [ada, bob].map(async (one) => {
        await one.client.callTool({ name: 'mcp__a__steps', arguments: { for: one.name } }, undefined, {
          onprogress: ({ message }) => void progress.push(`${one.name}: ${message}`),
        });
        await one.call('mcp__a__log', { for: one.name });
        // It is unknown which client this message is for.
        await one.call('mcp__a__log', { for: one.name, relates: false });
        await one.client.ping();
      }),
    );
    expect(progress.toSorted()).toEqual(['Ada: for Ada', 'Bob: for Bob']);
    for (const one of [ada, bob]) {
      expect(one.of('notifications/message')).toEqual([{ level: 'info', data: `for ${one.name}` }]);
    }
  });

  it('get all logs of their own connection, from the level they set', async () => {
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

  it('get list changes of their own connection only, or all of them those of the shared one', async () => {
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

  it('get the completion of a URL elicitation only if it is theirs', async () => {
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

  it('get no URL elicitation and no tools in sampling unless they have declared them', async () => {
    const { ada } = await open('shared');
    const address = { mode: 'url', url: 'https://example.org/', elicitationId: 'e', message: 'Go there.' };
    expect(await ada.call('mcp__a__ask', { for: 'Ada', params: address })).toContain("'elicitation.url'");
    const tools = { messages: [], maxTokens: 1, tools: [] };
    const asked = { for: 'Ada', method: 'sampling/createMessage', params: tools };
    expect(await ada.call('mcp__a__ask', asked)).toContain("'sampling.tools'");
    expect(ada.questions).toEqual([]);
  });

  it('get updates only of resources that they are subscribed to', async () => {
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

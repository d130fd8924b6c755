import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json/json-object.js';
import type { ClientOwner } from '../../../src/protocol/protocol-client.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent } from '../../support/scripted-server.js';
import { openClient, type OpenedClient } from '../../support/open-client.js';

const OVER = { code: 'connection-lost', message: 'over' } as const;

describe('what a server sends unasked', () => {
  useLeakCheck();
  useCrashWatch();

  it('is answered if it is a ping', async () => {
    const { server, client } = await openClient();
    server.send({ jsonrpc: '2.0', id: 'p1', method: 'ping' });
    await server.when(() => server.answers.length === 1);
    expect(server.answers).toEqual([{ jsonrpc: '2.0', id: 'p1', result: {} }]);
    client.abandon(OVER);
  });

  it('is answered with "method not found" if the method is unknown', async () => {
    const { server, client } = await openClient();
    server.send({ jsonrpc: '2.0', id: 7, method: 'sampling/createMessage', params: {} });
    await server.when(() => server.answers.length === 1);
    expect(server.answers).toMatchObject([{ id: 7, error: { code: -32601 } }]);
    client.abandon(OVER);
  });

  it('reaches the host if it is a notification', async () => {
    const { server, client, notifications } = await openClient();
    server.notify('notifications/tools/list_changed');
    server.notify('notifications/made/up');
    await client.request('ping', {});
    expect(notifications).toEqual(['notifications/tools/list_changed', 'notifications/made/up']);
    client.abandon(OVER);
  });

  it.each<[method: unknown]>([[{ toString: null }], [{ toString: null, valueOf: null }], [[]], [7], [true]])(
    'is odd if its method is %j, whatever that does as text',
    async (method) => {
      const { transport, client, oddities } = await openClient();
      transport.simulateMessage({ jsonrpc: '2.0', method, params: {} });
      transport.simulateMessage({ jsonrpc: '2.0', id: 1, method, params: {} });
      await expect(client.request('ping', {})).resolves.toEqual({});
      expect(oddities).toHaveLength(2);
      client.abandon(OVER);
    },
  );

  it('has no effect on the session if the host throws on it', async () => {
    const { server, client, oddities } = await openClient();
    const { owner } = client;
    client.owner = {
      onoddity: (message) => owner?.onoddity?.(message),
      onnotification: () => {
        throw new Error('boom');
      },
    };
    server.notify('notifications/made/up');
    await expect(client.request('ping', {})).resolves.toEqual({});
    expect(oddities).toHaveLength(1);
    client.abandon(OVER);
  });
});

describe('answers that match no request', () => {
  useLeakCheck();
  useCrashWatch();

  it('are reported once each, without their content', async () => {
    const { server, client, oddities } = await openClient();
    server.send({ jsonrpc: '2.0', id: 999, result: { secret: 'hunter2' } });
    server.send({ jsonrpc: '2.0', id: 'abc', error: { code: 1, message: 'hunter2' } });
    await expect(client.request('ping', {})).resolves.toEqual({});
    expect(oddities).toHaveLength(2);
    expect(oddities.join()).not.toContain('hunter2');
    client.abandon(OVER);
  });

  it('may come a second time without harm', async () => {
    const { server, client, oddities } = await openClient();
    await client.request('ping', {});
    const id = server.of('ping')[0]?.id;
    server.send({ jsonrpc: '2.0', id, result: {} });
    await expect(client.request('ping', {})).resolves.toEqual({});
    expect(oddities).toEqual([]);
    client.abandon(OVER);
  });

  it('may come under the number of the request as text', async () => {
    const { server, client } = await openClient({ on: { 'tools/call': silent } });
    const asking = client.request('tools/call', {});
    const { id } = await server.whenReceived('tools/call');
    server.send({ jsonrpc: '2.0', id: String(id), result: { ok: true } });
    await expect(asking).resolves.toEqual({ ok: true });
    expect(client.pending).toBe(0);
    client.abandon(OVER);
  });

  it.each([
    ['not JSON-RPC', { hello: 1 }],
    ['a number', 7],
    ['null', null],
    ['an answer without an id', { jsonrpc: '2.0', result: {} }],
    ['an answer with the id null', { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'parse' } }],
  ])('are reported and have no effect if they are %s', async (_, message) => {
    const { transport, client, oddities } = await openClient();
    expect(() => transport.simulateMessage(message)).not.toThrow();
    await expect(client.request('ping', {})).resolves.toEqual({});
    expect(oddities).toHaveLength(1);
    client.abandon(OVER);
  });
});

describe('progress', () => {
  useLeakCheck();
  useCrashWatch();

  it('is delivered even if the answer follows at once', async () => {
    const { client } = await openClient({
      on: {
        'tools/call': (_, exchange) => {
          exchange.progress(1, 2);
          exchange.progress(2, 2);
          return {};
        },
      },
    });
    const received: (number | undefined)[][] = [];
    await client.request(
      'tools/call',
      {},
      { onProgress: ({ progress, total }) => received.push([progress, total]) },
    );
    expect(received).toEqual([
      [1, 2],
      [2, 2],
    ]);
    client.abandon(OVER);
  });

  it('of an unknown request, or of one that is over, is dropped', async () => {
    const { client, server, oddities } = await openClient({ on: { 'tools/call': () => ({}) } });
    const received: unknown[] = [];
    await client.request('tools/call', {}, { onProgress: (progress) => received.push(progress) });
    const token = server.of('tools/call')[0]?.id;
    server.notify('notifications/progress', { progressToken: token, progress: 1 });
    server.notify('notifications/progress', { progressToken: 'nobody', progress: 1 });
    await client.request('ping', {});
    expect(received).toEqual([]);
    expect(oddities).toEqual([]);
    client.abandon(OVER);
  });

  it.each([
    ['message', { total: 4, message: { text: 'half' } }, { progress: 2, total: 4, message: undefined }],
    ['total', { total: '4', message: 'half' }, { progress: 2, total: undefined, message: 'half' }],
  ])(
    'with a %s of the wrong type is passed on without it, and that is reported',
    async (field, more, kept) => {
      const received: unknown[] = [];
      const { client, server, oddities } = await openClient({
        on: {
          'tools/call': () => {
            const token = server.of('tools/call')[0]?.id;
            server.notify('notifications/progress', { progressToken: token, progress: 2, ...more });
            return {};
          },
        },
      });
      await client.request('tools/call', {}, { onProgress: (progress) => received.push(progress) });
      expect(received).toEqual([kept]);
      expect(oddities).toEqual([expect.stringContaining(field)]);
      client.abandon(OVER);
    },
  );

  it('that is malformed is reported and has no other effect', async () => {
    const { client, server, oddities } = await openClient();
    server.notify('notifications/progress', { progress: 'half' });
    await expect(client.request('ping', {})).resolves.toEqual({});
    expect(oddities.length).toBeLessThanOrEqual(1);
    client.abandon(OVER);
  });
});

describe('a request of the server', () => {
  useLeakCheck();
  useCrashWatch();

  type Answer = NonNullable<ClientOwner['onrequest']>;

  const openWith = (answer: Answer): Promise<OpenedClient> =>
    openClient({}, {}, undefined, (client) => {
      client.owner = { ...client.owner, onrequest: answer };
    });

  it('is answered by the host', async () => {
    const { server, client } = await openWith(async (method, params) => ({ method, params }));
    server.send({ jsonrpc: '2.0', id: 1, method: 'roots/list', params: { a: 1 } });
    await server.when(() => server.answers.length === 1);
    expect(server.answers).toMatchObject([{ id: 1, result: { method: 'roots/list', params: { a: 1 } } }]);
    client.abandon(OVER);
  });

  it('is answered with an error if the host throws', async () => {
    const { server, client } = await openWith(async () => {
      throw new Error('no roots');
    });
    server.send({ jsonrpc: '2.0', id: 1, method: 'roots/list' });
    await server.when(() => server.answers.length === 1);
    expect(server.answers).toMatchObject([{ id: 1, error: { code: -32603, message: 'Internal error' } }]);
    client.abandon(OVER);
  });

  it.each([0, 1, 'a'])('with the id %j ends when the server cancels it', async (id) => {
    const begun = createGate<AbortSignal>();
    const { server, client } = await openWith((_method, _params, { signal }) => {
      begun.open(signal);
      return new Promise<JsonObject>((resolve) => {
        signal.addEventListener('abort', () => resolve({}), { once: true });
      });
    });
    server.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: {} });
    const signal = await begun.promise;
    expect(signal.aborted).toBe(false);
    server.notify('notifications/cancelled', { requestId: id, reason: 'never mind' });
    await client.request('ping', {});
    expect(signal.aborted).toBe(true);
    client.abandon(OVER);
  });

  it('ends when the server cancels it with a reason of the wrong type, which is reported', async () => {
    const begun = createGate<AbortSignal>();
    const { server, client, oddities } = await openWith((_method, _params, { signal }) => {
      begun.open(signal);
      return new Promise<JsonObject>(() => {});
    });
    server.send({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: {} });
    const signal = await begun.promise;
    server.notify('notifications/cancelled', { requestId: 1, reason: { code: 7 } });
    await client.request('ping', {});
    expect(signal.aborted).toBe(true);
    expect(oddities).toEqual([expect.stringContaining('reason')]);
    client.abandon(OVER);
  });

  it('ends with the session', async () => {
    const begun = createGate<AbortSignal>();
    const { server, client } = await openWith((_method, _params, { signal }) => {
      begun.open(signal);
      return new Promise<JsonObject>(() => {});
    });
    server.send({ jsonrpc: '2.0', id: 5, method: 'roots/list' });
    const signal = await begun.promise;
    client.abandon(OVER);
    expect(signal.aborted).toBe(true);
  });
});

/** Any messages in any order: each request settles once, and the next one is answered as usual. */
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageReader } from '../../../src/transports/stdio/message-reader.js';
import { openClient, startClient, type OpenedClient } from '../../support/open-client.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { silent } from '../../support/scripted-server.js';
import { message, nested } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';
import { heapKiB } from '../../support/heap.js';

useLeakCheck();
useCrashWatch();

const OVER = { code: 'connection-lost', message: 'over' } as const;
const MAX_ODDITY = 300;

/** A session in which the server answers everything except calls. */
const open = (): Promise<OpenedClient> => openClient({ on: { 'tools/call': silent } });

type Step = { readonly do: 'send'; readonly message: unknown } | { readonly do: 'ask' | 'giveUp' | 'wait' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: message.map((sent): Step => ({ do: 'send', message: sent })) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'ask' }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'giveUp' }, { do: 'wait' }) },
);

/** A message as parsed from text, in which `__proto__` is an ordinary name. */
const onTheWire = (value: unknown): unknown => {
  const json = JSON.stringify(value);
  return json === undefined ? undefined : (JSON.parse(json) as unknown);
};

describe('messages from a server', () => {
  it('settle each request at most once, and do not prevent the answer to the next one', async () => {
    const untouched = Object.getOwnPropertyNames(Object.prototype);
    await fuzz(
      150,
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { client, transport, oddities } = await open();
        const settled: number[] = [];
        const callers: AbortController[] = [];
        for (const taken of steps) {
          if (taken.do === 'send') transport.simulateMessage(onTheWire(taken.message));
          if (taken.do === 'wait') await turn();
          if (taken.do === 'giveUp') callers.at(-1)?.abort(new Error('enough'));
          if (taken.do !== 'ask') continue;
          const caller = new AbortController();
          const number = callers.push(caller) - 1;
          settled.push(0);
          const settle = (): void => void (settled[number]! += 1);
          client
            .request('tools/call', { name: 'a' }, { signal: caller.signal, onProgress: () => {} })
            .then(settle, settle);
        }
        await expect(client.request('ping', {})).resolves.toEqual({});
        client.abandon(OVER);
        await turn();
        expect(client.pending).toBe(0);
        expect(settled.every((times) => times === 1)).toBe(true);
        for (const oddity of oddities) expect(oddity.length).toBeLessThan(MAX_ODDITY);
      }),
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(untouched);
  });

  const deep = nested(100_000);
  it.each([
    ['a result', `{"jsonrpc":"2.0","id":"ID","result":${deep}}`],
    ['the data of an error', `{"jsonrpc":"2.0","id":"ID","error":{"code":1,"message":"no","data":${deep}}}`],
    ['an error', `{"jsonrpc":"2.0","id":"ID","error":${deep}}`],
    ['an id', `{"jsonrpc":"2.0","id":${deep},"result":{}}`],
    ['a method', `{"jsonrpc":"2.0","id":5,"method":${deep}}`],
    ['the parameters of a request', `{"jsonrpc":"2.0","id":5,"method":"ping","params":${deep}}`],
    [
      'the parameters of a notification',
      `{"jsonrpc":"2.0","method":"notifications/message","params":${deep}}`,
    ],
    ['a cancellation', `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${deep}}`],
    ['progress', `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":${deep}}}`],
    ['an unknown field', `{"jsonrpc":"2.0","id":5,"method":"a","more":${deep}}`],
  ])('may nest %s a hundred thousand levels deep', async (_, text) => {
    const { client, server, transport, oddities } = await open();
    const asking = client.request('tools/call', {}).catch((error: unknown) => error);
    const { id } = await server.whenReceived('tools/call');
    expect(() => transport.simulateMessage(JSON.parse(text.replace('"ID"', String(id))))).not.toThrow();
    await expect(client.request('ping', {})).resolves.toEqual({});
    client.abandon(OVER);
    await asking;
    for (const oddity of oddities) expect(oddity.length).toBeLessThan(MAX_ODDITY);
  });

  it.each([
    ['requests', { id: 1, method: 7 }],
    ['requests with unknown fields', { id: 1, method: 'a', more: 1 }],
    ['notifications', { method: { a: 1 } }],
    ['answers', { id: 1_000, result: {} }],
  ])('are reported in a short line if they are invalid %s of any length', async (_, part) => {
    const { client, transport, oddities } = await open();
    transport.simulateMessage({ jsonrpc: '2.0', ...part, params: { text: 'x'.repeat(1_000_000) } });
    await client.request('ping', {});
    expect(oddities).toHaveLength(1);
    expect(oddities[0]?.length).toBeLessThan(MAX_ODDITY);
    client.abandon(OVER);
  });

  it.each(['', ' ', '0x0', '0.0', '-0', '+0', '00'])(
    'do not count as the answer to request 0 if their id is %j',
    async (id) => {
      const { client, server, transport, opening, oddities } = startClient({ on: { initialize: silent } });
      const { id: real } = await server.whenReceived('initialize');
      const answer = (name: string): object => ({
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name, version: '1' },
      });
      transport.simulateMessage({ jsonrpc: '2.0', id, result: answer('false') });
      transport.simulateMessage({ jsonrpc: '2.0', id: real, result: answer('true') });
      await expect(opening).resolves.toMatchObject({ info: { name: 'true' } });
      expect(oddities).toHaveLength(1);
      client.abandon(OVER);
    },
  );
});

describe('a flood', () => {
  const flood = async (
    content: object | ((index: number) => object),
    count: number,
  ): Promise<{ opened: OpenedClient; longest: number; grown: number }> => {
    const opened = await open();
    const lineOf = (index: number): string =>
      `${JSON.stringify({ jsonrpc: '2.0', ...(typeof content === 'function' ? content(index) : content) })}\n`;
    const chunk = Buffer.from(Array.from({ length: 1_000 }, (_, index) => lineOf(index)).join(''));
    const reader = new MessageReader(
      {
        message: (one) => opened.transport.simulateMessage(one),
        noise: () => {},
        tooLarge: () => {},
        tooComplex: () => {},
        endless: () => {},
      },
      1_000_000,
    );
    let longest = 0;
    const before = heapKiB();
    for (let sent = 0; sent < count; sent += 1_000) {
      const startedAt = performance.now();
      reader.push(chunk);
      await turn();
      longest = Math.max(longest, performance.now() - startedAt);
    }
    return { opened, longest, grown: heapKiB() - before };
  };

  it.each([
    ['of notifications', 100_000, { method: 'notifications/message', params: { level: 'info', data: 'x' } }],
    ['of progress', 20_000, { method: 'notifications/progress', params: { progressToken: 9, progress: 1 } }],
    ['of wrong progress', 20_000, { method: 'notifications/progress', params: [] }],
    ['of cancellations', 20_000, { method: 'notifications/cancelled', params: { requestId: 3 } }],
    ['of answers without a request', 100_000, { id: 12_345, result: {} }],
    ['of repeated answers', 100_000, { id: 0, result: {} }],
  ])('%s neither fills the memory nor blocks the event loop', async (_, count, content) => {
    const { opened, longest, grown } = await flood(content, count);
    const { client, notifications, oddities } = opened;
    await expect(client.request('ping', {})).resolves.toEqual({});
    expect([0, count]).toContain(notifications.length + oddities.length);
    // A thousand messages take a few milliseconds. The records of the test itself keep some bytes of each.
    expect(longest).toBeLessThan(2_000);
    expect(grown).toBeLessThan(8 * 1_024);
    client.abandon(OVER);
  });

  it('of pings is answered one for one', async () => {
    const { opened } = await flood((index) => ({ id: `p${index}`, method: 'ping' }), 10_000);
    const { client, server } = opened;
    await client.request('ping', {});
    expect(server.answers).toHaveLength(10_000);
    client.abandon(OVER);
  });
});

describe('a request of the server that is cancelled immediately', () => {
  it('is also aborted for the host, and gets no answer', async () => {
    const abortedStates: boolean[] = [];
    const { client, server, transport } = await openClient({}, {}, undefined, (made) => {
      made.owner = {
        ...made.owner,
        onrequest: async (_method, _params, { signal }) => {
          abortedStates.push(signal.aborted);
          return {};
        },
      };
    });
    transport.simulateMessage({ jsonrpc: '2.0', id: 'r', method: 'roots/list' });
    transport.simulateMessage({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'r' },
    });
    await client.request('ping', {});
    expect(abortedStates).toEqual([true]);
    expect(server.answers).toEqual([]);
    client.abandon(OVER);
  });
});

describe('a settled request', () => {
  it('keeps nothing of its answer, even if that names a task', async () => {
    const { client, server } = await openClient({
      on: { 'tools/call': ({ n }) => ({ task: { taskId: `${String(n)}${'x'.repeat(10_000)}` } }) },
    });
    const call = (n: number): Promise<unknown> =>
      client.request('tools/call', { n }, { onProgress: () => {} });
    for (let n = 0; n < 200; n += 1) await call(n);
    server.received.length = 0;
    const before = heapKiB();
    for (let n = 200; n < 1_200; n += 1) await call(n);
    server.received.length = 0;
    expect(heapKiB() - before).toBeLessThan(1_024);
    client.abandon(OVER);
  });

  it('leaves no timer behind if its answer was invalid or lost', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const { client, server, transport } = await open();
    const before = timers();
    const asking = Promise.allSettled([1, 2, 3].map(() => client.request('tools/call', {})));
    const { id } = await server.whenReceived('tools/call');
    await server.whenReceived('tools/call', 3);
    transport.simulateMessage({ jsonrpc: '2.0', id, result: 7 });
    transport.simulateMessage({ jsonrpc: '2.0', id: Number(id) + 1, error: {} });
    transport.simulateLost(Number(id) + 2);
    await asking;
    expect(timers()).toBe(before);
    expect(client.pending).toBe(0);
    client.abandon(OVER);
  });
});

/** Requests to one server other than calls: answers, refusals, and requests without an answer. */
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../src/servers/connection.js';
import { UnsupportedError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { library } from '../../support/library-server.js';
import { useOneLibrary } from '../../support/one-server.js';
import { refuse, ScriptedServer, silent, SILENCE, type Handler } from '../../support/scripted-server.js';
import { inProcess, passTime } from '../../support/test-troupe.js';

/** Every request, with the method that it is sent as. */
const REQUESTS: readonly [method: string, ask: (a: Connection, options?: object) => Promise<unknown>][] = [
  ['resources/read', (a, options) => a.readResource('x:1', options)],
  ['resources/subscribe', (a, options) => a.subscribe('x:1', options)],
  ['prompts/get', (a, options) => a.getPrompt('ask', { what: 'time' }, options)],
  [
    'completion/complete',
    (a, options) =>
      a.complete({ type: 'ref/prompt', name: 'ask' }, { name: 'what', value: 'ti' }, { ...options }),
  ],
  ['logging/setLevel', (a, options) => a.setLogLevel('warning', options)],
];

describe('a request', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneLibrary();

  it('returns the answer of the server unchanged', async () => {
    const { a, server } = await begin({
      on: { 'resources/read': ({ uri }) => ({ contents: [{ uri, blob: 'AA==' }], _meta: { more: 1 } }) },
    });
    expect(await a.readResource('x:1')).toEqual({
      contents: [{ uri: 'x:1', blob: 'AA==' }],
      _meta: { more: 1 },
    });
    expect(await a.getPrompt('ask', { what: 'time' })).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'ask {"what":"time"}' } }],
    });
    const ref = { type: 'ref/resource', uri: 'x:{id}' } as const;
    const context = { kind: 'book' };
    expect(await a.complete(ref, { name: 'id', value: '4' }, { context })).toEqual({ values: ['4…'] });
    expect(server.of('completion/complete')[0]?.params).toEqual({
      ref,
      argument: { name: 'id', value: '4' },
      context: { arguments: context },
    });
    await a.setLogLevel('error');
    expect(server.of('logging/setLevel')[0]?.params).toEqual({ level: 'error' });
  });

  it('gets a prompt without arguments', async () => {
    const { a, server } = await begin();
    await a.getPrompt('ask');
    expect(server.of('prompts/get')[0]?.params).toEqual({ name: 'ask', arguments: {} });
  });

  it.each(REQUESTS)(
    '%s is not sent to a server that does not support it, which is reported',
    async (method, ask) => {
      const { a, server } = await begin({
        capabilities: {
          resources: method === 'resources/subscribe' ? {} : undefined,
          prompts: undefined,
          completions: undefined,
          logging: undefined,
        },
      });
      const refused = ask(a);
      await expect(refused).rejects.toBeInstanceOf(UnsupportedError);
      await expect(refused).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        server: 'a',
        message: expect.stringContaining(method) as unknown,
      });
      expect(server.of(method)).toEqual([]);
    },
  );

  it.each(REQUESTS)('%s throws the error of the server with its code and data', async (method, ask) => {
    const { a } = await begin({ on: { [method]: refuse(-32002, 'not here', { uri: 'x:1' }) } });
    await expect(ask(a)).rejects.toMatchObject({
      code: 'JSON_RPC_ERROR',
      server: 'a',
      rpcCode: -32002,
      rpcMessage: 'not here',
      data: { uri: 'x:1' },
    });
  });

  it.each(REQUESTS)('%s times out and is cancelled at the server once', async (method, ask) => {
    const { a, clock, server } = await begin({ on: { [method]: silent } });
    const asked = ask(a, { timeoutMs: 4_321 });
    asked.catch(() => {});
    await clock.advance(4_320);
    expect(server.of('notifications/cancelled')).toEqual([]);
    await clock.advance(1);
    await expect(asked).rejects.toMatchObject({
      code: 'CALL_TIMEOUT',
      message: expect.stringContaining(`'${method}`) as unknown,
    });
    await clock.advance(1_000);
    expect(server.of('notifications/cancelled')).toHaveLength(1);
    expect(clock.pending).not.toContain(4_321);
  });

  it.each(REQUESTS)(
    '%s is aborted by its signal and is cancelled at the server once',
    async (method, ask) => {
      const { a, clock, server } = await begin({ on: { [method]: silent } });
      const giving = new AbortController();
      const asked = ask(a, { signal: giving.signal });
      asked.catch(() => {});
      await server.whenReceived(method);
      giving.abort(new Error('changed my mind'));
      giving.abort();
      await expect(asked).rejects.toMatchObject({
        code: 'CALL_ABORTED',
        cause: { message: 'changed my mind' },
      });
      await clock.advance(1_000);
      expect(server.of('notifications/cancelled')).toHaveLength(1);
    },
  );

  it.each(REQUESTS)('%s is not sent if its signal was aborted before', async (method, ask) => {
    const { a, server } = await begin();
    await expect(ask(a, { signal: AbortSignal.abort('no') })).rejects.toMatchObject({
      code: 'CALL_ABORTED',
      cause: 'no',
    });
    expect(server.of(method)).toEqual([]);
  });

  it.each(REQUESTS)(
    '%s is sent once more if the connection is lost before the answer',
    async (method, ask) => {
      const { a, clock, server } = await begin();
      const answer = server.script.on?.[method] as Handler;
      server.script = library({
        on: {
          [method]: (params, exchange) => (exchange.session === 1 ? SILENCE : answer(params, exchange)),
        },
      });
      const asked = ask(a);
      await server.whenReceived(method);
      await server.die();
      await passTime(clock, asked);
      const sent = server.of(method).map(({ session }) => session);
      expect(sent.slice(0, 2)).toEqual([1, 2]);
    },
  );

  it('that is lost twice has an unknown outcome and is not sent a third time', async () => {
    const { a, clock, server } = await begin({ on: { 'resources/read': silent } });
    const asked = a.readResource('x:1');
    asked.catch(() => {});
    await server.whenReceived('resources/read');
    await server.die();
    await clock.advance(1_000);
    await server.whenReceived('resources/read', 2);
    await server.die();
    await expect(passTime(clock, asked)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', server: 'a' });
    await clock.advance(60_000);
    expect(server.of('resources/read')).toHaveLength(2);
  });

  it('that was lost has an unknown outcome even if the next session does not support it', async () => {
    const { a, clock, server } = await begin({ on: { 'resources/read': silent } });
    const asked = a.readResource('x:1');
    asked.catch(() => {});
    await server.whenReceived('resources/read');
    server.script = library({ capabilities: { resources: undefined } });
    await server.die();
    await expect(passTime(clock, asked)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', server: 'a' });
    expect(server.of('resources/read')).toHaveLength(1);
  });

  it('waits for a connection that is being opened', async () => {
    const { a, clock, server } = await begin();
    await server.die();
    await clock.advance(0);
    await expect(passTime(clock, a.readResource('x:1'))).resolves.toMatchObject({ contents: [{}] });
  });

  it('is not sent if the server has failed, and reports why', async () => {
    const { a, clock } = await begin();
    await passTime(clock, a.stop());
    await expect(a.readResource('x:1')).rejects.toMatchObject({
      code: 'NOT_READY',
      message: expect.stringContaining('stopped') as unknown,
    });
  });

  it('keeps its connection from becoming dormant and from stopping until it is answered', async () => {
    const server = new ScriptedServer(library({ on: { 'resources/read': silent } }));
    const { troupe, clock } = await begin();
    const slow = await troupe.add('slow', inProcess(server, { idleStopMs: 1_000 }));
    await passTime(clock, troupe.settled());
    const asked = slow.readResource('x:1', { timeoutMs: 5_000 });
    asked.catch(() => {});
    await clock.advance(4_000);
    expect(slow.state).toBe('ready');
    await clock.advance(10_000);
    expect(slow.status.tags).toContain('dormant');
  });

  it.each([
    ['resources/read', {}, (a: Connection) => a.readResource('x:1')],
    ['resources/read', { contents: 7 }, (a: Connection) => a.readResource('x:1')],
    ['prompts/get', { messages: {} }, (a: Connection) => a.getPrompt('ask')],
    ['completion/complete', { completion: { values: [1] } }, complete],
    ['completion/complete', {}, complete],
  ])('%s that is answered with %j fails and reports what is wrong', async (method, answer, ask) => {
    const { a } = await begin({ on: { [method]: () => answer } });
    await expect(ask(a)).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
  });

  it.each<[string, (a: Connection) => Promise<unknown>]>([
    ['no URI', (a) => a.readResource('')],
    ['a URI that is not a string', (a) => a.subscribe(7 as never)],
    ['a name that is not a string', (a) => a.getPrompt({} as never)],
    ['arguments that are not strings', (a) => a.getPrompt('ask', { what: 7 } as never)],
    ['an unknown level', (a) => a.setLogLevel('loud' as never)],
    ['a limit that is not a number', (a) => a.readResource('x:1', { timeoutMs: '5' as never })],
    ['an invalid signal', (a) => a.subscribe('x:1', { signal: {} as never })],
    [
      'a context that is not an object of strings',
      (a) =>
        a.complete({ type: 'ref/prompt', name: 'p' }, { name: 'n', value: '' }, { context: [] as never }),
    ],
  ])('with %s is an error of the caller', async (_, ask) => {
    const { a, server } = await begin();
    const before = server.received.length;
    await expect(ask(a)).rejects.toBeInstanceOf(TypeError);
    expect(server.received).toHaveLength(before);
  });

  it('leaves no listener on the signal of its caller', async () => {
    const { a } = await begin();
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    for (const [, ask] of REQUESTS) await ask(a, { signal });
    expect(listeners).toBe(0);
  });
});

function complete(a: Connection): Promise<unknown> {
  return a.complete({ type: 'ref/prompt', name: 'ask' }, { name: 'what', value: '' });
}

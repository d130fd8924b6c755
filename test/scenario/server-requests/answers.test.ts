/** The answers to requests of a server, and the events about them. */
import { describe, expect, it } from 'vitest';
import type { ServerRequestContext } from '../../../src/server-requests/handlers.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate, never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useTroupes } from '../../support/test-troupe.js';
import { FORM, PROMPT, startAsking } from './asking-server.js';

const REPLY = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi.' } } as const;

describe('roots', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('are the list that the host gives', async () => {
    const roots = [{ uri: 'file:///work', name: 'work' }];
    const { ask, server, events } = await startAsking(make, { roots });
    expect(server.of('initialize')[0]?.params['capabilities']).toEqual({ roots: { listChanged: true } });
    expect(await ask('roots/list')).toMatchObject({ result: { roots } });
    expect(events.of('server.request')).toMatchObject([
      { server: 'a', generation: 1, method: 'roots/list', outcome: 'answered', durationMs: 0 },
    ]);
  });

  it('can differ for each server and each request', async () => {
    let folder = 0;
    const roots = ({ server }: ServerRequestContext) => [{ uri: `file:///${server}/${(folder += 1)}` }];
    const { ask, troupe, server } = await startAsking(make, { roots });
    expect(await ask('roots/list')).toMatchObject({ result: { roots: [{ uri: 'file:///a/1' }] } });
    await troupe.rootsChanged();
    await server.whenReceived('notifications/roots/list_changed');
    expect(await ask('roots/list')).toMatchObject({ result: { roots: [{ uri: 'file:///a/2' }] } });
  });

  it('that are not file URLs are not sent, and the host gets a diagnostic', async () => {
    const { ask, events } = await startAsking(make, { roots: () => [{ uri: 'https://x.example' }] });
    expect((await ask('roots/list')).error).toMatchObject({ code: -32603 });
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'server-request-failed', message: expect.stringContaining('file://') },
    ]);
    expect(events.of('server.request')).toMatchObject([{ outcome: 'failed' }]);
  });

  it('cannot change if the host has none', async () => {
    const { troupe, server } = await startAsking(make);
    await expect(troupe.rootsChanged()).rejects.toThrow(TypeError);
    expect(server.of('notifications/roots/list_changed')).toEqual([]);
  });

  it('can change without an error while a session is lost', async () => {
    const { troupe, server } = await startAsking(make, { roots: [] });
    await server.die();
    await expect(troupe.rootsChanged()).resolves.toBeUndefined();
  });
});

describe('sampling', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('is done by the handler, which gets the request unchanged', async () => {
    const requests: unknown[] = [];
    const { ask, server } = await startAsking(make, {
      sampling: async (request) => {
        requests.push(request);
        return REPLY;
      },
    });
    expect(server.of('initialize')[0]?.params['capabilities']).toEqual({ sampling: {} });
    const more = { ...PROMPT, temperature: 0.5, _meta: { k: 1 } };
    expect(await ask('sampling/createMessage', more)).toMatchObject({ result: REPLY });
    expect(requests).toEqual([more]);
  });

  it('has tools if the host declares that it supports them', async () => {
    const used = {
      role: 'assistant',
      model: 'm',
      content: [{ type: 'tool_use', id: '1', name: 't', input: {} }],
    };
    const { ask, server } = await startAsking(make, {
      sampling: { createMessage: async () => used as never, tools: true, context: true },
    });
    expect(server.of('initialize')[0]?.params['capabilities']).toEqual({
      sampling: { tools: {}, context: {} },
    });
    const request = { ...PROMPT, tools: [{ name: 't', inputSchema: {} }], toolChoice: { mode: 'auto' } };
    expect(await ask('sampling/createMessage', request)).toMatchObject({ result: used });
  });

  it('with undeclared tools is rejected before the host is asked', async () => {
    const { ask, events } = await startAsking(make, {
      sampling: async () => {
        throw new Error('was asked');
      },
    });
    const { error } = await ask('sampling/createMessage', { ...PROMPT, tools: [] });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('tools') });
    expect(events.of('server.request')).toMatchObject([{ outcome: 'rejected' }]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('can be refused by the user', async () => {
    const { ask, events } = await startAsking(make, { sampling: async () => 'refused' });
    expect((await ask('sampling/createMessage', PROMPT)).error).toEqual({
      code: -1,
      message: 'User rejected sampling request',
    });
    expect(events.of('server.request')).toMatchObject([{ outcome: 'refused' }]);
  });

  it.each([
    ['no messages', { maxTokens: 1 }],
    ['an unknown role', { ...PROMPT, messages: [{ role: 'narrator', content: { type: 'text', text: '' } }] }],
    ['no token limit', { messages: [] }],
  ])('with %s is rejected as invalid', async (_, params) => {
    const { ask } = await startAsking(make, { sampling: async () => REPLY });
    expect((await ask('sampling/createMessage', params)).error).toMatchObject({ code: -32602 });
  });

  it.each([
    ['nothing', undefined],
    ['no model', { role: 'assistant', content: REPLY.content }],
    ['no role', { model: 'm', content: REPLY.content }],
    ['no content', { role: 'assistant', model: 'm' }],
    ['a value that is not JSON', { ...REPLY, _meta: { tokens: 7n } }],
  ])(
    'whose handler returns %s is an error for the server, and a diagnostic for the host',
    async (_, answer) => {
      const { ask, events } = await startAsking(make, { sampling: async () => answer as never });
      expect((await ask('sampling/createMessage', PROMPT)).error).toMatchObject({ code: -32603 });
      expect(events.of('diagnostic')).toMatchObject([{ kind: 'server-request-failed' }]);
      expect(events.of('server.request')).toMatchObject([{ outcome: 'failed' }]);
    },
  );
});

describe('a form elicitation', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('gets the defaults of the server for fields that the user left empty', async () => {
    const { ask, server } = await startAsking(make, {
      elicitation: { form: () => ({ action: 'accept', content: { name: 'Ada' } }) },
    });
    expect(server.of('initialize')[0]?.params['capabilities']).toEqual({ elicitation: { form: {} } });
    expect(await ask('elicitation/create', FORM)).toMatchObject({
      result: { action: 'accept', content: { name: 'Ada', age: 7 } },
    });
    expect(await ask('elicitation/create', { ...FORM, mode: 'form' })).toHaveProperty('result');
  });

  it('that is declined or cancelled says so, without the typed values', async () => {
    let action: 'decline' | 'cancel' = 'decline';
    const { ask, events } = await startAsking(make, {
      elicitation: () => ({ action, content: { name: 'half-typed' } }),
    });
    expect((await ask('elicitation/create', FORM)).result).toEqual({ action: 'decline' });
    action = 'cancel';
    expect((await ask('elicitation/create', FORM)).result).toEqual({ action: 'cancel' });
    expect(events.of('server.request').map(({ outcome }) => outcome)).toEqual(['refused', 'refused']);
  });

  it('whose answer does not fit is not sent, and the host learns the fields but not the values', async () => {
    const { ask, events } = await startAsking(make, {
      elicitation: { form: () => ({ action: 'accept', content: { age: 'hunter2', mail: 'hunter3' } }) },
    });
    const { error } = await ask('elicitation/create', FORM);
    expect(error).toMatchObject({ code: -32603 });
    const [diagnostic] = events.of('diagnostic');
    for (const path of ['/name', '/mail', '/age']) expect(diagnostic?.message).toContain(path);
    expect(JSON.stringify([error, events.all])).not.toMatch(/hunter/);
  });

  it('accepts a field called __proto__ as an ordinary field', async () => {
    const content = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    const { ask } = await startAsking(make, { elicitation: () => ({ action: 'accept', content }) });
    const properties = JSON.parse('{"__proto__":{"type":"string"}}') as object;
    const requestedSchema = { type: 'object', properties };
    const { result } = await ask('elicitation/create', { message: 'm', requestedSchema });
    expect(JSON.stringify(result)).toBe('{"action":"accept","content":{"__proto__":"x"}}');
  });

  it.each([
    ['no message', { requestedSchema: FORM.requestedSchema }],
    ['no schema', { message: 'm' }],
    ['a schema that is not an object', { message: 'm', requestedSchema: { type: 'string' } }],
    ['an unknown mode', { ...FORM, mode: 'telepathy' }],
  ])('with %s is rejected as invalid', async (_, params) => {
    const { ask } = await startAsking(make, { elicitation: () => ({ action: 'accept' }) });
    expect((await ask('elicitation/create', params)).error).toMatchObject({ code: -32602 });
  });
});

describe('a URL elicitation', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();
  const PAGE = { mode: 'url', message: 'Pay', url: 'https://pay.example/1', elicitationId: 'e1' };

  it('is passed to the handler for URLs, and its completion is an event', async () => {
    const requests: unknown[] = [];
    const { ask, server, events, clock } = await startAsking(make, {
      elicitation: {
        url: (request) => {
          requests.push(request);
          return { action: 'accept', content: { not: 'sent' } };
        },
      },
    });
    expect(server.of('initialize')[0]?.params['capabilities']).toEqual({ elicitation: { url: {} } });
    expect((await ask('elicitation/create', PAGE)).result).toEqual({ action: 'accept' });
    expect(requests).toEqual([PAGE]);
    server.notify('notifications/elicitation/complete', { elicitationId: 'e1' });
    await clock.advance(0);
    expect(events.of('elicitation.completed')).toMatchObject([
      { server: 'a', generation: 1, elicitationId: 'e1' },
    ]);
  });

  it('is rejected if only forms were declared, as a form is if only URLs were', async () => {
    const forms = await startAsking(make, { elicitation: { form: () => ({ action: 'accept' }) } });
    expect((await forms.ask('elicitation/create', PAGE)).error).toMatchObject({ code: -32602 });
    const pages = await startAsking(make, { elicitation: { url: () => ({ action: 'accept' }) } });
    expect((await pages.ask('elicitation/create', FORM)).error).toMatchObject({ code: -32602 });
  });

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'not an address', ''])(
    'is rejected if its URL is %j',
    async (url) => {
      const { ask } = await startAsking(make, { elicitation: () => ({ action: 'accept' }) });
      expect((await ask('elicitation/create', { ...PAGE, url })).error).toMatchObject({ code: -32602 });
    },
  );
});

describe('a request of a server', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('without a handler has an unknown method, but a ping is answered', async () => {
    const { ask, server, events } = await startAsking(make);
    expect(server.of('initialize')[0]?.params['capabilities']).toEqual({});
    for (const method of ['roots/list', 'sampling/createMessage', 'elicitation/create', 'no/such']) {
      expect((await ask(method)).error).toMatchObject({ code: -32601 });
    }
    expect((await ask('ping')).result).toEqual({});
    expect(events.of('server.request').map(({ method, outcome }) => [method, outcome])).toEqual([
      ['roots/list', 'rejected'],
      ['sampling/createMessage', 'rejected'],
      ['elicitation/create', 'rejected'],
      ['no/such', 'rejected'],
    ]);
  });

  it('whose handler throws gets an error without the message, and later calls still work', async () => {
    const { ask, events, troupe } = await startAsking(make, {
      sampling: async () => {
        throw new Error('the key is broken');
      },
    });
    const { error } = await ask('sampling/createMessage', PROMPT);
    expect(error).toMatchObject({
      code: -32603,
      message: expect.not.stringContaining('the key is broken') as string,
    });
    expect(events.of('diagnostic')).toMatchObject([
      {
        kind: 'server-request-failed',
        message: expect.stringMatching(/'sampling\/createMessage'.*the key is broken/) as string,
      },
    ]);
    await expect(troupe.callTool(NAME_OF_ECHO)).resolves.toBeDefined();
  });

  it('that is cancelled aborts its handler, and a late answer is discarded', async () => {
    const started = createGate<AbortSignal>();
    const late = createGate<typeof REPLY>();
    const { server, events, clock } = await startAsking(make, {
      sampling: (_, { signal }) => {
        started.open(signal);
        return late.promise;
      },
    });
    server.send({ jsonrpc: '2.0', id: 'q', method: 'sampling/createMessage', params: PROMPT });
    const signal = await started.promise;
    server.notify('notifications/cancelled', { requestId: 'q' });
    await clock.advance(0);
    expect(signal.aborted).toBe(true);
    expect(events.of('server.request')).toMatchObject([{ outcome: 'cancelled' }]);
    late.fail(new Error('too late'));
    await clock.advance(0);
    expect(server.answers).toEqual([]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('ends with its session, which aborts its handler', async () => {
    const started = createGate<AbortSignal>();
    const { server, events, clock } = await startAsking(make, {
      elicitation: (_, { signal }) => {
        started.open(signal);
        return never();
      },
    });
    server.send({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: FORM });
    const signal = await started.promise;
    await server.die();
    await clock.advance(0);
    expect(signal.aborted).toBe(true);
    expect(events.of('server.request')).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it('is rejected beyond 32 at the same time', async () => {
    const gate = createGate();
    const { server, ask, clock } = await startAsking(make, {
      elicitation: async () => {
        await gate.promise;
        return { action: 'cancel' };
      },
    });
    const answers = Array.from({ length: 40 }, () => ask('elicitation/create', FORM));
    await clock.advance(0);
    expect(server.answers).toHaveLength(8);
    for (const answer of server.answers) {
      expect(answer).toMatchObject({ error: { message: 'Too many requests at once' } });
    }
    gate.open();
    await Promise.all(answers);
    expect(await ask('elicitation/create', FORM)).toHaveProperty('result');
  });

  it('has a shortened method in events', async () => {
    const { ask, events } = await startAsking(make);
    await ask(`no/${'x'.repeat(10_000)}`);
    expect(events.of('server.request')[0]?.method.length).toBeLessThan(200);
  });
});

const NAME_OF_ECHO = 'mcp__a__echo';

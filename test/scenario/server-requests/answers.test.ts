/** What a server gets for what it asks, and what is told of it. */
import { describe, expect, it } from 'vitest';
import type { ServerRequestContext } from '../../../src/server-requests/handlers.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate, never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { useTroupes } from '../../support/test-troupe.js';
import { FORM, PROMPT, startAsking } from './asking-server.js';

const SAID = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi.' } } as const;

describe('roots', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('are the list of the host', async () => {
    const roots = [{ uri: 'file:///work', name: 'work' }];
    const { ask, server, events } = await startAsking(make, { roots });
    expect(server.of('initialize')[0]?.params['capabilities']).toEqual({ roots: { listChanged: true } });
    expect(await ask('roots/list')).toMatchObject({ result: { roots } });
    expect(events.of('server.request')).toMatchObject([
      { server: 'a', generation: 1, method: 'roots/list', outcome: 'answered', durationMs: 0 },
    ]);
  });

  it('may be another list for each server and each time', async () => {
    let folder = 0;
    const roots = ({ server }: ServerRequestContext) => [{ uri: `file:///${server}/${(folder += 1)}` }];
    const { ask, troupe, server } = await startAsking(make, { roots });
    expect(await ask('roots/list')).toMatchObject({ result: { roots: [{ uri: 'file:///a/1' }] } });
    await troupe.rootsChanged();
    await server.whenReceived('notifications/roots/list_changed');
    expect(await ask('roots/list')).toMatchObject({ result: { roots: [{ uri: 'file:///a/2' }] } });
  });

  it('that are no files are not sent, and the host is told', async () => {
    const { ask, events } = await startAsking(make, { roots: () => [{ uri: 'https://x.example' }] });
    expect((await ask('roots/list')).error).toMatchObject({ code: -32603 });
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'server-request-failed', message: expect.stringContaining('file://') },
    ]);
    expect(events.of('server.request')).toMatchObject([{ outcome: 'failed' }]);
  });

  it('cannot change where there are none', async () => {
    const { troupe, server } = await startAsking(make);
    await expect(troupe.rootsChanged()).rejects.toThrow(TypeError);
    expect(server.of('notifications/roots/list_changed')).toEqual([]);
  });

  it('that change while a session is lost are no error', async () => {
    const { troupe, server } = await startAsking(make, { roots: [] });
    await server.die();
    await expect(troupe.rootsChanged()).resolves.toBeUndefined();
  });
});

describe('sampling', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('is done by the handler, which gets the request as it came', async () => {
    const requests: unknown[] = [];
    const { ask, server } = await startAsking(make, {
      sampling: async (request) => {
        requests.push(request);
        return SAID;
      },
    });
    expect(server.of('initialize')[0]?.params['capabilities']).toEqual({ sampling: {} });
    const more = { ...PROMPT, temperature: 0.5, _meta: { k: 1 } };
    expect(await ask('sampling/createMessage', more)).toMatchObject({ result: SAID });
    expect(requests).toEqual([more]);
  });

  it('has tools where the host says that it obeys them', async () => {
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

  it('with tools that were not declared is refused before the host is asked', async () => {
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

  it('may be refused by a person', async () => {
    const { ask, events } = await startAsking(make, { sampling: async () => 'refused' });
    expect((await ask('sampling/createMessage', PROMPT)).error).toEqual({
      code: -1,
      message: 'User rejected sampling request',
    });
    expect(events.of('server.request')).toMatchObject([{ outcome: 'refused' }]);
  });

  it.each([
    ['no messages', { maxTokens: 1 }],
    ['messages of nobody', { ...PROMPT, messages: [{ role: 'god', content: { type: 'text', text: '' } }] }],
    ['no limit of tokens', { messages: [] }],
  ])('with %s is refused as invalid', async (_, params) => {
    const { ask } = await startAsking(make, { sampling: async () => SAID });
    expect((await ask('sampling/createMessage', params)).error).toMatchObject({ code: -32602 });
  });

  it.each([
    ['nothing', undefined],
    ['no model', { role: 'assistant', content: SAID.content }],
    ['no role', { model: 'm', content: SAID.content }],
    ['no content', { role: 'assistant', model: 'm' }],
    ['what is no JSON', { ...SAID, _meta: { tokens: 7n } }],
  ])('whose handler gives %s is an error for the server, and told to the host', async (_, answer) => {
    const { ask, events } = await startAsking(make, { sampling: async () => answer as never });
    expect((await ask('sampling/createMessage', PROMPT)).error).toMatchObject({ code: -32603 });
    expect(events.of('diagnostic')).toMatchObject([{ kind: 'server-request-failed' }]);
    expect(events.of('server.request')).toMatchObject([{ outcome: 'failed' }]);
  });
});

describe('an elicitation by form', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('has what the person left open filled with what the server proposed', async () => {
    const { ask, server } = await startAsking(make, {
      elicitation: { form: () => ({ action: 'accept', content: { name: 'Ada' } }) },
    });
    expect(server.of('initialize')[0]?.params['capabilities']).toEqual({ elicitation: { form: {} } });
    expect(await ask('elicitation/create', FORM)).toMatchObject({
      result: { action: 'accept', content: { name: 'Ada', age: 7 } },
    });
    expect(await ask('elicitation/create', { ...FORM, mode: 'form' })).toHaveProperty('result');
  });

  it('that is declined or dismissed says so, and nothing that was typed', async () => {
    let action: 'decline' | 'cancel' = 'decline';
    const { ask, events } = await startAsking(make, {
      elicitation: () => ({ action, content: { name: 'half-typed' } }),
    });
    expect((await ask('elicitation/create', FORM)).result).toEqual({ action: 'decline' });
    action = 'cancel';
    expect((await ask('elicitation/create', FORM)).result).toEqual({ action: 'cancel' });
    expect(events.of('server.request').map(({ outcome }) => outcome)).toEqual(['refused', 'refused']);
  });

  it('whose answer does not fit is not sent: the host learns where, and nobody what', async () => {
    const { ask, events } = await startAsking(make, {
      elicitation: { form: () => ({ action: 'accept', content: { age: 'hunter2', mail: 'hunter3' } }) },
    });
    const { error } = await ask('elicitation/create', FORM);
    expect(error).toEqual({ code: -32603, message: 'The client could not answer this request' });
    const [diagnostic] = events.of('diagnostic');
    expect(diagnostic?.message).toContain('/name is missing');
    expect(diagnostic?.message).toContain('/mail must be written as "email"');
    expect(diagnostic?.message).toContain('/age must be of type integer');
    expect(JSON.stringify(events.all)).not.toMatch(/hunter/);
  });

  it('takes a field called __proto__ for what it is', async () => {
    const content = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    const { ask } = await startAsking(make, { elicitation: () => ({ action: 'accept', content }) });
    const properties = JSON.parse('{"__proto__":{"type":"string"}}') as object;
    const requestedSchema = { type: 'object', properties };
    const { result } = await ask('elicitation/create', { message: 'm', requestedSchema });
    expect(JSON.stringify(result)).toBe('{"action":"accept","content":{"__proto__":"x"}}');
  });

  it.each([
    ['no message', { requestedSchema: FORM.requestedSchema }],
    ['no form', { message: 'm' }],
    ['a form of something else', { message: 'm', requestedSchema: { type: 'string' } }],
    ['a mode that nobody knows', { ...FORM, mode: 'telepathy' }],
  ])('with %s is refused as invalid', async (_, params) => {
    const { ask } = await startAsking(make, { elicitation: () => ({ action: 'accept' }) });
    expect((await ask('elicitation/create', params)).error).toMatchObject({ code: -32602 });
  });
});

describe('an elicitation by address', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();
  const PAGE = { mode: 'url', message: 'Pay', url: 'https://pay.example/1', elicitationId: 'e1' };

  it('is put to the handler for addresses, and its completion is told', async () => {
    const asked: unknown[] = [];
    const { ask, server, events, clock } = await startAsking(make, {
      elicitation: {
        url: (request) => {
          asked.push(request);
          return { action: 'accept', content: { not: 'sent' } };
        },
      },
    });
    expect(server.of('initialize')[0]?.params['capabilities']).toEqual({ elicitation: { url: {} } });
    expect((await ask('elicitation/create', PAGE)).result).toEqual({ action: 'accept' });
    expect(asked).toEqual([PAGE]);
    server.notify('notifications/elicitation/complete', { elicitationId: 'e1' });
    await clock.advance(0);
    expect(events.of('elicitation.completed')).toMatchObject([
      { server: 'a', generation: 1, elicitationId: 'e1' },
    ]);
  });

  it('is refused where only forms were declared, and the other way round', async () => {
    const forms = await startAsking(make, { elicitation: { form: () => ({ action: 'accept' }) } });
    expect((await forms.ask('elicitation/create', PAGE)).error).toMatchObject({ code: -32602 });
    const pages = await startAsking(make, { elicitation: { url: () => ({ action: 'accept' }) } });
    expect((await pages.ask('elicitation/create', FORM)).error).toMatchObject({ code: -32602 });
  });

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'not an address', ''])(
    'is refused where the address is %j',
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

  it('for which there is no handler is unknown, and a ping is not', async () => {
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

  it('whose handler throws is an error without its message, and harms nobody', async () => {
    const { ask, events, troupe } = await startAsking(make, {
      sampling: async () => {
        throw new Error('the key is broken');
      },
    });
    const { error } = await ask('sampling/createMessage', PROMPT);
    expect(error).toEqual({ code: -32603, message: 'The client could not answer this request' });
    expect(events.of('diagnostic')).toMatchObject([
      {
        kind: 'server-request-failed',
        message: "The handler of 'sampling/createMessage' threw: the key is broken",
      },
    ]);
    await expect(troupe.callTool(NAME_OF_ECHO)).resolves.toBeDefined();
  });

  it('that is taken back aborts its handler, whose late answer goes nowhere', async () => {
    const begun = createGate<AbortSignal>();
    const late = createGate<typeof SAID>();
    const { server, events, clock } = await startAsking(make, {
      sampling: (_, { signal }) => {
        begun.open(signal);
        return late.promise;
      },
    });
    server.send({ jsonrpc: '2.0', id: 'q', method: 'sampling/createMessage', params: PROMPT });
    const signal = await begun.promise;
    server.notify('notifications/cancelled', { requestId: 'q' });
    await clock.advance(0);
    expect(signal.aborted).toBe(true);
    expect(events.of('server.request')).toMatchObject([{ outcome: 'cancelled' }]);
    late.fail(new Error('too late'));
    await clock.advance(0);
    expect(server.answers).toEqual([]);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('ends with its session, and its handler is told', async () => {
    const begun = createGate<AbortSignal>();
    const { server, events, clock } = await startAsking(make, {
      elicitation: (_, { signal }) => {
        begun.open(signal);
        return never();
      },
    });
    server.send({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: FORM });
    const signal = await begun.promise;
    await server.die();
    await clock.advance(0);
    expect(signal.aborted).toBe(true);
    expect(events.of('server.request')).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it('is one of at most 32 at the same time', async () => {
    const gate = createGate();
    const { server, ask, clock } = await startAsking(make, {
      elicitation: async () => {
        await gate.promise;
        return { action: 'cancel' };
      },
    });
    const asked = Array.from({ length: 40 }, () => ask('elicitation/create', FORM));
    await clock.advance(0);
    expect(server.answers).toHaveLength(8);
    for (const answer of server.answers) {
      expect(answer).toMatchObject({ error: { message: 'Too many requests at once' } });
    }
    gate.open();
    await Promise.all(asked);
    expect(await ask('elicitation/create', FORM)).toHaveProperty('result');
  });

  it('has its method told cut and without line breaks of its own making', async () => {
    const { ask, events } = await startAsking(make);
    await ask(`no/${'x'.repeat(10_000)}`);
    expect(events.of('server.request')[0]?.method.length).toBeLessThan(200);
  });
});

const NAME_OF_ECHO = 'mcp__a__echo';

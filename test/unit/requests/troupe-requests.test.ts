/** Which server a troupe asks, and what it reports if it cannot choose one. */
import { describe, expect, it } from 'vitest';
import { NotFoundError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { library, type Library } from '../../support/library-server.js';
import { ScriptedServer, silent, type Handler } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, type TestTroupe } from '../../support/test-troupe.js';

type Some = TestTroupe & { readonly servers: Readonly<Record<string, ScriptedServer>> };

function useServers(): (shelves: Readonly<Record<string, Library>>) => Promise<Some> {
  const { make } = useTroupes();
  return async (shelves) => {
    const servers: Record<string, ScriptedServer> = {};
    for (const [name, shelf] of Object.entries(shelves)) servers[name] = new ScriptedServer(library(shelf));
    const entries = Object.entries(servers).map(([name, server]) => [name, inProcess(server)]);
    const test = make({ servers: Object.fromEntries(entries) as Record<string, never> });
    await test.troupe.start();
    return { ...test, servers };
  };
}

async function refusal(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NotFoundError);
  return (error as NotFoundError).message;
}

describe('a troupe that is asked for a resource', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useServers();

  it('asks the server that lists it', async () => {
    const { troupe, clock, servers } = await begin({ a: { resources: ['x:1'] }, b: { resources: ['x:2'] } });
    await passTime(clock, troupe.settled());
    expect(await troupe.readResource('x:2')).toMatchObject({ contents: [{ uri: 'x:2' }] });
    expect(servers['a']!.of('resources/read')).toEqual([]);
  });

  it('calls a progress listener; if that throws, a diagnostic is published', async () => {
    const reading: Handler = (_, { progress }) => {
      progress(1, 2);
      return { contents: [] };
    };
    const { troupe, clock, events } = await begin({
      a: { resources: ['x:1'], on: { 'resources/read': reading } },
    });
    await passTime(clock, troupe.settled());
    // An async function of a host in JavaScript returns this.
    const onProgress = (): unknown => Promise.reject(new Error('boom'));
    await expect(troupe.readResource('x:1', { onProgress })).resolves.toEqual({ contents: [] });
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'progress-callback', message: expect.stringMatching(/resources\/read.*boom/) as unknown },
    ]);
  });

  it('asks the server with a matching template if no server lists it', async () => {
    const { troupe, clock, servers } = await begin({
      a: { resources: ['x:1'], templates: ['y://{path}/raw'] },
      b: { templates: ['x:{id}', 'z:fixed'] },
    });
    await passTime(clock, troupe.settled());
    await troupe.readResource('x:1');
    await troupe.readResource('x:7');
    await troupe.readResource('y://some/where/raw');
    const read = (name: string): unknown[] =>
      servers[name]!.of('resources/read').map(({ params }) => params['uri']);
    expect([read('a'), read('b')]).toEqual([['x:1', 'y://some/where/raw'], ['x:7']]);
    await refusal(troupe.readResource('z:other'));
  });

  it('names the servers if several offer it, and asks the one that is named', async () => {
    const { troupe, clock, servers } = await begin({
      a: { resources: ['x:1'] },
      b: { resources: ['x:1'] },
      c: {},
    });
    await passTime(clock, troupe.settled());
    expect(await refusal(troupe.readResource('x:1'))).toBe(
      "Several servers offer the resource 'x:1': 'a', 'b'. Name one of them with 'server'.",
    );
    await expect(troupe.subscribe('x:1')).rejects.toBeInstanceOf(NotFoundError);
    await troupe.readResource('x:1', { server: 'b' });
    await troupe.readResource('x:not-listed', { server: 'c' });
    expect(servers['b']!.of('resources/read')).toHaveLength(1);
    expect(servers['c']!.of('resources/read')).toHaveLength(1);
  });

  it('suggests a similar URI and names servers that are not ready if no server offers it', async () => {
    const { troupe, clock } = await begin({ notes: { resources: ['file:///notes.md'] }, b: {} });
    await passTime(clock, troupe.settled());
    await passTime(clock, troupe.connection('b')!.stop());
    expect(await refusal(troupe.readResource('file:///note.md'))).toBe(
      "No server lists the resource 'file:///note.md', and no template fits it. Did you mean 'file:///notes.md'? " +
        "To request it anyway, name the server with 'server'. Not every server is ready: b is stopped.",
    );
    expect(await refusal(troupe.readResource('x:1', { server: 'note' }))).toBe(
      "No server is called 'note'. Did you mean 'notes'?",
    );
  });

  it('subscribes and unsubscribes at that server, and unsubscribes without the name of the server', async () => {
    const { troupe, clock, servers } = await begin({ a: { resources: ['x:1'] }, b: { resources: ['x:1'] } });
    await passTime(clock, troupe.settled());
    await troupe.subscribe('x:1', { server: 'a' });
    await troupe.subscribe('x:1', { server: 'b' });
    await troupe.unsubscribe('x:1', { server: 'b' });
    const requestsTo = (name: string): string[] =>
      servers[name]!.received.map(({ method }) => method).filter((method) => method.includes('subscribe'));
    expect(requestsTo('b')).toEqual(['resources/subscribe', 'resources/unsubscribe']);
    expect(requestsTo('a')).toEqual(['resources/subscribe']);
    await troupe.unsubscribe('x:1');
    await troupe.unsubscribe('x:1');
    await troupe.unsubscribe('x:of-nobody');
    expect(requestsTo('a')).toEqual(['resources/subscribe', 'resources/unsubscribe']);
    expect(requestsTo('b')).toHaveLength(2);
  });
});

describe('a troupe that is asked for a prompt', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useServers();

  it('finds it by its exposed name and sends the raw one', async () => {
    const { troupe, clock, servers } = await begin({ a: { prompts: ['a b'] }, b: { prompts: ['ask'] } });
    await passTime(clock, troupe.settled());
    const [spaced] = troupe.prompts;
    await troupe.getPrompt(spaced!.name, { what: 'time' });
    await troupe.getPrompt('mcp__b__ask');
    expect(servers['a']!.of('prompts/get')[0]?.params).toEqual({ name: 'a b', arguments: { what: 'time' } });
    expect(servers['b']!.of('prompts/get')[0]?.params).toEqual({ name: 'ask', arguments: {} });
    const ref = { type: 'ref/prompt', name: spaced!.name } as const;
    await troupe.complete(ref, { name: 'what', value: 't' });
    expect(servers['a']!.of('completion/complete')[0]?.params['ref']).toEqual({
      type: 'ref/prompt',
      name: 'a b',
    });
  });

  it('suggests a similar name if there is none of that name', async () => {
    const { troupe, clock } = await begin({ a: { prompts: ['ask'] } });
    await passTime(clock, troupe.settled());
    const message = "No server offers a prompt called 'mcp__a__aks'. Did you mean 'mcp__a__ask'?";
    expect(await refusal(troupe.getPrompt('mcp__a__aks'))).toBe(message);
    const ref = { type: 'ref/prompt', name: 'mcp__a__aks' } as const;
    expect(await refusal(troupe.complete(ref, { name: 'x', value: '' }))).toBe(message);
  });

  it('completes a variable of a template at the server that has the template', async () => {
    const { troupe, clock, servers } = await begin({ a: { templates: ['x:{id}'] }, b: {} });
    await passTime(clock, troupe.settled());
    const ref = { type: 'ref/resource', uri: 'x:{id}' } as const;
    expect(await troupe.complete(ref, { name: 'id', value: '4' })).toEqual({ values: ['4…'] });
    expect(servers['a']!.of('completion/complete')).toHaveLength(1);
  });
});

describe('a troupe that gets a request before its lists are read', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useServers();
  const { make } = useTroupes();

  it('waits for them, and then finds the server', async () => {
    const gate = createGate();
    const { troupe, clock } = await begin({
      a: { on: { 'prompts/list': () => gate.promise.then(() => ({ prompts: [{ name: 'ask' }] })) } },
      b: { resources: ['x:1'] },
    });
    const asked = troupe.getPrompt('mcp__a__ask');
    const read = troupe.readResource('x:1');
    await passTime(clock, read, 0);
    expect(troupe.prompts).toEqual([]);
    gate.open();
    await expect(passTime(clock, asked)).resolves.toMatchObject({ messages: [{}] });
  });

  it('waits no longer than the lists may take', async () => {
    const { troupe, clock } = await begin({ a: { on: { 'prompts/list': silent } } });
    const asked = refusal(troupe.getPrompt('mcp__a__ask'));
    expect(await passTime(clock, asked)).toContain("No server offers a prompt called 'mcp__a__ask'");
  });

  it('waits no longer than its own limit', async () => {
    const { troupe, clock } = await begin({ a: { on: { 'resources/list': silent } } });
    const asked = refusal(troupe.readResource('x:1', { timeoutMs: 2_000 }));
    expect(await passTime(clock, asked, 2_000)).toContain("No server lists the resource 'x:1'");
  });

  it('waits no longer than its caller', async () => {
    const { troupe } = await begin({ a: { on: { 'prompts/list': silent } } });
    const giving = new AbortController();
    const asked = troupe.getPrompt('mcp__a__ask', {}, { signal: giving.signal });
    asked.catch(() => {});
    await Promise.resolve();
    giving.abort('enough');
    await expect(asked).rejects.toMatchObject({ code: 'CALL_ABORTED', cause: 'enough' });
  });

  it('rejects waiting requests when it is closed', async () => {
    const { troupe, clock } = await begin({ a: { on: { 'prompts/list': silent } } });
    const asked = troupe.getPrompt('mcp__a__ask');
    asked.catch(() => {});
    await passTime(clock, troupe.close());
    await expect(asked).rejects.toMatchObject({ code: expect.stringMatching(/^NOT_/) as unknown });
  });

  it('is not ready before it has started, nor is a view of it', async () => {
    const { troupe } = make({
      servers: { a: inProcess(new ScriptedServer(library({ resources: ['x:1'] }))) },
    });
    const asked = [troupe, troupe.view({})].flatMap((each) => [
      each.readResource('x:1'),
      each.getPrompt('mcp__a__ask'),
      each.callTool('mcp__a__echo'),
    ]);
    for (const each of asked) {
      await expect(each).rejects.toMatchObject({ code: 'NOT_READY' });
    }
  });

  it('is not ready once it is closed, nor is a view of it', async () => {
    const { troupe, clock } = await begin({ a: { resources: ['x:1'], prompts: ['ask'] } });
    await passTime(clock, troupe.settled());
    const view = troupe.view({ servers: ['a'] });
    await passTime(clock, troupe.close());
    const asked = [troupe, view].flatMap((each) => [
      each.readResource('x:1'),
      each.getPrompt('mcp__a__ask'),
      each.complete({ type: 'ref/prompt', name: 'mcp__a__ask' }, { name: 'x', value: '' }),
      each.callTool('mcp__a__echo'),
    ]);
    for (const each of [...asked, troupe.subscribe('x:1')]) {
      await expect(each).rejects.toMatchObject({ code: 'NOT_READY' });
    }
  });

  it.each<[string, (troupe: TestTroupe['troupe']) => Promise<unknown>]>([
    ['resource URI', (troupe) => troupe.readResource(undefined as never)],
    ['resource URI', (troupe) => troupe.subscribe(7 as never)],
    ['prompt name', (troupe) => troupe.getPrompt(undefined as never)],
    ['completion reference', (troupe) => troupe.complete(null as never, { name: 'x', value: '' })],
    [
      'completion reference',
      (troupe) => troupe.complete({ type: 'ref/prompt' } as never, { name: 'x', value: '' }),
    ],
    [
      'value of a completion',
      (troupe) => troupe.complete({ type: 'ref/prompt', name: 'mcp__a__ask' }, { name: 'x' } as never),
    ],
  ])('refuses an invalid %s', async (_, ask) => {
    const { troupe, clock, servers } = await begin({ a: { resources: ['x:1'], prompts: ['ask'] } });
    await passTime(clock, troupe.settled());
    const asked = ask(troupe);
    await expect(asked).rejects.toBeInstanceOf(TypeError);
    await expect(asked).rejects.toThrow(/must be/);
    expect(servers['a']!.of('completion/complete')).toEqual([]);
  });
});

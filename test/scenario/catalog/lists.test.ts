/** Resources, resource templates and prompts as a host sees them: complete, current, and removed with their server. */
import { describe, expect, it } from 'vitest';
import { useCrashWatch } from '../../support/crash-watch.js';
import { createGate } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { library } from '../../support/library-server.js';
import { useOneLibrary } from '../../support/one-server.js';
import { refuse, ScriptedServer, silent } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes, whenState } from '../../support/test-troupe.js';

const RESOURCES = 'notifications/resources/list_changed';
const PROMPTS = 'notifications/prompts/list_changed';

describe('the lists of a server', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneLibrary();
  const { make } = useTroupes();

  it('are complete once the troupe is settled, with every field of each entry', async () => {
    const { troupe, events } = await begin({
      templates: ['x://{id}'],
      on: {
        'resources/list': () => ({
          resources: [
            {
              uri: 'x://1',
              name: 'one',
              title: 'One',
              description: 'The first.',
              mimeType: 'text/plain',
              size: 3,
              annotations: { audience: ['user'], priority: 1 },
            },
          ],
        }),
        'prompts/list': () => ({
          prompts: [{ name: 'ask', title: 'Ask', arguments: [{ name: 'what', required: true }] }],
        }),
      },
    });
    const source = 'the servers option';
    expect(troupe.resources).toEqual([
      {
        uri: 'x://1',
        server: 'a',
        source,
        name: 'one',
        title: 'One',
        description: 'The first.',
        mimeType: 'text/plain',
        annotations: { audience: ['user'], priority: 1 },
        stale: false,
        size: 3,
      },
    ]);
    expect(troupe.resourceTemplates).toEqual([
      { uriTemplate: 'x://{id}', server: 'a', source, name: '{id}', stale: false },
    ]);
    expect(troupe.prompts).toEqual([
      {
        name: 'mcp__a__ask',
        server: 'a',
        prompt: 'ask',
        source,
        title: 'Ask',
        arguments: [{ name: 'what', required: true }],
        stale: false,
      },
    ]);
    expect(troupe.resource('x://1')).toBe(troupe.resources[0]);
    expect(troupe.prompt('mcp__a__ask')).toBe(troupe.prompts[0]);
    expect(troupe.status).toMatchObject([{ resourceCount: 1, promptCount: 1, toolCount: 1 }]);
    expect(
      events
        .of('catalog.changed')
        .map(({ list, added }) => ({ list, added }))
        .slice(1),
    ).toEqual([
      { list: 'resources', added: ['x://1'] },
      { list: 'resourceTemplates', added: ['x://{id}'] },
      { list: 'prompts', added: ['ask'] },
    ]);
  });

  it('have every page, and a list that repeats its cursor is reported and used as far as it was read', async () => {
    const page = (cursor: unknown): number => (cursor === undefined ? 0 : Number(cursor));
    const { troupe, events } = await begin({
      on: {
        'resources/list': ({ cursor }) => ({
          resources: [{ uri: `x:${page(cursor)}`, name: 'x' }],
          ...(page(cursor) < 4 ? { nextCursor: String(page(cursor) + 1) } : {}),
        }),
        'prompts/list': ({ cursor }) => ({ prompts: [{ name: `p${String(cursor)}` }], nextCursor: 'again' }),
      },
    });
    expect(troupe.resources.map(({ uri }) => uri)).toEqual(['x:0', 'x:1', 'x:2', 'x:3', 'x:4']);
    expect(troupe.prompts).toHaveLength(2);
    expect(events.of('diagnostic')).toMatchObject([
      { kind: 'catalog-problem', message: expect.stringContaining('prompts/list') as unknown },
    ]);
  });

  it('drop their bad entries, report them, and keep the rest', async () => {
    const { troupe, events } = await begin({
      on: {
        'resources/list': () => ({
          resources: [{ name: 'no uri' }, { uri: 'x:1', name: 'one' }, 7, { uri: 'x:1', name: 'again' }],
        }),
      },
    });
    expect(troupe.resources.map(({ name }) => name)).toEqual(['one']);
    expect(events.of('diagnostic').map(({ kind }) => kind)).toEqual(Array(3).fill('catalog-problem'));
  });

  it('are not requested if the server does not declare them', async () => {
    const { troupe, server } = await begin({
      capabilities: { resources: undefined, prompts: undefined },
      resources: ['x:1'],
    });
    expect(troupe.resources).toEqual([]);
    expect(server.received.filter(({ method }) => /^(resources|prompts)\//.test(method))).toEqual([]);
  });

  it('that cannot be read affect neither the other lists nor the connection', async () => {
    const { troupe, events, clock, server } = await begin({
      prompts: ['ask'],
      on: { 'resources/list': silent, 'resources/templates/list': refuse(-32603, 'db down') },
    });
    expect(troupe.prompts).toHaveLength(1);
    expect(troupe.status).toMatchObject([{ state: 'ready', promptCount: 1, resourceCount: 0 }]);
    expect(events.of('diagnostic').map(({ message }) => message)).toEqual([
      expect.stringMatching(/resources\/templates\/list.*-32603/),
      expect.stringMatching(/resources\/list.*30000/),
    ]);
    expect(server.of('notifications/cancelled')).toHaveLength(1);
    await clock.advance(0);
    await expect(troupe.callTool('mcp__a__echo')).resolves.toBeDefined();
  });

  it('are merged with those of other servers, and each resource is found by its server', async () => {
    const servers = Object.fromEntries(
      ['b', 'a'].map((name) => [
        name,
        inProcess(new ScriptedServer(library({ resources: ['x:1', `x:${name}`], prompts: ['ask'] }))),
      ]),
    );
    const { troupe, clock } = make({ servers });
    await passTime(clock, troupe.settled());
    expect(troupe.resources.map(({ server, uri }) => [server, uri])).toEqual([
      ['a', 'x:1'],
      ['a', 'x:a'],
      ['b', 'x:1'],
      ['b', 'x:b'],
    ]);
    expect(troupe.prompts.map(({ name }) => name)).toEqual(['mcp__a__ask', 'mcp__b__ask']);
    expect(troupe.resource('x:1')).toBeUndefined();
    expect(troupe.resource('x:1', 'b')).toMatchObject({ server: 'b' });
    expect(troupe.resource('x:b')).toMatchObject({ server: 'b' });
  });
});

describe('a list that changes', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneLibrary();

  it('is read again 300 ms after the server announces the change, and the other lists are not', async () => {
    const { troupe, server, clock, events } = await begin({ prompts: ['one'], resources: ['x:1'] });
    const { resources } = troupe;
    server.script = library({ prompts: ['one', 'two'], resources: ['x:1'] });
    server.notify(PROMPTS);
    await clock.advance(299);
    expect(server.of('prompts/list')).toHaveLength(1);
    await clock.advance(1);
    const changed = await events.when('catalog.changed', ({ added }) => added.includes('two'));
    expect(changed).toMatchObject({
      list: 'prompts',
      added: ['two'],
      removed: [],
      changed: [],
      toolCount: 1,
    });
    expect(troupe.prompts.map(({ prompt }) => prompt)).toEqual(['one', 'two']);
    expect(troupe.status).toMatchObject([{ promptCount: 2 }]);
    expect(troupe.resources).toBe(resources);
    expect(server.of('resources/list')).toHaveLength(1);
    expect(server.of('tools/list')).toHaveLength(1);
  });

  it('is emitted once to observers of the list, and only if it differs', async () => {
    const { troupe, server, clock } = await begin({ resources: ['x:1'] });
    const seen: number[] = [];
    troupe.resources$.subscribe((resources) => seen.push(resources.length));
    server.notify(RESOURCES);
    await clock.advance(1_000);
    expect(server.of('resources/list')).toHaveLength(2);
    server.script = library({ resources: ['x:1', 'x:2'] });
    server.notify(RESOURCES);
    await clock.advance(1_000);
    expect(seen).toEqual([1, 2]);
  });

  it('a thousand times in a burst is read once, and continuously at most every two seconds', async () => {
    const { server, clock } = await begin();
    for (let count = 0; count < 1_000; count += 1) server.notify(RESOURCES);
    await clock.advance(5_000);
    expect(server.of('resources/list')).toHaveLength(2);
    expect(server.of('resources/templates/list')).toHaveLength(2);
    for (let passed = 0; passed < 10_000; passed += 100) {
      server.notify(RESOURCES);
      await clock.advance(100);
    }
    await clock.advance(2_000);
    const refreshes = server.of('resources/list').length - 2;
    expect(refreshes).toBeGreaterThanOrEqual(5);
    expect(refreshes).toBeLessThanOrEqual(7);
    expect(server.of('prompts/list')).toHaveLength(1);
  });

  it('while it is being read is read once more', async () => {
    const gate = createGate();
    const { server, clock } = await begin();
    server.script = library({ on: { 'prompts/list': () => gate.promise.then(() => ({ prompts: [] })) } });
    server.notify(PROMPTS);
    await clock.advance(300);
    await server.whenReceived('prompts/list', 2);
    server.notify(PROMPTS);
    await clock.advance(1_000);
    expect(server.of('prompts/list')).toHaveLength(2);
    gate.open();
    await clock.advance(1_000);
    expect(server.of('prompts/list')).toHaveLength(3);
  });

  it('and cannot be read stays as it was, with a diagnostic', async () => {
    const { troupe, server, clock, events } = await begin({ prompts: ['one'] });
    server.script = library({ on: { 'prompts/list': refuse(-32603, 'db down') } });
    server.notify(PROMPTS);
    await clock.advance(300);
    await events.when('diagnostic');
    expect(troupe.prompts).toHaveLength(1);
    expect(troupe.status).toMatchObject([{ promptCount: 1, state: 'ready' }]);
  });

  it('is read by refresh, which waits for it', async () => {
    const { troupe, server } = await begin({ prompts: ['one'] });
    server.script = library({ prompts: ['two'], resources: ['x:1'] });
    await troupe.connection('a')?.refresh();
    expect(troupe.prompts.map(({ prompt }) => prompt)).toEqual(['two']);
    expect(troupe.resources).toHaveLength(1);
  });
});

describe('the lists of a server that lost its connection', () => {
  useLeakCheck();
  useCrashWatch();
  const begin = useOneLibrary();

  it('are marked stale, and keep their names if it returns with the same lists', async () => {
    const test = await begin({ resources: ['x:1'], prompts: ['ask'] });
    const { troupe, clock, server, events } = test;
    const names = troupe.prompts.map(({ name }) => name);
    await server.die();
    await whenState(test, 'a', 'reconnecting');
    expect(troupe.resources).toMatchObject([{ uri: 'x:1', stale: true }]);
    expect(troupe.prompts).toMatchObject([{ name: 'mcp__a__ask', stale: true }]);
    await passTime(
      clock,
      events.when('connection.ready', ({ generation }) => generation === 2),
    );
    await passTime(clock, troupe.settled());
    expect(troupe.resources).toMatchObject([{ stale: false }]);
    expect(troupe.prompts.map(({ name }) => name)).toEqual(names);
    expect(events.of('catalog.changed').filter(({ generation }) => generation === 2)).toEqual([]);
  });

  it('drop entries that are gone after the reconnect, and report it', async () => {
    const { troupe, clock, server, events } = await begin({ resources: ['x:1', 'x:2'] });
    server.script = library({ resources: ['x:2'] });
    await server.die();
    const gone = await passTime(
      clock,
      events.when('catalog.changed', ({ removed }) => removed.includes('x:1')),
    );
    expect(gone).toMatchObject({ list: 'resources', generation: 2, added: [], changed: [] });
    expect(troupe.resources.map(({ uri }) => uri)).toEqual(['x:2']);
  });

  it.each(['stop', 'remove'] as const)('are removed after a %s, which is reported', async (how) => {
    const { troupe, clock, events } = await begin({
      resources: ['x:1'],
      templates: ['x:{y}'],
      prompts: ['ask'],
    });
    const ending = how === 'stop' ? troupe.connection('a')!.stop() : troupe.remove('a');
    await passTime(clock, ending);
    expect([troupe.resources, troupe.resourceTemplates, troupe.prompts]).toEqual([[], [], []]);
    const removals = events.of('catalog.changed').filter(({ removed }) => removed.length > 0);
    expect(removals.map(({ list, removed }) => [list, removed])).toEqual([
      [undefined, ['echo']],
      ['resources', ['x:1']],
      ['resourceTemplates', ['x:{y}']],
      ['prompts', ['ask']],
    ]);
    if (how === 'stop') expect(troupe.status).toMatchObject([{ resourceCount: 0, promptCount: 0 }]);
  });
});

import { describe, expect, it } from 'vitest';
import type { CatalogTool } from '../../../src/catalog/registry.js';
import { discoverServers } from '../../../src/servers/discover.js';
import { UnknownToolError } from '../../../src/errors.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { recordEvents } from '../../support/event-record.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { library } from '../../support/library-server.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

describe('a view', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  const makeTwo = (): ReturnType<typeof make> & { a: ScriptedServer; b: ScriptedServer } => {
    const a = new ScriptedServer({ tools: [tool('read'), tool('write')] });
    const b = new ScriptedServer({ tools: [tool('read')] });
    return { a, b, ...make({ servers: { a: inProcess(a), b: inProcess(b) } }) };
  };

  it('shows everything if its options name nothing', async () => {
    const { troupe } = makeTwo();
    await troupe.start();
    const view = troupe.view({});
    expect(view.tools).toEqual(troupe.tools);
    expect(view.status).toEqual(troupe.status);
  });

  it('shows the servers and tools it was given, and calls only those', async () => {
    const { troupe, a } = makeTwo();
    await troupe.start();
    const view = troupe.view({ servers: ['a'], tools: ['*read'] });
    expect(view.tools.map(({ name }) => name)).toEqual(['mcp__a__read']);
    expect(view.status.map(({ server }) => server)).toEqual(['a']);
    expect(view.tool('mcp__a__write')).toBeUndefined();
    await expect(view.callTool('mcp__a__read', { x: 1 })).resolves.toMatchObject({
      content: [{ text: 'read {"x":1}' }],
    });
    await expect(view.callTool('mcp__a__write')).rejects.toBeInstanceOf(UnknownToolError);
    await expect(view.callTool('mcp__b__read')).rejects.toBeInstanceOf(UnknownToolError);
    expect(a.of('tools/call')).toHaveLength(1);
  });

  it.each([
    ['servers', { server: ['a'] }, "'server': is not known here; did you mean 'servers'?"],
    ['list of servers', { servers: 'admin' }, "'servers': expected a list of strings, found a string"],
    ['list of tools', { tools: '*' }, "'tools': expected a list of strings, found a string"],
    ['object', undefined, 'view: expected an object, found nothing'],
  ])('is refused if its %s is invalid, since it would show more than intended', (_, options, why) => {
    const { troupe } = makeTwo();
    expect(() => troupe.view(options as never)).toThrow(why);
  });

  it('renders a result as the whole troupe would', async () => {
    const { troupe } = makeTwo();
    const result = { content: [{ type: 'text' as const, text: 'hello' }] };
    const options = { server: 'a', tool: 'read' };
    const rendered = await troupe.view({}).renderResult(result, options);
    expect(rendered).toEqual(await troupe.renderResult(result, options));
    expect(rendered.text).toContain('hello');
  });

  it('cannot start, stop or close anything', () => {
    const { troupe } = makeTwo();
    const view: object = troupe.view({});
    for (const name of [
      'start',
      'close',
      'kill',
      'add',
      'remove',
      'connection',
      'network',
      Symbol.asyncDispose,
    ]) {
      expect(name in view).toBe(false);
    }
  });

  it('gets the events of its own servers only', async () => {
    const { troupe } = makeTwo();
    const events = recordEvents(troupe.view({ servers: ['b'] }).events$);
    await troupe.start();
    expect(events.all.length).toBeGreaterThan(0);
    expect(events.all.every((event) => 'server' in event && event.server === 'b')).toBe(true);
  });

  it('keeps its list while another server changes', async () => {
    const { troupe, a } = makeTwo();
    await troupe.start();
    const view = troupe.view({ servers: ['b'] });
    const lists: (readonly CatalogTool[])[] = [];
    view.tools$.subscribe((list) => lists.push(list));
    const before = view.tools;
    a.script = { tools: [tool('other')] };
    await troupe.connection('a')?.refresh();
    expect(troupe.tools.map(({ name }) => name)).toEqual(['mcp__a__other', 'mcp__b__read']);
    expect(view.tools).toBe(before);
    expect(lists).toEqual([before]);
  });

  it('is not affected by an observer that throws, nor are other observers', async () => {
    const { troupe, events } = makeTwo();
    const view = troupe.view({});
    view.events$.subscribe(() => {
      throw new Error('boom');
    });
    view.tools$.subscribe(() => {
      throw new Error('boom');
    });
    await troupe.start();
    expect(events.of('connection.ready')).toHaveLength(2);
  });
});

describe('setOnline()', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('may be called at any time, and does not hold servers that need no network', async () => {
    const server = new ScriptedServer();
    const { troupe, clock, events } = make({ servers: { a: inProcess(server) } });
    troupe.setOnline(false);
    await troupe.start();
    await server.die();
    await passTime(
      clock,
      events.when('connection.ready', ({ generation }) => generation === 2),
    );
    troupe.setOnline(true);
    troupe.setOnline(true);
    await troupe.close();
    troupe.setOnline(false);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('refuses anything but true or false, so that no server is held by mistake', () => {
    const { troupe } = make();
    for (const odd of [undefined, null, 0, 'offline']) {
      expect(() => troupe.setOnline(odd as never)).toThrow(TypeError);
    }
  });
});

describe('discoverServers()', () => {
  useLeakCheck();
  useCrashWatch();

  it('lists the configured servers without starting any, and masks secrets', async () => {
    const server = new ScriptedServer();
    const found = await discoverServers({
      servers: {
        local: inProcess(server, { enabled: false }),
        remote: { url: 'https://example.test/mcp', headers: { Authorization: 'Bearer hunter2' } },
        odd: { command: 7 } as never,
      },
      config: 'no-such-file.json',
    });
    expect(found.servers.map(({ server, enabled }) => [server, enabled])).toEqual([
      ['local', false],
      ['remote', true],
    ]);
    expect(found.refused).toEqual(['odd']);
    expect(found.sources.map(({ ok }) => ok)).toEqual([true, false]);
    expect(JSON.stringify(found)).not.toContain('hunter2');
    expect(server.sessions).toBe(0);
  });
});

describe('a view of resources and prompts', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  const begin = async () => {
    const a = new ScriptedServer(
      library({ resources: ['x:1', 'x:a'], templates: ['a:{id}'], prompts: ['ask'] }),
    );
    const b = new ScriptedServer(
      library({ resources: ['x:1', 'x:b'], templates: ['b:{id}'], prompts: ['ask'] }),
    );
    const test = make({ servers: { a: inProcess(a), b: inProcess(b) } });
    await passTime(test.clock, test.troupe.settled());
    return { ...test, a, b, view: test.troupe.view({ servers: ['a'] }) };
  };

  it('shows the ones of its servers, as the same objects until they change', async () => {
    const { troupe, view, b, clock } = await begin();
    expect(view.resources.map(({ uri }) => uri)).toEqual(['x:1', 'x:a']);
    expect(view.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['a:{id}']);
    expect(view.prompts.map(({ name }) => name)).toEqual(['mcp__a__ask']);
    expect(view.prompt('mcp__b__ask')).toBeUndefined();
    expect(view.resource('x:1')).toMatchObject({ server: 'a' });
    expect(view.resource('x:b')).toBeUndefined();
    const { resources } = view;
    const seen: number[] = [];
    view.resources$.subscribe((list) => seen.push(list.length));
    b.script = library({ resources: [] });
    b.notify('notifications/resources/list_changed');
    await clock.advance(1_000);
    expect(troupe.resources).toHaveLength(2);
    expect(view.resources).toBe(resources);
    expect(seen).toEqual([2]);
  });

  it('reads and completes at its servers alone', async () => {
    const { view, a, b } = await begin();
    await expect(view.readResource('x:1')).resolves.toMatchObject({ contents: [{ uri: 'x:1' }] });
    await expect(view.getPrompt('mcp__a__ask')).resolves.toBeDefined();
    const ref = { type: 'ref/resource', uri: 'a:{id}' } as const;
    await expect(view.complete(ref, { name: 'id', value: '' })).resolves.toBeDefined();
    const unseen = [
      view.readResource('x:b'),
      view.readResource('x:1', { server: 'b' }),
      view.getPrompt('mcp__b__ask'),
      view.complete({ type: 'ref/resource', uri: 'b:{id}' }, { name: 'id', value: '' }),
    ];
    for (const asked of unseen) await expect(asked).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(a.of('resources/read')).toHaveLength(1);
    expect(b.received.filter(({ method }) => /read|get|complete/.test(method))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { CatalogTool } from '../../src/catalog/registry.js';
import { discoverServers } from '../../src/discover.js';
import { UnknownToolError } from '../../src/errors.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { recordEvents } from '../support/event-record.js';
import { useLeakCheck } from '../support/leak-check.js';
import { ScriptedServer, tool } from '../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../support/test-troupe.js';

describe('a view', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  const makeTwo = (): ReturnType<typeof make> & { a: ScriptedServer; b: ScriptedServer } => {
    const a = new ScriptedServer({ tools: [tool('read'), tool('write')] });
    const b = new ScriptedServer({ tools: [tool('read')] });
    return { a, b, ...make({ servers: { a: inProcess(a), b: inProcess(b) } }) };
  };

  it('shows everything where nothing is left out', async () => {
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
    expect(view.status.map(({ name }) => name)).toEqual(['a']);
    expect(view.tool('mcp__a__write')).toBeUndefined();
    await expect(view.callTool('mcp__a__read', { x: 1 })).resolves.toMatchObject({
      content: [{ text: 'read {"x":1}' }],
    });
    await expect(view.callTool('mcp__a__write')).rejects.toBeInstanceOf(UnknownToolError);
    await expect(view.callTool('mcp__b__read')).rejects.toBeInstanceOf(UnknownToolError);
    expect(a.of('tools/call')).toHaveLength(1);
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

  it('hears of its own servers only', async () => {
    const { troupe } = makeTwo();
    const heard = recordEvents(troupe.view({ servers: ['b'] }).events$);
    await troupe.start();
    expect(heard.all.length).toBeGreaterThan(0);
    expect(heard.all.every((event) => 'connection' in event && event.connection === 'b')).toBe(true);
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

  it('is not hurt by an observer that throws, and hurts nobody', async () => {
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

describe('network()', () => {
  useLeakCheck();
  useCrashWatch();
  const { make } = useTroupes();

  it('may be told at any time, and holds no server that needs no network', async () => {
    const server = new ScriptedServer();
    const { troupe, clock, events } = make({ servers: { a: inProcess(server) } });
    troupe.network(false);
    await troupe.start();
    await server.die();
    await passTime(
      clock,
      events.when('connection.ready', ({ generation }) => generation === 2),
    );
    troupe.network(true);
    troupe.network(true);
    await troupe.close();
    troupe.network(false);
    expect(events.of('diagnostic')).toEqual([]);
  });

  it('refuses what is neither true nor false, so that no server is held by a mistake', () => {
    const { troupe } = make();
    for (const odd of [undefined, null, 0, 'offline']) {
      expect(() => troupe.network(odd as never)).toThrow(TypeError);
    }
  });
});

describe('discoverServers()', () => {
  useLeakCheck();
  useCrashWatch();

  it('tells what is configured without starting anything, and masks what is secret', async () => {
    const server = new ScriptedServer();
    const found = await discoverServers({
      servers: {
        local: inProcess(server, { enabled: false }),
        remote: { url: 'https://example.test/mcp', headers: { Authorization: 'Bearer hunter2' } },
        odd: { command: 7 } as never,
      },
      config: 'no-such-file.json',
    });
    expect(found.servers.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['local', false],
      ['remote', true],
    ]);
    expect(found.refused).toEqual(['odd']);
    expect(found.sources.map(({ ok }) => ok)).toEqual([true, false]);
    expect(JSON.stringify(found)).not.toContain('hunter2');
    expect(server.sessions).toBe(0);
  });
});

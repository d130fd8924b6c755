import { describe, expect, it } from 'vitest';
import { Catalogs } from '../../../src/catalog/catalogs.js';
import type { ToolFilter } from '../../../src/config/entry/tool-filter.js';
import { ToolRegistry, type ServerFacts } from '../../../src/catalog/registry.js';
import type { ConnectionState } from '../../../machines/connection/connection.states.js';
import { Publisher } from '../../../src/lifecycle/publish.js';
import { silentLogger } from '../../../src/ports.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { tool } from '../../support/scripted-server.js';

const NO_FILTER: ToolFilter = {};

class Bench {
  readonly catalogs = new Catalogs();
  readonly publisher = new Publisher(createControlledClock(), silentLogger);
  readonly facts = new Map<string, ServerFacts>();
  readonly registry = new ToolRegistry(this.catalogs, () => this.facts, 'mcp__{server}__{tool}');

  constructor() {
    this.registry.follow(this.publisher);
  }

  server(
    name: string,
    state: ConnectionState,
    tools: readonly string[],
    filter: ToolFilter = NO_FILTER,
  ): void {
    this.facts.set(name, { source: 'test', filter, state });
    this.catalogs.replace(
      name,
      tools.map((each) => tool(each)),
    );
  }

  /** Publishes a change of state. */
  async publishChange(server = 'a'): Promise<void> {
    this.publisher.publish({
      type: 'connection.state',
      server,
      generation: 1,
      from: 'handshaking',
      to: 'ready',
      substate: '',
    });
    await Promise.resolve();
  }

  get names(): string[] {
    return this.registry.tools.map(({ name }) => name);
  }
}

describe('the list of tools', () => {
  it('is empty at first', () => {
    expect(new Bench().registry.tools).toEqual([]);
  });

  it('changes only with an event', async () => {
    const bench = new Bench();
    bench.server('a', 'ready', ['one']);
    expect(bench.names).toEqual([]);
    await bench.publishChange();
    expect(bench.names).toEqual(['mcp__a__one']);
  });

  it('is sorted by raw identity, not by exposed name or order of arrival', async () => {
    const bench = new Bench();
    bench.server('b', 'ready', ['x']);
    bench.server('B', 'ready', ['x']);
    bench.server('a', 'ready', ['z', 'A', 'a b']);
    await bench.publishChange();
    expect(bench.registry.tools.map(({ server, tool: raw }) => `${server}/${raw}`)).toEqual([
      'B/x',
      'a/A',
      'a/a b',
      'a/z',
      'b/x',
    ]);
  });

  it('omits the tools that the filter of a server hides, and counts the rest', async () => {
    const bench = new Bench();
    bench.server('a', 'ready', ['one', 'two', 'three'], { allow: ['t*'], deny: ['three'] });
    await bench.publishChange();
    expect(bench.names).toEqual(['mcp__a__two']);
    expect(bench.registry.count('a')).toBe(1);
    expect(bench.registry.count('nobody')).toBe(0);
  });

  it.each([
    ['ready', [false]],
    ['reconnecting', [true]],
    ['failed', [true]],
    ['configuring', [true]],
    ['stopped', []],
  ] as const)('shows the tools of a server that is %s as stale: %j', async (state, stale) => {
    const bench = new Bench();
    bench.server('a', state, ['one']);
    await bench.publishChange();
    expect(bench.registry.tools.map((each) => each.stale)).toEqual(stale);
  });

  it('is frozen, and the same object while nothing changed', async () => {
    const bench = new Bench();
    bench.server('a', 'ready', ['one', 'two']);
    await bench.publishChange();
    const before = bench.registry.tools;
    bench.server('a', 'ready', ['two', 'one']);
    await bench.publishChange();
    expect(bench.registry.tools).toBe(before);
    expect(Object.isFrozen(before) && before.every((each) => Object.isFrozen(each))).toBe(true);
  });

  it('stays the same object if only a hidden tool changed', async () => {
    const bench = new Bench();
    const filter: ToolFilter = { allow: ['one'] };
    bench.server('a', 'ready', ['one', 'hidden'], filter);
    await bench.publishChange();
    const before = bench.registry.tools;
    bench.server('a', 'ready', ['one', 'other'], filter);
    await bench.publishChange();
    expect(bench.registry.tools).toBe(before);
  });

  it('keeps unchanged tools as the same objects', async () => {
    const bench = new Bench();
    bench.server('a', 'ready', ['one', 'two']);
    bench.server('b', 'ready', ['one']);
    await bench.publishChange();
    const kept = [bench.registry.tool('mcp__a__one'), bench.registry.tool('mcp__b__one')];
    bench.server('a', 'ready', ['one', 'three']);
    await bench.publishChange();
    expect([bench.registry.tool('mcp__a__one'), bench.registry.tool('mcp__b__one')]).toEqual(kept);
    expect(bench.registry.tool('mcp__a__one')).toBe(kept[0]);
    expect(bench.registry.tool('mcp__b__one')).toBe(kept[1]);
    expect(bench.registry.tool('mcp__a__two')).toBeUndefined();
  });

  it('shows a changed definition even if its schema is the same object', async () => {
    const bench = new Bench();
    const before = tool('one');
    bench.facts.set('a', { source: 'test', filter: NO_FILTER, state: 'ready' });
    bench.catalogs.replace('a', [before]);
    await bench.publishChange();
    expect(bench.registry.tool('mcp__a__one')?.description).toBe('does one');
    bench.catalogs.replace('a', [{ ...before, description: 'other' }]);
    await bench.publishChange();
    expect(bench.registry.tool('mcp__a__one')?.description).toBe('other');
  });

  it('renames a tool when another one claims its name', async () => {
    const bench = new Bench();
    bench.server('a', 'ready', ['b__c']);
    await bench.publishChange();
    expect(bench.names).toEqual(['mcp__a__b__c']);
    bench.server('a__b', 'ready', ['c']);
    await bench.publishChange();
    expect(new Set(bench.names).size).toBe(2);
    expect(bench.registry.tool('mcp__a__b__c')).toBeUndefined();
    for (const { name, server } of bench.registry.tools) {
      expect(bench.registry.tool(name)?.server).toBe(server);
    }
  });
});

describe('a list of 10,000 tools over 100 servers', () => {
  it('updates only what an event has changed', async () => {
    const bench = new Bench();
    let reads = 0;
    /** Read once for every tool that is filtered. */
    const filter: ToolFilter = {
      get deny() {
        reads += 1;
        return [];
      },
    };
    const tools = Array.from({ length: 100 }, (_, index) => `tool_${index}`);
    for (let server = 0; server < 100; server += 1) bench.server(`server_${server}`, 'ready', tools, filter);
    await bench.publishChange();
    expect(bench.registry.tools).toHaveLength(10_000);
    expect(reads).toBe(10_000);
    const before = bench.registry.tools;

    await bench.publishChange();
    expect(bench.registry.tools).toBe(before);
    expect(reads).toBe(10_000);

    bench.server('server_50', 'reconnecting', tools, filter);
    await bench.publishChange();
    const changed = bench.registry.tools.filter((each, index) => each !== before[index]);
    expect(changed.map(({ server }) => server)).toEqual(tools.map(() => 'server_50'));
    expect(reads).toBe(10_000);

    bench.server('server_50', 'reconnecting', [...tools, 'one_more'], filter);
    await bench.publishChange();
    expect(bench.registry.tools).toHaveLength(10_001);
    expect(reads).toBe(10_101);
  });
});

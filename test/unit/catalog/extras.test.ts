import { describe, expect, it } from 'vitest';
import { ExtraLists, Extras } from '../../../src/catalog/extras.js';
import type { ListedServer } from '../../../src/catalog/live-list.js';
import type { ConnectionState } from '../../../machines/connection/connection.states.js';
import { Publisher } from '../../../src/lifecycle/publish.js';
import { silentLogger } from '../../../src/ports.js';
import { createControlledClock } from '../../support/controlled-clock.js';

class Bench {
  readonly extras = new Extras();
  readonly servers = new Map<string, ListedServer>();
  readonly publisher = new Publisher(createControlledClock(), silentLogger);
  readonly lists = new ExtraLists(this.extras, () => this.servers, 'mcp__{server}__{tool}');

  constructor() {
    this.lists.follow(this.publisher);
  }

  async server(
    name: string,
    state: ConnectionState,
    { uris = [], prompts = [] }: { readonly uris?: readonly string[]; readonly prompts?: readonly string[] },
  ): Promise<void> {
    this.servers.set(name, { source: 'test', state });
    this.extras.replace(
      name,
      'resources',
      uris.map((uri) => ({ uri, name: 'x' })),
    );
    this.extras.replace(
      name,
      'prompts',
      prompts.map((prompt) => ({ name: prompt })),
    );
    await this.publishChange(name);
  }

  /** Publishes a change of the lists. */
  async publishChange(connection: string): Promise<void> {
    const about = { server: connection, generation: 1, added: [], removed: [], changed: [], toolCount: 0 };
    this.publisher.publish({ type: 'catalog.changed', list: 'prompts', ...about });
    await Promise.resolve();
  }

  get uris(): string[] {
    return this.lists.resources.map(({ server, uri }) => `${server} ${uri}`);
  }
}

describe('the lists beside the tools', () => {
  it('are sorted by server and identity, in whatever order the servers answered', async () => {
    const bench = new Bench();
    await bench.server('b', 'ready', { uris: ['file:///2', 'file:///1'], prompts: ['z'] });
    await bench.server('a', 'ready', { uris: ['file:///3'], prompts: ['y', 'x'] });
    expect(bench.uris).toEqual(['a file:///3', 'b file:///1', 'b file:///2']);
    expect(bench.lists.prompts.map(({ name }) => name)).toEqual(['mcp__a__x', 'mcp__a__y', 'mcp__b__z']);
    expect(bench.lists.prompt('mcp__a__y')).toMatchObject({ server: 'a', prompt: 'y', stale: false });
    expect(bench.lists.prompt('y')).toBeUndefined();
  });

  it('are the same objects while nothing in them changed, as is every entry', async () => {
    const bench = new Bench();
    await bench.server('a', 'ready', { uris: ['file:///1', 'file:///2'], prompts: ['x'] });
    const { resources, prompts } = bench.lists;
    await bench.server('a', 'ready', { uris: ['file:///1', 'file:///2'], prompts: ['x'] });
    expect(bench.lists.resources).toBe(resources);
    expect(bench.lists.prompts).toBe(prompts);
    await bench.server('a', 'ready', { uris: ['file:///1', 'file:///2', 'file:///3'], prompts: ['x'] });
    expect(bench.lists.resources).not.toBe(resources);
    expect(bench.lists.resources.slice(0, 2)).toEqual(resources);
    expect(bench.lists.resources[0]).toBe(resources[0]);
    expect(bench.lists.prompts).toBe(prompts);
  });

  it('cannot be changed by a reader', async () => {
    const bench = new Bench();
    await bench.server('a', 'ready', { uris: ['file:///1'], prompts: ['x'] });
    for (const list of [bench.lists.resources, bench.lists.prompts, bench.lists.resourceTemplates]) {
      expect(Object.isFrozen(list)).toBe(true);
      for (const entry of list) expect(Object.isFrozen(entry)).toBe(true);
    }
  });

  it('keep the entries of a disconnected server as stale, and drop them when it stops', async () => {
    const bench = new Bench();
    await bench.server('a', 'ready', { uris: ['file:///1'] });
    await bench.server('b', 'ready', { uris: ['file:///2'] });
    const [, ofB] = bench.lists.resources;
    await bench.server('a', 'reconnecting', { uris: ['file:///1'] });
    expect(bench.lists.resources.map(({ stale }) => stale)).toEqual([true, false]);
    expect(bench.lists.resources[1]).toBe(ofB);
    await bench.server('a', 'stopped', { uris: ['file:///1'] });
    expect(bench.uris).toEqual(['b file:///2']);
  });

  it('give prompts with the same name distinct names, in whatever order they came', async () => {
    const names = async (servers: readonly string[]): Promise<string[]> => {
      const bench = new Bench();
      for (const server of servers) await bench.server(server, 'ready', { prompts: ['x y'] });
      await bench.server('a.b', 'ready', { prompts: ['x_y'] });
      return bench.lists.prompts.map(({ name }) => name);
    };
    const found = await names(['a b', 'a.b', 'a_b']);
    expect(new Set(found).size).toBe(3);
    expect(found).toEqual(await names(['a_b', 'a b', 'a.b']));
    for (const name of found) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });
});

import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { CatalogCache } from '../../../src/catalog/cache.js';
import { createMemoryCatalogStore, MAX_AGE_MS, type CatalogStore } from '../../../src/catalog/cache-store.js';
import { Catalogs } from '../../../src/catalog/catalogs.js';
import { Extras } from '../../../src/catalog/extras.js';
import type { LifecycleEvent, LifecycleEventBody } from '../../../src/lifecycle/event.js';
import { createMask, NO_MASK, type Mask } from '../../../src/secrets/secrets.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { createGate, never } from '../../support/gate.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { sampleFailure } from '../../support/sample-failures.js';
import { tool } from '../../support/scripted-server.js';

const START = 5_000_000_000;
/** A list is written when no other has come for this long. */
const CALM_MS = 100;
const DAY_MS = 24 * 60 * 60 * 1_000;

interface BenchOptions {
  readonly store?: CatalogStore;
  readonly trusted?: boolean;
  readonly secret?: string;
}

/** A cache whose servers have the key `key-NAME`. */
class Bench {
  readonly clock = createControlledClock(START);
  readonly catalogs = new Catalogs();
  readonly extras = new Extras();
  readonly events: LifecycleEventBody[] = [];
  readonly asked: string[] = [];
  readonly put: string[] = [];
  readonly deleted: string[] = [];
  readonly store: CatalogStore;
  readonly keys = new Map<string, string>();
  isTrusted: boolean;
  readonly cache: CatalogCache;
  #mask: Mask;
  #hear: (event: LifecycleEvent) => void = () => {};

  constructor({ store = createMemoryCatalogStore(), trusted = true, secret }: BenchOptions = {}) {
    this.isTrusted = trusted;
    this.store = store;
    this.#mask = secret === undefined ? NO_MASK : createMask([secret]);
    this.cache = new CatalogCache({
      store: {
        get: (key) => {
          this.asked.push(key);
          return store.get(key);
        },
        put: (key, list) => {
          this.put.push(key);
          return store.put(key, list);
        },
        delete: (key) => {
          this.deleted.push(key);
          return store.delete(key);
        },
      },
      servers: {
        cacheKey: (name) => this.keys.get(name) ?? `key-${name}`,
        isTrusted: async () => this.isTrusted,
        mask: () => this.#mask,
        echoMask: () => this.#mask,
      },
      catalogs: this.catalogs,
      extras: this.extras,
      clock: this.clock,
      publish: (event) => this.events.push(event),
    });
    this.cache.follow({
      onevent: (fn) => {
        this.#hear = fn;
        return () => {};
      },
    });
  }

  names(server: string): string[] | undefined {
    return this.catalogs.get(server)?.tools.map(({ name }) => name);
  }

  /** Lists tools like a session of the current entry. */
  list(server: string, ...names: readonly string[]): void {
    this.keep(
      server,
      names.map((name) => tool(name)),
    );
  }

  keep(server: string, tools: readonly Tool[], key?: string): void {
    this.catalogs.replace(server, tools);
    this.cache.keep(server, key ?? this.keys.get(server) ?? `key-${server}`);
  }

  /** The server cannot be started. */
  fail(server: string): void {
    const failure = sampleFailure('permanent', 'launch', START, { message: 'It is not installed.' });
    const about = { server, generation: 0, attempt: 1, maxAttempts: 1, at: START, seq: 1 };
    this.#hear({ type: 'connection.failed', failure, ...about });
  }

  /** Removes the secrets, as if the entry was removed. */
  forget(): void {
    this.#mask = NO_MASK;
  }

  get problems(): string[] {
    return this.events.flatMap((event) => (event.type === 'diagnostic' ? [event.message] : []));
  }
}

const kept = async (savedAt: number, ...names: readonly string[]): Promise<CatalogStore> => {
  const store = createMemoryCatalogStore();
  await store.put('key-a', { savedAt, tools: names.map((name) => tool(name)) });
  return store;
};

describe('the era that a server speaks', () => {
  useLeakCheck();
  const spoken = { era: 'new', since: START } as const;

  it('is stored with its lists, and again if it is another one', async () => {
    const store = createMemoryCatalogStore();
    const bench = new Bench({ store });
    bench.catalogs.replace('a', [tool('read')]);
    bench.cache.keep('a', 'key-a', spoken);
    await bench.cache.close();
    expect(await store.get('key-a')).toMatchObject({ spoken });
    const later = { era: 'old', since: START + 1 } as const;
    const next = new Bench({ store });
    await next.cache.warm(['a']);
    next.cache.keep('a', 'key-a', later);
    await next.cache.close();
    expect(await store.get('key-a')).toMatchObject({ spoken: later });
  });

  it.each([
    [spoken, spoken],
    [{ era: 'other', since: START }, undefined],
    [{ era: 'new' }, undefined],
    [7, undefined],
  ])('is known once its lists were looked up: %j', async (stored, known) => {
    const store = createMemoryCatalogStore();
    await store.put('key-a', { savedAt: START, tools: [tool('read')], spoken: stored } as never);
    const bench = new Bench({ store });
    expect(bench.cache.eraOf('key-a')).toBeUndefined();
    await bench.cache.warm(['a']);
    expect(bench.cache.eraOf('key-a')).toEqual(known);
    expect(bench.names('a')).toEqual(['read']);
  });
});

describe('a cached list', () => {
  useLeakCheck();

  it('is in the catalogs once the cache is warm, and is published at the announcement.', async () => {
    const bench = new Bench({ store: await kept(START - DAY_MS, 'write', 'read') });
    await bench.cache.warm(['a', 'unknown']);
    expect(bench.names('a')).toEqual(['write', 'read']);
    expect(bench.names('unknown')).toBeUndefined();
    expect(bench.events).toEqual([]);
    bench.cache.announce();
    expect(bench.events).toEqual([
      {
        type: 'catalog.changed',
        server: 'a',
        generation: 0,
        added: ['read', 'write'],
        removed: [],
        changed: [],
        toolCount: 2,
      },
    ]);
  });

  it('of a server that is added later is published at once, and looked up once.', async () => {
    const bench = new Bench({ store: await kept(START, 'read') });
    bench.cache.announce();
    await bench.cache.recall('a');
    expect(bench.events).toMatchObject([{ type: 'catalog.changed', server: 'a' }]);
    await bench.cache.recall('unknown');
    await bench.cache.recall('unknown');
    await bench.cache.recall('a');
    expect(bench.asked).toEqual(['key-a', 'key-unknown']);
  });

  it('is found again if a server comes back, whether the list was read or written before.', async () => {
    const bench = new Bench({ store: await kept(START, 'read') });
    bench.cache.announce();
    await bench.cache.recall('a');
    await bench.cache.recall('b');
    bench.list('b', 'write');
    await bench.clock.advance(CALM_MS);
    for (const name of ['a', 'b']) {
      bench.catalogs.delete(name);
      await bench.cache.recall(name);
    }
    expect([bench.names('a'), bench.names('b')]).toEqual([['read'], ['write']]);
  });

  it('is not looked up if a newer list is known, or if the entry is not trusted.', async () => {
    const bench = new Bench({ store: await kept(START, 'old'), trusted: false });
    await bench.cache.recall('a');
    expect([bench.asked, bench.names('a')]).toEqual([[], undefined]);
    bench.isTrusted = true;
    bench.catalogs.replace('a', [tool('new')]);
    await bench.cache.recall('a');
    expect([bench.asked, bench.names('a')]).toEqual([[], ['new']]);
  });

  it('is found once its entry is trusted.', async () => {
    const bench = new Bench({ store: await kept(START, 'read'), trusted: false });
    await bench.cache.warm(['a']);
    bench.cache.announce();
    bench.isTrusted = true;
    await bench.cache.recall('a');
    expect(bench.names('a')).toEqual(['read']);
  });

  it('does not replace a list that a session got in the meantime.', async () => {
    const store = await kept(START, 'old');
    const gate = createGate();
    const bench = new Bench({ store: { ...store, get: (key) => gate.promise.then(() => store.get(key)) } });
    const recalling = bench.cache.recall('a');
    await bench.clock.advance(CALM_MS);
    expect(bench.asked).toEqual(['key-a']);
    bench.catalogs.replace('a', [tool('new')]);
    gate.open();
    await recalling;
    expect(bench.names('a')).toEqual(['new']);
    expect(bench.events).toEqual([]);
  });

  it.each([
    ['30 days old', -MAX_AGE_MS, true],
    ['older', -MAX_AGE_MS - 1, false],
    ['from a clock that was ahead by a day', DAY_MS, true],
    ['from another century', 100 * 366 * DAY_MS, false],
  ])('that is %s (by %i ms) is used: %s.', async (_, age, isUsed) => {
    const bench = new Bench({ store: await kept(START + age, 'read') });
    await bench.cache.recall('a');
    expect(bench.names('a')).toEqual(isUsed ? ['read'] : undefined);
    expect(bench.problems).toEqual([]);
  });

  it('that is empty counts as missing.', async () => {
    const bench = new Bench({ store: await kept(START) });
    await bench.cache.recall('a');
    expect(bench.names('a')).toBeUndefined();
    expect(bench.problems).toEqual([]);
  });

  it.each<readonly [string, unknown, RegExp]>([
    ['an error', new Error('the disk is on fire'), /the disk is on fire/],
    ['something else', { tools: 'many' }, /list/],
    ['null', null, /list/],
    ['an invalid tool', { savedAt: START, tools: [{ name: 'read', inputSchema: 7 }] }, /inputSchema/],
    ['the same tool twice', { savedAt: START, tools: [tool('x'), tool('x')] }, /"x"/],
  ])('that the store returns as %s is not used, and a problem is reported.', async (_, found, message) => {
    const store = createMemoryCatalogStore();
    const get = async (): Promise<never> => {
      if (found instanceof Error) throw found;
      return found as never;
    };
    const bench = new Bench({ store: { ...store, get } });
    await bench.cache.recall('a');
    expect(bench.names('a')).toBeUndefined();
    expect(bench.events).toMatchObject([{ type: 'diagnostic', kind: 'cache-problem', server: 'a' }]);
    expect(bench.problems[0]).toMatch(message);
  });

  it('delays a start by at most a second if the store does not answer.', async () => {
    const bench = new Bench({ store: { ...createMemoryCatalogStore(), get: never } });
    let isWarm = false;
    const warming = bench.cache.warm(['a', 'b']).then(() => (isWarm = true));
    await bench.clock.advance(999);
    expect(isWarm).toBe(false);
    await bench.clock.advance(1);
    await warming;
    expect(bench.clock.pending).toEqual([]);
  });
});

describe('the list of a server', () => {
  useLeakCheck();

  it('is stored for the next run, with the time.', async () => {
    const bench = new Bench();
    bench.list('a', 'read');
    await bench.clock.advance(CALM_MS);
    expect(await bench.store.get('key-a')).toEqual({ savedAt: START + CALM_MS, tools: [tool('read')] });
    await bench.cache.close();
  });

  it('is not written again while it is unchanged, except once a day to update its time.', async () => {
    const bench = new Bench({ store: await kept(START, 'read') });
    await bench.cache.recall('a');
    bench.list('a', 'read');
    await bench.clock.advance(60_000);
    expect(bench.put).toEqual([]);
    await bench.clock.advance(DAY_MS);
    bench.list('a', 'read');
    await bench.clock.advance(CALM_MS);
    expect(bench.put).toEqual(['key-a']);
    expect((await bench.store.get('key-a'))?.savedAt).toBeGreaterThan(START + DAY_MS);
  });

  it('that changes a hundred times in a burst is written twice, the last time at the end.', async () => {
    const bench = new Bench();
    for (let round = 0; round < 100; round += 1) {
      bench.list('a', `tool-${round}`);
      await bench.clock.advance(250);
    }
    await bench.clock.advance(60_000);
    expect(bench.put).toEqual(['key-a', 'key-a']);
    expect((await bench.store.get('key-a'))?.tools).toEqual([tool('tool-99')]);
  });

  it('is written even shortly before the end.', async () => {
    const bench = new Bench();
    bench.list('a', 'one');
    await bench.clock.advance(CALM_MS);
    bench.list('a', 'two');
    await bench.cache.close();
    expect((await bench.store.get('key-a'))?.tools).toEqual([tool('two')]);
    expect(bench.clock.pending).toEqual([]);
  });

  it('deletes the stored list if it is empty.', async () => {
    const bench = new Bench({ store: await kept(START, 'read') });
    await bench.cache.recall('a');
    bench.list('a');
    bench.list('b');
    await bench.cache.close();
    expect(await bench.store.get('key-a')).toBeUndefined();
    expect([bench.put, bench.deleted]).toEqual([[], ['key-a']]);
  });

  it('is not stored if its entry has been replaced.', async () => {
    const bench = new Bench();
    bench.keys.set('a', 'key-new');
    bench.keep('a', [tool('read')], 'key-old');
    bench.catalogs.replace('b', [tool('read')]);
    bench.cache.keep('b', undefined);
    await bench.cache.close();
    expect(bench.put).toEqual([]);
  });

  it.each([
    ['a description', tool('x', { description: 'reads with key-12345678.' })],
    ['a name', tool('key-12345678')],
    ['a default', tool('x', { inputSchema: { type: 'object', default: { a: ['key-12345678'] } } })],
    [
      'the name of a property',
      tool('x', { inputSchema: { type: 'object', properties: { 'key-12345678': {} } } }),
    ],
  ])(
    'is not stored if it repeats a secret of its entry in %s, and the former list is deleted.',
    async (_, leaky) => {
      const bench = new Bench({ store: await kept(START, 'read'), secret: 'key-12345678' });
      await bench.cache.recall('a');
      bench.keep('a', [leaky]);
      await bench.cache.close();
      expect(await bench.store.get('key-a')).toBeUndefined();
      expect(bench.problems).toEqual([
        'The lists are not cached: the server repeats a secret of its entry in them.',
      ]);
    },
  );

  it('with a secret is not stored even if its server is removed before the write.', async () => {
    const bench = new Bench({ secret: 'key-12345678' });
    bench.list('a', 'read');
    await bench.clock.advance(CALM_MS);
    bench.keep('a', [tool('x', { description: 'reads with key-12345678.' })]);
    bench.forget();
    await bench.cache.close();
    expect(await bench.store.get('key-a')).toBeUndefined();
  });

  it('that cannot be written is reported once until a write succeeds, and has no other effect.', async () => {
    let isBroken = true;
    const memory = createMemoryCatalogStore();
    const bench = new Bench({
      store: {
        ...memory,
        put: async (key, list) => {
          if (isBroken) throw new Error('no space left');
          await memory.put(key, list);
        },
      },
    });
    for (const name of ['a', 'b', 'c']) bench.list(name, 'read');
    await bench.clock.advance(CALM_MS);
    expect(bench.problems).toEqual([expect.stringContaining('no space left')]);
    isBroken = false;
    bench.list('a', 'other');
    await bench.clock.advance(60_000);
    isBroken = true;
    bench.list('a', 'third');
    await bench.cache.close();
    expect(bench.problems).toHaveLength(2);
  });

  it('delays the end by at most two seconds if the store does not answer.', async () => {
    const bench = new Bench({ store: { ...createMemoryCatalogStore(), put: never } });
    bench.list('a', 'read');
    let isClosed = false;
    const closing = bench.cache.close().then(() => (isClosed = true));
    await bench.clock.advance(1_999);
    expect(isClosed).toBe(false);
    await bench.clock.advance(1);
    await closing;
  });
});

describe('cached resources and prompts', () => {
  useLeakCheck();

  const PROMPT = { name: 'greet' };
  const RESOURCE = { uri: 'file:///a', name: 'a' };

  it('are kept with the tools, an empty list like any other.', async () => {
    const bench = new Bench();
    bench.list('a', 'read');
    bench.extras.replace('a', 'prompts', [PROMPT]);
    bench.extras.replace('a', 'resources', []);
    bench.list('a', 'read');
    await bench.clock.advance(CALM_MS);
    expect(await bench.store.get('key-a')).toMatchObject({ prompts: [PROMPT], resources: [] });
    const next = new Bench({ store: bench.store });
    await next.cache.warm(['a']);
    next.cache.announce();
    expect(next.extras.known('a')).toEqual({ prompts: [PROMPT], resources: [] });
    expect(next.extras.areKnown('a')).toBe(false);
    expect(next.events).toMatchObject([{ added: ['read'] }, { list: 'prompts', added: ['greet'] }]);
  });

  it('are written at once although the tools were written just before, and changes of them are not.', async () => {
    const bench = new Bench();
    bench.list('a', 'read');
    await bench.clock.advance(CALM_MS);
    bench.extras.replace('a', 'prompts', [PROMPT]);
    bench.cache.keep('a', 'key-a');
    await bench.clock.advance(CALM_MS);
    expect(bench.put).toHaveLength(2);
    bench.extras.replace('a', 'prompts', []);
    bench.cache.keep('a', 'key-a');
    await bench.clock.advance(CALM_MS);
    expect(bench.put).toHaveLength(2);
    await bench.clock.advance(30_000);
    expect(bench.put).toHaveLength(3);
  });

  it('of a server without tools are kept, and its tools stay unknown.', async () => {
    const bench = new Bench();
    bench.extras.replace('a', 'resources', [RESOURCE]);
    bench.list('a');
    await bench.clock.advance(CALM_MS);
    const next = new Bench({ store: bench.store });
    await next.cache.warm(['a']);
    expect(next.names('a')).toBeUndefined();
    expect(next.extras.known('a')).toEqual({ resources: [RESOURCE] });
  });

  it('that cannot be used make the tools count as missing, too.', async () => {
    const store = createMemoryCatalogStore();
    await store.put('key-a', { savedAt: START, tools: [tool('read')], prompts: [{} as never] });
    const bench = new Bench({ store });
    await bench.cache.warm(['a']);
    expect(bench.names('a')).toBeUndefined();
    expect(bench.problems).toHaveLength(1);
  });

  it('with a secret of the entry are not kept.', async () => {
    const bench = new Bench({ secret: 'key-12345678' });
    bench.extras.replace('a', 'prompts', [{ name: 'greet', description: 'with key-12345678' }]);
    bench.list('a', 'read');
    await bench.cache.close();
    expect(bench.put).toEqual([]);
  });
});

describe('lists of a server that cannot be started', () => {
  useLeakCheck();

  it('are withdrawn with the reason, and stay in the store.', async () => {
    const bench = new Bench({ store: await kept(START, 'write', 'read') });
    await bench.cache.warm(['a']);
    bench.cache.announce();
    bench.fail('a');
    expect(bench.names('a')).toBeUndefined();
    expect(bench.events.at(-1)).toMatchObject({
      type: 'catalog.changed',
      removed: ['read', 'write'],
      toolCount: 0,
      why: 'It is not installed.',
    });
    await bench.cache.recall('a');
    expect(bench.names('a')).toBeUndefined();
    expect(await bench.store.get('key-a')).toBeDefined();
  });

  it('stay if the server has listed them itself.', async () => {
    const bench = new Bench({ store: await kept(START, 'read') });
    await bench.cache.warm(['a']);
    bench.list('a', 'read');
    bench.fail('a');
    expect(bench.names('a')).toEqual(['read']);
  });
});

import { describe, expect, it } from 'vitest';
import { listAll, MAX_FRUITLESS, MAX_PAGES, refusalAsProblem } from '../../../src/catalog/list-all.js';
import type { Clock } from '../../../src/ports.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import type { JsonObject } from '../../../src/json/json-object.js';
import { RequestLostError, RpcError, type ProtocolClient } from '../../../src/protocol/protocol-client.js';

type Answer = (cursor: string | undefined) => JsonObject;

/** A client whose every request returns one page. */
function pagesFrom(answer: Answer): { client: ProtocolClient; asked: JsonObject[] } {
  const asked: JsonObject[] = [];
  const client: ProtocolClient = {
    open: () => Promise.reject(new Error('not used')),
    notify: () => Promise.resolve(),
    pending: 0,
    lastRequestId: undefined,
    abandon: () => {},
    request: async (method, params) => {
      expect(method).toBe('tools/list');
      asked.push(params);
      return answer(params['cursor'] as string | undefined);
    },
  };
  return { client, asked };
}

const TOOLS = { method: 'tools/list', key: 'tools', limitMs: 0 };

const list = (
  client: ProtocolClient,
  clock: Clock = createControlledClock(),
  limitMs = 0,
): ReturnType<typeof listAll> => listAll(client, clock, { ...TOOLS, limitMs }, new AbortController().signal);

describe('a complete list', () => {
  it('has the entries of all pages in order', async () => {
    const { client, asked } = pagesFrom((cursor) => {
      if (cursor === undefined) return { tools: [1, 2], nextCursor: 'b' };
      return cursor === 'b' ? { tools: [3], nextCursor: 'c' } : { tools: [4] };
    });
    await expect(list(client)).resolves.toEqual({ items: [1, 2, 3, 4], problem: undefined });
    expect(asked).toEqual([{}, { cursor: 'b' }, { cursor: 'c' }]);
  });

  it('has at most so many entries, and reports the rest', async () => {
    const limits = { listEntries: 3 };
    const { client } = pagesFrom((cursor) =>
      cursor === undefined ? { tools: [1, 2], nextCursor: 'b' } : { tools: [3, 4, 5] },
    );
    const { signal } = new AbortController();
    const { items, ...rest } = await listAll(client, createControlledClock(), { ...TOOLS, limits }, signal);
    expect(items).toEqual([1, 2, 3]);
    expect(rest.beyond).toEqual([4, 5]);
    expect(rest.problem).toContain('limits.listEntries');
  });

  it.each([{ listEntries: null }, { listEntries: undefined }, null])(
    'is whole with the limits %j',
    async (limits) => {
      const { client } = pagesFrom(() => ({ tools: [1, 2] }));
      const { signal } = new AbortController();
      const request = { ...TOOLS, limits: limits as never };
      const whole = await listAll(client, createControlledClock(), request, signal);
      expect(whole).toEqual({ items: [1, 2], problem: undefined });
    },
  );

  it('reads the pages after its last entry, so that what is left out can be named', async () => {
    const limits = { listEntries: 1 };
    const { client } = pagesFrom((cursor) =>
      cursor === undefined ? { tools: [1, 2], nextCursor: 'b' } : { tools: [2, 3] },
    );
    const { signal } = new AbortController();
    const whole = await listAll(client, createControlledClock(), { ...TOOLS, limits }, signal);
    expect(whole).toMatchObject({ items: [1], beyond: [2, 3] });
  });

  it('has at most the structure of one message over all pages', async () => {
    const limits = { structuralCharacters: 10 };
    const { client } = pagesFrom((cursor) =>
      cursor === undefined ? { tools: [{}, {}, {}], nextCursor: 'b' } : { tools: [{}, {}, {}] },
    );
    const { signal } = new AbortController();
    const list = await listAll(client, createControlledClock(), { ...TOOLS, limits }, signal);
    expect(list.items).toHaveLength(3);
    expect(list.isCut).toBe(true);
    expect(list.problem).toContain('limits.structuralCharacters');
  });

  it('ends at a repeated cursor, and reports it', async () => {
    const { client, asked } = pagesFrom((cursor) => ({
      tools: [cursor],
      nextCursor: cursor === 'a' ? 'b' : 'a',
    }));
    const { items, problem } = await list(client);
    expect(items).toEqual([undefined, 'a', 'b']);
    expect(problem).toContain('cursor');
    expect(asked).toHaveLength(3);
  });

  it('ends after a thousand pages, and reports it', async () => {
    let page = 0;
    const { client, asked } = pagesFrom(() => ({ tools: [page], nextCursor: String((page += 1)) }));
    const { items, problem } = await list(client);
    expect([items.length, asked.length]).toEqual([MAX_PAGES, MAX_PAGES]);
    expect(problem).toContain(`${MAX_PAGES}`);
  });

  it.each([
    ['empty pages', () => []],
    ['pages that were there before', () => [{ name: 'a' }, { name: 'b' }]],
  ])('ends after ten %s with new cursors, and reports it', async (_, entriesOf) => {
    let page = 0;
    const first = [{ name: 'a' }, { name: 'b' }];
    const { client, asked } = pagesFrom(() => ({
      tools: page === 0 ? first : entriesOf(),
      nextCursor: String((page += 1)),
    }));
    const { items, problem } = await list(client);
    expect(items).toEqual(first);
    expect(problem).toContain('without a new entry');
    expect(asked).toHaveLength(1 + MAX_FRUITLESS);
  });

  it('may have a few empty pages, and keeps one copy of an entry that two pages have', async () => {
    const pages = [[1, 2], [], [], [2, 3], [], [4]];
    const { client } = pagesFrom((cursor = '0') => {
      const page = Number(cursor);
      return { tools: pages[page], ...(page < pages.length - 1 && { nextCursor: String(page + 1) }) };
    });
    await expect(list(client)).resolves.toEqual({ items: [1, 2, 3, 4], problem: undefined });
  });

  it('ends in time with what was read if a further page does not arrive, and reports it', async () => {
    const clock = createControlledClock();
    const { client } = pagesFrom(() => ({ tools: [1], nextCursor: 'b' }));
    const first = client.request.bind(client);
    client.request = (method, params, options) =>
      params['cursor'] === undefined ? first(method, params, options) : new Promise(() => {});
    const listed = list(client, clock, 1_000);
    await clock.advance(1_000);
    const { items, problem } = await listed;
    expect(items).toEqual([1]);
    expect(problem).toContain('took too long');
  });

  it('is refused if the server does not know the method', async () => {
    const { client } = pagesFrom(() => {
      throw new RpcError(-32601, 'Method not found', undefined);
    });
    const read = await list(client);
    expect(read).toEqual({ items: [], problem: undefined, isRefused: true });
    expect(refusalAsProblem(TOOLS, read)).toEqual({
      ...read,
      problem: expect.stringContaining('tools/list'),
    });
  });

  it('keeps the pages before one that is refused', async () => {
    const { client } = pagesFrom((cursor) => {
      if (cursor !== undefined) throw new RpcError(-32601, 'Method not found', undefined);
      return { tools: [1], nextCursor: 'b' };
    });
    await expect(list(client)).resolves.toMatchObject({ items: [1], problem: expect.any(String) as string });
  });

  it.each([[{}], [{ tools: null }], [{ tools: { a: 1 } }]])(
    'is empty, with a problem, if the answer is %j',
    async (answer) => {
      const { client } = pagesFrom(() => answer);
      const { items, problem } = await list(client);
      expect(items).toEqual([]);
      expect(problem).toMatch(/tools\/list.*'tools'/);
    },
  );

  it('keeps the pages before an invalid one', async () => {
    const { client } = pagesFrom((cursor) => (cursor === undefined ? { tools: [1], nextCursor: 'b' } : {}));
    const { items, problem } = await list(client);
    expect(items).toEqual([1]);
    expect(problem).toBeDefined();
  });

  it.each([[null], [7], [{}]])('ends if the next cursor is %j', async (nextCursor) => {
    const { client, asked } = pagesFrom(() => ({ tools: [1], nextCursor }));
    await expect(list(client)).resolves.toEqual({ items: [1], problem: undefined });
    expect(asked).toHaveLength(1);
  });

  it('may have a page with more entries than a function can have arguments', async () => {
    const many = Array.from({ length: 300_000 }, (_, index) => index);
    const { client } = pagesFrom(() => ({ tools: many }));
    const limits = { listEntries: 300_000, structuralCharacters: 400_000 };
    const { signal } = new AbortController();
    const { items } = await listAll(client, createControlledClock(), { ...TOOLS, limits }, signal);
    expect(items).toHaveLength(300_000);
  });

  it.each([
    ['another error of the server', new RpcError(-32603, 'db down', undefined)],
    ['a loss', new RequestLostError({ code: 'connection-lost', message: 'gone' }, true)],
  ])('fails with %s', async (_, error) => {
    const { client } = pagesFrom(() => {
      throw error;
    });
    await expect(list(client)).rejects.toBe(error);
  });
});

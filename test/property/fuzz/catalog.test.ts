/** Lists of tools with any content: the offered tools are safe to use, and no entry breaks the list. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Catalogs } from '../../../src/catalog/catalogs.js';
import { findDanglingRef } from '../../../src/schemas/invalid-schema.js';
import { listAll, MAX_PAGES } from '../../../src/catalog/list-all.js';
import { ToolRegistry, type ServerFacts } from '../../../src/catalog/registry.js';
import { catalogHash, diffTexts } from '../../../src/catalog/list-diff.js';
import { checkTools, toTexts } from '../../../src/catalog/tool-check.js';
import { Publisher } from '../../../src/lifecycle/publish.js';
import { silentLogger } from '../../../src/ports.js';
import type { JsonObject } from '../../../src/json/json-object.js';
import type { ProtocolClient } from '../../../src/protocol/protocol-client.js';
import { createControlledClock } from '../../support/controlled-clock.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { json, nested, text } from '../../support/arbitraries.js';
import { fuzz } from '../../support/fuzz.js';

useLeakCheck();

const ref = fc.oneof(
  fc.constantFrom(
    '#',
    '#/',
    '#/$defs/a',
    '#/properties/a',
    '#/%',
    '#/~',
    '#/__proto__',
    '#/$defs/a/items',
    'x#/y',
  ),
  text.map((value) => `#/${value}`),
);

/** A schema whose references point to itself, to nothing or to values that are not schemas. */
const schema: fc.Arbitrary<unknown> = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom<unknown>({ type: 'object' }, { type: 'string' }, true, null),
    fc.record(
      {
        type: fc.oneof({ weight: 6, arbitrary: fc.constant('object') }, { weight: 1, arbitrary: json }),
        properties: fc.oneof(
          json,
          fc.dictionary(fc.oneof(text, fc.constant('a')), tie('schema'), { maxKeys: 3 }),
        ),
        $defs: fc.record({ a: tie('schema') }),
        required: json,
        items: tie('schema'),
        allOf: fc.array(tie('schema'), { maxLength: 2 }),
        $ref: ref,
        $id: text,
        enum: json,
      },
      { requiredKeys: ['type'] },
    ),
  ),
})).schema;

const name = fc.oneof(
  fc.constantFrom('a', 'a', 'b', 'mcp__s__a', 'a.b', 'a_b', '__proto__', 'x'.repeat(100)),
  text,
  json,
);

const entry = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        name,
        inputSchema: schema,
        outputSchema: schema,
        title: json,
        description: json,
        annotations: json,
        _meta: json,
      },
      { requiredKeys: ['name', 'inputSchema'] },
    ),
  },
  { weight: 1, arbitrary: json },
);

/** As parsed from JSON. */
const toolList = fc
  .array(entry, { maxLength: 12 })
  .map((list) => JSON.parse(JSON.stringify(list)) as unknown[]);

describe('a list of tools', () => {
  it('is usable after its check, and each dropped entry is reported in one short, printable line', () =>
    fuzz(
      200,
      fc.property(toolList, (raw) => {
        const before = JSON.stringify(raw);
        const { tools, problems } = checkTools(raw);
        expect(JSON.stringify(raw)).toBe(before);
        expect(new Set(tools.map((each) => each.name)).size).toBe(tools.length);
        for (const each of tools) {
          expect(each.name).not.toBe('');
          expect(each.inputSchema.type).toBe('object');
          expect(findDanglingRef(each.inputSchema)).toBeUndefined();
        }
        for (const problem of problems) {
          expect(problem.length).toBeLessThan(600);
          expect(problem).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        }
        expect(problems.length).toBeGreaterThanOrEqual(raw.length - tools.length);
        expect(checkTools(tools)).toEqual({ tools, problems: [], leftOut: [] });
      }),
    ));

  it('has the same hash as another one if and only if they do not differ', () =>
    fuzz(
      150,
      fc.property(toolList, toolList, fc.boolean(), (first, second, isSame) => {
        const before = toTexts(checkTools(first).tools);
        const again = isSame ? checkTools(first).tools.toReversed() : checkTools(second).tools;
        const after = toTexts(again);
        const { added, removed, changed } = diffTexts(before, after);
        expect(catalogHash(before) === catalogHash(after)).toBe(
          added.length + removed.length + changed.length === 0,
        );
      }),
    ));

  it('of several servers is offered with unique names that every model accepts', () =>
    fuzz(
      100,
      fc.asyncProperty(
        fc.dictionary(fc.string({ minLength: 1 }), toolList, { maxKeys: 4 }),
        async (lists) => {
          const publisher = new Publisher(createControlledClock(), silentLogger);
          const catalogs = new Catalogs();
          const facts = new Map<string, ServerFacts>();
          const registry = new ToolRegistry(catalogs, () => facts, 'mcp__{server}__{tool}');
          registry.follow(publisher);
          let shown = 0;
          for (const [server, raw] of Object.entries(lists)) {
            const { tools } = checkTools(raw);
            facts.set(server, { source: 'test', filter: {}, state: 'ready' });
            const diff = catalogs.replace(server, tools).diff ?? { added: [], removed: [], changed: [] };
            publisher.publish({
              type: 'catalog.changed',
              server,
              generation: 1,
              ...diff,
              toolCount: 0,
            });
            shown += tools.length;
          }
          await Promise.resolve();
          expect(registry.tools).toHaveLength(shown);
          expect(new Set(registry.tools.map((tool) => tool.name)).size).toBe(shown);
          for (const tool of registry.tools) {
            expect(tool.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
            expect(registry.tool(tool.name)).toBe(tool);
          }
        },
      ),
    ));

  it.each([
    [
      'a schema',
      (deep: unknown) => ({ name: 'deep', inputSchema: { type: 'object', properties: { a: deep } } }),
    ],
    ['an unknown field', (deep: unknown) => ({ name: 'deep', inputSchema: { type: 'object' }, more: deep })],
    ['a name', (deep: unknown) => ({ name: deep, inputSchema: { type: 'object' } })],
  ])('drops only the tool that nests %s a hundred thousand levels deep', (_, toEntry) => {
    const good = { name: 'good', inputSchema: { type: 'object' } };
    const { tools, problems } = checkTools([toEntry(JSON.parse(nested(100_000))), good]);
    expect(tools).toEqual([good]);
    expect(problems).toHaveLength(1);
    expect(catalogHash(toTexts(tools))).toMatch(/^[0-9a-f]{64}$/);
  });

  it('drops the tool of an in-process server whose schema contains itself', () => {
    const cyclic: Record<string, unknown> = { type: 'object' };
    cyclic['properties'] = { self: cyclic };
    expect(checkTools([{ name: 'cyclic', inputSchema: cyclic }]).problems).toEqual([
      'Tool "cyclic" was left out: it nests deeper than 200 levels.',
    ]);
  });
});

describe('the pages of a list', () => {
  const clientOf = (
    answer: (cursor: string) => JsonObject,
  ): { client: ProtocolClient; asked: () => number } => {
    let asked = 0;
    const client: ProtocolClient = {
      open: () => Promise.reject(new Error('not here')),
      notify: () => Promise.resolve(),
      pending: 0,
      lastRequestId: undefined,
      abandon: () => {},
      request: async (_method, params) => {
        asked += 1;
        return answer((params['cursor'] as string | undefined) ?? 'start');
      },
    };
    return { client, asked: () => asked };
  };
  const read = (client: ProtocolClient): ReturnType<typeof listAll> =>
    listAll(
      client,
      createControlledClock(),
      { method: 'tools/list', key: 'tools', limitMs: 0 },
      new AbortController().signal,
    );

  it('end for any cursors, and each page is read once', () =>
    fuzz(
      300,
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom('start', 'a', 'b', 'c', ''), fc.tuple(json, json)),
        async (pages) => {
          const { client, asked } = clientOf((cursor) => {
            const [tools, nextCursor] = (Object.hasOwn(pages, cursor) ? pages[cursor] : undefined) ?? [
              [],
              'a',
            ];
            return { tools, nextCursor };
          });
          const { items } = await read(client);
          expect(asked()).toBeLessThanOrEqual(MAX_PAGES);
          expect(Array.isArray(items)).toBe(true);
        },
      ),
    ));

  it('end with a problem if the cursors repeat after any number of pages', () =>
    fuzz(
      100,
      fc.asyncProperty(fc.nat(50), fc.nat(50), async (lead, around) => {
        const { client, asked } = clientOf((cursor) => {
          const at = cursor === 'start' ? 0 : Number(cursor);
          return { tools: [at], nextCursor: String(at < lead + around ? at + 1 : lead + 1) };
        });
        const { items, problem } = await read(client);
        expect(problem).toContain('same cursor twice');
        expect(items).toHaveLength(asked());
        expect(asked()).toBeLessThanOrEqual(lead + around + 2);
      }),
    ));

  it('are read up to the size limit of a message, and the rest is reported as missing', async () => {
    const text = 'x'.repeat(3_000_000);
    const { client, asked } = clientOf((cursor) => ({
      tools: [{ name: `${text}${cursor}` }],
      nextCursor: `${cursor}+`,
    }));
    const { items, problem } = await read(client);
    expect(items).toHaveLength(5);
    expect(asked()).toBe(6);
    expect(problem).toContain('read 5 pages');
  });
});

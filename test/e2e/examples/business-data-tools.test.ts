/** The results of the three tools of the example server, and their errors for wrong arguments. */
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { category, folderWith } from './data-folder.js';
import { businessData, RawServer, request, toolCall, type Answer } from './raw-server.js';

useLeakCheck();

function tools(...words: readonly string[]): (tool: string, args: object) => Promise<Answer> {
  const server = new RawServer(businessData(...words));
  let last = 0;
  return (tool, args) => server.ask(toolCall(++last, tool, args));
}

function found({ result, error }: Answer): unknown {
  expect(error).toBeUndefined();
  return result?.['structuredContent'];
}

describe('the tools', () => {
  it('are listed by name, as read-only, and their descriptions name the categories.', async () => {
    const { result } = await new RawServer(businessData()).ask(request(1, 'tools/list'));
    const listed = result?.['tools'] as readonly { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual([
      'relevant-data.describeCategory',
      'relevant-data.searchRecords',
      'relevant-data.analyze',
    ]);
    for (const tool of listed)
      expect(tool).toMatchObject({
        annotations: { readOnlyHint: true },
        inputSchema: {
          type: 'object',
          additionalProperties: false,
          properties: {
            categoryId: { description: 'Id of the category. There are: applications, people, policies.' },
          },
        },
      });
  });

  it('describe a category, its fields and their operators.', async () => {
    const call = tools();
    const described = found(await call('describeCategory', { categoryId: 'policies' }));
    expect(described).toMatchObject({
      categoryId: 'policies',
      title: 'Policies',
      recordCount: 11,
      fields: expect.arrayContaining([
        {
          name: 'mandatory',
          type: 'boolean',
          description: 'Whether reading it has to be confirmed.',
          operators: ['equals', 'notEquals'],
        },
      ]),
    });
  });

  it('return the structured content also as text, for clients that do not support it.', async () => {
    const { result } = await tools()('describeCategory', { categoryId: 'people' });
    const text = JSON.stringify(result?.['structuredContent']);
    expect(result).toMatchObject({ content: [{ type: 'text', text }] });
  });

  it('search with conditions of every kind.', async () => {
    const call = tools();
    const ids = async (categoryId: string, ...filters: readonly [string, string, unknown][]) => {
      const conditions = filters.map(([field, operator, value]) => ({ field, operator, value }));
      const answer = await call('searchRecords', { categoryId, filters: conditions, fields: ['id'] });
      return (found(answer) as { records: readonly { id: string }[] }).records.map(({ id }) => id);
    };
    expect(await ids('people', ['city', 'equals', 'Lyon'])).toEqual(['p-09', 'p-12']);
    expect(await ids('people', ['name', 'contains', 'OKABE'])).toEqual(['p-08']);
    expect(await ids('people', ['city', 'in', ['Izmir', 'Vienna']])).toEqual(['p-04', 'p-06']);
    expect(await ids('people', ['hoursPerWeek', 'lessThan', 30])).toEqual(['p-10', 'p-12']);
    expect(await ids('people', ['hired', 'greaterThan', '2024-01-08'])).toEqual(['p-14']);
    expect(await ids('people', ['hired', 'atLeast', '2024-01-08'])).toEqual(['p-13', 'p-14']);
    expect(await ids('applications', ['users', 'atMost', 3])).toEqual(['hr']);
    expect(await ids('policies', ['mandatory', 'equals', false], ['area', 'notEquals', 'safety'])).toEqual([
      'pol-05',
      'pol-11',
    ]);
    // p-01 has no manager, pol-11 no review date.
    expect(await ids('people', ['manager', 'notEquals', 'p-02'], ['city', 'equals', 'Gothenburg'])).toEqual([
      'p-01',
      'p-02',
      'p-10',
    ]);
    expect(await ids('policies', ['reviewDue', 'atMost', '9999-12-31'], ['id', 'equals', 'pol-11'])).toEqual(
      [],
    );
  });

  it('sort and page the results, with records that lack the field last.', async () => {
    const call = tools();
    const page = async (offset: number, order: string) =>
      found(
        await call('searchRecords', {
          categoryId: 'policies',
          sortBy: 'reviewDue',
          order,
          fields: ['id'],
          limit: 6,
          offset,
        }),
      );
    expect(await page(0, 'descending')).toMatchObject({ total: 11, offset: 0, nextOffset: 6 });
    const last = await page(6, 'descending');
    expect(last).toMatchObject({ total: 11, records: { 4: { id: 'pol-11' } } });
    expect(last).not.toHaveProperty('nextOffset');
    expect(await page(6, 'ascending')).toMatchObject({
      records: { 2: { id: 'pol-07' }, 4: { id: 'pol-11' } },
    });
    expect(await page(50, 'ascending')).toEqual({
      categoryId: 'policies',
      total: 11,
      offset: 50,
      records: [],
    });
  });

  it('analyze all fields, a single field, and groups.', async () => {
    const call = tools();
    expect(found(await call('analyze', { categoryId: 'people' }))).toMatchObject({
      count: 14,
      fields: {
        manager: { present: 13, missing: 1, mostCommon: { 0: { value: 'p-01', count: 5 } } },
        hired: { earliest: '2012-03-01', latest: '2025-09-01' },
        hoursPerWeek: { minimum: 20, maximum: 40, sum: 504, average: 36 },
        remote: { distinct: 2 },
      },
    });
    const grouped = { categoryId: 'applications', groupBy: 'criticality', measure: 'monthlyCost' };
    const filters = [{ field: 'hosting', operator: 'equals', value: 'own' }];
    expect(found(await call('analyze', { ...grouped, filters }))).toMatchObject({
      count: 2,
      groups: [
        { value: 'high', count: 1, monthlyCost: { sum: 90 } },
        { value: 'low', count: 1, monthlyCost: { sum: 30 } },
      ],
    });
  });

  it('read fields with unusual names, such as __proto__.', async () => {
    const odd = category('x').replaceAll('"mark"', '"__proto__"');
    const call = tools('--data', folderWith({ 'odd.json': odd.replace('"records":[', '"records":[{},') }));
    const filters = [{ field: '__proto__', operator: 'equals', value: 'x' }];
    expect(found(await call('searchRecords', { categoryId: 'odd', filters }))).toMatchObject({ total: 1 });
    const spread = JSON.stringify(found(await call('analyze', { categoryId: 'odd' })));
    expect(spread).toContain('"__proto__":{"present":1,"missing":1,"distinct":1');
  });
});

describe('wrong arguments', () => {
  const filter = (field: string, operator: string, value: unknown) => ({
    filters: [{ field, operator, value }],
  });
  it('are reported with their path and the allowed values.', async () => {
    const call = tools();
    const problems = async (args: object, tool = 'searchRecords') => {
      const { error } = await call(tool, { categoryId: 'people', ...args });
      expect(error).toMatchObject({ code: -32602, data: { tool: `relevant-data.${tool}` } });
      return error?.data?.['problems'];
    };
    expect(await problems({ limit: 0, order: 'up', colour: 1 })).toEqual([
      { at: 'limit', problem: 'must be an integer from 1 to 100' },
      { at: 'order', problem: 'must be one of the allowed values', allowed: ['ascending', 'descending'] },
      { at: 'colour', problem: 'is not known', allowed: expect.arrayContaining(['filters', 'sortBy']) },
    ]);
    expect(await problems({ offset: -1, limit: 1.5 })).toHaveLength(2);
    expect(await problems({ filters: 'city = Lyon' })).toEqual([
      { at: 'filters', problem: 'must be an array or an object' },
    ]);
    expect(await problems({ filters: [{ field: 'city' }] })).toMatchObject([
      { at: 'filters[0].operator' },
      { at: 'filters[0].value' },
    ]);
    expect(await problems(filter('town', 'equals', 'Lyon'))).toMatchObject([
      { at: 'filters[0]', allowed: expect.arrayContaining(['city']) },
    ]);
    expect(await problems(filter('city', 'atLeast', 'Lyon'))).toMatchObject([
      { allowed: ['equals', 'notEquals', 'contains', 'in'] },
    ]);
    expect(await problems(filter('city', 'in', 'Lyon'))).toMatchObject([{ allowed: ['an array of values'] }]);
    expect(await problems(filter('city', 'equals', ['Lyon']))).toMatchObject([{ allowed: ['one value'] }]);
    expect(await problems(filter('hired', 'atLeast', '2024-02-30'))).toMatchObject([
      { allowed: ['a date such as 2026-01-31'] },
    ]);
    expect(await problems(filter('hoursPerWeek', 'in', [40, '20']))).toMatchObject([
      { allowed: ['a number'] },
    ]);
    expect(await problems({ sortBy: 'toString', fields: ['id', 'age'] })).toMatchObject([
      { at: 'fields[1]' },
      { at: 'sortBy' },
    ]);
    expect(await problems({ measure: 'city' }, 'analyze')).toMatchObject([
      { at: 'measure', allowed: ['hoursPerWeek'] },
    ]);
    expect(await problems({ categoryId: 7 }, 'describeCategory')).toEqual([
      { at: 'categoryId', problem: 'must be a string' },
    ]);
    expect(await problems({ categoryId: 'peopel' }, 'describeCategory')).toEqual([
      {
        at: 'categoryId',
        problem: 'there is no such category',
        allowed: ['applications', 'people', 'policies'],
      },
    ]);
  });

  it('are reported if they are not an object.', async () => {
    const call = new RawServer(businessData());
    const params = { name: 'relevant-data.analyze', arguments: [1] };
    expect((await call.ask(request(1, 'tools/call', params))).error).toMatchObject({
      code: -32602,
      message: 'Invalid params: arguments: must be an object',
    });
  });
});

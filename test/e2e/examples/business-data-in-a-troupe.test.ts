/** The example server in a troupe: names, answers, errors, concurrent calls, a data folder that changes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { createTroupe, JsonRpcError, InvalidArgumentsError } from '../../../src/index.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { category, folderWith } from './data-folder.js';
import { BUSINESS_DATA } from './raw-server.js';

useLeakCheck();

const SEARCH = 'relevant-data.searchRecords';

function troupeOn(data?: string) {
  const words = data === undefined ? [] : ['--data', data];
  return createTroupe({
    servers: { business: { command: process.execPath, args: [BUSINESS_DATA, '--stdio', ...words] } },
  });
}

describe('the example server in a troupe', () => {
  it('offers its three tools and answers a call.', async () => {
    await using troupe = troupeOn();
    expect(await troupe.start()).toMatchObject({ ready: ['business'], failed: [] });
    expect(troupe.tools.map(({ tool }) => tool).toSorted()).toEqual([
      'relevant-data.analyze',
      'relevant-data.describeCategory',
      SEARCH,
    ]);
    const name = troupe.tools.find(({ tool }) => tool === SEARCH)?.name ?? '';
    // Model providers do not accept a dot in a name.
    expect(name).toMatch(/^mcp__business__relevant-data_searchRecords_[0-9a-f]{8}$/);
    const filters = [{ field: 'city', operator: 'equals', value: 'Vienna' }];
    const result = await troupe.callTool(name, {
      categoryId: 'people',
      filters,
    });
    expect(result.structuredContent).toMatchObject({ total: 1, records: [{ name: 'Jonas Brandtner' }] });
  });

  it('returns errors for wrong arguments, an unknown category and broken data, and uses repaired data.', async () => {
    const data = folderWith({ 'broken.json': '{', 'marks.json': category('x') });
    await using troupe = troupeOn(data);
    await troupe.start();
    const business = troupe.connection('business');
    const call = (args: object) => business?.callTool(SEARCH, { ...args });

    await expect(call({ categoryId: 'marks', limit: 1000 })).rejects.toThrow(InvalidArgumentsError);
    const unknown = await call({ categoryId: '../marks' })?.catch((error: unknown) => error);
    expect(unknown).toBeInstanceOf(JsonRpcError);
    expect(unknown).toMatchObject({
      message: expect.stringContaining('there is no such category (allowed: broken, marks)'),
    });
    const broken = await call({ categoryId: 'broken' })?.catch((error: unknown) => error);
    expect(broken).toMatchObject({ message: expect.stringContaining('not an object in JSON') });

    writeFileSync(join(data, 'broken.json'), category('repaired'));
    expect((await call({ categoryId: 'broken' }))?.structuredContent).toMatchObject({ total: 1 });
  });

  it('answers each of hundreds of concurrent calls with its own result.', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `m${index}`);
    const data = folderWith(Object.fromEntries(ids.map((id) => [`${id}.json`, category(`of ${id}`)])));
    await using troupe = troupeOn(data);
    await troupe.start();
    const business = troupe.connection('business');
    const answers = await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        const categoryId = `m${index % ids.length}`;
        const result = await business?.callTool(SEARCH, { categoryId });
        return { categoryId, found: result?.structuredContent };
      }),
    );
    for (const { categoryId, found } of answers)
      expect(found).toMatchObject({ records: [{ mark: `of ${categoryId}` }] });
  });
});

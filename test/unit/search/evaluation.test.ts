/** How well the search finds tools of published servers by words that a model would write. */
import { describe, expect, it } from 'vitest';
import { ToolIndex } from '../../../src/search/tool-index.js';
import { ranksOf, readCatalogue, readQueries, recallAt } from '../../../tools/search-evaluation/evaluate.mjs';

const LIMIT = 5;

describe('The tool search', async () => {
  const tools = await readCatalogue();
  const queries = await readQueries();

  it('is evaluated with at least 200 queries over at least 500 tools, and every right tool exists', () => {
    expect(queries.length).toBeGreaterThanOrEqual(200);
    expect(tools.length).toBeGreaterThanOrEqual(500);
    const known = new Set(tools.map(({ server, tool }) => `${server}/${tool}`));
    expect(queries.flatMap(({ right }) => right.filter((name) => !known.has(name)))).toEqual([]);
  });

  it('has a right tool among the first five for nine of ten queries', async () => {
    const index = new ToolIndex<(typeof tools)[number]>();
    const ranks = await ranksOf(queries, async (query) =>
      (await index.search(tools, query, { limit: LIMIT })).map(({ tool }) => tool),
    );
    expect(recallAt(LIMIT, ranks)).toBeGreaterThanOrEqual(0.9);
  });
});

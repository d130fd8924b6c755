/** docs/reference/tool-search.md: how well the search finds the tools of published servers, and what each offer takes. */
import { chooseTools, tokensOf } from '../../dist/src/search/offer.js';
import { groupsOf, searchToolDefinitions } from '../../dist/src/search/search-tools.js';
import { ToolIndex } from '../../dist/src/search/tool-index.js';
import { ranksOf, readCatalogue, readQueries, recallAt } from '../../tools/search-evaluation/evaluate.mjs';
import { page, table } from './markdown.mjs';

const LIMITS = [1, 3, 5, 10];
/** Sizes of the catalogues in the table of tokens, as numbers of servers. */
const SERVERS = [2, 8, Infinity];

export async function toolSearchPage() {
  const tools = await readCatalogue();
  const queries = await readQueries();
  const index = new ToolIndex();
  const search = async (query) =>
    (await index.search(tools, query, { limit: Math.max(...LIMITS) })).map(({ tool }) => tool);
  const ranks = await ranksOf(queries, search);
  const servers = [...new Set(tools.map(({ server }) => server))];
  return page('The tool search in figures', '`tools/search-evaluation`', [
    `${queries.length} written queries over the ${tools.length} tools of ${servers.length} published servers. A query counts as ` +
      'answered if a tool that does what it asks for is among the first results. No model takes part: the queries are written as ' +
      'a model would write them.',
    '## Recall',
    table(
      ['Results', 'Queries with a right tool among them'],
      LIMITS.map((limit) => [String(limit), percent(recallAt(limit, ranks))]),
    ),
    '## Tokens',
    'What the definitions take in a request, estimated as a quarter of their characters, without pinned tools. `auto` has its ' +
      'default limit of 10,000 tokens.',
    table(
      ['Servers', 'Tools', '`all`', '`search`', '`auto`'],
      SERVERS.map((count) => {
        const some = new Set(servers.slice(0, count));
        const offered = tools.filter(({ server }) => some.has(server));
        const tokens = ['all', 'search', 'auto'].map((mode) => tokensIn(offered, mode).toLocaleString('en'));
        return [String(some.size), String(offered.length), ...tokens];
      }),
    ),
  ]);
}

function tokensIn(tools, mode) {
  const { shown, hidden } = chooseTools(tools, mode, () => false);
  if (hidden.length === 0) return tokensOf(shown);
  const groups = groupsOf({ tools, groupOf: ({ server }) => server });
  return tokensOf([...shown, ...searchToolDefinitions(groups, (name) => name)]);
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}

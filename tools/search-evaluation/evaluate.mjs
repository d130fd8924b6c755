/**
 * How well the tool search finds the tools of published servers (catalogue.json) by words that a model would write
 * (queries.txt). No model takes part. Used by a test and by the docs.
 */
import { readFile } from 'node:fs/promises';

const read = (name) => readFile(new URL(name, import.meta.url), 'utf8');

/** The tools, under their names for a model. */
export async function readCatalogue() {
  const lists = JSON.parse(await read('catalogue.json'));
  return lists.flatMap(({ server, tools }) =>
    tools.map((tool) => ({ ...tool, server, tool: tool.name, name: `mcp__${server}__${tool.name}` })),
  );
}

/** Each query, with the tools that do what it asks for: any of them counts. */
export async function readQueries() {
  const lines = (await read('queries.txt')).split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [query, right] = line.split(' = ');
      return { query, right: right.split(' ') };
    });
}

/** Place of the first right tool in each answer; 0 if there is none. `search` gives the best tools, best first. */
export async function ranksOf(queries, search) {
  const ranks = [];
  for (const { query, right } of queries) {
    const found = await search(query);
    ranks.push(found.findIndex(({ server, tool }) => right.includes(`${server}/${tool}`)) + 1);
  }
  return ranks;
}

/** Share of queries with a right tool among the first `limit`. */
export function recallAt(limit, ranks) {
  return ranks.filter((rank) => rank > 0 && rank <= limit).length / ranks.length;
}

/** Searches among 5,000 tools: copies of the definitions of published servers. */
import { pathToFileURL } from 'node:url';
import { readCatalogue, readQueries } from '../../search-evaluation/evaluate.mjs';
import { published } from '../from-dist.mjs';

const TOOLS = 5_000;
const SERVERS = 10;
const ROUNDS = 5;

export const scenario = {
  name: 'search',
  title: 'Search for tools',
  about:
    '`searchTools` with the queries of the evaluation among 5,000 tools, made of the definitions of published servers. The ' +
    'first search also makes the index.',
  metrics: {
    firstMs: { label: 'first search', unit: 'ms' },
    searchMs: { label: 'search, mean', unit: 'ms' },
    slowestMs: { label: 'search, slowest', unit: 'ms' },
  },
  cases: () => [{ name: '5,000 tools', params: {}, clients: ['troupe'], runs: 3, seconds: 6 }],
};

export async function measure({ client, dist }) {
  const { createScriptedServer } = await import(pathToFileURL(published('src/testing/index.js', dist)));
  const all = await readCatalogue();
  const tools = Array.from({ length: TOOLS }, (_, at) => {
    const { title, description, inputSchema, tool } = all[at % all.length];
    return { title, description, inputSchema, name: `${tool}_${Math.floor(at / all.length)}` };
  });
  const servers = Array.from({ length: SERVERS }, (_, at) => ({
    name: `s${at}`,
    server: createScriptedServer({ tools: tools.filter((_each, index) => index % SERVERS === at) }),
  }));
  const { troupe, close } = await client.open(await client.load('memory', dist), servers);
  const timed = async (query) => {
    const begun = performance.now();
    await troupe.searchTools(query);
    return performance.now() - begun;
  };
  const firstMs = await timed('read a file');
  const queries = await readQueries();
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { query } of queries) times.push(await timed(query));
  await close();
  const searchMs = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  return { firstMs, searchMs, slowestMs: Math.max(...times) };
}

import { describe, expect, it } from 'vitest';
import { ToolIndex, type SearchedTool } from '../../../src/search/tool-index.js';
import { useLeakCheck } from '../../support/leak-check.js';

const tool = (name: string, description = '', properties: Record<string, object> = {}): SearchedTool => ({
  name,
  description,
  inputSchema: { type: 'object', properties },
});

const LIBRARY: readonly SearchedTool[] = [
  tool('createIssue', 'Opens a ticket in a repository.', { labels: { description: 'Tags of the ticket.' } }),
  tool('list_issues', 'Lists the tickets of a repository.'),
  tool('delete-branch', 'Removes a branch.'),
  tool('read_file', 'Reads a text file.', { path: { description: 'Where the file is.' } }),
  tool('карта', 'Показывает карту города.'),
  { ...tool('fx_rates', 'Currency conversion.'), title: 'Exchange rates' },
];

describe('a search for tools', () => {
  useLeakCheck();

  const namesOf = async (
    query: string,
    tools = LIBRARY,
    index = new ToolIndex<SearchedTool>(),
  ): Promise<string[]> => (await index.search(tools, query, { limit: 10 })).map(({ tool: { name } }) => name);

  it.each([
    ['a word of a name', 'branch', 'delete-branch'],
    ['a part of a name in camel case', 'create', 'createIssue'],
    ['the title', 'exchange', 'fx_rates'],
    ['the description', 'currency', 'fx_rates'],
    ['a parameter', 'labels', 'createIssue'],
    ['the description of a parameter', 'tags', 'createIssue'],
    ['another form of a word', 'reading files', 'read_file'],
    ['the beginning of a word', 'conver', 'fx_rates'],
    ['a mistyped word', 'repositroy tikcet create', 'createIssue'],
    ['another case', 'BRANCH', 'delete-branch'],
    ['a word of another language', 'карта', 'карта'],
    ['a sentence', 'Could you please remove the branch for me?', 'delete-branch'],
  ])('finds a tool by %s', async (_, query, name) => {
    expect((await namesOf(query))[0]).toBe(name);
  });

  it.each(['', '   ', 'the of a', '!?', 'zzzzzz'])('finds nothing for %j', async (query) => {
    expect(await namesOf(query)).toEqual([]);
  });

  it('says which words were found where', async () => {
    const [best] = await new ToolIndex<SearchedTool>().search(LIBRARY, 'currency rates', { limit: 1 });
    expect(best?.tool).toBe(LIBRARY[5]);
    expect(best?.score).toBeGreaterThan(0);
    expect(best?.matches).toEqual({ currenc: ['description'], rate: ['name', 'title'] });
  });

  it('gives at most the requested number, only accepted tools, and equal ones by name', async () => {
    const twins = ['b', 'd', 'a', 'c'].map((server) => tool(`${server}_read`));
    const index = new ToolIndex<SearchedTool>();
    const found = await index.search(twins, 'read', { limit: 2, accepts: ({ name }) => name !== 'b_read' });
    expect(found.map(({ tool: { name } }) => name)).toEqual(['a_read', 'c_read']);
  });

  it('answers as a new index would, however its list has changed', async () => {
    const index = new ToolIndex<SearchedTool>();
    const queries = ['issue', 'repository ticket', 'file', 'rates', 'text branch'];
    const lists = [
      LIBRARY.slice(0, 3),
      LIBRARY,
      LIBRARY.slice(2).toReversed(),
      [],
      [...LIBRARY.slice(4), tool('read_file', 'Reads a picture.')],
      LIBRARY,
    ];
    for (const tools of lists) {
      for (const query of queries) {
        expect(await index.search(tools, query, { limit: 10 })).toEqual(
          await new ToolIndex<SearchedTool>().search(tools, query, { limit: 10 }),
        );
      }
    }
  });

  it('answers searches that come at the same time from the list of each', async () => {
    const index = new ToolIndex<SearchedTool>();
    const [all, none, some] = await Promise.all([
      namesOf('issue', LIBRARY, index),
      namesOf('issue', [], index),
      namesOf('issue', LIBRARY.slice(1, 2), index),
    ]);
    expect([all.toSorted(), none, some]).toEqual([['createIssue', 'list_issues'], [], ['list_issues']]);
  });

  it('indexes a list that holds the same tool twice, names of object members, and texts without end', async () => {
    const odd = [tool('constructor', '__proto__ toString'), tool('long', 'word '.repeat(100_000))];
    expect(await namesOf('constructor', [...odd, ...odd])).toEqual(['constructor']);
    expect(await namesOf('string', odd)).toEqual(['constructor']);
    expect(await namesOf('proto', odd)).toEqual(['constructor']);
    expect(await namesOf('word', odd)).toEqual(['long']);
  });
});

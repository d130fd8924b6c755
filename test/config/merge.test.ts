import { describe, expect, it } from 'vitest';
import { entryHash } from '../../src/config/entry-hash.js';
import { mergeSources, type SourceEntries } from '../../src/config/merge.js';
import type { Scope } from '../../src/config/sources.js';

function source(
  id: string,
  scope: Scope,
  names: readonly string[],
  refused: readonly string[] = [],
): SourceEntries {
  return {
    source: { id, scope },
    baseDir: `/${id}`,
    entries: new Map(names.map((name) => [name, { command: id }])),
    refused,
    problems: refused.map((server) => ({ source: id, server, field: 'command', message: 'is wrong' })),
  };
}

describe('servers of several sources', () => {
  it('come together, each with where it is from', () => {
    const { servers } = mergeSources([source('one', 'host', ['a']), source('two', 'given', ['b'])]);
    expect(servers).toEqual([
      {
        name: 'a',
        source: 'one',
        scope: 'host',
        baseDir: '/one',
        config: { command: 'one' },
        shadows: [],
        hash: entryHash({ command: 'one' }),
      },
      {
        name: 'b',
        source: 'two',
        scope: 'given',
        baseDir: '/two',
        config: { command: 'two' },
        shadows: [],
        hash: entryHash({ command: 'two' }),
      },
    ]);
  });

  it('of one name: the first wins and tells whom it shadows', () => {
    const { servers } = mergeSources([
      source('one', 'given', ['a']),
      source('two', 'given', ['a']),
      source('three', 'given', ['a']),
    ]);
    expect(servers).toMatchObject([{ source: 'one', shadows: ['two', 'three'] }]);
  });

  it.each<Scope>(['host', 'given', 'user'])('of a project never take a name from a %s source', (scope) => {
    const { servers } = mergeSources([source('repo', 'project', ['a', 'b']), source('mine', scope, ['a'])]);
    expect(servers).toMatchObject([
      { name: 'a', source: 'mine', shadows: ['repo'] },
      { name: 'b', source: 'repo', shadows: [] },
    ]);
  });

  it('that are refused keep their name from those behind them', () => {
    const { servers, refused } = mergeSources([
      source('one', 'given', [], ['a']),
      source('two', 'given', ['a']),
    ]);
    expect(servers).toEqual([]);
    expect(refused).toEqual([
      {
        name: 'a',
        source: 'one',
        scope: 'given',
        shadows: ['two'],
        failure: { code: 'config-invalid', message: "one: server 'a', field 'command': is wrong" },
      },
    ]);
  });

  it('that are refused behind a good one are only shadowed', () => {
    const { servers, refused } = mergeSources([
      source('one', 'given', ['a']),
      source('two', 'given', [], ['a']),
    ]);
    expect(servers).toMatchObject([{ name: 'a', source: 'one', shadows: ['two'] }]);
    expect(refused).toEqual([]);
  });
});

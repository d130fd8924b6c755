import { describe, expect, it } from 'vitest';
import { entryHash } from '../../../src/config/entry/spelling.js';
import { mergeSources } from '../../../src/config/merge.js';
import type { SourceEntries } from '../../../src/config/files/sources.js';
import type { Scope } from '../../../src/config/entry/server-spec.js';
import type { ServerConfig } from '../../../src/config/entry/server-config.js';

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
    problems: refused.map((server) => ({
      code: 'wrong-type',
      source: id,
      server,
      field: 'command',
      message: 'is wrong',
    })),
  };
}

describe('servers of several sources', () => {
  it('are merged, each with its source', () => {
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

  it('with the same name: the first one wins and lists the ones it shadows', () => {
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

  it('that are refused block their name for later sources', () => {
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

  it('that are refused after a valid one are only shadowed', () => {
    const { servers, refused } = mergeSources([
      source('one', 'given', ['a']),
      source('two', 'given', [], ['a']),
    ]);
    expect(servers).toMatchObject([{ name: 'a', source: 'one', shadows: ['two'] }]);
    expect(refused).toEqual([]);
  });
});

describe('an entry of a project', () => {
  const sources = [source('repo', 'project', ['a']), source('mine', 'user', ['a'])];

  it('is held back until it is trusted, and lists the entry that is used instead', () => {
    expect(mergeSources(sources).heldBack).toMatchObject([
      { name: 'a', source: 'repo', scope: 'project', config: { command: 'repo' }, shadows: ['mine'] },
    ]);
  });

  it('wins by precedence once it is trusted', () => {
    const { servers, heldBack } = mergeSources(sources, ({ source: from }) => from === 'repo');
    expect(servers).toMatchObject([{ name: 'a', source: 'repo', shadows: ['mine'] }]);
    expect(heldBack).toEqual([]);
  });

  it('that is refused holds no other entry back', () => {
    const { servers, refused, heldBack } = mergeSources(
      [source('repo', 'project', [], ['a']), source('mine', 'user', ['a'])],
      () => true,
    );
    expect(servers).toMatchObject([{ source: 'mine', shadows: ['repo'] }]);
    expect([refused, heldBack]).toEqual([[], []]);
  });
});

describe('an entry that is not used', () => {
  const naming = (id: string, scope: Scope, config: ServerConfig): SourceEntries => ({
    ...source(id, scope, []),
    entries: new Map([['a', config]]),
  });
  const merged = (...from: readonly SourceEntries[]) => mergeSources(from).servers[0];

  it('still restricts the tools: all allow lists must allow a tool, and no deny list may deny it', () => {
    const used = merged(
      naming('one', 'given', { command: 'x', tools: { allow: ['read_*', 'write'], deny: ['d1'] } }),
      naming('two', 'user', { command: 'y', tools: { allow: ['read_file', 'write', 'other'] } }),
      naming('three', 'user', { command: 'z', tools: { deny: ['d2', 'd1'] } }),
    );
    expect(used?.config).toEqual({
      command: 'x',
      tools: { allow: ['write', 'read_file'], deny: ['d1', 'd2'] },
    });
  });

  it('leaves the entry in use unchanged if it does not restrict it', () => {
    const config = { command: 'x', tools: { deny: ['d1'] } };
    const used = merged(naming('one', 'given', config), naming('two', 'user', config));
    expect(used?.config).toBe(config);
    expect(used).not.toHaveProperty('ownHash');
  });

  it('disables a server if it has precedence, but not otherwise', () => {
    const off = { command: 'x', enabled: false };
    const on = { command: 'y' };
    expect(merged(naming('one', 'given', on), naming('two', 'user', off))?.config).toEqual(on);
    const all = () => true;
    const [used] = mergeSources([naming('repo', 'project', on), naming('mine', 'user', off)], all).servers;
    expect(used?.config).toEqual(on);
  });

  it.each<[restriction: string, config: Partial<ServerConfig>]>([
    ['enabled: false', { enabled: false }],
    ['no tools', { tools: { allow: [] } }],
    ['denied tools', { tools: { deny: ['*'] } }],
  ])('restricts nothing while it is of a project and not trusted: %s', (_, restriction) => {
    const theirs = { command: 'x', ...restriction } as ServerConfig;
    const mine = { command: 'y' };
    for (const scope of ['user', 'extension'] as const) {
      const { servers, heldBack } = mergeSources([
        naming('repo', 'project', theirs),
        naming('mine', scope, mine),
      ]);
      expect(servers).toMatchObject([{ source: 'mine', config: mine }]);
      expect(servers[0]?.config).toBe(mine);
      expect(heldBack).toMatchObject([{ source: 'repo' }]);
    }
    for (const scope of ['host', 'given'] as const) {
      const sources = [naming('mine', scope, mine), naming('repo', 'project', theirs)];
      const { servers, heldBack, uncounted } = mergeSources(sources);
      expect(servers[0]?.config).toBe(mine);
      expect([heldBack, uncounted]).toMatchObject([[], [{ source: 'repo' }]]);
      const trusted = mergeSources(sources, () => true);
      expect(trusted.uncounted).toEqual([]);
    }
  });

  it('restricts another one once it is trusted', () => {
    const sources = [
      naming('mine', 'given', { command: 'y' }),
      naming('repo', 'project', { command: 'x', tools: { allow: [] } }),
    ];
    expect(mergeSources(sources, () => true).servers).toMatchObject([
      { source: 'mine', config: { tools: { allow: [] } } },
    ]);
  });

  it('does not change the hash that trust is bound to', () => {
    const config = { command: 'x' };
    const sources = [
      naming('repo', 'project', config),
      naming('other', 'project', { command: 'y', tools: { deny: ['d'] } }),
    ];
    const [used] = mergeSources(sources, () => true).servers;
    expect(used).toMatchObject({ source: 'repo', ownHash: entryHash(config) });
    expect(used?.hash).toBe(entryHash({ ...config, tools: { deny: ['d'] } }));
  });
});

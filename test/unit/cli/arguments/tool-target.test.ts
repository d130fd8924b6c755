import { describe, expect, it } from 'vitest';
import {
  candidateServers,
  findTool,
  joinTarget,
  noServerFor,
  noSuchServer,
  noSuchTool,
} from '../../../../src/cli/arguments/tool-target.js';
import { exposedNames } from '../../../../src/catalog/naming.js';
import type { CatalogTool } from '../../../../src/catalog/registry.js';

const SERVERS = ['fs', 'fs__more', 'my files', 'a/b', 'x'.repeat(70)];

function makeTool(server: string, tool: string, name = `mcp__${server}__${tool}`): CatalogTool {
  return {
    name,
    server,
    tool,
    source: 'team.mcp.json',
    inputSchema: { type: 'object' },
    requiresConfirmation: true,
    stale: false,
  };
}

describe('the candidate servers for a tool', () => {
  it.each(SERVERS)('include %j for every exposed name that its tools can have.', (server) => {
    const tools = ['read', 'a.b', 'y'.repeat(80), ''].map((tool) => ({ server, tool }));
    for (const name of exposedNames(tools, 'mcp__{server}__{tool}').values()) {
      expect(candidateServers(name, SERVERS)).toContain(server);
    }
  });

  it.each(SERVERS)('include %j for its tools by their raw names.', (server) => {
    expect(candidateServers(`${server}/read`, SERVERS)).toContain(server);
  });

  it('exclude servers that cannot have the tool, so that they are not started.', () => {
    expect(candidateServers('mcp__fs__read', SERVERS)).toEqual(['fs']);
    expect(candidateServers('mcp__fs__more__read', SERVERS)).toEqual(['fs', 'fs__more']);
    expect(candidateServers('a/b/c', ['a', 'a/b', 'b'])).toEqual(['a', 'a/b']);
    expect(candidateServers('read', SERVERS)).toEqual([]);
  });
});

describe('the words of a command', () => {
  it.each([
    ['fs', ['read', 'a=1'], 'fs/read', ['a=1']],
    ['fs', ['read'], 'fs/read', []],
    ['fs', ['read', '{"a":1}'], 'fs/read', ['{"a":1}']],
    ['fs', ['read', '-'], 'fs/read', ['-']],
    ['fs', ['-'], 'fs', ['-']],
    ['fs', ['{}'], 'fs', ['{}']],
    ['fs', ['[1]'], 'fs', ['[1]']],
    ['fs', ['a=1'], 'fs', ['a=1']],
    ['fs', [], 'fs', []],
    ['fs/read', ['read'], 'fs/read', ['read']],
    ['other', ['read'], 'other', ['read']],
  ])('%s %j name the tool %s with %j.', (tool, words, target, rest) => {
    expect(joinTarget(tool, words, SERVERS)).toEqual({ tool: target, words: rest });
  });
});

describe('a requested tool', () => {
  const tools = [makeTool('a', 'b/c', 'mcp__a__b_c_12345678'), makeTool('a/b', 'c', 'x'), makeTool('a', 'd')];

  it('is found by its exposed name first, then by its raw name.', () => {
    expect(findTool('mcp__a__d', tools)).toBe(tools[2]);
    expect(findTool('a/d', tools)).toBe(tools[2]);
    expect(findTool('a/b/c', tools)).toBe(tools[0]);
    expect(findTool('a.d', tools)).toBe(tools[2]);
    expect(findTool('a.b/c', tools)).toBe(tools[0]);
    expect(findTool('a/e', tools)).toBeUndefined();
  });

  it('that does not exist leads to a suggestion in the form that the user typed.', () => {
    expect(noSuchTool('mcp__a__e', ['a'], [makeTool('a', 'd')])).toBe(
      "no tool of a is called 'mcp__a__e'; did you mean 'mcp__a__d'?",
    );
    expect(noSuchTool('a/raed', ['a'], [makeTool('a', 'read')])).toBe(
      "no tool of a is called 'a/raed'; did you mean 'a/read'?",
    );
    expect(noSuchTool('a.raed', ['a'], [makeTool('a', 'read')])).toBe(
      "no tool of a is called 'a.raed'; did you mean 'a.read'?",
    );
    expect(noSuchTool('a/other', ['a', 'a/b'], tools)).toBe("no tool of a or a/b is called 'a/other'");
  });

  it('of a server that is not configured leads to a suggestion of a similar server.', () => {
    expect(noServerFor('mcp__filse__read', ['files'])).toBe(
      "no server is called 'filse'; did you mean 'files'?",
    );
    expect(noServerFor('filse/read', ['files'])).toBe("no server is called 'filse'; did you mean 'files'?");
    expect(noServerFor('filse.read', ['files'])).toBe("no server is called 'filse'; did you mean 'files'?");
    expect(noServerFor('read', ['files'])).toBe(
      "'read' names no server: write mcp__SERVER__TOOL, SERVER/TOOL, SERVER.TOOL or SERVER TOOL",
    );
    expect(noSuchServer('elsewhere', ['files'])).toBe("no server is called 'elsewhere'");
  });

  it('that names only a server, or only a tool, leads to what is missing.', () => {
    expect(noServerFor('files', ['files'])).toBe(
      "'files' is a server: name its tool as well; to see them: troupe tools files",
    );
    expect(noServerFor('files', ['files'], 'prompt')).toContain(
      'name its prompt as well; to see them: troupe prompts',
    );
    expect(noServerFor('filse', ['files'])).toBe("no server is called 'filse'; did you mean 'files'?");
    expect(noServerFor('read', ['files'], 'tool', ['files/read', 'disk/read'])).toBe(
      "'read' names no server; did you mean 'files/read' or 'disk/read'?",
    );
  });
});

import { describe, expect, it } from 'vitest';
import {
  candidateServers,
  findTool,
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

describe('the servers that can have a tool', () => {
  it.each(SERVERS)('include %j for every name its tools can get.', (server) => {
    const tools = ['read', 'a.b', 'y'.repeat(80), ''].map((tool) => ({ server, tool }));
    for (const name of exposedNames(tools, 'mcp__{server}__{tool}').values()) {
      expect(candidateServers(name, SERVERS)).toContain(server);
    }
  });

  it.each(SERVERS)('include %j for its tools by their own names.', (server) => {
    expect(candidateServers(`${server}/read`, SERVERS)).toContain(server);
  });

  it('are few: one that cannot have it is not started.', () => {
    expect(candidateServers('mcp__fs__read', SERVERS)).toEqual(['fs']);
    expect(candidateServers('mcp__fs__more__read', SERVERS)).toEqual(['fs', 'fs__more']);
    expect(candidateServers('a/b/c', ['a', 'a/b', 'b'])).toEqual(['a', 'a/b']);
    expect(candidateServers('read', SERVERS)).toEqual([]);
  });
});

describe('a wanted tool', () => {
  const tools = [makeTool('a', 'b/c', 'mcp__a__b_c_12345678'), makeTool('a/b', 'c', 'x'), makeTool('a', 'd')];

  it('is found by its name for the model first, then by its own.', () => {
    expect(findTool('mcp__a__d', tools)).toBe(tools[2]);
    expect(findTool('a/d', tools)).toBe(tools[2]);
    expect(findTool('a/b/c', tools)).toBe(tools[0]);
    expect(findTool('a/e', tools)).toBeUndefined();
  });

  it('that nobody has is answered with the nearest name, in the form that was asked for.', () => {
    expect(noSuchTool('mcp__a__e', ['a'], [makeTool('a', 'd')])).toBe(
      "no tool of a is called 'mcp__a__e'; did you mean 'mcp__a__d'?",
    );
    expect(noSuchTool('a/raed', ['a'], [makeTool('a', 'read')])).toBe(
      "no tool of a is called 'a/raed'; did you mean 'a/read'?",
    );
    expect(noSuchTool('a/other', ['a', 'a/b'], tools)).toBe("no tool of a or a/b is called 'a/other'");
  });

  it('of a server that nobody configured is answered with the nearest server.', () => {
    expect(noServerFor('mcp__filse__read', ['files'])).toBe(
      "no server is called 'filse'; did you mean 'files'?",
    );
    expect(noServerFor('filse/read', ['files'])).toBe("no server is called 'filse'; did you mean 'files'?");
    expect(noServerFor('read', ['files'])).toBe(
      "'read' names no server: write mcp__SERVER__TOOL or SERVER/TOOL",
    );
    expect(noSuchServer('elsewhere', ['files'])).toBe("no server is called 'elsewhere'");
  });
});

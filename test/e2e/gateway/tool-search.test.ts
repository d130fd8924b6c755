/** A real client of `troupe serve --offer search`, in front of real servers that sleep. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { textOf } from '../../support/gateway-rig.js';
import { EVERYTHING, filesIn, useTeam } from '../../support/team.js';
import { MAIN, runTroupe } from '../../support/troupe-process.js';

useLeakCheck();
const team = useTeam();

describe('a client that searches for tools', () => {
  it('finds the tools of sleeping servers, and a call starts only its server.', async () => {
    const { folder } = team();
    const lazy = { start: 'lazy' };
    const config = team().write('search.json', {
      everything: { ...EVERYTHING, ...lazy },
      files: { ...filesIn(folder), ...lazy },
    });
    const env = { TROUPE_CACHE: join(folder, 'cache') };
    expect(await runTroupe(['tools', '--config', config], { env })).toMatchObject({ code: 0 });

    const client = new Client({ name: 'searcher', version: '1' });
    const inherited = Object.fromEntries(
      Object.entries(process.env).map(([name, value]) => [name, value ?? '']),
    );
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [MAIN, 'serve', '--offer', 'search', '--config', config],
        env: { ...inherited, ...env },
        stderr: 'ignore',
      }),
    );
    onTestFinished(() => client.close());
    const call = async (name: string, args: Record<string, unknown>): Promise<string> =>
      textOf((await client.callTool({ name, arguments: args })) as CallToolResult);
    const ready = async (): Promise<string[]> => {
      const { contents } = await client.readResource({ uri: 'troupe://status' });
      const [{ text } = { text: '' }] = contents as { text: string }[];
      const { servers } = JSON.parse(text) as { servers: { server: string; state: string }[] };
      return servers.flatMap(({ server, state }) => (state === 'ready' ? [server] : []));
    };

    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tool', 'call_tool']);
    expect(await call('search_tools', { query: 'read the text of a file' })).toContain(
      'mcp__files__read_text_file',
    );
    const described = await call('describe_tool', { name: 'mcp__files__read_text_file' });
    expect(JSON.parse(described)).toMatchObject({ annotations: { readOnlyHint: true } });
    expect(await ready()).toEqual([]);

    const path = join(folder, 'note.txt');
    writeFileSync(path, 'hello from disk');
    const given = { name: 'mcp__files__read_text_file', arguments: { path } };
    expect(await call('call_tool', given)).toBe('hello from disk');
    expect(await ready()).toEqual(['files']);
  });
});

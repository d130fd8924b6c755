/** A real server behind a gateway whose clients ask once: the lists are the same with and without a cache, hooks included. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway/index.js';
import { createFileCatalogStore } from '../../src/index.js';
import { useCrashWatch } from '../support/crash-watch.js';
import { useLeakCheck } from '../support/leak-check.js';

const EVERYTHING = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

describe('a client of a gateway that asks once', () => {
  useLeakCheck();
  useCrashWatch();
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-once-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function ask(capabilities: object) {
    await using gateway = createGateway({
      servers: { everything: { command: process.execPath, args: [EVERYTHING] } },
      cache: createFileCatalogStore({ folder }),
      hooks: { beforeCall: ({ args }) => ({ args: { ...args, message: 'from a hook' } }) },
      singleClient: true,
    });
    const client = new Client({ name: 'once', version: '1' }, { capabilities });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([gateway.connect(far), client.connect(near)]);
    const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
    const lists = {
      prompts: names((await client.listPrompts()).prompts),
      resources: names((await client.listResources()).resources),
      templates: names((await client.listResourceTemplates()).resourceTemplates),
      tools: names((await client.listTools()).tools),
    };
    const { content } = await client.callTool({
      name: 'mcp__everything__echo',
      arguments: { message: 'hi' },
    });
    await client.close();
    return { lists, content };
  }

  it('sees the same prompts, resources and tools warm and cold, and only what it can use.', async () => {
    const cold = await ask({});
    expect(cold.lists.prompts.length).toBeGreaterThan(0);
    expect(cold.lists.resources.length).toBeGreaterThan(1);
    expect(cold.content).toEqual([{ type: 'text', text: 'Echo: from a hook' }]);
    const warm = await ask({});
    expect(warm).toEqual(cold);
    const able = await ask({ elicitation: {} });
    expect(able.lists.tools.length).toBeGreaterThan(cold.lists.tools.length);
    expect((await ask({})).lists).toEqual(cold.lists);
  }, 60_000);
});

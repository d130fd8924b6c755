/** What a client gets from a server: its lists, or why there are none. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { createTroupe } from 'mcp-troupe';

/** Time limit of the SDK for an answer. */
const LIMIT_MS = 60_000;

export async function withSdkClient(entry) {
  const client = new Client({ name: 'zoo', version: '1.0.0' });
  const transport = new StdioClientTransport({ ...entry, stderr: 'ignore' });
  const options = { timeout: LIMIT_MS };
  try {
    await client.connect(transport, options);
    const { tools, prompts, resources } = client.getServerCapabilities() ?? {};
    return {
      tools: tools ? await names(client, 'listTools', 'tools') : [],
      prompts: prompts ? await names(client, 'listPrompts', 'prompts') : [],
      resources: resources ? await names(client, 'listResources', 'resources') : [],
    };
  } catch (error) {
    return { failure: error.message };
  } finally {
    await client.close();
  }
}

/** All pages of a list; none if the server refuses it. */
async function names(client, method, list) {
  const found = [];
  let cursor;
  try {
    do {
      const page = await client[method](cursor === undefined ? {} : { cursor }, { timeout: LIMIT_MS });
      found.push(...page[list].map(({ name, uri }) => uri ?? name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  } catch (error) {
    if (list === 'tools') throw error;
  }
  return found;
}

export async function withTroupe(name, entry) {
  const policy = { handshakeTimeoutMs: LIMIT_MS, listTimeoutMs: LIMIT_MS, maxAttempts: 1 };
  const troupe = createTroupe({ servers: { [name]: { ...entry, policy } }, cache: false });
  try {
    await troupe.start();
    await troupe.connection(name).ready({ signal: AbortSignal.timeout(2 * LIMIT_MS) });
    await troupe.settled({ signal: AbortSignal.timeout(2 * LIMIT_MS) });
    return {
      tools: troupe.tools.map(({ tool }) => tool),
      prompts: troupe.prompts.map(({ prompt }) => prompt),
      resources: troupe.resources.map(({ uri }) => uri),
    };
  } catch (error) {
    return { failure: `${error.message} ${error.failure?.hint ?? ''}` };
  } finally {
    await troupe.close();
  }
}

/** The measured libraries, and the files that adapt them to the scenarios. */
import { fileURLToPath } from 'node:url';

/** Troupe, the reference and the lower limit. They run more often than the others. */
export const KEY = ['troupe', 'sdk', 'floor'];
export const PEERS = ['client-v2', 'ai-sdk', 'langchain', 'mastra', 'mcp-use', 'openai-agents'];
/** Troupe's protocol client without supervision. */
export const ALONE = 'protocol-client';
/** Contenders that accept a transport of the host. */
export const MEMORY_PEERS = ['client-v2', 'ai-sdk'];

export const LABELS = {
  troupe: 'Troupe',
  before: 'Troupe, the build of --against',
  sdk: 'bare SDK client',
  floor: 'floor, no library',
  [ALONE]: "Troupe's protocol client alone",
  'client-v2': '@modelcontextprotocol/client',
  'ai-sdk': '@ai-sdk/mcp',
  langchain: '@langchain/mcp-adapters',
  mastra: '@mastra/mcp',
  'mcp-use': 'mcp-use',
  'openai-agents': '@openai/agents',
};

/** Packages whose versions are reported. */
export const PACKAGES = {
  own: ['@modelcontextprotocol/sdk', 'xstate', 'rxjs'],
  peers: [
    ...[
      '@modelcontextprotocol/client',
      '@ai-sdk/mcp',
      '@langchain/mcp-adapters',
      '@mastra/mcp',
      '@mastra/core',
    ],
    ...['mcp-use', '@openai/agents'],
  ],
};

export function clientFile(name) {
  if (name === 'before') return clientFile('troupe');
  const folder = [...KEY, ALONE].includes(name) ? 'clients' : 'peers';
  return fileURLToPath(new URL(`./${folder}/${name}.mjs`, import.meta.url));
}
